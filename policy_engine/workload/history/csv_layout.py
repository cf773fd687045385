"""Which column of a CSV holds what, and what the cells about a job's size ask for."""

from __future__ import annotations

import csv
import difflib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from policy_engine.errors import InputError
from policy_engine.workload.history.assembling import Assembly

REQUIRED: Final = ("submit_time_s", "team", "duration_s")
SIZES: Final = ("instance_type", "gpus")
"""Columns of which one is needed."""
CLASSES: Final = ("queue", "qos", "priority_raw")
"""Columns that may hold a word that the map makes a priority."""
OPTIONAL: Final = ("instance_count", "job_id", "priority", "status", "start_time_s", *CLASSES)
_DELIMITERS: Final = ",;\t"

NO_INSTANCES: Final = "asks for no instance or GPU"
BAD_COUNT: Final = "a number of instances or GPUs that cannot be read"
NO_TYPE: Final = "no instance type"


def is_csv(first_line: str) -> bool:
    """Does the line read as a header of ours?"""
    return bool({*REQUIRED, *SIZES} & columns_of(first_line).keys())


def delimiter_of(header: str) -> str:
    """What stands between the columns: a comma, or what a spreadsheet of another country writes."""
    return max(_DELIMITERS, key=header.count)


def columns_of(header: str) -> dict[str, int]:
    """Column to its number; the first of two that are called the same."""
    titles = next(csv.reader([header.strip("\r\n")], delimiter=delimiter_of(header)), [])
    columns: dict[str, int] = {}
    for number, title in enumerate(titles):
        columns.setdefault(title.strip().lower(), number)
    return columns


@dataclass(frozen=True, slots=True)
class Layout:
    """Numbers of columns; None for one that the file has not got."""

    delimiter: str
    width: int
    submit: int
    team: int
    duration: int
    name: int | None
    line: int | None
    """``source_line``: where a file was made from another, the line there."""
    start: int | None
    type: int | None
    count: int | None
    gpus: int | None
    priority: int | None
    status: int | None
    classes: tuple[int, ...]

    @classmethod
    def of(cls, assembly: Assembly, header: str) -> Layout:
        """The layout that the header says. Raises InputError where a column is missing."""
        columns = columns_of(header)
        _check(assembly, columns)
        at, delimiter = columns.get, delimiter_of(header)
        return cls(
            delimiter=delimiter,
            width=len(next(csv.reader([header.strip("\r\n")], delimiter=delimiter))),
            submit=columns["submit_time_s"],
            team=columns["team"],
            duration=columns["duration_s"],
            name=at("job_id"),
            line=at("source_line"),
            start=at("start_time_s"),
            type=at("instance_type"),
            count=at("instance_count"),
            gpus=at("gpus"),
            priority=at("priority"),
            status=at("status"),
            classes=tuple(columns[title] for title in CLASSES if title in columns),
        )

    @property
    def size(self) -> tuple[int | None, int | None, int | None]:
        """The columns that tell the size of a job: instance type, instances, GPUs."""
        return self.type, self.count, self.gpus


def _check(assembly: Assembly, columns: Mapping[str, int]) -> None:
    missing = [title for title in REQUIRED if title not in columns]
    if not any(size in columns for size in SIZES):
        missing.append(SIZES[0])
    if missing:
        near = difflib.get_close_matches(missing[0], columns, n=1, cutoff=0.6)
        meant = f" (is it {near[0]!r}?)" if near else ""
        needed = ", ".join((*REQUIRED, "instance_type (or gpus, with 'instances' in --map)"))
        what = f"no column {missing[0]!r}{meant}; needed: {needed}; known too: {', '.join(OPTIONAL)}"
        raise InputError(what, file=assembly.file, line=1)


def demand_of(assembly: Assembly, unit: str, count: str, gpus: str) -> Mapping[str, int] | str:
    """Instance type to instances that the cells ask for; a text is why they cannot be used.

    Raises InputError where there are GPUs, and the map does not say which instance types they are.
    """
    unit, count, gpus = unit.strip(), count.strip(), gpus.strip()
    if not unit and not gpus:
        return NO_TYPE
    try:
        instances, number = float(count or "1"), 1.0 if unit else float(gpus)
    except ValueError:
        return BAD_COUNT
    if not (0 < instances < math.inf and 0 < number < math.inf):
        return BAD_COUNT if math.isnan(instances + number) else NO_INSTANCES
    if not instances.is_integer():
        return BAD_COUNT
    if unit:
        return {unit: int(instances)}
    if not assembly.map.instances:
        raise InputError("GPUs and no instance type; say in --map which 'instances' they are", file=assembly.file)
    demand = assembly.demand_of_gpus(number)
    return demand if instances == 1 else {of: each * int(instances) for of, each in demand.items()}


def is_per_worker(unit: str, count: str) -> bool:
    """Are the GPUs of a row taken to be those of one of several workers?"""
    return not unit.strip() and count.strip() not in ("", "1")
