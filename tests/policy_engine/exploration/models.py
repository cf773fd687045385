"""Random models, small enough to be explored without any reduction."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from random import Random

from policy_engine.exploration.explored import Bounds, Explored
from policy_engine.exploration.space import PER_DECISION, Space
from policy_engine.exploration.watch import Watch
from policy_engine.policy import Policy
from policy_engine.proving.watches import watch_for
from policy_engine.scheduler.choices import BY_NAME, Choices
from policy_engine.scheduler.jobs import Job, Timing, Workload
from policy_engine.scheduler.state import Phase, State
from policy_engine.simulation import Clock
from policy_engine.workload.expected import (
    AlwaysExpectation,
    AnyExpectation,
    AtExpectation,
    JobExpectation,
    NeverExpectation,
    ShareExpectation,
)
from tests.policy_engine.logs import UNIT, policy_of

STRATEGIES = ("LEND", "RESERVE", "LEND_AND_BORROW", "LEND_AND_BORROW 100", "LEND_AND_BORROW in_share")


class Plain(Space):
    """Follows every end of a job, also where the state after it has been met before its pass."""

    def _was_met(self, clock: Clock, ending: int, at: float) -> bool:  # noqa: ARG002
        return False


@dataclass(frozen=True)
class Model:
    """A policy, a workload with open durations, and the choices that are open."""

    policy: Policy
    workload: Workload
    open: frozenset[str]
    choices: Choices

    def space(self, watch: Watch, *, symmetry: bool = True, partial_order: bool = True, meeting: bool = True) -> Space:
        return (Space if meeting else Plain)(
            self.policy,
            self.workload,
            self.choices,
            self.open,
            watch,
            symmetry=symmetry,
            partial_order=partial_order,
        )

    def broken(self, wanted: AnyExpectation, bounds: Bounds, **reductions: bool) -> Explored:
        return self.space(watch_for(wanted, self.workload), **reductions).explore(bounds)


def model(seed: int, least_jobs: int, most_jobs: int) -> Model:
    """The model of a seed, with so many jobs: full of ties, so that reductions have something to reduce.

    Few jobs are more likely than many.
    """
    random = Random(seed)  # noqa: S311 (a test's choice, not a secret)
    count = min(random.randint(least_jobs, most_jobs), random.randint(least_jobs, most_jobs))
    durations = random.choice(((None,), (None, None, None, None, None, 100.0)))
    names = ("a", "b", "c")[: random.choice((2, 2, 3))]
    line = f"{random.choice((1, 1, 2))} {random.choice(STRATEGIES)}"
    alike = random.random() < 0.3
    lines = {name: line if alike else f"{random.choice((1, 1, 2))} {random.choice(STRATEGIES)}" for name in names}
    policy = policy_of(lines)
    jobs = tuple(
        Job(
            f"j{number}",
            random.choice(names),
            {UNIT: random.choice((1, 1, 1, 1, 2))},
            random.choice((0, 0, 0, 1)),
            submit=random.choice((0.0, 0.0, 0.0, 60.0)),
            duration=random.choice(durations),
        )
        for number in range(count)
    )
    share_open = random.choice((0.5, 0.9))
    opened = frozenset(name for name in sorted(PER_DECISION) if random.random() < share_open)
    choices = Choices(
        reclaim_or_in_share="any" if "reclaim_or_in_share" in opened else "reclaim_first",
        requeue=random.choice(("keep_place", "back_of_priority")),
        head_of_line=random.choice(("strict", "skip")),
        victims=random.choice(("borrowed_first", *BY_NAME["victims"].alternatives)),
        share_order=random.choice(("oldest_head", *BY_NAME["share_order"].alternatives)),
    )
    timing = Timing(stop_seconds=random.choice((0.0, 0.0, 20.0)))
    return Model(policy, Workload(jobs, timing=timing), opened, choices)


def questions(model: Model) -> list[AnyExpectation]:
    """One expectation of each kind: what is remembered on the way differs."""
    share, job = model.workload.jobs[-1].share, model.workload.jobs[0].name
    return [
        NeverExpectation.model_validate({"never": {"share": share, "preempted": "any"}}),
        AlwaysExpectation.model_validate({"always": "no_futile_preemption"}),
        AtExpectation.model_validate({"at": 70, "dispatched": [job]}),
        JobExpectation.model_validate({"job": job, "preempted": {"at_most": 1}}),
        JobExpectation.model_validate({"job": job, "starts_within": 50}),
        ShareExpectation.model_validate({"share": share, "preemptions_suffered": {"at_most": 1}}),
        ShareExpectation.model_validate({"share": share, "borrowed": {"at_most": 1}}),
        AlwaysExpectation.model_validate({"always": "no_preemption_cycle"}),
        AlwaysExpectation.model_validate({"always": {"owner_reclaims": {"within": 20}}}),
        AlwaysExpectation.model_validate({"always": {"disruption_ratio": {"at_most": 1}}}),
    ]


@dataclass
class Recording:
    """Breaks nothing; writes down every state in which nothing more need happen."""

    checkpoints: Sequence[float] = ()
    named: frozenset[str] = frozenset()
    by_moves: bool = False
    at_rest: bool = True
    seen: set[Hashable] = field(default_factory=set)
    moves: int = 0

    def memory(self, clock: Clock) -> Hashable:  # noqa: ARG002
        return None

    def touches(self, state: State, move: object) -> bool:  # noqa: ARG002
        return False

    def moved(self, clock: Clock, move: object) -> bool:  # noqa: ARG002
        self.moves += 1
        return False

    def settled(self, clock: Clock, since: int, instant: float | None) -> bool:  # noqa: ARG002
        return False

    def ended(self, clock: Clock) -> bool:
        self.seen.add(outcome(clock))
        return False


def outcome(clock: Clock) -> Hashable:
    """What a state is whatever the names of jobs: of each share, how many jobs of which kind are at what."""
    state = clock.state
    shares = []
    for number, name in enumerate(state.share_names):
        jobs = sorted(
            (phase.name, job.instances, state.priority[n])
            for n, (job, phase) in enumerate(zip(clock.jobs, state.phase, strict=True))
            if state.share_of[n] == number and Phase.NEW < phase < Phase.ENDED
        )
        share = clock.policy.shares[name]
        declared = (share.strategy.value, share.borrow_limit, share.limit(UNIT), share.in_share_preemption)
        shares.append((str(declared), tuple(jobs)))
    return tuple(sorted(shares))
