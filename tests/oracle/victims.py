"""Legal sets of victims, by trying: the walk of the specification, and every minimal set."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import combinations

from tests.oracle.world import Books, JobState, World

Victims = tuple[JobState, ...]


class Search:
    """For whom victims are sought, and of which kinds."""

    def __init__(
        self, books: Books, claimant: JobState, *, others: bool, own: bool, partly_borrowed: bool = False
    ) -> None:
        self.world = books.world
        self.claimant = claimant
        self.others = others
        """Jobs of other shares that are over their limit."""
        self.own = own
        """Jobs of its own share with lower priority."""
        self.partly_borrowed = partly_borrowed
        """C10: the claimant goes beyond its share's limit and takes back its own part alone."""
        self.short = books.short_of(claimant)
        """The units on which it lacks room or bound: other shares' victims run on one of them."""

    def is_other(self, victim: JobState) -> bool:
        return victim.share != self.claimant.share

    def is_own(self, victim: JobState) -> bool:
        share = self.world.shares[self.claimant.share]
        return not self.is_other(victim) and share.in_share and victim.priority < self.claimant.priority

    def candidates(self) -> list[JobState]:
        """Every job that may be taken, at some time or other."""
        return [
            job
            for job in self.world.jobs
            if job.running
            and ((self.others and self.is_other(job) and self.may_be_taken(job, ())) or (self.own and self._own(job)))
        ]

    def _own(self, job: JobState) -> bool:
        return self.is_own(job) and any(unit in job.job.demand for unit in self.claimant.job.demand)

    def may_be_taken(self, victim: JobState, taken: Collection[JobState]) -> bool:
        """Is the victim's share over its limit, on a unit that is short, once those are taken?"""
        books = Books(self.world, taken)
        return any(unit in victim.job.demand and books.excess(victim.share, unit) > 0 for unit in self.short)

    def fits_after(self, victims: Collection[JobState]) -> bool:
        """Will the claimant fit, and where it must be, inside its own limit?"""
        books = Books(self.world, victims)
        if not books.will_fit(self.claimant):
            return False
        if self.partly_borrowed or not any(map(self.is_other, victims)):
            return True
        return books.inside(self.claimant)

    def is_legal(self, victims: Collection[JobState]) -> bool:
        """Is this a legal set of exactly the kinds that are sought?"""
        others = [v for v in victims if self.is_other(v)]
        kinds = (bool(others), len(others) < len(victims))
        return kinds == (self.others, self.own) and self.fits_after(victims) and self._in_some_order(others, ())

    def _in_some_order(self, victims: Sequence[JobState], taken: Victims) -> bool:
        if not victims:
            return True
        return any(
            self.may_be_taken(v, taken) and self._in_some_order([w for w in victims if w is not v], (*taken, v))
            for v in victims
        )

    def in_order(self, candidates: Collection[JobState], taken: Victims) -> list[JobState]:
        """Those that may be taken next, in the order of C8: other shares' first, then its own."""
        books = Books(self.world, taken)
        others = [c for c in candidates if self.is_other(c) and self.may_be_taken(c, taken)]
        own = [c for c in candidates if not self.is_other(c)]
        rule = self.world.choices.victims
        others.sort(key=lambda c: order_key(rule, c, fits_into_excess(books, c, self.short)))
        own.sort(key=lambda c: order_key(rule, c, fits=True))
        return others + own


def fits_into_excess(books: Books, job: JobState, units: Collection[str]) -> bool:
    """Does its share stay at or above its limit without the job?"""
    return all(count <= books.excess(job.share, unit) for unit, count in job.job.demand.items() if unit in units)


def order_key(rule: str, job: JobState, fits: bool) -> tuple[float, ...]:
    """The place of a job in the order of C8."""
    default = (job.priority, -job.dispatched_at, -job.submitted, -job.order)
    first: dict[str, tuple[float, ...]] = {
        "borrowed_first": (not fits,),
        "fewest_jobs": (not fits,),
        "lowest_priority": (),
        "newest": (-job.dispatched_at,),
        "oldest": (job.dispatched_at,),
        "largest": (-job.job.instances,),
    }
    return (*first[rule], *default)


def chosen_set(search: Search) -> Victims | None:
    """The set that is stopped for the claimant, in the order taken and pruned; None where there is none."""
    candidates = search.candidates()
    if not candidates or not search.fits_after(candidates):
        return None
    if search.world.choices.victims == "fewest_jobs":
        sizes = range(1, len(candidates) + 1)
        return next((found for size in sizes if (found := _of_size(search, candidates, (), size))), None)
    found = _walk(search, candidates, ())
    return None if found is None else _pruned(search, found)


def _of_size(search: Search, candidates: list[JobState], taken: Victims, size: int) -> Victims | None:
    """The first legal set of so many jobs more, in the order of taking."""
    if size == 0:
        return taken if search.is_legal(taken) else None
    for job in search.in_order(candidates, taken):
        found = _of_size(search, [c for c in candidates if c is not job], (*taken, job), size - 1)
        if found is not None:
            return found
    return None


def _walk(search: Search, candidates: list[JobState], taken: Victims) -> Victims | None:
    """Depth-first: take the next job; where that leads nowhere, leave it out."""
    if search.is_legal(taken):
        return taken
    following = search.in_order(candidates, taken)
    if not following:
        return None
    job = following[0]
    rest = [c for c in candidates if c is not job]
    found = _walk(search, rest, (*taken, job))
    return found if found is not None else _walk(search, rest, taken)


def _pruned(search: Search, victims: Victims) -> Victims:
    """Walk back from the last but one and put back every job without which the set is still legal."""
    for job in victims[-2::-1]:
        without = tuple(v for v in victims if v is not job)
        if search.is_legal(without):
            victims = without
    return victims


def minimal_legal_sets(world: World, claimant: JobState) -> list[frozenset[str]]:
    """The names of every inclusion-minimal legal set, of either kind or mixed."""
    legal: list[frozenset[JobState]] = []
    for victims in _legal_sets(world, claimant):
        if not any(smaller <= victims for smaller in legal):
            legal.append(victims)
    return [frozenset(v.name for v in victims) for victims in legal]


def _legal_sets(world: World, claimant: JobState) -> Iterator[frozenset[JobState]]:
    """Every legal set, smaller ones first."""
    books = Books(world)
    if books.can_start(claimant) or books.will_fit(claimant):
        return
    both = Search(books, claimant, others=True, own=True)
    kinds = [Search(books, claimant, others=True, own=False), Search(books, claimant, others=False, own=True), both]
    candidates = both.candidates()
    for size in range(1, len(candidates) + 1):
        for victims in combinations(candidates, size):
            if any(search.is_legal(victims) for search in kinds):
                yield frozenset(victims)


def until_within_limit(world: World, share: str, units: Collection[str]) -> Victims:
    """C11 ``at_once``: whom to stop until the share is within its limit on the units, or none is left."""
    taken: Victims = ()
    while over := _over(world, share, units, taken):
        books = Books(world, taken)
        left = [
            job
            for job in world.jobs
            if job.running and job.share == share and job not in taken and any(u in job.job.demand for u in over)
        ]
        if not left:
            return taken
        left.sort(key=lambda job: order_key("borrowed_first", job, fits_into_excess(books, job, units)))
        taken = (*taken, left[0])
    for job in taken[-2::-1]:
        without = tuple(v for v in taken if v is not job)
        if not _over(world, share, units, without):
            taken = without
    return taken


def _over(world: World, share: str, units: Collection[str], taken: Victims) -> list[str]:
    books = Books(world, taken)
    return [unit for unit in units if books.excess(share, unit) > 0]
