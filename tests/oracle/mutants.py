"""Faults put into the first engine, each a plausible misreading of one rule or choice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any

import pytest

from policy_engine.policy import State as Switch
from policy_engine.scheduler import bounds
from policy_engine.scheduler.bounds import Bounds, Rule
from policy_engine.scheduler.log import Kind, Why
from policy_engine.scheduler.moves import Pass
from policy_engine.scheduler.state import Phase, State
from policy_engine.scheduler.victims import Search
from policy_engine.simulation import Clock
from tests.laws import mutants as for_laws

Patch = pytest.MonkeyPatch


@dataclass(frozen=True)
class Mutant:
    """A fault, and the seed of a scenario in which it shows."""

    about: str
    apply: Callable[[Patch], None]
    seed: int


def after(kind: type, method: str, what: Callable[..., None]) -> Callable[[Patch], None]:
    """The method does what it does, and then this too, with the same arguments."""

    def apply(patch: Patch) -> None:
        original = getattr(kind, method)

        def longer(*arguments: Any, **more: Any) -> Any:
            result = original(*arguments, **more)
            what(*arguments, **more)
            return result

        patch.setattr(kind, method, longer)

    return apply


def before(kind: type, method: str, what: Callable[..., None]) -> Callable[[Patch], None]:
    """The same the other way round."""

    def apply(patch: Patch) -> None:
        original = getattr(kind, method)

        def longer(*arguments: Any, **more: Any) -> Any:
            what(*arguments, **more)
            return original(*arguments, **more)

        patch.setattr(kind, method, longer)

    return apply


def instead(kind: Any, method: str, what: Callable[..., Any]) -> Callable[[Patch], None]:
    """This and nothing else."""
    return lambda patch: patch.setattr(kind, method, what)


# --- bounds and capacity --------------------------------------------------------------------------------


def without_rule(rule: Rule) -> Callable[[Patch], None]:
    """One of the four ways in which a job can never fit is forgotten (R12)."""

    def apply(patch: Patch) -> None:
        allowed = Bounds._allowed

        def lenient(known: Bounds, asked: Rule, share: str, unit: str) -> int | None:
            return None if asked is rule else allowed(known, asked, share, unit)

        patch.setattr(Bounds, "_allowed", lenient)

    return apply


def is_not_over_committed(state: State, _: Any) -> None:
    state.overcommitted = [0] * len(state.overcommitted)


def keeps_dispatching(state: State, _: Any) -> None:
    state.dispatching = True


def knows_one_unit(state: State, _: Any) -> None:
    state.demand[:] = [demand[:1] for demand in state.demand]


# --- orders -----------------------------------------------------------------------------------------------


def last_come_first_served(made: Pass, jobs: list[int]) -> list[int]:
    return sorted(jobs, key=lambda job: made.state.submitted[job], reverse=True)


def by_name(made: Pass, jobs: list[int]) -> list[int]:
    return sorted(jobs, key=lambda job: made.state.share_names[made.state.share_of[job]])


def answers(kind: Any, method: str, **wrong: str) -> Callable[[Patch], None]:
    """The method, of a state or a search in one, acts as if choices had been answered otherwise."""

    def apply(patch: Patch) -> None:
        original = getattr(kind, method)

        def mistaken(it: Any, *arguments: Any, **more: Any) -> Any:
            state: State = getattr(it, "state", it)
            right = state.choices
            state.choices = replace(right, **wrong)  # type: ignore[arg-type]
            try:
                return original(it, *arguments, **more)
            finally:
                state.choices = right

        patch.setattr(kind, method, mistaken)

    return apply


def newest_claim_first(patch: Patch) -> None:
    ready = Pass._ready_claims
    patch.setattr(Pass, "_ready_claims", lambda made: iter([*ready(made)][::-1]))


def reclaims_last(made: Pass, *_: Any) -> None:
    made.in_share_first = True


def lets_others_pass(state: State, *_: Any) -> None:
    state.choices = replace(state.choices, head_of_line="skip")


# --- a job's life -----------------------------------------------------------------------------------------


def keeps_no_checkpoint(clock: Clock, job: int) -> float:
    return max(0.0, clock.at - clock.work_from[job])


def may_be_requeued_once_more(clock: Clock, *_: Any) -> None:
    clock.jobs = [
        job if job.preemption_retries is None else replace(job, preemption_retries=job.preemption_retries + 1)
        for job in clock.jobs
    ]


def starts_afresh(clock: Clock, job: int) -> None:
    clock.resumes[job] = False


def works_until_the_stop(clock: Clock, job: int, victims: Sequence[tuple[int, Why]]) -> None:  # noqa: ARG001
    for victim, _ in victims:
        clock.ends_at[victim] = inf


def releases_at_once(clock: Clock, job: int, victims: Sequence[tuple[int, Why]]) -> bool:
    for victim, kind in victims:
        clock._note(Kind.PREEMPTED, victim, job, kind)
        clock._stopped(victim)
    return True


def uses_two_attempts(clock: Clock, job: int, _: Why) -> None:
    clock.placements[job] += 1


# --- updates ----------------------------------------------------------------------------------------------


def keeps_its_priority(patch: Patch) -> None:
    change = State.set_priority

    def unless_it_runs(state: State, job: int, priority: int) -> None:
        if state.phase[job] is not Phase.RUNNING:
            change(state, job, priority)

    patch.setattr(State, "set_priority", unless_it_runs)


def takes_jobs_all_the_same(clock: Clock, **_: Any) -> None:
    clock.accepts = [name in clock.policy.shares for name in clock.state.share_names]


def stops_everyone_above(clock: Clock, _: Any) -> None:
    """R11: a lowered capacity of the environment stops nothing."""
    if clock.policy.service_environment.state is Switch.ENABLED:
        lowered = [
            c for cells in clock.state.cells_of for c, u in cells if clock.state.now_total[u] > clock.state.pool[u]
        ]
        clock._stop_above_limit(lowered)


MUTANTS = (
    Mutant(
        "borrowers are served last come, first served", instead(Pass, "_by_idle_assignment", last_come_first_served), 48
    ),
    Mutant("shares are offered capacity by name", instead(Pass, "_in_order", by_name), 5),
    Mutant("nothing is held for claimants", for_laws.nothing_is_held, 99),
    Mutant("the newest claim is served first", newest_claim_first, 41),
    Mutant("no victim is put back", for_laws.no_victim_is_put_back, 0),
    Mutant("owners respect priority", for_laws.owners_respect_priority, 23),
    Mutant("R12.1 is forgotten", without_rule(Rule.ENVIRONMENT), 2),
    Mutant("R12.2 is forgotten", without_rule(Rule.LIMIT), 0),
    Mutant("R12.3 is forgotten", without_rule(Rule.BORROW_LIMIT), 10),
    Mutant("R12.4 is forgotten", without_rule(Rule.LENDERS), 49),
    Mutant("what is over-committed is reserved all the same", after(State, "adopt", is_not_over_committed), 10),
    Mutant("reserved capacity is lent", for_laws.reserved_capacity_is_lent, 10),
    Mutant("bounds are one too wide", for_laws.bounds_are_one_too_wide, 0),
    Mutant("no borrow limit limits", instead(Bounds, "borrow_allowance", lambda *_: None), 0),
    Mutant("percentages are rounded up", instead(bounds, "percent_of", lambda part, of, _: -(-part * of // 100)), 4),
    Mutant("only the first instance group counts", after(State, "add", knows_one_unit), 4),
    Mutant("equals are stopped", for_laws.equals_are_stopped, 6),
    Mutant("in-share comes before reclaim", after(Pass, "__init__", reclaims_last), 41),
    Mutant("a blocked head lets others pass", after(State, "__init__", lets_others_pass), 0),
    Mutant("the oldest is stopped first", answers(Search, "chosen", victims="oldest"), 26),
    Mutant("the excess does not matter", answers(Search, "chosen", victims="lowest_priority"), 5),
    Mutant("a preempted job goes to the back", answers(State, "requeue", requeue="back_of_priority"), 10),
    Mutant("one requeue too many", after(Clock, "__init__", may_be_requeued_once_more), 0),
    Mutant("no checkpoint is kept", instead(Clock, "_keep_checkpoints", keeps_no_checkpoint), 0),
    Mutant("a restart takes no time", before(Clock, "started", starts_afresh), 0),
    Mutant("capacity is released at the decision", instead(Clock, "preempted", releases_at_once), 5),
    Mutant("a victim never ends by itself", before(Clock, "preempted", works_until_the_stop), 56),
    Mutant("an attempt counts twice", before(Clock, "_fail_attempt", uses_two_attempts), 27),
    Mutant("a running job keeps its priority", keeps_its_priority, 104),
    Mutant("a disabled share takes new jobs", after(Clock, "_adopt", takes_jobs_all_the_same), 8),
    Mutant("a disabled environment dispatches", after(State, "adopt", keeps_dispatching), 3),
    Mutant("a lowered limit stops nobody at once", instead(Clock, "_stop_above_limit", lambda *_: None), 356),
    Mutant("a lowered environment stops jobs", after(Clock, "_update_queue", stops_everyone_above), 12),
)
