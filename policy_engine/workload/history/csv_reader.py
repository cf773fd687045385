"""Histories as CSV: a header, and one job a row."""

from __future__ import annotations

import csv
import difflib
import io
import math
from collections.abc import Mapping, Sequence
from typing import Final

from policy_engine.errors import InputError
from policy_engine.scheduler.jobs import Exit
from policy_engine.workload.history.assembling import Assembly
from policy_engine.workload.history.statuses import Status, status_of

REQUIRED: Final = ("submit_time_s", "team", "duration_s")
SIZES: Final = ("instance_type", "gpus")
"""Columns of which one is needed."""
OPTIONAL: Final = ("instance_count", "job_id", "priority", "status", "start_time_s", *("queue", "qos", "priority_raw"))
_CLASSES: Final = ("queue", "qos", "priority_raw")
"""Columns that may hold a word that the map makes a priority."""
_DELIMITERS: Final = ",;\t"

_NO_TEAM: Final = "no team"
_NO_SUBMIT: Final = "no time of submission that can be read"
_NO_DURATION: Final = "no duration"
_NEGATIVE: Final = "a duration below zero"
_BAD_DURATION: Final = "a duration that is not a number"
_NEVER_STARTED: Final = "never started: how long it would run is not known"
_NO_INSTANCES: Final = "asks for no instance or GPU"
_BAD_COUNT: Final = "a number of instances or GPUs that cannot be read"
_NO_TYPE: Final = "no instance type"
_FIELDS: Final = "not as many fields as the header"
_BAD_START: Final = "a start that cannot be read: taken as not recorded"


def is_csv(first_line: str) -> bool:
    """Does the line read as a header of ours?"""
    columns = _columns(first_line)
    return bool({*REQUIRED, *SIZES} & columns.keys())


def read_csv(assembly: Assembly, text: str) -> None:
    """Add the jobs of the text to the assembly. Raises InputError for what is wrong with the whole file."""
    header, _, _ = text.partition("\n")
    table = _Table(assembly, _columns(header))
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(header))
    next(rows)
    try:
        for row in rows:
            if row:
                table.add(row, rows.line_num)
    except csv.Error as error:
        raise InputError(f"not valid CSV: {error}", file=assembly.file, line=rows.line_num) from None


def _delimiter(header: str) -> str:
    return max(_DELIMITERS, key=header.count)


def _columns(header: str) -> dict[str, int]:
    """Column to its number; the first of two that are called the same."""
    titles = next(csv.reader([header.strip("\r\n")], delimiter=_delimiter(header)), [])
    columns: dict[str, int] = {}
    for number, title in enumerate(titles):
        columns.setdefault(title.strip().lower(), number)
    return columns


class _Table:
    """Turns rows into jobs."""

    def __init__(self, assembly: Assembly, columns: Mapping[str, int]) -> None:
        self.assembly = assembly
        self.remarks = assembly.remarks
        self.width = len(columns)
        self._check(columns)
        at = columns.get
        self.submit, self.team, self.duration = (columns[title] for title in REQUIRED)
        self.name, self.line, self.start = at("job_id"), at("source_line"), at("start_time_s")
        self.type, self.count, self.gpus = at("instance_type"), at("instance_count"), at("gpus")
        self.priority, self.status = at("priority"), at("status")
        self.classes = [columns[title] for title in _CLASSES if title in columns]
        self.demands: dict[tuple[str, ...], Mapping[str, int] | str] = {}
        """Cells to the demand they ask for, or to what is wrong with them."""
        self.scale = assembly.times.scale

    def _check(self, columns: Mapping[str, int]) -> None:
        missing = [title for title in REQUIRED if title not in columns]
        if not any(size in columns for size in SIZES):
            missing.append(SIZES[0])
        if missing:
            near = difflib.get_close_matches(missing[0], columns, n=1, cutoff=0.6)
            meant = f" (is it {near[0]!r}?)" if near else ""
            needed = ", ".join((*REQUIRED, "instance_type (or gpus, with 'instances' in --map)"))
            what = f"no column {missing[0]!r}{meant}; needed: {needed}; known too: {', '.join(OPTIONAL)}"
            raise InputError(what, file=self.assembly.file, line=1)

    def add(self, row: Sequence[str], line: int) -> None:
        """A row of the file as a job, or as a remark."""
        place = f"line {line}"
        if len(row) != self.width:
            self.remarks.lose(_FIELDS, place)
            return
        assembly = self.assembly
        team = row[self.team].strip()
        share = assembly.share(team, place) if team else None
        if share is None:
            if not team:
                self.remarks.lose(_NO_TEAM, place)
            return
        demand = self._demand(row)
        if isinstance(demand, str):
            self.remarks.lose(demand, place)
            return
        submit = self._submit(row, place)
        started = self._started(row, place)
        word = "" if self.status is None else row[self.status].strip()
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

    def _name(self, row: Sequence[str], line: int) -> str:
        """The job's id; where it has none, the line of the file that it comes from."""
        if self.name is not None and (name := row[self.name].strip()):
            return name
        if self.line is not None and (source := row[self.line].strip()):
            return f"line-{source}"
        return f"line-{line}"

    def _submit(self, row: Sequence[str], place: str) -> float | None:
        try:
            return self.assembly.times.instant(row[self.submit].strip(), place)
        except ValueError:
            return None

    def _started(self, row: Sequence[str], place: str) -> float | None:
        text = "" if self.start is None else row[self.start].strip()
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
        text = row[self.duration].strip()
        try:
            duration = float(text) * self.scale if text else -1.0
        except ValueError:
            return _BAD_DURATION
        if duration >= 0 and math.isfinite(duration) and not (duration == 0 and status is Status.WAITING):
            if status is Status.RUNNING:
                self.assembly.note_running(place)
            return duration
        if status is Status.WAITING:
            return _NEVER_STARTED
        if status is Status.RUNNING and started is not None:
            return None
        return _NO_DURATION if not text or float(text) == -1 else _NEGATIVE

    def _priority(self, row: Sequence[str], place: str) -> int | None:
        if self.priority is not None and (text := row[self.priority].strip()):
            return self.assembly.priority(text, place)
        if not self.assembly.map.priorities:
            return None
        words = (word for column in self.classes if (word := row[column].strip()))
        return next((self.assembly.priority(word, place) for word in words), None)

    # --- instances --------------------------------------------------------------------------------

    def _demand(self, row: Sequence[str]) -> Mapping[str, int] | str:
        """Instance type to instances; a text is why the job cannot be used. Jobs of one size share a mapping."""
        cells = tuple("" if column is None else row[column] for column in (self.type, self.count, self.gpus))
        found = self.demands.get(cells)
        if found is None:
            found = self.demands[cells] = self._reckon(*(cell.strip() for cell in cells))
        return found

    def _reckon(self, unit: str, count: str, gpus: str) -> Mapping[str, int] | str:
        try:
            if unit:
                number = float(count or "1")
                if not number.is_integer():
                    return _BAD_COUNT
                return {unit: int(number)} if number > 0 else _NO_INSTANCES
            if not gpus:
                return _NO_TYPE
            number = float(gpus)
        except (ValueError, OverflowError):
            return _BAD_COUNT
        if not 0 < number < math.inf:
            return _NO_INSTANCES
        if not self.assembly.map.instances:
            what = "GPUs and no instance type; say in --map which 'instances' they are"
            raise InputError(what, file=self.assembly.file)
        return self.assembly.demand_of_gpus(number)
