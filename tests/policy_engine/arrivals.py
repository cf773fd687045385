"""What one arrival may stop, by trying: every state of a small queue, every size, every minimal legal set.

One instance type, and jobs are their sizes; every job of the arrival's own share has a lower priority than it.
States are those that starts and ends lead to. The rules are those of ``scheduling.md`` (One pass), written once more
and as plainly as they can be.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from policy_engine.policy import Policy
from policy_engine.scheduler.bounds import Bounds

State = tuple[tuple[int, ...], ...]
"""For each share the sizes of its jobs, sorted."""
Victim = tuple[int, int]
"""Share and size."""


@dataclass
class Seen:
    """What was seen of one share in all states."""

    largest: int = 0
    """Largest job that started."""
    most_used: int = 0
    across_shares: int = 0
    """Most instances stopped by one arrival, where a victim is of another share."""
    within_share: int = 0
    takes_from: set[str] = field(default_factory=set)
    blocked: int | None = None
    """Least usage, a job that is inside the share's limit counted, at which that job had to wait."""


class Queue:
    """A policy on its only instance type."""

    def __init__(self, policy: Policy) -> None:
        (unit,) = policy.units
        bounds = Bounds(policy)
        shares = list(policy.shares.values())
        self.names = list(policy.shares)
        self.limit = [share.limit(unit) for share in shares]
        self.bound = [bounds.bound(name, unit) for name in self.names]
        self.reserves = [not share.strategy.lends for share in shares]
        self.in_share = [share.in_share_preemption for share in shares]
        self.capacity = policy.capacity(unit)

    def room(self, usage: Sequence[int], share: int) -> int:
        total = sum(self.limit)
        idle = sum(
            max(0, limit - used)
            for other, (limit, used) in enumerate(zip(self.limit, usage, strict=True))
            if other != share and self.reserves[other]
        )
        return min(self.capacity, total) - sum(usage) - max(0, idle - max(0, total - self.capacity))

    def fits(self, usage: Sequence[int], share: int, count: int) -> bool:
        return usage[share] + count <= self.bound[share] and count <= self.room(usage, share)

    def states(self) -> set[State]:
        empty: State = tuple(() for _ in self.names)
        seen = {empty}
        todo = [empty]
        while todo:
            for state in self._after(todo.pop()):
                if state not in seen:
                    seen.add(state)
                    todo.append(state)
        return seen

    def _after(self, state: State) -> Iterator[State]:
        usage = [sum(jobs) for jobs in state]
        for share, jobs in enumerate(state):
            for count in range(1, self.bound[share] + 1):
                if self.fits(usage, share, count):
                    yield _with(state, share, tuple(sorted((*jobs, count))))
            for count in set(jobs):
                at = jobs.index(count)
                yield _with(state, share, jobs[:at] + jobs[at + 1 :])

    def minimal_legal_sets(self, state: State, share: int, count: int) -> list[list[Victim]]:
        usage = [sum(jobs) for jobs in state]
        jobs = [(other, size) for other, sizes in enumerate(state) for size in sizes]
        found: list[set[int]] = []
        for size in range(1, len(jobs) + 1):
            for chosen in combinations(range(len(jobs)), size):
                if not any(smaller <= set(chosen) for smaller in found) and self._is_legal(
                    usage, share, count, [jobs[i] for i in chosen]
                ):
                    found.append(set(chosen))
        return [[jobs[i] for i in sorted(chosen)] for chosen in found]

    def _is_legal(self, usage: Sequence[int], share: int, count: int, victims: Sequence[Victim]) -> bool:
        others = [victim for victim in victims if victim[0] != share]
        if len(others) < len(victims) and not self.in_share[share]:
            return False
        after = list(usage)
        for other, size in victims:
            after[other] -= size
        if others and (count > self.limit[share] or after[share] + count > self.limit[share]):
            return False
        return self.fits(after, share, count) and self._can_be_taken(usage, others)

    def _can_be_taken(self, usage: Sequence[int], victims: Sequence[Victim]) -> bool:
        """Each while its share is over its limit: smaller jobs first leave the most of that."""
        left = list(usage)
        for share, size in sorted(victims):
            if left[share] <= self.limit[share]:
                return False
            left[share] -= size
        return True

    def look(self) -> dict[str, Seen]:
        """Let a job of every size arrive in every share in every state."""
        seen = [Seen() for _ in self.names]
        for state in self.states():
            usage = [sum(jobs) for jobs in state]
            for share, noted in enumerate(seen):
                noted.most_used = max(noted.most_used, usage[share])
                noted.largest = max(noted.largest, *state[share], 0)
                for count in range(1, self.bound[share] + 1):
                    if not self.fits(usage, share, count):
                        self._note(noted, state, share, count)
        return dict(zip(self.names, seen, strict=True))

    def _note(self, noted: Seen, state: State, share: int, count: int) -> None:
        sets = self.minimal_legal_sets(state, share, count)
        for victims in sets:
            instances = sum(size for _, size in victims)
            others = {self.names[other] for other, _ in victims if other != share}
            noted.takes_from |= others
            if others:
                noted.across_shares = max(noted.across_shares, instances)
            else:
                noted.within_share = max(noted.within_share, instances)
        used = sum(state[share]) + count
        if not any(all(other != share for other, _ in victims) for victims in sets) and used <= self.limit[share]:
            noted.blocked = used if noted.blocked is None else min(noted.blocked, used)


def _with(state: State, share: int, jobs: tuple[int, ...]) -> State:
    return (*state[:share], jobs, *state[share + 1 :])
