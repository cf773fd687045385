"""Histories as CSV: a header, and one job a row."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from typing import Final

from policy_engine.errors import InputError
from policy_engine.scheduler.jobs import Exit
from policy_engine.workload.history.assembling import Assembly
from policy_engine.workload.history.csv_layout import Layout, demand_of, is_per_worker
from policy_engine.workload.history.csv_plain import take_plain
from policy_engine.workload.history.statuses import Status, status_of

_NO_TEAM: Final = "no team"
_NO_SUBMIT: Final = "no time of submission that can be read"
_NO_DURATION: Final = "no duration"
_NEGATIVE: Final = "a duration below zero"
_BAD_DURATION: Final = "a duration that is not a number"
_NEVER_STARTED: Final = "never started: how long it would run is not known"
_FIELDS: Final = "not as many fields as the header"
_PER_WORKER: Final = "GPUs beside a number of instances and no instance type: taken as those of each instance"
_BAD_START: Final = "a start that cannot be read: taken as not recorded"


def read_csv(assembly: Assembly, text: str, *, plain: bool = True) -> None:
    """Add the jobs of the text to the assembly. Raises InputError for what is wrong with the whole file.

    ``plain`` is whether rows that need no care may be taken together.
    """
    header, _, rest = text.partition("\n")
    layout = Layout.of(assembly, header)
    if plain and take_plain(assembly, layout, rest):
        return
    table = _Table(assembly, layout)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=layout.delimiter)
    try:
        next(rows)
        for row in rows:
            if row:
                table.add(row, rows.line_num)
    except csv.Error as error:
        raise InputError(f"not valid CSV: {error}", file=assembly.file, line=rows.line_num) from None


class _Table:
    """Turns rows into jobs, one by one and with care."""

    def __init__(self, assembly: Assembly, layout: Layout) -> None:
        self.assembly = assembly
        self.remarks = assembly.remarks
        self.layout = layout
        self.demands: dict[tuple[str, ...], Mapping[str, int] | str] = {}
        """Cells to the demand they ask for, or to what is wrong with them; jobs of one size share a mapping."""

    def add(self, row: Sequence[str], line: int) -> None:
        """A row of the file as a job, or as a remark."""
        place = f"line {line}"
        if len(row) != self.layout.width:
            self.remarks.lose(_FIELDS, place)
            return
        assembly = self.assembly
        team = row[self.layout.team].strip()
        share = assembly.share(team, place) if team else None
        if share is None:
            if not team:
                self.remarks.lose(_NO_TEAM, place)
            return
        demand = self._demand(row)
        if isinstance(demand, str):
            self.remarks.lose(demand, place)
            return
        if is_per_worker(*(self._cell(row, column) for column in self.layout.size[:2])):
            self.remarks.note(_PER_WORKER, place)
        submit = self._submit(row, place)
        started = self._started(row, place)
        word = self._cell(row, self.layout.status)
        status = status_of(word) if word else None
        duration = self._duration(row, place, status, started)
        if isinstance(duration, str) or submit is None:
            self.remarks.lose(duration if isinstance(duration, str) else _NO_SUBMIT, place)
            return
        assembly.add(
            submit,
            self._name(row, line),
            share,
            demand,
            self._priority(row, place),
            duration,
            started,
            assembly.exit(status, word, place) if word else Exit.SUCCEEDED,
        )

    def _cell(self, row: Sequence[str], column: int | None) -> str:
        return "" if column is None else row[column].strip()

    def _name(self, row: Sequence[str], line: int) -> str:
        """The job's id; where it has none, the line of the file that it comes from."""
        name = self._cell(row, self.layout.name)
        return name or f"line-{self._cell(row, self.layout.line) or line}"

    def _submit(self, row: Sequence[str], place: str) -> float | None:
        try:
            return self.assembly.times.instant(row[self.layout.submit].strip(), place)
        except ValueError:
            return None

    def _started(self, row: Sequence[str], place: str) -> float | None:
        text = self._cell(row, self.layout.start)
        if not text or text == "-1":
            return None
        try:
            return self.assembly.times.instant(text, place)
        except ValueError:
            self.remarks.note(_BAD_START, place, text)
            return None

    def _duration(
        self, row: Sequence[str], place: str, status: Status | None, started: float | None
    ) -> float | str | None:
        """Seconds; None for a job that still runs; a text is why the job cannot be used."""
        text = row[self.layout.duration].strip()
        try:
            number = float(text) if text else -1.0
        except ValueError:
            return _BAD_DURATION
        if 0 <= number < math.inf and not (number == 0 and status is Status.WAITING):
            if status is Status.RUNNING:
                self.assembly.note_running(place)
            return number * self.assembly.times.scale
        if status is Status.WAITING:
            return _NEVER_STARTED
        if status is Status.RUNNING and started is not None:
            return None
        if number == -1:
            return _NO_DURATION
        return _NEGATIVE if number < 0 else _BAD_DURATION

    def _priority(self, row: Sequence[str], place: str) -> int | None:
        text = self._cell(row, self.layout.priority)
        if text:
            return self.assembly.priority(text, place)
        if not self.assembly.map.priorities:
            return None
        words = (word for column in self.layout.classes if (word := row[column].strip()))
        return next((self.assembly.priority(word, place) for word in words), None)

    def _demand(self, row: Sequence[str]) -> Mapping[str, int] | str:
        """Instance type to instances; a text is why the job cannot be used."""
        unit, count, gpus = (self._cell(row, column) for column in self.layout.size)
        found = self.demands.get((unit, count, gpus))
        if found is None:
            found = self.demands[unit, count, gpus] = demand_of(self.assembly, unit, count, gpus)
        return found
