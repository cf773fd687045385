"""One fault for each law, put into the engine where only that law notices it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from policy_engine.scheduler import moves
from policy_engine.scheduler.moves import Pass
from policy_engine.scheduler.state import Phase, State
from policy_engine.scheduler.victims import Kind, Search
from policy_engine.simulation import Clock

Patch = pytest.MonkeyPatch


def bounds_are_one_too_wide(patch: Patch) -> None:
    adopt = State.adopt

    def wider(state: State, policy: Any) -> None:
        adopt(state, policy)
        state.bound = [bound + 1 for bound in state.bound]

    patch.setattr(State, "adopt", wider)


def reserved_capacity_is_lent(patch: Patch) -> None:
    adopt = State.adopt

    def lending(state: State, policy: Any) -> None:
        adopt(state, policy)
        state.keeps = [False] * len(state.keeps)
        state.always_keeps = list(state.keeps)
        state._recount()

    patch.setattr(State, "adopt", lending)


def nothing_is_held(patch: Patch) -> None:
    patch.setattr(State, "_hold", lambda *_: None)
    patch.setattr(State, "held_for", lambda *_: 0)


def owners_respect_priority(patch: Patch) -> None:
    chosen = Search.chosen

    def gated(search: Search) -> list[int] | None:
        victims = chosen(search)
        if search.kind is Kind.CROSS and any(search.state.priority[v] >= search.priority for v in victims or ()):
            return None
        return victims

    patch.setattr(Search, "chosen", gated)


def a_victim_is_forgotten(patch: Patch) -> None:
    chosen = Search.chosen
    patch.setattr(Search, "chosen", lambda search: (victims := chosen(search)) and (victims[1:] or victims))


def no_victim_is_put_back(patch: Patch) -> None:
    patch.setattr(Search, "chosen", Search.taken)


def equals_are_stopped(patch: Patch) -> None:
    made = Search.__init__

    def bolder(search: Search, state: State, job: int, kind: Kind, **more: bool) -> None:
        made(search, state, job, kind, **more)
        search.priority += 1

    patch.setattr(Search, "__init__", bolder)


def anybody_loses_to_an_owner(patch: Patch) -> None:
    chosen = Search.chosen

    def harsher(search: Search) -> list[int] | None:
        state = search.state
        running = (job for job, phase in enumerate(state.phase) if phase is Phase.RUNNING)
        others = [job for job in running if state.share_of[job] != search.share]
        alone = ([job] for job in others if search.kind is Kind.CROSS and search.fits([job]))
        return next(alone, chosen(search))

    patch.setattr(Search, "chosen", harsher)


def a_pass_may_go_on(patch: Patch) -> None:
    patch.setattr(moves, "MOVES_PER_JOB", 1 << 60)


def a_pass_stops_too_soon(patch: Patch) -> None:
    reclaim, looked = Pass._reclaim_own_part, [0]

    def now_and_then(made: Pass, looks: dict[int, int]) -> Any:
        looked[0] += 1
        return reclaim(made, looks) if looked[0] % 2 == 0 else iter(())

    patch.setattr(Pass, "_reclaim_own_part", now_and_then)


def an_end_leaves_an_instance_behind(patch: Patch) -> None:
    end = State.end

    def leaking(state: State, job: int) -> None:
        end(state, job)
        state.now[state.demand[job][0][0]] += 1

    patch.setattr(State, "end", leaking)


def shares_slow_each_other_down(patch: Patch) -> None:
    started = Clock.started

    def slower(clock: Clock, job: int) -> None:
        usual, clock.start_seconds = clock.start_seconds, float(sum(clock.state.now_total))
        started(clock, job)
        clock.start_seconds = usual

    patch.setattr(Clock, "started", slower)


MUTANTS: dict[str, Callable[[Patch], None]] = {
    "within_bounds": bounds_are_one_too_wide,
    "reserved_never_lent": reserved_capacity_is_lent,
    "held_for_its_claimant": nothing_is_held,
    "no_claimant_is_left": owners_respect_priority,
    "no_futile_eviction": a_victim_is_forgotten,
    "victims_are_minimal": no_victim_is_put_back,
    "only_lower_in_share": equals_are_stopped,
    "only_over_limit_loses": anybody_loses_to_an_owner,
    "a_pass_ends": a_pass_may_go_on,
    "nothing_moves_at_rest": a_pass_stops_too_soon,
    "instances_are_conserved": an_end_leaves_an_instance_behind,
    "alone": shares_slow_each_other_down,
}
