"""What the run came to for each share, and for the queue."""

from __future__ import annotations

from dataclasses import dataclass

from policy_engine.outcome.ledger import Ledger
from policy_engine.outcome.lives import Lives
from policy_engine.outcome.peaks import peaks
from policy_engine.outcome.tolls import Tolls, instances
from policy_engine.simulation import Run


@dataclass(frozen=True, slots=True)
class Waits:
    """Waiting times to the first start, in seconds; percentiles by nearest rank."""

    mean: float
    p50: float
    p95: float
    max: float


@dataclass(frozen=True, slots=True)
class ShareOutcome:
    """One share on one instance type over the run, from the scenario's zero to its end.

    What is counted by job (waits, preemptions) counts a job of several instance types under each of them.
    """

    name: str
    unit: str | None
    """The instance type; None for all of them together."""
    limit: int
    """The share's own limit at the end of the run, in instances."""
    busy_instance_seconds: float
    borrowed_instance_seconds: float
    lent_instance_seconds: float
    """What others borrowed, split among the lenders in proportion to their idle capacity."""
    peak_usage: int
    """Most instances that it held at once."""
    peak_borrowed: int
    wait_seconds: Waits | None
    """None where none of its jobs started."""
    never_started: int
    """Jobs that were submitted and did not start."""
    requeued_seconds: float
    preemptions_suffered: int
    preemptions_caused: int
    lost_instance_seconds: float
    """Work that its jobs lost."""
    caused_lost_instance_seconds: float
    """Work that jobs of any share lost to its jobs."""


@dataclass(frozen=True, slots=True)
class QueueOutcome:
    """The whole queue over the run, all instance types together."""

    busy_instance_seconds: float
    capacity_instance_seconds: float
    """What the service environment had, as its limits changed."""

    @property
    def utilization(self) -> float | None:
        """Busy by capacity; above 1 while a lowered capacity is exceeded. None for a run without length."""
        if not self.capacity_instance_seconds:
            return None
        return self.busy_instance_seconds / self.capacity_instance_seconds


def share_outcomes(run: Run, *, by_unit: bool = True) -> tuple[ShareOutcome, ...]:
    """What the run came to for every share on every instance type that it declares or its jobs use.

    Without ``by_unit``: for every share, all its instance types together, each job counted once. Shares come in
    the order of declaration.
    """
    ledger, tolls = Ledger(run), Tolls(run, Lives(run))
    if by_unit:
        return outcomes_by_unit(ledger, tolls)
    highest = peaks(run)
    return tuple(
        _share_outcome(name, None, highest[name].usage, highest[name].borrowed, ledger, tolls)
        for name in run.policy.shares
    )


def outcomes_by_unit(ledger: Ledger, tolls: Tolls) -> tuple[ShareOutcome, ...]:
    """The same by unit, of walks over the log that have been made."""
    order = {name: number for number, name in enumerate(ledger.run.policy.shares)}
    for share, size in tolls.tolls:
        for unit, _ in size:
            ledger.cell(share, unit)
    for by, _, size, _ in tolls.takings:
        for unit, _ in size:
            ledger.cell(by, unit)
    cells = sorted(ledger.cells.values(), key=lambda cell: order[cell.share])
    return tuple(
        _share_outcome(cell.share, cell.unit, cell.peak_usage, cell.peak_borrowed, ledger, tolls) for cell in cells
    )


def _share_outcome(
    share: str, unit: str | None, peak_usage: int, peak_borrowed: int, ledger: Ledger, tolls: Tolls
) -> ShareOutcome:
    cells = ledger.of(share, unit)
    own = [(instances(size, unit), toll) for (of, size), toll in tolls.tolls.items() if of == share]
    own = [(count, toll) for count, toll in own if count]
    taken = [(instances(size, unit), taking) for (by, _, size, _), taking in tolls.takings.items() if by == share]
    return ShareOutcome(
        name=share,
        unit=unit,
        limit=sum(cell.limit for cell in cells),
        busy_instance_seconds=sum(cell.busy_seconds for cell in cells),
        borrowed_instance_seconds=sum(cell.borrowed_seconds for cell in cells),
        lent_instance_seconds=sum(cell.lent_seconds for cell in cells),
        peak_usage=peak_usage,
        peak_borrowed=peak_borrowed,
        wait_seconds=waits_of([wait for _, toll in own for wait in toll.waits]),
        never_started=sum(toll.never_started for _, toll in own),
        requeued_seconds=sum(toll.requeued for _, toll in own),
        preemptions_suffered=sum(toll.suffered for _, toll in own),
        preemptions_caused=sum(taking.count for count, taking in taken if count),
        lost_instance_seconds=sum(toll.lost * count for count, toll in own),
        caused_lost_instance_seconds=sum(taking.lost * count for count, taking in taken),
    )


def waits_of(waits: list[float]) -> Waits | None:
    """The waiting times in four numbers; None where there are none."""
    if not waits:
        return None
    waits = sorted(waits)
    return Waits(mean=sum(waits) / len(waits), p50=nearest_rank(waits, 50), p95=nearest_rank(waits, 95), max=waits[-1])


def nearest_rank(ordered: list[float], percent: int) -> float:
    """The least of the ordered values that at least ``percent`` percent of them do not exceed."""
    return ordered[max(0, -(-percent * len(ordered) // 100) - 1)]


def queue_outcome(run: Run) -> QueueOutcome:
    """What the run came to for the whole queue."""
    ledger = Ledger(run)
    return QueueOutcome(ledger.busy_seconds, sum(ledger.capacity_seconds.values()))
