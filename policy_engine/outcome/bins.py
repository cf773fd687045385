"""How the instances of a unit are used over time, as means over equal spans: what ``steps`` tells, of long runs.

``steps`` makes an object of every change with an entry for every share in it. Here a change costs the same whatever the
number of shares: what lenders lend and have free is in proportion to what they have idle, so that the proportions alone
are added up, and each share's part is reckoned when its own usage changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from policy_engine.outcome.history import policies
from policy_engine.policy import Policy
from policy_engine.scheduler.bounds import Bounds
from policy_engine.scheduler.log import RELEASES, Kind
from policy_engine.simulation import Run


@dataclass(frozen=True, slots=True)
class Span:
    """Means over one span of time, in instances, of a share or of all together."""

    own: float
    borrowed: float
    lent: float
    """Of a share alone."""
    reserved: float
    free: float
    unallocated: float
    """Of all together alone."""


@dataclass(frozen=True, slots=True)
class Course:
    """One share, or all together."""

    spans: tuple[Span, ...]
    most: Span
    """The highest levels; of ``lent``, ``reserved`` and ``free`` of a share the highest means."""
    most_used: float
    """Most instances in use at once."""


@dataclass(frozen=True, slots=True)
class Bins:
    """The instances of one unit from 0 to the end."""

    width: float
    """Seconds of each span."""
    queue: Course
    shares: Mapping[str, Course]


def bins(run: Run, unit: str, count: int, end: float) -> Bins:
    """How the instances of the unit are used from 0 to ``end`` seconds, in ``count`` equal spans."""
    walk = _Walk(run, unit, count, end)
    for at, share, more in _changes(run, unit, walk):
        walk.change(at, share, more)
    return walk.bins()


def _changes(run: Run, unit: str, walk: _Walk) -> Iterator[tuple[float, str, int]]:
    """When a share uses so many more; tells the walk of other policies as they come."""
    jobs, held = run.workload.jobs, bytearray(len(run.workload.jobs))
    adopted = dict(policies(run))
    walk.adopt(0.0, adopted.pop(-1))
    started, finished = Kind.STARTED, Kind.FINISHED
    for index, (at, kind, job, _, _, _) in enumerate(run.log.rows):
        if adopted and index in adopted:
            walk.adopt(at, adopted[index])
        elif kind is started:
            held[job] = 1
            if (used := jobs[job].demand.get(unit)) is not None:
                yield at, jobs[job].share, used
        elif (kind is finished or kind in RELEASES) and held[job]:
            held[job] = 0
            if (used := jobs[job].demand.get(unit)) is not None:
                yield at, jobs[job].share, -used


@dataclass(slots=True)
class _Share:
    """What one share has now, and what it comes to in the present span."""

    limit: int = 0
    lends: bool = False
    used: int = 0
    since: float = 0.0
    lent_read: float = 0.0
    free_read: float = 0.0
    reserved_read: float = 0.0
    sums: list[float] = field(default_factory=lambda: [0.0] * 5)
    """Instance-seconds in the present span: own, borrowed, lent, reserved, free."""
    spans: list[Span] = field(default_factory=list)
    most_own: int = 0
    most_borrowed: int = 0
    most_used: int = 0

    @property
    def own(self) -> int:
        """Instances in use inside its limit."""
        return self.used if self.used < self.limit else self.limit


class _Walk:
    """Adds up along time. The totals are of all shares; ``per_*`` are integrals of a part over time."""

    def __init__(self, run: Run, unit: str, count: int, end: float) -> None:
        self.choices = run.choices
        self.unit = unit
        self.count = count
        self.width = end / count
        self.at = 0.0
        self.shares = {name: _Share() for name in run.policy.shares}
        self.capacity = self.limits = 0
        self.own = self.borrowed = self.lendable = self.kept = 0
        self.lent = self.free = self.reserved = self.unallocated = 0
        self.per_lent = self.per_free = self.per_reserved = 0.0
        """Instance-seconds lent and free per instance that could be lent, and kept back per instance kept."""
        self.sums = [0.0] * 5
        """own, borrowed, reserved, free, unallocated."""
        self.spans: list[Span] = []
        self.most = [0] * 6
        """The same, and in use."""

    def adopt(self, at: float, policy: Policy) -> None:
        """Another policy takes effect."""
        self._pass(at)
        bounds = Bounds(policy, self.choices)
        for name, share in self.shares.items():
            self._read(share)
            declared = policy.shares.get(name)
            share.limit = 0 if declared is None else declared.limit(self.unit)
            share.lends = declared is not None and bounds.lends(name)
        self.capacity = policy.capacity(self.unit)
        self.limits = sum(share.limit for share in self.shares.values())
        self.own = sum(share.own for share in self.shares.values())
        self.borrowed = sum(share.used - share.own for share in self.shares.values())
        self.lendable = sum(share.limit - share.own for share in self.shares.values() if share.lends)
        self.kept = self.limits - self.own - self.lendable
        self._divide()

    def change(self, at: float, name: str, more: int) -> None:
        """From ``at`` seconds on the share uses so many more."""
        self._pass(at)
        share = self.shares[name]
        self._read(share)
        own = share.own
        share.used += more
        grown = share.own - own
        self.own += grown
        self.borrowed += more - grown
        if share.lends:
            self.lendable -= grown
        else:
            self.kept -= grown
        self._divide()

    def _divide(self) -> None:
        """What every idle instance is; see ``steps``."""
        idle = max(0, self.capacity - self.own - self.borrowed)
        self.lent = min(self.borrowed, self.lendable)
        unowned = max(0, self.capacity - self.limits) - (self.borrowed - self.lent)
        self.unallocated = min(idle, max(0, unowned))
        overcommitted = max(0, self.limits - self.capacity)
        self.reserved = min(idle - self.unallocated, max(0, self.kept - overcommitted))
        self.free = idle - self.unallocated - self.reserved

    def _pass(self, at: float) -> None:
        """Nothing changes until ``at`` seconds."""
        while at > self.at:
            edge = self.width * (len(self.spans) + 1)
            last = len(self.spans) == self.count - 1
            stop = at if last or at < edge else edge
            self._add(stop - self.at)
            self.at = stop
            if stop == edge and not last:
                self._close()

    def _add(self, span: float) -> None:
        if span <= 0:
            return
        if self.lendable:
            self.per_lent += span * self.lent / self.lendable
            self.per_free += span * self.free / self.lendable
        if self.kept:
            self.per_reserved += span * self.reserved / self.kept
        levels = self.own, self.borrowed, self.reserved, self.free, self.unallocated
        sums, most = self.sums, self.most
        for place, level in enumerate(levels):
            if level:
                sums[place] += level * span
                if level > most[place]:
                    most[place] = level
        if self.own + self.borrowed > most[5]:
            most[5] = self.own + self.borrowed

    def _read(self, share: _Share) -> None:
        """Add up what the share came to since it was read last."""
        span, own = self.at - share.since, share.own
        if span > 0:
            sums, idle = share.sums, share.limit - own
            sums[0] += own * span
            sums[1] += (share.used - own) * span
            if share.lends:
                sums[2] += idle * (self.per_lent - share.lent_read)
                sums[4] += idle * (self.per_free - share.free_read)
            else:
                sums[3] += idle * (self.per_reserved - share.reserved_read)
            share.since = self.at
            share.most_own = max(share.most_own, own)
            share.most_borrowed = max(share.most_borrowed, share.used - own)
            share.most_used = max(share.most_used, share.used)
        share.lent_read, share.free_read, share.reserved_read = self.per_lent, self.per_free, self.per_reserved

    def _close(self) -> None:
        """A span is over."""
        own, borrowed, reserved, free, unallocated = (seconds / self.width for seconds in self.sums)
        self.spans.append(Span(own, borrowed, 0.0, reserved, free, unallocated))
        self.sums = [0.0] * 5
        for share in self.shares.values():
            self._read(share)
            own, borrowed, lent, reserved, free = (seconds / self.width for seconds in share.sums)
            share.spans.append(Span(own, borrowed, lent, reserved, free, 0.0))
            share.sums = [0.0] * 5

    def bins(self) -> Bins:
        """All of it, to the end."""
        self._pass(self.width * self.count)
        self._close()
        own, borrowed, reserved, free, unallocated, used = self.most
        queue = Course(tuple(self.spans), Span(own, borrowed, 0.0, reserved, free, unallocated), used)
        return Bins(self.width, queue, {name: self._course(share) for name, share in self.shares.items()})

    def _course(self, share: _Share) -> Course:
        means = (max(span.lent for span in share.spans), max(span.reserved for span in share.spans))
        most = Span(share.most_own, share.most_borrowed, *means, max(span.free for span in share.spans), 0.0)
        return Course(tuple(share.spans), most, share.most_used)
