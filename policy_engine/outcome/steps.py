"""How the instances of a unit are used over time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from policy_engine.outcome.history import policies
from policy_engine.scheduler.bounds import Bounds
from policy_engine.scheduler.log import RELEASES, Kind
from policy_engine.simulation import Run


@dataclass(frozen=True, slots=True)
class Step:
    """The instances of one unit from ``at`` until the next step.

    Every instance is counted once in own + borrowed + reserved + free + unallocated, which add up to the
    environment's capacity (or to the usage, where a lowered capacity is exceeded). ``lent`` shows the borrowed
    ones a second time, from the lenders' side, and has fractions where several lend. Where limits sum to more than
    the environment has, only what is really idle counts as reserved or free.
    """

    at: float
    own: Mapping[str, int]
    """Share to what it uses inside its limit."""
    borrowed: Mapping[str, int]
    """Share to what it uses beyond its limit."""
    lent: Mapping[str, float]
    """Share to what others use of its idle capacity."""
    reserved: Mapping[str, float]
    """Share to its idle capacity that nobody may borrow."""
    free: Mapping[str, float]
    """Share to its idle capacity that is lendable and not lent."""
    unallocated: int
    """Idle capacity of the environment that no share declares."""


def steps(run: Run, unit: str) -> list[Step]:
    """How the instances of the unit are used from 0 to the end of the run: a step wherever that changes."""
    found: list[Step] = []
    changes = iter(policies(run))
    _, policy = next(changes)
    division = _Division(Bounds(policy, run.choices), unit)
    next_change = next(changes, None)
    jobs = run.workload.jobs
    usage = dict.fromkeys(policy.shares, 0)
    held: set[int] = set()
    at, changed = 0.0, True
    for index, (time, kind, job, _, _, _) in enumerate(run.log.rows):
        if changed and time > at:
            division.add_step(found, at, usage)
            changed = False
        at = max(at, time)
        if next_change is not None and next_change[0] == index:
            division = _Division(Bounds(next_change[1], run.choices), unit)
            next_change = next(changes, None)
            changed = True
        elif kind is Kind.STARTED or (kind in RELEASES and job in held):
            held.symmetric_difference_update((job,))
            count = jobs[job].demand.get(unit, 0)
            usage[jobs[job].share] += count if kind is Kind.STARTED else -count
            changed = changed or count > 0
    if changed:
        division.add_step(found, at, usage)
    return found


def idle(run: Run, unit: str) -> Step:
    """The instances of the unit before anything has started."""
    return _Division(Bounds(run.policy, run.choices), unit).step(0.0, dict.fromkeys(run.policy.shares, 0))


class _Division:
    """How a policy divides the instances of one unit."""

    def __init__(self, bounds: Bounds, unit: str) -> None:
        policy = bounds.policy
        self.capacity = policy.capacity(unit)
        self.limits = {name: share.limit(unit) for name, share in policy.shares.items()}
        self.lends = {name: bounds.lends(name) for name in policy.shares}
        self.sum_of_limits = sum(self.limits.values())

    def add_step(self, found: list[Step], at: float, usage: Mapping[str, int]) -> None:
        """Append the step, unless all that happened at the instant came to nothing."""
        step = self.step(at, usage)
        if not found or replace(found[-1], at=at) != step:
            found.append(step)

    def step(self, at: float, usage: Mapping[str, int]) -> Step:
        """What every instance is while shares use this many."""
        limits = {name: self.limits.get(name, 0) for name in usage}
        own = {name: min(used, limits[name]) for name, used in usage.items()}
        borrowed = {name: used - own[name] for name, used in usage.items()}
        lendable = {name: limits[name] - own[name] for name in usage if self.lends.get(name, False)}
        kept = {name: limits[name] - own[name] for name in usage if name not in lendable}
        total_borrowed, total_lendable = sum(borrowed.values()), sum(lendable.values())
        total_lent = min(total_borrowed, total_lendable)
        lent = _split(total_lent, lendable)
        idle = max(0, self.capacity - sum(usage.values()))
        unowned = max(0, self.capacity - self.sum_of_limits) - (total_borrowed - total_lent)
        unallocated = min(idle, max(0, unowned))
        overcommitted = max(0, self.sum_of_limits - self.capacity)
        reserved = min(idle - unallocated, max(0, sum(kept.values()) - overcommitted))
        return Step(
            at=at,
            own=own,
            borrowed=borrowed,
            lent=dict.fromkeys(usage, 0.0) | lent,
            reserved=dict.fromkeys(usage, 0.0) | _split(reserved, kept),
            free=dict.fromkeys(usage, 0.0) | _split(idle - unallocated - reserved, lendable),
            unallocated=unallocated,
        )


def _split(total: int, among: Mapping[str, int]) -> dict[str, float]:
    """The total in proportion to what each has."""
    whole = sum(among.values())
    return {name: total * part / whole if whole else 0.0 for name, part in among.items()}
