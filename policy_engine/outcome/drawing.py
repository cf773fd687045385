"""A short run, drawn: what happens step by step, and the instances of each share before and after it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import groupby
from typing import Final

from policy_engine.outcome.steps import Step, idle, steps
from policy_engine.scheduler.log import Row
from policy_engine.simulation import Run

MOST_SHARES: Final = 8
"""Of more, those are drawn that have jobs."""
MOST_SIGNS: Final = 40
"""Instances of a share of which each is a sign of its own; more are numbers."""


@dataclass(frozen=True, slots=True)
class Instances:
    """What the instances of a share are; those that it lends are the borrowed ones of others."""

    own: int
    borrowed: int
    lent: int
    reserved: int
    free: int

    def counts(self) -> list[tuple[str, int]]:
        """The kinds that there are any of, with how many."""
        return [(field.name, count) for field in fields(self) if (count := getattr(self, field.name))]


@dataclass(frozen=True, slots=True)
class DrawnShare:
    """One share on one instance type, before and after a step."""

    share: str
    unit: str
    before: Instances
    after: Instances


@dataclass(frozen=True, slots=True)
class DrawnStep:
    """Everything that happens at one instant."""

    at: float
    """Seconds from the scenario's zero."""
    told: tuple[str, ...]
    """What happens, in order."""
    shares: tuple[DrawnShare, ...]


def drawing(run: Run) -> tuple[DrawnStep, ...]:
    """The steps of a run: one for every instant at which something happens."""
    names = list(run.policy.shares)
    if len(names) > MOST_SHARES:
        busy = {job.share for job in run.workload.jobs}
        names = [name for name in names if name in busy]
    by_unit = {unit: [idle(run, unit), *steps(run, unit)] for unit in run.policy.units}
    drawn = []
    for at, rows in groupby(run.log.rows, key=lambda row: row[0]):
        shares = tuple(_shares(names, by_unit, at))
        drawn.append(DrawnStep(at, tuple(_told(run, row) for row in rows), shares))
    return tuple(drawn)


def _shares(names: Sequence[str], by_unit: Mapping[str, Sequence[Step]], at: float) -> Iterator[DrawnShare]:
    for unit, of_unit in by_unit.items():
        first, *later = of_unit
        before = next((step for step in reversed(later) if step.at < at), first)
        after = next((step for step in reversed(later) if step.at <= max(at, 0.0)), first)
        for name in names:
            if any(_instances(step, name).counts() for step in of_unit):
                yield DrawnShare(name, unit, _instances(before, name), _instances(after, name))


def _instances(step: Step, share: str) -> Instances:
    by_kind = (step.own, step.borrowed, step.lent, step.reserved, step.free)
    return Instances(*(round(count.get(share, 0)) for count in by_kind))


def _told(run: Run, row: Row) -> str:
    _, kind, job, by, _, _ = row
    what = kind.value.replace("_", " ")
    if job < 0:
        return what
    jobs = run.workload.jobs
    return f"{jobs[job].name} {what}{f' for {jobs[by].name}' if by >= 0 else ''}"


# --- as lines of text ----------------------------------------------------------------------------------

SIGNS: Final[Mapping[str, str]] = {"own": "#", "borrowed": "+", "lent": "~", "reserved": "r", "free": "."}
"""One for each instance."""
LEGEND: Final = "  ".join(f"{sign} {kind}" for kind, sign in SIGNS.items()) + "; before > after"


def bar(instances: Instances) -> str:
    """A sign for each instance, or numbers where there are many."""
    counts = instances.counts()
    if sum(count for _, count in counts) <= MOST_SIGNS:
        return "".join(SIGNS[kind] * count for kind, count in counts)
    return " ".join(f"{count}{SIGNS[kind]}" for kind, count in counts)


def lines(drawn: Sequence[DrawnStep], time: Callable[[float], str]) -> list[str]:
    """What happens, and a line for each share and instance type, with its instances before and after.

    ``time`` writes seconds.
    """
    found = []
    for step in drawn:
        found.append(f"{time(step.at)}: {'; '.join(step.told)}")
        found += [f"    {line}" for line in _share_lines(step)]
    return [*found, LEGEND]


def _share_lines(step: DrawnStep) -> list[str]:
    several = len({drawn.unit for drawn in step.shares}) > 1
    names = [f"{drawn.share} {drawn.unit}" if several else drawn.share for drawn in step.shares]
    width = max(map(len, names), default=0)
    before = [bar(drawn.before) for drawn in step.shares]
    room = max(map(len, before), default=0)
    return [
        f"{name:<{width}}  {was:<{room}} > {bar(drawn.after)}"
        for name, was, drawn in zip(names, before, step.shares, strict=True)
    ]
