"""What a long run came to, in the numbers that people ask for: per share, per size of job, and for the queue.

For runs under one policy, of any number of jobs: every number comes from a few walks over the log. Where a part at the
beginning is a warm-up, jobs submitted in it and what happened in it are left out of every number.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from math import floor
from typing import Final

from policy_engine.outcome.claims import Claims
from policy_engine.outcome.history import PREEMPTIONS
from policy_engine.outcome.ledger import Ledger
from policy_engine.outcome.lives import Lives, submitted_at
from policy_engine.outcome.shares import Waits, waits_of
from policy_engine.simulation import Run

CHECKPOINT_SECONDS: Final = 3600.0
"""Seconds between checkpoints, where a replay has none and is asked what they would have kept."""


@dataclass(frozen=True, slots=True)
class JobMeasures:
    """What became of a group of jobs: of a share, of a size, of all. Seconds."""

    jobs: int
    """Submitted."""
    never_started: int
    wait_seconds: Waits | None
    """To the first start; None where none started."""
    requeued_seconds: float
    """Waiting after preemptions, of all of them together."""
    preemptions_suffered: int


@dataclass(frozen=True, slots=True)
class Lost:
    """Instance-seconds of work that preemptions cost."""

    instance_seconds: float
    """As it was run."""
    without_checkpoints: float
    """Had no job kept anything; reckoned for the same preemptions, though longer jobs would have met more of them."""
    with_checkpoints: float
    """Had every job saved its work every ``Measures.checkpoint_seconds``; for the same preemptions, too."""


@dataclass(frozen=True, slots=True)
class ShareMeasures:
    """One share, all its instance types together."""

    name: str
    jobs: JobMeasures
    reclaim_seconds: Waits | None
    """How long jobs waited that were first in line and inside the share's own limit: the time to get lent capacity
    back. None where none of them had to wait."""
    reclaims: int
    """So many jobs had to."""
    preemptions_caused: int
    instances_claimed: int
    """Instances of its jobs for which others were stopped."""
    instances_evicted: int
    """Instances that were stopped for them."""
    lost: Lost
    """What its jobs lost."""
    caused_lost_instance_seconds: float
    """What jobs of any share lost to its jobs."""
    busy_instance_seconds: float
    borrowed_instance_seconds: float
    lent_instance_seconds: float
    short_seconds: float
    """Time in which any of its jobs waited, of the instance type on which that was longest."""
    entitlement_while_short: float | None
    """What it had of its own limits while its jobs waited: 1 is all of it, more is borrowed. None: none ever waited."""

    @property
    def evicted_per_claimed(self) -> float | None:
        """Instances stopped per instance for which they were; None where none was."""
        return self.instances_evicted / self.instances_claimed if self.instances_claimed else None


@dataclass(frozen=True, slots=True)
class UnitMeasures:
    """One instance type."""

    unit: str
    capacity_instance_seconds: float
    busy_instance_seconds: float
    borrowed_instance_seconds: float
    lost_instance_seconds: float

    @property
    def utilization(self) -> float | None:
        """Busy by capacity; None without any."""
        return self.busy_instance_seconds / self.capacity_instance_seconds if self.capacity_instance_seconds else None


@dataclass(frozen=True, slots=True)
class SizeMeasures:
    """Jobs of one size."""

    share: str | None
    """None: of all shares."""
    demand: tuple[tuple[str, int], ...]
    """Instance type and instances."""
    jobs: JobMeasures


@dataclass(frozen=True, slots=True)
class PairMeasures:
    """How jobs of one share stopped jobs of another, or of their own."""

    by: str
    of: str
    kind: str
    """``cross_share`` or ``in_share``."""
    preemptions: int
    instances: int
    lost_instance_seconds: float


@dataclass(frozen=True, slots=True)
class Measures:
    """All of it, from ``since`` to ``end`` seconds."""

    since: float
    end: float
    checkpoint_seconds: float
    all: JobMeasures
    shares: tuple[ShareMeasures, ...]
    units: tuple[UnitMeasures, ...]
    sizes: tuple[SizeMeasures, ...]
    """Of all shares first, then by share; the smallest first."""
    pairs: tuple[PairMeasures, ...]
    """The most frequent first."""
    lost: Lost

    @property
    def utilization(self) -> float | None:
        """Of all instance types together: busy by capacity; None for a run without length."""
        capacity = sum(unit.capacity_instance_seconds for unit in self.units)
        return sum(unit.busy_instance_seconds for unit in self.units) / capacity if capacity else None

    @property
    def borrowed_instance_seconds(self) -> float:
        """Of all shares."""
        return sum(share.borrowed_instance_seconds for share in self.shares)

    @property
    def preemptions(self) -> int:
        """Of all jobs."""
        return sum(share.jobs.preemptions_suffered for share in self.shares)

    @property
    def evicted_per_claimed(self) -> float | None:
        """Instances stopped per instance for which they were; None where none was."""
        claimed = sum(share.instances_claimed for share in self.shares)
        return sum(share.instances_evicted for share in self.shares) / claimed if claimed else None


def measure(run: Run, since: float = 0.0, checkpoint_seconds: float = CHECKPOINT_SECONDS) -> Measures:
    """What the run came to from ``since`` seconds on.

    Waits are those of jobs submitted from then on; everything else is what happened from then on.
    ``checkpoint_seconds`` is how often jobs would save their work, for ``Lost.with_checkpoints``.
    """
    return _Reckoning(run, Lives(run), since, checkpoint_seconds).measures()


def job_measures(run: Run, teams: Sequence[str], since: float = 0.0) -> dict[str, JobMeasures]:
    """What became of the jobs of each team, in the order in which teams come up; ``teams`` has one for each job."""
    lives = Lives(run)
    groups: dict[str, _Group] = {}
    for number, team in enumerate(teams):
        group = groups.get(team)
        if group is None:
            group = groups[team] = _Group()
        _note(group, run, lives, number, since)
    return {team: group.measures() for team, group in groups.items()}


@dataclass(slots=True)
class _Group:
    """Jobs that are measured together."""

    waits: list[float] = field(default_factory=list)
    never_started: int = 0
    requeued: float = 0.0
    suffered: int = 0

    def measures(self) -> JobMeasures:
        """In numbers."""
        count = len(self.waits) + self.never_started
        return JobMeasures(count, self.never_started, waits_of(self.waits), self.requeued, self.suffered)

    def take(self, other: _Group) -> None:
        """Add the other group to this one."""
        self.waits += other.waits
        self.never_started += other.never_started
        self.requeued += other.requeued
        self.suffered += other.suffered


def _note(group: _Group, run: Run, lives: Lives, number: int, since: float) -> None:
    """Add a job to its group."""
    if number in lives.requeued:
        group.requeued += lives.requeued[number]
    if number in lives.preemptions:
        group.suffered += sum(1 for _, at, why, _, _ in lives.cuts[number] if why in PREEMPTIONS and (at or 0) >= since)
    submitted = submitted_at(run.workload.jobs[number])
    if submitted < since or lives.last[number] is None:
        return
    first = lives.first[number]
    if first is None:
        group.never_started += 1
    else:
        group.waits.append(first - submitted)


class _Reckoning:
    """The walks over one run, and what is made of them."""

    def __init__(self, run: Run, lives: Lives, since: float, checkpoint_seconds: float) -> None:
        self.run = run
        self.jobs = run.workload.jobs
        self.lives = lives
        self.since = since
        self.every = checkpoint_seconds
        self.ledger = Ledger(run, since)
        self.claims = Claims(run, since)
        self.groups = self._groups()
        self.lost: defaultdict[str, list[float]] = defaultdict(partial(_zeros, 3))
        """Share to instance-seconds lost: as run, without checkpoints, with them."""
        self.lost_of_unit: defaultdict[str, float] = defaultdict(float)
        self.pairs: defaultdict[tuple[str, str, str], list[float]] = defaultdict(partial(_zeros, 3))
        """(by, of, kind) to preemptions, instances and instance-seconds lost."""
        self._read_preemptions()

    def _groups(self) -> dict[tuple[str, tuple[tuple[str, int], ...]], _Group]:
        """Share and size to their jobs."""
        found: dict[tuple[str, int], _Group] = {}
        sizes: dict[tuple[str, tuple[tuple[str, int], ...]], _Group] = {}
        for number, job in enumerate(self.jobs):
            key = job.share, id(job.demand)
            group = found.get(key)
            if group is None:
                size = tuple(sorted(job.demand.items()))
                group = found[key] = sizes.setdefault((job.share, size), _Group())
            _note(group, self.run, self.lives, number, self.since)
        return sizes

    def _read_preemptions(self) -> None:
        timing = self.run.workload.timing
        for number, cuts in self.lives.cuts.items():
            job = self.jobs[number]
            begins = timing.start_seconds
            for begun, at, why, by, lost in cuts:
                if why not in PREEMPTIONS or at is None:
                    continue
                if at >= self.since:
                    self._add_lost(number, max(0.0, at - begun - begins), lost)
                    if by >= 0:
                        pair = self.pairs[self.jobs[by].share, job.share, str(why)]
                        for place, more in enumerate((1, job.instances, lost * job.instances)):
                            pair[place] += more
                begins = timing.start_seconds + timing.restart_seconds

    def _add_lost(self, number: int, work: float, lost: float) -> None:
        job = self.jobs[number]
        kept = floor(work / self.every + 1e-9) * self.every
        for place, seconds in enumerate((lost, work, max(0.0, work - kept))):
            self.lost[job.share][place] += seconds * job.instances
        for unit, count in job.demand.items():
            self.lost_of_unit[unit] += lost * count

    def measures(self) -> Measures:
        """In numbers."""
        everyone = _Group()
        for group in self.groups.values():
            everyone.take(group)
        return Measures(
            since=self.since,
            end=self.run.end,
            checkpoint_seconds=self.every,
            all=everyone.measures(),
            shares=tuple(self._share(name) for name in self.run.policy.shares),
            units=tuple(self._unit(unit) for unit in self.ledger.capacity_seconds),
            sizes=tuple(self._sizes()),
            pairs=tuple(
                PairMeasures(*key, int(count), int(instances), lost)
                for key, (count, instances, lost) in sorted(self.pairs.items(), key=lambda pair: (-pair[1][0], pair[0]))
            ),
            lost=Lost(*(sum(of) for of in zip(*self.lost.values(), strict=True))) if self.lost else Lost(0.0, 0.0, 0.0),
        )

    def _share(self, name: str) -> ShareMeasures:
        jobs = _Group()
        for (share, _), group in self.groups.items():
            if share == name:
                jobs.take(group)
        claims = [claim for claim in self.claims.all if self.jobs[claim.job].share == name]
        reclaims = self.claims.reclaims.get(name, [])
        by = [pair for (share, _, _), pair in self.pairs.items() if share == name]
        account = self.ledger.account(name, None)
        cells = [cell.account for (share, _), cell in self.ledger.cells.items() if share == name]
        short_busy = sum(cell.short_busy_seconds for cell in cells)
        short_limit = sum(cell.short_limit_seconds for cell in cells)
        return ShareMeasures(
            name=name,
            jobs=jobs.measures(),
            reclaim_seconds=waits_of(reclaims),
            reclaims=len(reclaims),
            preemptions_caused=int(sum(pair[0] for pair in by)),
            instances_claimed=sum(self.jobs[claim.job].instances for claim in claims),
            instances_evicted=sum(claim.evicted for claim in claims),
            lost=Lost(*self.lost[name]) if name in self.lost else Lost(0.0, 0.0, 0.0),
            caused_lost_instance_seconds=sum(pair[2] for pair in by),
            busy_instance_seconds=account.busy_seconds,
            borrowed_instance_seconds=account.borrowed_seconds,
            lent_instance_seconds=self.ledger.lent_seconds(name, None),
            short_seconds=max((cell.short_seconds for cell in cells), default=0.0),
            entitlement_while_short=short_busy / short_limit if short_limit else None,
        )

    def _unit(self, unit: str) -> UnitMeasures:
        cells = [cell.account for (_, of), cell in self.ledger.cells.items() if of == unit]
        return UnitMeasures(
            unit=unit,
            capacity_instance_seconds=self.ledger.capacity_seconds[unit],
            busy_instance_seconds=sum(cell.busy_seconds for cell in cells),
            borrowed_instance_seconds=sum(cell.borrowed_seconds for cell in cells),
            lost_instance_seconds=self.lost_of_unit.get(unit, 0.0),
        )

    def _sizes(self) -> list[SizeMeasures]:
        of_all: defaultdict[tuple[tuple[str, int], ...], _Group] = defaultdict(_Group)
        for (_, size), group in self.groups.items():
            of_all[size].take(group)
        units = {unit: number for number, unit in enumerate(self.run.policy.units)}

        def place(size: tuple[tuple[str, int], ...]) -> list[tuple[int, int]]:
            return [(units.get(unit, len(units)), count) for unit, count in size]

        shares = list(self.run.policy.shares)
        found = [SizeMeasures(None, size, of_all[size].measures()) for size in sorted(of_all, key=place)]
        by_share = sorted(self.groups, key=lambda key: (shares.index(key[0]), place(key[1])))
        found += [SizeMeasures(share, size, self.groups[share, size].measures()) for share, size in by_share]
        return found


def _zeros(count: int) -> list[float]:
    return [0.0] * count
