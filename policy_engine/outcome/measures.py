"""What a long run came to, in the numbers that people ask for: per share, per size of job, and for the queue.

For runs under one policy, of any number of jobs: every number comes from a few walks over the log. Where a part at the
beginning is a warm-up, jobs submitted in it and what happened in it are left out of every number.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from math import inf

from policy_engine.collector import paused
from policy_engine.outcome.claims import Claims
from policy_engine.outcome.ledger import Ledger
from policy_engine.outcome.lives import Lives
from policy_engine.outcome.shares import ShareOutcome, Waits, outcomes_by_unit, waits_of
from policy_engine.outcome.tolls import CHECKPOINT_SECONDS, Size, Toll, Tolls, instances
from policy_engine.simulation import Run


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
    size: Size
    """Instance types and instances."""
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
    by_unit: tuple[ShareOutcome, ...]
    """Every share on every instance type."""
    units: tuple[UnitMeasures, ...]
    sizes: tuple[SizeMeasures, ...]
    """Of all shares first, then by share; the smallest first."""
    pairs: tuple[PairMeasures, ...]
    """The most frequent first."""
    lost: Lost
    utilization_to_last_submission: float | None
    """The same as ``utilization`` without the time in which the last jobs run out."""

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


def measure(
    run: Run, since: float = 0.0, checkpoint_seconds: float = CHECKPOINT_SECONDS, lives: Lives | None = None
) -> Measures:
    """What the run came to from ``since`` seconds on.

    Waits are those of jobs submitted from then on; everything else is what happened from then on.
    ``checkpoint_seconds`` is how often jobs would save their work, for ``Lost.with_checkpoints``; ``lives`` are the
    run's, where they have been made.
    """
    last = max((job.submit for job in run.workload.jobs), default=0.0)
    with paused():
        tolls = Tolls(run, Lives(run) if lives is None else lives, since or -inf, checkpoint_seconds)
        return _Measuring(tolls, Ledger(run, since, last), Claims(run, since)).measures()


def team_measures(run: Run, teams: Sequence[str], since: float = 0.0) -> dict[str, JobMeasures]:
    """What became of the jobs of each team, whatever their share; ``teams`` has one for each job."""
    of_team: defaultdict[str, list[int]] = defaultdict(list)
    for number, team in enumerate(teams):
        of_team[team].append(number)
    tolls = Tolls(run, Lives(run), since or -inf)
    return {team: _of_numbers(tolls, numbers) for team, numbers in of_team.items()}


def _of_numbers(tolls: Tolls, numbers: Sequence[int]) -> JobMeasures:
    lives, submitted = tolls.lives, [number for number in numbers if tolls.is_measured(number)]
    waits = [tolls.wait(number) for number in submitted]
    started = [wait for wait in waits if wait is not None]
    suffered = (lives.preemptions_from(number, tolls.since) for number in numbers if number in lives.preemptions)
    return JobMeasures(
        jobs=len(submitted),
        never_started=len(waits) - len(started),
        wait_seconds=waits_of(started),
        requeued_seconds=sum(lives.requeued.get(number, 0.0) for number in submitted),
        preemptions_suffered=sum(suffered),
    )


def _of_tolls(tolls: Sequence[Toll]) -> JobMeasures:
    waits = list(chain.from_iterable(toll.waits for toll in tolls))
    never_started = sum(toll.never_started for toll in tolls)
    return JobMeasures(
        jobs=len(waits) + never_started,
        never_started=never_started,
        wait_seconds=waits_of(waits),
        requeued_seconds=sum(toll.requeued for toll in tolls),
        preemptions_suffered=sum(toll.suffered for toll in tolls),
    )


@dataclass(frozen=True, slots=True)
class _Measuring:
    """Makes numbers of the walks over a run."""

    tolls: Tolls
    ledger: Ledger
    claims: Claims

    def measures(self) -> Measures:
        """All of them."""
        tolls, run = self.tolls.tolls, self.tolls.run
        return Measures(
            since=self.ledger.since,
            end=run.end,
            checkpoint_seconds=self.tolls.every,
            all=_of_tolls(list(tolls.values())),
            shares=tuple(self._share(name) for name in run.policy.shares),
            by_unit=outcomes_by_unit(self.ledger, self.tolls),
            units=tuple(self._unit(unit) for unit in self.ledger.capacity_seconds),
            sizes=tuple(self._sizes()),
            pairs=tuple(self._pairs()),
            lost=_lost(tolls.items()),
            utilization_to_last_submission=self.ledger.used_to_mark,
        )

    def _share(self, name: str) -> ShareMeasures:
        tolls = [(key, toll) for key, toll in self.tolls.tolls.items() if key[0] == name]
        takings = [(key[2], taking) for key, taking in self.tolls.takings.items() if key[0] == name]
        claims = [claim for claim in self.claims.all if self.tolls.jobs[claim.job].share == name]
        reclaims = self.claims.reclaims.get(name, [])
        cells = self.ledger.of(name, None)
        short_busy = sum(cell.short_busy_seconds for cell in cells)
        short_limit = sum(cell.short_limit_seconds for cell in cells)
        return ShareMeasures(
            name=name,
            jobs=_of_tolls([toll for _, toll in tolls]),
            reclaim_seconds=waits_of(reclaims),
            reclaims=len(reclaims),
            preemptions_caused=sum(taking.count for _, taking in takings),
            instances_claimed=sum(self.tolls.jobs[claim.job].instances for claim in claims),
            instances_evicted=sum(claim.evicted for claim in claims),
            lost=_lost(tolls),
            caused_lost_instance_seconds=sum(taking.lost * instances(size, None) for size, taking in takings),
            busy_instance_seconds=sum(cell.busy_seconds for cell in cells),
            borrowed_instance_seconds=sum(cell.borrowed_seconds for cell in cells),
            lent_instance_seconds=sum(cell.lent_seconds for cell in cells),
            short_seconds=max((cell.short_seconds for cell in cells), default=0.0),
            entitlement_while_short=short_busy / short_limit if short_limit else None,
        )

    def _unit(self, unit: str) -> UnitMeasures:
        cells = [cell for (_, of), cell in self.ledger.cells.items() if of == unit]
        return UnitMeasures(
            unit=unit,
            capacity_instance_seconds=self.ledger.capacity_seconds[unit],
            busy_instance_seconds=sum(cell.busy_seconds for cell in cells),
            borrowed_instance_seconds=sum(cell.borrowed_seconds for cell in cells),
            lost_instance_seconds=sum(
                toll.lost * instances(size, unit) for (_, size), toll in self.tolls.tolls.items()
            ),
        )

    def _sizes(self) -> Iterator[SizeMeasures]:
        """Of all shares, then of each; the smallest first, types in the order of the policy."""
        policy, tolls = self.tolls.run.policy, self.tolls.tolls
        units = {unit: number for number, unit in enumerate(policy.units)}
        known = {size for _, size in tolls}
        sizes = sorted(known, key=lambda size: [(units.get(unit, len(units)), count) for unit, count in size])
        for size in sizes:
            yield SizeMeasures(None, size, _of_tolls([toll for (_, of), toll in tolls.items() if of == size]))
        for share in policy.shares:
            for size in sizes:
                if (share, size) in tolls:
                    yield SizeMeasures(share, size, _of_tolls([tolls[share, size]]))

    def _pairs(self) -> list[PairMeasures]:
        """The most frequent first."""
        sums: defaultdict[tuple[str, str, str], list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0])
        for (by, of, size, kind), taking in self.tolls.takings.items():
            found, count = sums[by, of, str(kind)], instances(size, None)
            for place, more in enumerate((taking.count, taking.count * count, taking.lost * count)):
                found[place] += more
        pairs = [PairMeasures(*key, int(count), int(stopped), lost) for key, (count, stopped, lost) in sums.items()]
        return sorted(pairs, key=lambda pair: (-pair.preemptions, pair.by, pair.of, pair.kind))


def _lost(tolls: Iterable[tuple[tuple[str, Size], Toll]]) -> Lost:
    weighed = [(instances(size, None), toll) for (_, size), toll in tolls]
    return Lost(
        instance_seconds=sum(toll.lost * count for count, toll in weighed),
        without_checkpoints=sum(toll.lost_without * count for count, toll in weighed),
        with_checkpoints=sum(toll.lost_with * count for count, toll in weighed),
    )
