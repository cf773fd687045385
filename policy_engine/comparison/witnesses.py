"""Witnesses: small workloads on which a share's jobs fare worse under the new policy than under the old one.

Found by simulating, the smallest first: every witness has been run under both policies before it is shown, and its
scenario file expects what holds under the old policy and fails under the new one. That none is found proves nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, Final

from policy_engine.comparison.workloads import Effect, Side, effects, side
from policy_engine.expectations import Answer, judge_one
from policy_engine.exploration.counterexample import Counterexample
from policy_engine.outcome import JobOutcome
from policy_engine.outcome.drawing import DrawnStep, drawing
from policy_engine.policy import Policy, State
from policy_engine.proving.showing import scenario_data, scenario_text
from policy_engine.scheduler.bounds import Bounds
from policy_engine.scheduler.choices import Choices
from policy_engine.scheduler.endless import TooManyMovesError
from policy_engine.scheduler.jobs import Job, Timing, Workload
from policy_engine.workload.durations import duration_text
from policy_engine.workload.expected import JobExpectation

MOST_TRIED: Final = 6000
"""Workloads that are run for one share and instance type, and their jobs."""
STOP_SECONDS: Final = 20.0
"""From a preemption to the release of its capacity: AWS's sample event takes about as long."""
_APART: Final = 60.0
"""Seconds between submissions."""
_AFTER: Final = 600.0
"""Seconds that a run goes on after the last one."""


_HEAD: Final = """\
# What is expected here holds under the old policy and fails under the new one:
#   policy-engine compare OLD NEW THIS_FILE
"""


@dataclass(frozen=True)
class Witness:
    """A workload on which jobs of a share fare worse."""

    share: str
    workload: Workload
    choices: Choices
    old: Side
    new: Side
    effects: tuple[Effect, ...]
    """Of every job."""
    losses: tuple[Effect, ...]
    """Of the share's jobs that fare worse."""
    scenario: dict[str, Any]
    """A scenario file, as data; what it expects holds under the old policy and fails under the new one."""
    text: str
    """The same as YAML."""

    def drawing(self, *, old: bool) -> tuple[DrawnStep, ...]:
        """What happens under one of the policies step by step, on the instance types of the jobs."""
        run = (self.old if old else self.new).run
        units = {unit for job in self.workload.jobs for unit in job.demand}
        return drawing(replace(run, policy=_only(run.policy, units)))


def _only(policy: Policy, units: Collection[str]) -> Policy:
    """The policy on these instance types alone: no other has a part in what happens on them."""

    def of(limits: Mapping[str, int]) -> dict[str, int]:
        return {unit: count for unit, count in limits.items() if unit in units}

    environment = policy.service_environment
    return policy.model_copy(
        update={
            "service_environment": environment.model_copy(update={"capacity_limits": of(environment.capacity_limits)}),
            "shares": {
                name: share.model_copy(update={"capacity_limits": of(share.capacity_limits)})
                for name, share in policy.shares.items()
            },
        }
    )


@dataclass(frozen=True)
class Search:
    """Where to look for witnesses."""

    old: Policy
    new: Policy
    choices: Choices
    timing: Timing = field(default_factory=lambda: Timing(stop_seconds=STOP_SECONDS))
    most: int = MOST_TRIED

    def witness(self, share: str, units: Collection[str] = ()) -> Witness | None:
        """A small workload on which jobs of the share fare worse, and none of them better.

        Where none is found, one on which some fare worse and others better; None where there is not even that.
        ``units`` are the instance types on which the share loses something; none: any.
        """
        if not self._takes_jobs(share):
            return None
        second: _Found | None = None
        for unit in units or dict.fromkeys((*self.old.units, *self.new.units)):
            search = self._on(unit)
            for jobs in search._candidates(share, unit):
                found = search._look(share, jobs)
                if found is not None and not found.has_gains:
                    return self._shown(search._shrunk(found))
                second = second or found
        return None if second is None else self._shown(self._shrunk(second))

    def _takes_jobs(self, share: str) -> bool:
        """Could it run any under the old policy? Else none can fare worse."""
        old = self.old
        declared = old.shares.get(share)
        states = (old.state, old.service_environment.state, declared and declared.state)
        return all(state is State.ENABLED for state in states)

    def _on(self, unit: str) -> Search:
        """The same on one instance type alone, which is quicker."""
        return replace(self, old=_only(self.old, {unit}), new=_only(self.new, {unit}))

    def _look(self, share: str, jobs: tuple[Job, ...]) -> _Found | None:
        """The workload under both policies, where jobs of the share fare worse."""
        workload = Workload(jobs, timing=self.timing, until=max(job.submit for job in jobs) + _AFTER)
        try:
            old, new = (side(policy, workload, self.choices) for policy in (self.old, self.new))
        except TooManyMovesError:
            return None
        every = effects(workload, old, new)
        own = [effect for effect in every if effect.job.share == share]
        losses = [effect for effect in own if effect.is_worse and _expected(effect) is not None]
        if not losses:
            return None
        return _Found(share, workload, old, new, every, losses, any(effect.is_better for effect in own))

    def _shrunk(self, found: _Found) -> _Found:
        """Without what is not needed: jobs, then instances, then priorities; the last ones first."""
        for smaller in (_without_job, _with_fewer, _with_fewer, _without_priority):
            for number in reversed(range(len(found.workload.jobs))):
                if number >= len(found.workload.jobs):
                    continue
                for jobs in smaller(found.workload.jobs, number):
                    other = self._look(found.share, jobs)
                    if other is not None and other.has_gains <= found.has_gains:
                        found = other
                        break
        return found

    def _shown(self, found: _Found) -> Witness | None:
        """With its scenario file, run under the whole policies.

        None where what it expects is not as it should be, which would be a bug.
        """
        whole = self._look(found.share, found.workload.jobs)
        if whole is None:
            return None
        found = whole
        wanted = [expected for effect in found.losses if (expected := _expected(effect)) is not None]
        kept = [one for one in wanted if _tells_apart(one, found)]
        if not kept:
            return None
        run = found.old.run
        data = scenario_data(Counterexample(run.policy, found.workload, self.choices, (), run), {}, None)
        data["expect"] = kept
        comment = "".join(f"# {told(effect)}\n" for effect in found.losses)
        return Witness(
            found.share,
            found.workload,
            self.choices,
            found.old,
            found.new,
            found.effects,
            tuple(found.losses),
            data,
            f"{comment}{_HEAD}{scenario_text(data)}",
        )

    # --- what is tried --------------------------------------------------------------------------------

    def _candidates(self, share: str, unit: str) -> Iterator[tuple[Job, ...]]:
        """Workloads on one instance type, each once: what the others run together first, then one by one."""
        bounds = [Bounds(policy, self.choices) for policy in (self.old, self.new)]
        levels = {name: _levels(bounds, name, unit) for name in {**self.old.shares, **self.new.shares}}
        own = list(_own(share, unit, levels[share]))
        capacities = [policy.capacity(unit) for policy in (self.old, self.new)]
        seen: set[tuple[_Piece, ...]] = set()
        left = self.most
        for fills in _fills(share, unit, levels, capacities):
            for fill, mine in product(fills, own):
                for pieces in ((*fill, *mine), (*mine, *fill)):
                    if pieces not in seen:
                        seen.add(pieces)
                        left -= 1 + len(pieces)
                        yield _jobs(pieces)
                        if left < 0:
                            return


@dataclass(frozen=True)
class _Found:
    """A workload on which jobs of the share fare worse."""

    share: str
    workload: Workload
    old: Side
    new: Side
    effects: tuple[Effect, ...]
    losses: list[Effect]
    has_gains: bool
    """Do others of its jobs fare better?"""


_Piece = tuple[str, str, int, int]
"""Share, instance type, instances, priority."""


@dataclass(frozen=True, slots=True)
class _Levels:
    """Instances at which something changes for a share: under the policy that has less, and the other one."""

    limits: tuple[int, int]
    reach: tuple[int, int]
    old_reach: int


def _levels(bounds: Sequence[Bounds], name: str, unit: str) -> _Levels:
    def both(number: Callable[[Bounds], int]) -> tuple[int, int]:
        return tuple(number(one) if name in one.policy.shares else 0 for one in bounds)  # type: ignore[return-value]

    limits = both(lambda one: one.policy.shares[name].limit(unit))
    reach = both(lambda one: one.reachable(name, unit))
    return _Levels((min(limits), max(limits)), (min(reach), max(reach)), reach[0])


def _steps(share: str, unit: str, levels: tuple[int, int]) -> tuple[_Piece, ...]:
    """Jobs that fill a share up to the lower level, and from there to the higher one."""
    low, high = levels
    return tuple((share, unit, count, 0) for count in (low, high - low) if count)


def _own(share: str, unit: str, levels: _Levels) -> Iterator[tuple[_Piece, ...]]:
    """What jobs of the share may come: of every size that matters, on the share's own and beyond it."""
    low, high = levels.limits
    most = levels.old_reach
    sizes = dict.fromkeys(size for size in (1, low, high, most, most - low, most - high) if 0 < size <= most)
    for size in sizes:
        yield ((share, unit, size, 0),)
    bases = [((share, unit, base, 0),) for base in (low, high, most) if 0 < base <= most]
    for base in dict.fromkeys((*bases, _steps(share, unit, levels.limits), _steps(share, unit, levels.reach))):
        for size in sizes:
            yield (*base, (share, unit, size, 0))
            yield (*base, (share, unit, size, 1))


def _fills(
    share: str, unit: str, levels: dict[str, _Levels], capacities: Sequence[int]
) -> Iterator[list[tuple[_Piece, ...]]]:
    """What other shares may run, the plainest first.

    Nothing; one of them, to its limit or as far as it can reach; all of them; all as long as the environment has room;
    all but one. Of many shares all come before each, which would be too many to try.
    """
    limits = {name: _steps(name, unit, level.limits) for name, level in levels.items() if name != share}
    reach = {name: _steps(name, unit, level.reach) for name, level in levels.items() if name != share}
    yield [()]
    each = [pieces for name in limits for pieces in (limits[name], reach[name])]
    every = [_together(limits), _together(reach)]
    yield from (each, every) if len(limits) <= _FEW else (every, each)
    most = [(name, levels[name].limits[1]) for name in limits]
    rotated = [[*most[n:], *most[:n]] for n in range(len(most))]
    yield [_filled(unit, shares, capacity) for capacity in dict.fromkeys(capacities) for shares in rotated]
    others = {name: _together({other: limits[other] for other in limits if other != name}) for name in limits}
    yield [pieces for name, rest in others.items() for pieces in (rest, (*reach[name], *rest))]


_FEW: Final = 6
"""Other shares of which each is tried before all together."""


def _together(jobs: Mapping[str, tuple[_Piece, ...]]) -> tuple[_Piece, ...]:
    return tuple(piece for pieces in jobs.values() for piece in pieces)


def _filled(unit: str, shares: Sequence[tuple[str, int]], capacity: int) -> tuple[_Piece, ...]:
    """Every share to its limit, one after the other, as long as the environment has room."""
    pieces: list[_Piece] = []
    for share, limit in shares:
        count = min(limit, capacity)
        if count:
            pieces.append((share, unit, count, 0))
        capacity -= count
    return tuple(pieces)


def _jobs(pieces: Sequence[_Piece]) -> tuple[Job, ...]:
    return tuple(
        Job(f"{share[:100]}-{number + 1}", share, {unit: count}, priority=priority or None, submit=number * _APART)
        for number, (share, unit, count, priority) in enumerate(pieces)
    )


def _pieces(jobs: tuple[Job, ...]) -> list[_Piece]:
    return [(job.share, *next(iter(job.demand.items())), job.priority or 0) for job in jobs]


def _without_job(jobs: tuple[Job, ...], number: int) -> Iterator[tuple[Job, ...]]:
    pieces = _pieces(jobs)
    if len(pieces) > 1:
        yield _jobs(pieces[:number] + pieces[number + 1 :])


def _with_fewer(jobs: tuple[Job, ...], number: int) -> Iterator[tuple[Job, ...]]:
    """With one, half or all but one of its instances."""
    pieces = _pieces(jobs)
    share, unit, count, priority = pieces[number]
    for fewer in dict.fromkeys((1, count // 2, count - 1)):
        if 0 < fewer < count:
            yield _jobs([*pieces[:number], (share, unit, fewer, priority), *pieces[number + 1 :]])


def _without_priority(jobs: tuple[Job, ...], number: int) -> Iterator[tuple[Job, ...]]:
    pieces = _pieces(jobs)
    share, unit, count, priority = pieces[number]
    if priority:
        yield _jobs([*pieces[:number], (share, unit, count, 0), *pieces[number + 1 :]])


# --- what it expects, and in words --------------------------------------------------------------------


def _expected(effect: Effect) -> dict[str, Any] | None:
    """What holds of the job under the old policy, as a scenario file has it, and not under the new one."""
    old, new, job = effect.old, effect.new, effect.job
    if old is None or old.wait_seconds is None:
        return None
    if new is None or new.wait_seconds is None or new.wait_seconds > old.wait_seconds:
        return {"job": job.name, "starts_within": old.wait_seconds}
    if new.preemptions > old.preemptions:
        return {"job": job.name, "preempted": old.preemptions}
    if new.lost_instance_seconds > old.lost_instance_seconds:
        return {"job": job.name, "lost_work": {"at_most": old.lost_instance_seconds}}
    return None


def _tells_apart(wanted: dict[str, Any], found: _Found) -> bool:
    """Does it hold under the old policy, and fail under the new one where the job can be submitted at all?"""
    expectation = JobExpectation.model_validate(wanted)
    if judge_one(found.old.run, expectation).verdict is not Answer.HOLDS:
        return False
    return wanted["job"] in found.new.refused or judge_one(found.new.run, expectation).verdict is Answer.FAILS


def told(effect: Effect) -> str:
    """What becomes of a job under both policies, in one sentence without a full stop."""
    job = effect.job
    size = " and ".join(f"{count:,} {unit}" for unit, count in job.demand.items())
    starts = [_start(outcome) for outcome in (effect.old, effect.new)]
    parts = []
    if starts[0] != starts[1]:
        parts.append(f"{starts[0]} under the old policy and {starts[1]} under the new one")
    before, after = (0 if outcome is None else outcome.preemptions for outcome in (effect.old, effect.new))
    if before != after:
        parts.append(f"is preempted {_times(before)} under the old policy and {_times(after)} under the new one")
    if not parts:
        parts.append(
            "loses more work under the new policy" if effect.is_worse else "fares no worse under the new policy"
        )
    return f"{job.name} ({size}) {' and '.join(parts)}"


def _times(count: int) -> str:
    return {0: "never", 1: "once", 2: "twice"}.get(count, f"{count:,} times")


def _start(outcome: JobOutcome | None) -> str:
    if outcome is None:
        return "cannot be submitted"
    if outcome.state == "FAILED" and outcome.wait_seconds is None:
        return "fails"
    if outcome.wait_seconds is None:
        return "never starts"
    return f"starts after {duration_text(outcome.wait_seconds)}" if outcome.wait_seconds else "starts at once"
