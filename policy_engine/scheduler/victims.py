"""Whose jobs may be stopped for a claimant, and which of the legal sets is taken (C8).

A set is *legal* where stopping all of it makes the claimant fit after, each victim of another share
was over its share's limit when it was taken (in some order of taking), each victim of the claimant's
own share has strictly lower priority, and, with any victim of another share, the claimant ends up
inside its own limit (R7, R8; ``scheduling.md``, A legal set).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import IntFlag
from itertools import combinations
from typing import NamedTuple

from policy_engine.scheduler.state import Demand, RunKey, State


class Kind(IntFlag):
    """From where victims may come."""

    CROSS = 1
    """Jobs of other shares that are over their limit (a reclaim)."""
    OWN = 2
    """Jobs of the claimant's share with strictly lower priority."""
    MIXED = 3
    """At least one of each."""


class Shortfall(NamedTuple):
    """What a claimant would still lack on a unit."""

    cell: int
    unit: int
    wanted: int
    """Instances that it asks for."""
    left: int
    """Instances that bound and room would leave it."""


class Search:
    """The legal sets for one claimant on the state as it stands."""

    __slots__ = ("cells", "counted", "job", "kind", "partly", "priority", "share", "state", "takes_cross", "takes_own")

    def __init__(self, state: State, job: int, kind: Kind, *, partly: bool = False) -> None:
        """``partly``: the claimant may end up beyond its own limit (C10)."""
        self.state = state
        self.job = job
        self.kind = kind
        self.takes_cross, self.takes_own = kind is not Kind.OWN, kind is not Kind.CROSS
        self.partly = partly
        self.share = state.share_of[job]
        self.priority = state.priority[job]
        demand = state.demand[job]
        short = demand if len(demand) == 1 else [part for part in demand if state.is_short(*part)]
        self.cells = [
            (share * len(state.unit_names) + unit, unit)
            for _, unit, _ in short
            for share in sorted(state.over[unit])
            if share != self.share
        ]
        """Cells of other shares over their limit, on the units that the claimant is short of."""
        self.counted = {cell - unit + other for cell, unit in self.cells for _, other, _ in short}
        """Cells of those shares on any of these units."""

    # --- legality -------------------------------------------------------------------------------

    def fits(self, victims: Iterable[int]) -> bool:
        """Would the claimant fit after, were all of these stopped?"""
        state = self.state
        freed: dict[int, int] = {}
        crosses = False
        for victim in victims:
            crosses = crosses or state.share_of[victim] != self.share
            for cell, _, count in state.demand[victim]:
                freed[cell] = freed.get(cell, 0) + count
        return self.shortfall(freed, crosses=crosses) is None

    def shortfall(self, freed: dict[int, int], *, crosses: bool) -> Shortfall | None:
        """What it would lack, were so many instances of each cell freed; None where it would fit.

        ``crosses``: some of them are other shares'.
        """
        state = self.state
        state.freshen()
        units = len(state.unit_names)
        blocked_owners_keep = state.choices.blocked_owner_lends == "no"
        for cell, unit, count in state.demand[self.job]:
            used = state.after[cell] - freed.get(cell, 0) + count
            most = state.limit[cell] if crosses and not self.partly else state.bound[cell]
            if used > most:
                return Shortfall(cell, unit, count, most - used + count)
            kept = state.kept_after_total[unit] - state.kept_after[cell] - state.overcommitted[unit]
            room = (state.borrow_pool if used > state.limit[cell] else state.pool)[unit] - state.after_total[unit]
            for other, gone in freed.items():
                if other % units == unit:
                    room += gone
                    if other != cell and (state.keeps[other] or blocked_owners_keep):
                        kept += state.kept_if(other, state.after[other] - gone) - state.kept_after[other]
            if kept > 0:
                room -= kept
            if count > room:
                return Shortfall(cell, unit, count, room)
        return None

    def takeable(self, victims: Iterable[int]) -> bool:
        """Is there an order in which each victim's share is over its limit when it is taken?

        Worked out backwards: a job that may be taken last may be, as taking the others earlier leaves
        their share further over its limit.
        """
        state = self.state
        by_share: dict[int, list[int]] = {}
        for victim in victims:
            if state.share_of[victim] != self.share:
                by_share.setdefault(state.share_of[victim], []).append(victim)
        cells = {cell for cell, _ in self.cells}
        return all(self._orderable(jobs, cells) for jobs in by_share.values())

    def _orderable(self, jobs: list[int], cells: set[int]) -> bool:
        state = self.state
        excess = {
            cell: state.after[cell] - state.limit[cell] for v in jobs for cell, _, _ in state.demand[v] if cell in cells
        }
        for victim in jobs:
            for cell, _, count in state.demand[victim]:
                if cell in excess:
                    excess[cell] -= count
        left = list(jobs)
        while left:
            last = next(
                (v for v in left if any(c in excess and excess[c] + n > 0 for c, _, n in state.demand[v])), None
            )
            if last is None:
                return False
            left.remove(last)
            for cell, _, count in state.demand[last]:
                if cell in excess:
                    excess[cell] += count
        return True

    def legal(self, victims: list[int]) -> bool:
        """Is this a legal set of this kind?"""
        if not victims or not self.fits(victims) or not self.takeable(victims):
            return False
        if self.kind is Kind.MIXED:
            own = sum(self.state.share_of[v] == self.share for v in victims)
            return 0 < own < len(victims)
        return True

    # --- candidates -----------------------------------------------------------------------------

    def own_candidates(self) -> list[RunKey]:
        """Running jobs of the own share with strictly lower priority, in the default's order."""
        state = self.state
        demand = state.demand[self.job]
        if len(demand) == 1:
            keys = state.runners[demand[0][0]]
        else:
            keys = sorted({key for cell, _, _ in demand for key in state.runners[cell]})
        return [key for key in keys if key[0] < self.priority]

    def cross_candidates(self) -> list[RunKey]:
        """Running jobs of other shares over their limit, in the order of their keys."""
        return sorted({key for cell, _ in self.cells for key in self.state.runners[cell]})

    def _order(self) -> Callable[[RunKey], tuple[object, ...]]:
        """The key of C8 by which victims are taken, without what a share borrows."""
        match self.state.choices.victims:
            case "newest":
                return lambda key: (key[1], key)
            case "oldest":
                return lambda key: (-key[1], key)
            case "largest":
                return lambda key: (-self.state.jobs[-key[3]].instances, key)
        return lambda key: key

    # --- the rule's choice ----------------------------------------------------------------------

    def chosen(self) -> list[int] | None:
        """The set that the rule of C8 stops, in the order taken; None where there is none."""
        if self._counting_suffices():
            found, walked_out = self._chosen_by_count()
            if not walked_out:
                return found
        taken = self.taken()
        if taken is None or self.state.choices.victims == "fewest_jobs":
            return taken
        return self.prune(taken)

    def taken(self) -> list[int] | None:
        """The first legal set of C8, in the order taken and not pruned yet; None where there is none."""
        if not self.possible():
            return None
        if self.state.choices.victims == "fewest_jobs":
            return self._smallest()
        taken = self._greedy()
        if taken is None and self.kind is not Kind.OWN:
            taken = self._depth_first([], frozenset())
        return taken

    def _counting_suffices(self) -> bool:
        """Is a set legal as soon as it has enough instances? So it is on one unit, where nobody keeps what is freed."""
        state, choices = self.state, self.state.choices
        return (
            len(state.demand[self.job]) == 1
            and self.kind is not Kind.MIXED
            and not self.partly
            and choices.victims in ("borrowed_first", "lowest_priority")
            and choices.unallocated == "unusable"
            and choices.blocked_owner_lends == "yes"
            and not any(state.keeps[cell] for cell, _ in self.cells)
        )

    def _chosen_by_count(self) -> tuple[list[int] | None, bool]:
        """What ``chosen`` comes to, by counting instances; true where only the search can tell."""
        state = self.state
        ((cell, unit, count),) = state.demand[self.job]
        lacking = count - state.room_after(cell, unit, state.pool[unit])
        taken: list[int] = []
        sizes: list[int] = []
        if self.kind is Kind.OWN:
            lacking = max(lacking, state.after[cell] + count - state.bound[cell])
            for key in state.runners[cell]:
                if key[0] >= self.priority:
                    break
                taken.append(-key[3])
                sizes.append(_count_on(state.demand[-key[3]], cell))
                lacking -= sizes[-1]
                if lacking <= 0:
                    return _without_spare(taken, sizes, -lacking), False
            return None, False
        if state.after[cell] + count > state.limit[cell] or sum(state.after[c] for c, _ in self.cells) < lacking:
            return None, False
        while lacking > 0:
            victim = self._next_cross(taken, set(taken))
            if victim is None:
                return None, True
            taken.append(victim)
            base = state.share_of[victim] * len(state.unit_names)
            sizes.append(_count_on(state.demand[victim], base + unit))
            lacking -= sizes[-1]
        return _without_spare(taken, sizes, -lacking), False

    def _smallest(self) -> list[int] | None:
        """The smallest legal set; among those the first in the order of taking."""
        keys = self.cross_candidates() if self.takes_cross else []
        if self.takes_own:
            keys = [*keys, *self.own_candidates()]
        sizes = sorted((self.state.jobs[-key[3]].instances for key in keys), reverse=True)
        lacking = self._lacking()
        for size in range(1, len(keys) + 1):
            if sum(sizes[:size]) >= lacking and (found := self._of_size([], size, sizes, lacking)) is not None:
                return found
        return None

    def _lacking(self) -> int:
        """Instances without which no set can make room, on the unit where most are lacking."""
        state = self.state
        rooms = ((n, state.room_after(cell, unit, state.borrow_pool[unit])) for cell, unit, n in state.demand[self.job])
        return max(count - room for count, room in rooms)

    def _of_size(self, taken: list[int], size: int, sizes: list[int], lacking: int) -> list[int] | None:
        """The first legal set of ``taken`` and so many jobs more."""
        if size == 0:
            return taken if self.legal(taken) else None
        passed_over = set(taken)
        while (victim := self.next_victim(taken, passed_over)) is not None:
            rest = lacking - self.state.jobs[victim].instances
            if sum(sizes[: size - 1]) >= rest:
                found = self._of_size([*taken, victim], size - 1, sizes, rest)
                if found is not None:
                    return found
            passed_over.add(victim)
        return None

    def possible(self) -> bool:
        """Would all candidates together do?"""
        freed = self.most_freed()
        return freed is not None and self.shortfall(freed, crosses=self.takes_cross) is None

    def most_freed(self) -> dict[int, int] | None:
        """Instances of each cell that all candidates together hold; None where a kind has no candidates."""
        state = self.state
        freed: dict[int, int] = {}
        if self.takes_cross:
            if not self.cells:
                return None
            for over, _ in self.cells:
                for cell, _ in state.cells_of[over // len(state.unit_names)]:
                    freed[cell] = state.after[cell]
        if self.takes_own:
            keys = self.own_candidates()
            if not keys:
                return None
            for key in keys:
                for cell, _, count in state.demand[-key[3]]:
                    freed[cell] = freed.get(cell, 0) + count
        return freed

    def _greedy(self) -> list[int] | None:
        """Take candidates in order until the set is legal; None where they run out first."""
        taken: list[int] = []
        out: set[int] = set()
        while True:
            victim = self.next_victim(taken, out)
            if victim is None:
                return None
            taken.append(victim)
            out.add(victim)
            if self.legal(taken):
                return taken

    def next_victim(self, taken: list[int], out: set[int] | frozenset[int]) -> int | None:
        """The next candidate in order that is not in ``out``; the excess as it is after ``taken``."""
        if self.takes_cross:
            victim = self._next_cross(taken, out)
            if victim is not None:
                return victim
        if self.takes_own:
            keys = (key for key in self.own_candidates() if -key[3] not in out)
            key = min(keys, key=self._order(), default=None)
            return None if key is None else -key[3]
        return None

    def _next_cross(self, taken: list[int], out: set[int] | frozenset[int]) -> int | None:
        state = self.state
        excess = {cell: state.after[cell] - state.limit[cell] for cell in self.counted}
        for victim in taken:
            for cell, _, count in state.demand[victim]:
                if cell in excess:
                    excess[cell] -= count
        borrowed_first = state.choices.victims in ("borrowed_first", "fewest_jobs")
        order = self._order()
        best: tuple[bool, tuple[object, ...]] | None = None
        victim_found: int | None = None
        for cell, _ in self.cells:
            if excess[cell] <= 0:
                continue
            for key in state.runners[cell]:
                victim = -key[3]
                if victim in out:
                    continue
                too_large = borrowed_first and any(c in excess and n > excess[c] for c, _, n in state.demand[victim])
                rank = (too_large, order(key))
                if best is None or rank < best:
                    best, victim_found = rank, victim
                if borrowed_first and not too_large:
                    break  # later ones of this cell have later keys
        return victim_found

    def _depth_first(self, taken: list[int], out: frozenset[int]) -> list[int] | None:
        """Go on where the walk ended without a set: leave the last job taken out, and so on."""
        if self.legal(taken):
            return taken
        while True:
            victim = self.next_victim(taken, out | set(taken))
            if victim is None:
                return None
            longer = [*taken, victim]
            if self._may_become_legal(longer, out):
                found = self._depth_first(longer, out)
                if found is not None:
                    return found
            out = out | {victim}

    def _may_become_legal(self, taken: list[int], out: frozenset[int]) -> bool:
        """Could more victims, none of them in ``out``, still make a legal set of ``taken``?

        Exact under ``borrowed_first``, so that the search never goes astray; under other orders an
        upper bound. A claimant of several units is not looked ahead for.
        """
        state = self.state
        if len(state.demand[self.job]) > 1:
            return True
        freed: dict[int, int] = {}
        if self.takes_own:
            for key in self.own_candidates():
                if -key[3] not in out:
                    for cell, _, count in state.demand[-key[3]]:
                        freed[cell] = freed.get(cell, 0) + count
        for cell, _ in self.cells:
            jobs = {-key[3] for key in state.runners[cell]} - out
            counts = {v: n for v in jobs for c, _, n in state.demand[v] if c == cell}
            excess = state.after[cell] - state.limit[cell]
            must = [counts[v] for v in taken if v in counts]
            may = [n for v, n in counts.items() if v not in taken]
            freed[cell] = most_taken(must, may, excess)
        return self.shortfall(freed, crosses=self.takes_cross) is None

    def prune(self, taken: list[int]) -> list[int]:
        """Walk back from the last but one; put back every job without which the set is still legal."""
        kept = list(taken)
        for victim in reversed(taken[:-1]):
            fewer = [v for v in kept if v != victim]
            if self.legal(fewer):
                kept = fewer
        return kept

    # --- every choice ---------------------------------------------------------------------------

    def minimal_sets(self) -> Iterator[list[int]]:
        """Every inclusion-minimal legal set, smallest first."""
        if not self.possible():
            return
        jobs = self.candidates()
        found: list[set[int]] = []
        for size in range(1, len(jobs) + 1):
            for subset in combinations(jobs, size):
                chosen = set(subset)
                if any(smaller <= chosen for smaller in found) or not self.legal(list(subset)):
                    continue
                if self.kind is Kind.MIXED and self.one_kind_does(subset):
                    continue
                found.append(chosen)
                yield list(subset)

    def candidates(self) -> list[int]:
        """Every job that may be in a set: other shares' first, each in the order of its key."""
        keys = self.cross_candidates() if self.takes_cross else []
        if self.takes_own:
            keys = [*keys, *self.own_candidates()]
        return [-key[3] for key in keys]

    def is_minimal(self, victims: list[int]) -> bool:
        """Are these candidates a legal set of this kind, and all of them needed?"""
        if not set(victims) <= set(self.candidates()) or not self.legal(victims):
            return False
        if self.kind is Kind.MIXED and self.one_kind_does(victims):
            return False
        return not any(self.legal([other for other in victims if other != victim]) for victim in victims)

    def one_kind_does(self, victims: Iterable[int]) -> bool:
        """Would those of one kind among them do by themselves?"""
        own = [victim for victim in victims if self.state.share_of[victim] == self.share]
        cross = [victim for victim in victims if self.state.share_of[victim] != self.share]
        return self.fits(own) or self.fits(cross)


def _count_on(demand: Demand, cell: int) -> int:
    """Instances that a job of this demand holds on the cell."""
    for other, _, count in demand:
        if other == cell:
            return count
    return 0


def _without_spare(taken: list[int], sizes: list[int], spare: int) -> list[int]:
    """Walk back from the last but one; put back every job whose instances can be spared."""
    kept = [taken[-1]]
    for victim, size in zip(reversed(taken[:-1]), reversed(sizes[:-1]), strict=True):
        if size <= spare:
            spare -= size
        else:
            kept.append(victim)
    return kept[::-1]


def most_taken(must: list[int], may: list[int], excess: int) -> int:
    """Most instances that jobs of one share can give, each taken while the share is over its limit.

    ``must`` are the counts of jobs that are in the set, ``may`` of those that can be; the share is
    ``excess`` over its limit. All but one (the last taken) must sum to less than the excess.
    """
    everything = sum(must) + sum(may)
    counts = must + may
    if not counts or everything - max(counts) < excess:
        return everything
    best = -1
    for last in sorted(set(counts), reverse=True):
        rest_must = list(must)
        rest_may = list(may)
        (rest_must if last in rest_must else rest_may).remove(last)
        sums = 1 << sum(rest_must)
        for count in rest_may:
            sums |= sums << count
        sums &= (1 << max(excess, 0)) - 1  # sums below the excess
        if sums:
            best = max(best, sums.bit_length() - 1 + last)
    return max(best, 0)


def above_limit(state: State, lowered: Iterable[int]) -> list[int]:
    """Jobs to stop so that a share is within its limits on these cells (C11 ``at_once``), in the default's order."""
    cells = {cell: state.after[cell] - state.limit[cell] for cell in lowered}
    taken: list[int] = []
    while any(excess > 0 for excess in cells.values()):
        keys = {key for cell, excess in cells.items() if excess > 0 for key in state.runners[cell]}
        counts = {
            key: [(c, n) for c, _, n in state.demand[-key[3]] if c in cells] for key in keys if -key[3] not in taken
        }
        if not counts:
            break
        key = min(counts, key=lambda key: (any(n > max(0, cells[c]) for c, n in counts[key]), key))
        taken.append(-key[3])
        for cell, count in counts[key]:
            cells[cell] -= count
    for victim in reversed(taken[:-1]):
        counts_of = [(cell, count) for cell, _, count in state.demand[victim] if cell in cells]
        if all(cells[cell] + count <= 0 for cell, count in counts_of):
            taken.remove(victim)
            for cell, count in counts_of:
                cells[cell] += count
    return taken
