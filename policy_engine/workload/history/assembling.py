"""Puts the jobs of a history together: shares, order, time from the first submission, unique names."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from itertools import repeat
from statistics import median
from typing import Final

from policy_engine.errors import InputError
from policy_engine.policy import priority_problem
from policy_engine.scheduler.jobs import Exit, Job
from policy_engine.workload.durations import duration_text
from policy_engine.workload.history.history import Format, History
from policy_engine.workload.history.mapping import HistoryMap, TimeUnit
from policy_engine.workload.history.remarks import Remarks
from policy_engine.workload.history.statuses import Status
from policy_engine.workload.history.times import Times

_LEFT_OUT: Final = "the map leaves the team out"
_STILL_RUNNING: Final = "still running where the history ends: taken to end there"
_SAME_ID: Final = "an id that another job has too: numbered, not merged"
_PRIORITY: Final = "a priority that is neither 0 to 9999 nor in the map's priorities: taken as none"
_UNKNOWN_STATUS: Final = "an unknown status: taken as succeeded"
_LONG: Final = "half of the durations are above 30 days: is time_unit right?"
_SHORT: Final = "half of the durations are below a second: is time_unit right?"
_SHORTEST: Final = 1.0
_MONTH: Final = 30 * 86_400.0
_DATED_FROM: Final = 1e8
"""A number of seconds from here on (1973) is taken to count from 1970."""


@dataclass(slots=True)
class Columns:
    """Jobs, an entry in each column for every one; times as the file counts them."""

    submit: list[float] = field(default_factory=list)
    name: list[str] = field(default_factory=list)
    share: list[str] = field(default_factory=list)
    demand: list[Mapping[str, int]] = field(default_factory=list)
    priority: list[int | None] = field(default_factory=list)
    duration: list[float | None] = field(default_factory=list)
    """None for a job that still runs."""
    started: list[float | None] = field(default_factory=list)
    exit: list[Exit] = field(default_factory=list)
    retries: list[int | None] = field(default_factory=list)
    """Requeues after preemption; None is without limit."""

    def add(self, *values: object) -> None:
        """A job, with its values in the order of the columns."""
        for column, value in zip(self.__slots__, values, strict=True):
            getattr(self, column).append(value)

    def sort(self) -> None:
        """Put the jobs in the order of submission; those of one instant stay as they are."""
        submit = self.submit
        order = sorted(range(len(submit)), key=submit.__getitem__)
        if order == list(range(len(submit))):
            return
        for column in self.__slots__:
            values = getattr(self, column)
            setattr(self, column, [values[number] for number in order])


class Assembly:
    """The jobs of one file in the making."""

    def __init__(self, file: str, form: Format, given: HistoryMap, unit: TimeUnit = TimeUnit.SECONDS) -> None:
        self.file = file
        self.format = form
        self.map = given
        self.remarks = Remarks()
        self.times = Times(given, unit, self.remarks)
        self.latest = float("-inf")
        """The last instant that the file tells of."""
        self._columns = Columns()
        self._shares: dict[str, str | None] = {}
        self._demands: dict[float, Mapping[str, int]] = {}

    def share(self, team: str, place: str) -> str | None:
        """The share of the team; None, and a remark, where the map leaves it out."""
        if team not in self._shares:
            self._shares[team] = self.map.share(team)
        share = self._shares[team]
        if share is None:
            self.remarks.note(_LEFT_OUT, place, team)
        return share

    def priority(self, text: str, place: str) -> int | None:
        """The priority of a column that may hold a number or a word."""
        given = self.map.priority(text)
        if given is not None:
            return given
        try:
            number = float(text)
        except ValueError:
            number = -1.0
        if priority_problem(number) is None:
            return int(number)
        self.remarks.note(_PRIORITY, place, text)
        return None

    def demand_of_gpus(self, gpus: float) -> Mapping[str, int]:
        """Instances of a job of so many GPUs; jobs of one size share a mapping."""
        demand = self._demands.get(gpus)
        if demand is None:
            demand = self._demands[gpus] = self.map.demand(gpus)
        return demand

    def note_running(self, place: str) -> None:
        """The job still runs where the history ends."""
        self.remarks.note(_STILL_RUNNING, place)

    def exit(self, status: Status | None, text: str, place: str) -> Exit:
        """How its last attempt ended."""
        if status is None and text:
            self.remarks.note(_UNKNOWN_STATUS, place, text)
        return Exit.FAILED if status is Status.FAILED else Exit.SUCCEEDED

    def add(
        self,
        submit: float,
        name: str,
        share: str,
        demand: Mapping[str, int],
        priority: int | None,
        duration: float | None,
        started: float | None,
        exit_: Exit = Exit.SUCCEEDED,
        preemption_retries: int | None = None,
    ) -> None:
        """A job, with times as the file counts them; without a duration it is still running."""
        ends = submit if started is None else started
        if duration is not None:
            ends += duration
        if ends > self.latest:
            self.latest = ends
        self._columns.add(submit, name, share, demand, priority, duration, started, exit_, preemption_retries)

    def take(self, columns: Columns, latest: float) -> None:
        """All jobs of the file at once; ``latest`` is the last instant that they tell of."""
        self._columns, self.latest = columns, latest

    def history(self, *, strict: bool) -> History:
        """The history. Raises InputError where nothing is left, and where ``strict`` forbids that anything is lost."""
        columns = self._columns
        columns.sort()
        losses = [remark for remark in self.remarks if remark.is_loss]
        if losses and (strict or not columns.submit):
            total = sum(remark.count for remark in losses)
            left_out = f"{total:,} {'job is' if total == 1 else 'jobs are'} left out with --strict"
            what = left_out if strict else f"none of {total:,} jobs can be used"
            raise InputError(f"{what}: {'; '.join(remark.text for remark in losses)}", file=self.file)
        if not columns.submit:
            raise InputError("no jobs", file=self.file)
        zero = columns.submit[0]
        jobs = self._jobs(columns, zero)
        self._check_plausible(columns)
        dated = self.times.dated or zero >= _DATED_FROM
        return History(
            self.file,
            self.format,
            jobs,
            [None if started is None else started - zero for started in columns.started],
            zero,
            _date(zero) if dated else None,
            tuple(self.remarks),
        )

    def _jobs(self, columns: Columns, zero: float) -> tuple[Job, ...]:
        names = self._unique_names(columns.name)
        for number, duration in enumerate(columns.duration):
            if duration is None:
                started = columns.started[number]
                begins = columns.submit[number] if started is None else started
                columns.duration[number] = max(0.0, self.latest - begins)
                self.note_running(names[number])
        return _made(
            len(names),
            name=names,
            share=columns.share,
            demand=columns.demand,
            priority=columns.priority,
            submit=[submit - zero for submit in columns.submit] if zero else columns.submit,
            duration=columns.duration,
            preemption_retries=columns.retries,
            exit=columns.exit,
        )

    def _unique_names(self, given: Sequence[str]) -> Sequence[str]:
        """The names in order, with a number where a name is taken."""
        if len(set(given)) == len(given):
            return given
        names: dict[str, int] = {}
        for name in given:
            unique = self._numbered(name, names) if name in names else name
            names[unique] = 1
        return list(names)

    def _numbered(self, name: str, names: dict[str, int]) -> str:
        """The name with the next free number."""
        self.remarks.note(_SAME_ID, name)
        while (numbered := f"{name}~{names[name] + 1}") in names:
            names[name] += 1
        names[name] += 1
        return numbered

    def _check_plausible(self, columns: Columns) -> None:
        durations = [duration for duration in columns.duration if duration]
        if durations and not _SHORTEST <= (middle := median(durations)) <= _MONTH:
            self.remarks.note(_LONG if middle > _MONTH else _SHORT, count=len(durations))
        # the first percent of the jobs is as good as nothing: what comes after it is the history
        count, zero = len(columns.submit), columns.submit[0]
        head, span = columns.submit[count // 100] - zero, columns.submit[-1] - zero
        if head > span / 2:
            what = f"nearly all jobs come after {duration_text(round(head))}: measure from there with --warm-up"
            self.remarks.note(what, count=count)


def _made(count: int, **columns: Iterable[object]) -> tuple[Job, ...]:
    """Jobs with these values in their fields, a column for each; the other fields have their defaults.

    As ``Job(...)`` would make them, in a quarter of the time: the ``__init__`` of a frozen class looks up every field
    of every object anew, and half of the time that a long history took to read went there.
    """
    jobs = tuple(map(Job.__new__, repeat(Job, count)))
    blank = Job(name="", share="", demand={})
    for field_ in fields(Job):
        values = columns.get(field_.name, repeat(getattr(blank, field_.name)))
        deque(map(getattr(Job, field_.name).__set__, jobs, values), maxlen=0)
    return jobs


def _date(seconds: float) -> datetime | None:
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, ValueError, OSError):
        return None
