"""What a policy promises, in closed form: per share and instance type, and who can stop whose jobs.

Nothing is simulated. With X = max(0, sum of limits - environment capacity) and C' = min(environment capacity, sum
of limits) on an instance type, every number follows from the declaration (``Guarantees in closed form`` of the
specification; AWS Batch User Guide pages ``quota-shares`` and ``preemption``).

Two answers to open choices are taken for granted, as they change what is promised only for the worse or not at all:
C6 ``unusable`` and C10 ``no``. C7, C12 and C16 are those that are given.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING

from policy_engine.scheduler.bounds import Bounds, Rule
from policy_engine.scheduler.choices import Choices

if TYPE_CHECKING:
    from policy_engine.policy import Policy


@dataclass(frozen=True, slots=True)
class Guarantee:
    """What one share has of one instance type, in instances."""

    share: str
    unit: str
    limit: int
    """Its own limit."""
    guaranteed: int
    """What it can always have back, after ``reclaim_seconds``, for heads no larger than this.

    A larger head waits for what can be borrowed, and under C5 ``strict`` holds the share meanwhile.
    """
    reachable: int
    """The most that it can ever hold."""
    lendable: int
    """What it lends while it is idle."""
    largest_job: int
    """The largest job that can ever run in it."""
    larger_jobs: Rule
    """The rule that keeps a job of one instance more from ever running (R12)."""
    most_evicted: MostEvicted
    is_contested: bool
    """Can jobs of other shares hold what it could have back?"""

    @property
    def at_risk(self) -> int:
        """What it can hold and owners can take back at any time."""
        return self.reachable - self.guaranteed

    def reclaim_seconds(self, stop_seconds: float) -> float:
        """Seconds from a head's arrival until it has guaranteed capacity, at the latest.

        All victims of one claim stop at once, the next head of the share need not wait for that, and what is
        being stopped already is over sooner: so it is ``stop_seconds`` (C14) once, under C13
        ``held_for_claimant``. Nothing where no other share's jobs can be in the way. A ``queue_latency`` comes
        on top.
        """
        return stop_seconds if self.is_contested else 0.0


@dataclass(frozen=True, slots=True)
class MostEvicted:
    """The most instances of one type that one arrival in a share can stop, by the kind of preemption.

    One arrival is one job on that type alone, whatever its size, and one decision: victims that come back may stop
    others in turn. The sizes of jobs are not declared, so they are the worst that the bounds allow: a job is stopped
    as a whole, and the last victim may be far larger than what is still missing. Every minimal legal set counts (C8),
    not only the one that the default picks.

    Equal to what an exhaustive search finds.
    """

    across_shares: int
    """At least one victim is of another share; where the share has in-share preemption, some may be its own."""
    within_share: int
    """All victims are of the share itself; 0 without in-share preemption."""

    @property
    def either(self) -> int:
        """The most, of whatever kind."""
        return max(self.across_shares, self.within_share)


class Kind(StrEnum):
    """Kinds of preemption (UG preemption)."""

    CROSS_SHARE = "cross_share"
    IN_SHARE = "in_share"


@dataclass(frozen=True, slots=True)
class Preemption:
    """Jobs of one share may stop jobs of another, or of the same."""

    share: str
    """Whose jobs arrive."""
    takes_from: str
    """Whose jobs are stopped."""
    unit: str
    kind: Kind
    why: str


def guarantees(policy: Policy, choices: Choices | None = None) -> tuple[Guarantee, ...]:
    """What every share has of every instance type that it declares or can borrow, in order of declaration.

    Source: ``Guarantees in closed form`` of the specification, from UG quota-shares.
    """
    bounds = Bounds(policy, choices)
    of_unit = {unit: _OnUnit(bounds, unit) for unit in policy.units}
    return tuple(
        of_unit[unit].guarantee(name)
        for name, share in policy.shares.items()
        for unit in _ordered(share.capacity_limits, of_unit)
        if unit in share.capacity_limits or of_unit[unit].reachable[name]
    )


def preemptions(policy: Policy, choices: Choices | None = None) -> tuple[Preemption, ...]:
    """Who can stop whose jobs, and why: by owner in order of declaration, across shares first.

    An owner takes capacity back where it lends the type and the other can reach beyond its own limit (R7); also where
    it reserves it and the limits sum to more than the environment holds, since what is over-committed goes to whoever
    comes first. Within a share, a higher priority takes from a lower where in-share preemption is on (R8).
    """
    bounds = Bounds(policy, choices)
    of_unit = [_OnUnit(bounds, unit) for unit in policy.units]
    return tuple(row for name in policy.shares for unit in of_unit for row in unit.preemptions(name))


def _ordered(own: dict[str, int], others: dict[str, _OnUnit]) -> tuple[str, ...]:
    """The share's own instance types as it declares them, then the others."""
    return tuple(dict.fromkeys((*own, *others)))


class _OnUnit:
    """The shares of a policy on one instance type."""

    def __init__(self, bounds: Bounds, unit: str) -> None:
        self.bounds = bounds
        self.policy = bounds.policy
        self.unit = unit
        self.limit = {name: share.limit(unit) for name, share in self.policy.shares.items()}
        self.reachable = {name: bounds.reachable(name, unit) for name in self.limit}
        total = sum(self.limit.values())
        self.overcommitted = max(0, total - self.policy.capacity(unit))
        self.usable = min(self.policy.capacity(unit), total)

    @cached_property
    def kept(self) -> dict[str, int]:
        """What shares keep for themselves while they are idle, by share."""
        return {name: limit for name, limit in self.limit.items() if not self.bounds.lends(name)}

    def guarantee(self, name: str) -> Guarantee:
        reachable = self.reachable[name]
        return Guarantee(
            share=name,
            unit=self.unit,
            limit=self.limit[name],
            guaranteed=self.guaranteed(name),
            reachable=reachable,
            lendable=self.limit[name] if self.bounds.lends(name) else 0,
            largest_job=reachable,
            larger_jobs=next(rule for rule, most in self.bounds.allowances(name, self.unit) if most <= reachable),
            most_evicted=self.most_evicted(name),
            is_contested=self.guaranteed(name) > 0 and self.is_contested(name),
        )

    def guaranteed(self, name: str) -> int:
        return max(0, self.limit[name] - self.overcommitted)

    def borrowers(self, owner: str) -> list[str]:
        """The other shares that can reach beyond their own limit."""
        return [name for name in self.limit if name != owner and self.reachable[name] > self.limit[name]]

    def is_contested(self, owner: str) -> bool:
        """Can other shares be over their limits at the owner's expense?"""
        exposed = owner not in self.kept or self.overcommitted > 0
        return self.limit[owner] > 0 and exposed and bool(self.borrowers(owner))

    def preemptions(self, owner: str) -> Iterator[Preemption]:
        if self.is_contested(owner):
            for name in self.borrowers(owner):
                yield Preemption(owner, name, self.unit, Kind.CROSS_SHARE, self._why(owner, name))
        if self.policy.shares[owner].in_share_preemption and self.reachable[owner]:
            why = f"{owner} has in-share preemption on: a higher priority stops a strictly lower one"
            yield Preemption(owner, owner, self.unit, Kind.IN_SHARE, why)

    def _why(self, owner: str, borrower: str) -> str:
        beyond = f"{borrower} can reach {self.reachable[borrower]} with a limit of {self.limit[borrower]}"
        if owner not in self.kept:
            return f"{owner} lends {self.unit}, and {beyond}"
        return f"the limits sum to {self.overcommitted} more than the environment holds, and {beyond}"

    # --- the most that one arrival can evict -----------------------------------------------------

    def most_evicted(self, owner: str) -> MostEvicted:
        in_share = self.policy.shares[owner].in_share_preemption
        across = 0
        if self.is_contested(owner):
            across = self._mixed(owner) if in_share else self._across(owner)
        # One job of the share may hold all that the share can reach.
        return MostEvicted(across, self.reachable[owner] if in_share else 0)

    def _mixed(self, owner: str) -> int:
        """With victims of the owner's own: as many of them as fall short by one, and the largest borrower.

        A job as large as the limit L must end up inside it, so every job of the share has to go; they may hold up to
        L - 1 without being enough, and then a borrower's job goes too, however large.
        """
        own = self.limit[owner] - 1
        room = self.usable - max(0, sum(self.kept.values()) - self.kept.get(owner, 0) - self.overcommitted)
        return min(room, own + max(self.reachable[name] for name in self.borrowers(owner)))

    def _across(self, owner: str) -> int:
        """Victims of other shares alone: one job, or one of each of several shares.

        Several jobs of one share do no more than one job of the same size.
        """
        low = max(self.reachable[name] for name in self.borrowers(owner))
        high = self.usable - max(0, sum(self.kept.values()) - self.overcommitted)
        while low < high:
            middle = (low + high + 1) // 2
            if self._several_hold(owner, middle):
                low = middle
            else:
                high = middle - 1
        return low

    def _several_hold(self, owner: str, instances: int) -> bool:
        """Can jobs of several shares hold so many instances and all have to stop for one arrival?

        All but the smallest fall short of what is needed, which is at most one more than ``short``. So each holds at
        least ``least``, its share is over its limit with it, and together these shares use no more than there is.
        """
        short = self._most_missing(owner) - 1
        least = max(1, instances - short)
        room = self.usable - max(0, sum(self.kept.values()) - self.overcommitted)
        most: dict[int, dict[int, int]] = {0: {0: 0}}
        """Number of shares to what they use at least, to the most that jobs of theirs can hold."""
        for name in self.borrowers(owner):
            reachable = self.reachable[name]
            if reachable >= least:
                most = _with_share(most, max(least, self.limit[name] + 1), reachable, room)
        several = range(2, instances // least + 1)
        return any(held >= instances for count in several for held in most.get(count, {}).values())

    def _most_missing(self, owner: str) -> int:
        """The most instances that the owner can lack for a job as large as its limit."""
        limit = self.limit[owner]
        others = sum(reachable for name, reachable in self.reachable.items() if name != owner)
        left = max(0, self.usable - others)
        if owner in self.kept:
            left = max(left, self.guaranteed(owner))
        return limit - min(limit, left)


def _with_share(
    most: Mapping[int, Mapping[int, int]], uses: int, reachable: int, room: int
) -> dict[int, dict[int, int]]:
    """What sets of shares use at least and hold at most, with one more share in some of them.

    Of two sets of as many shares, one that uses no less and holds no more is left out.
    """
    found = {count: dict(sets) for count, sets in most.items()}
    for count, sets in most.items():
        larger = found.setdefault(count + 1, {})
        for used, held in sets.items():
            if used + uses <= room:
                larger[used + uses] = max(held + reachable, larger.get(used + uses, 0))
    return {count: _best(sets) for count, sets in found.items() if sets}


def _best(sets: Mapping[int, int]) -> dict[int, int]:
    best: dict[int, int] = {}
    most = -1
    for used, held in sorted(sets.items()):
        if held > most:
            best[used] = most = held
    return best
