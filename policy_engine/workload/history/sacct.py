"""Histories as Slurm's accounting prints them: ``sacct --parsable2``, with its header.

Which fields there are, and in which order, is the user's choice; they are found by name. What they hold is said in
Slurm's manual page of ``sacct``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from policy_engine.errors import InputError
from policy_engine.workload.history.assembling import Assembly
from policy_engine.workload.history.statuses import Status, status_of
from policy_engine.workload.history.times import elapsed

REQUIRED: Final = ("JobID", "Account", "Submit", "State")
_DURATIONS: Final = ("ElapsedRaw", "Elapsed")
_TRES: Final = ("AllocTRES", "ReqTRES")
_CLASSES: Final = ("QOS", "Partition")
_UNKNOWN: Final = frozenset({"", "Unknown", "None", "N/A"})
_GPU: Final = re.compile(r"(?:^|,)gres/gpu(:[^=,]+)?=(\d+)")
_TASKS: Final = re.compile(r"\[([^\]%]*)(?:%\d+)?\]")
_RANGE: Final = re.compile(r"(\d+)(?:-(\d+)(?::(\d+))?)?")

_STEP: Final = "a step of a job, not a job (sacct -X leaves them out)"
_NO_GPU: Final = "asks for no GPU"
_NEVER_STARTED: Final = "never started: how long it would run is not known"
_NO_SUBMIT: Final = "no time of submission that can be read"
_NO_DURATION: Final = "no duration that can be read"
_NO_TEAM: Final = "no account"
_FIELDS: Final = "not as many fields as the header"
_ATTEMPTS: Final = "rows of one job (sacct --duplicates): taken as its attempts, the last one's time as its work"
_UNEQUAL: Final = "Elapsed is not End less Start: Elapsed is taken"


def read_sacct(assembly: Assembly, text: str) -> None:
    """Add the jobs of the text to the assembly. Raises InputError for what is wrong with the whole file."""
    lines = text.splitlines()
    table = _Table(assembly, lines[0].split("|"))
    for number, row in table.rows(lines):
        table.add(row, f"line {number}")
    table.finish()


class _Table:
    """Turns rows into jobs."""

    def __init__(self, assembly: Assembly, titles: Sequence[str]) -> None:
        self.assembly = assembly
        self.remarks = assembly.remarks
        self.titles = [title.strip() for title in titles]
        while self.titles and not self.titles[-1]:
            self.titles.pop()  # --parsable ends every line with a separator
        self._check()
        self.attempts: dict[str, list[tuple[Mapping[str, str], str]]] = {}
        """Job to its rows, with their places; more than one where it was requeued."""

    def _check(self) -> None:
        missing = [title for title in REQUIRED if title not in self.titles]
        missing += [" or ".join(either) for either in (_DURATIONS, _TRES) if not {*either} & {*self.titles}]
        if missing:
            what = f"no field {', '.join(missing)}; add it to sacct's --format"
            raise InputError(what, file=self.assembly.file, line=1)

    def rows(self, lines: Sequence[str]) -> Iterator[tuple[int, dict[str, str]]]:
        """Line number and fields of every row that is whole."""
        for number, line in enumerate(lines[1:], start=2):
            if not line.strip():
                continue
            fields = line.split("|")
            count = len(self.titles)
            if len(fields) == count + 1 and not fields[-1]:
                fields.pop()
            if len(fields) > count and self.titles[-1] == "JobName":
                fields[count - 1 :] = ["|".join(fields[count - 1 :])]  # the name may hold the separator
            if len(fields) != count:
                self.remarks.lose(_FIELDS, f"line {number}")
                continue
            yield number, dict(zip(self.titles, fields, strict=True))

    def add(self, row: Mapping[str, str], place: str) -> None:
        """A row of the file: an attempt of a job, or a remark."""
        name = row["JobID"].strip()
        if "." in name:
            self.remarks.note(_STEP, place)
            return
        status = status_of(row["State"])
        if status is Status.WAITING or (row.get("Start", "?") in _UNKNOWN and status is not Status.RUNNING):
            self.remarks.lose(_NEVER_STARTED, place, count=_tasks(name))
            return
        self.attempts.setdefault(name, []).append((row, place))

    def finish(self) -> None:
        """Make jobs of the rows."""
        for name, rows in self.attempts.items():
            if len(rows) > 1 and _was_requeued(rows):
                self.remarks.note(_ATTEMPTS, name)
                self._job(name, rows[0], rows[-1])
            else:
                for row in rows:
                    self._job(name, row, row)

    def _job(self, name: str, first: tuple[Mapping[str, str], str], last: tuple[Mapping[str, str], str]) -> None:
        (row, place), (end, end_place) = first, last
        assembly = self.assembly
        team = row["Account"].strip()
        share = assembly.share(team, place) if team else None
        if share is None:
            if not team:
                self.remarks.lose(_NO_TEAM, place)
            return
        gpus = _gpus(end)
        if not gpus:
            self.remarks.lose(_NO_GPU, place)
            return
        if not assembly.map.instances:
            raise InputError("GPUs; say in --map which 'instances' they are", file=assembly.file)
        submit, started = self._instant(row["Submit"], place), self._instant(row.get("Start", ""), place)
        duration = self._duration(end, end_place)
        if submit is None or duration is None:
            self.remarks.lose(_NO_SUBMIT if submit is None else _NO_DURATION, place)
            return
        state = end["State"].strip()
        status = status_of(state)
        if status is Status.RUNNING:
            self.assembly.note_running(place)
        demand = assembly.demand_of_gpus(gpus)
        priority = self._priority(row, place)
        exit_ = assembly.exit(status, state, end_place)
        assembly.add(submit, name, share, demand, priority, duration, started, exit_)

    def _instant(self, text: str, place: str) -> float | None:
        text = text.strip()
        if text in _UNKNOWN:
            return None
        try:
            return self.assembly.times.instant(text, place)
        except ValueError:
            return None

    def _duration(self, row: Mapping[str, str], place: str) -> float | None:
        """Seconds that the job ran; so far, where it still does."""
        try:
            raw = row.get("ElapsedRaw", "").strip()
            seconds = float(raw) if raw else elapsed(row["Elapsed"].strip())
        except (KeyError, ValueError):
            return None
        start, end = self._instant(row.get("Start", ""), place), self._instant(row.get("End", ""), place)
        if start is not None and end is not None and abs(end - start - seconds) > 1:
            self.remarks.note(_UNEQUAL, place)
        return seconds if seconds >= 0 else None

    def _priority(self, row: Mapping[str, str], place: str) -> int | None:
        """Slurm's own priority weighs age and fairness, and is none that a job could be submitted with."""
        if not self.assembly.map.priorities:
            return None
        words = [word for title in _CLASSES if (word := row.get(title, "").strip())]
        known = (given for word in words if (given := self.assembly.map.priorities.get(word)) is not None)
        found = next(known, None)
        return self.assembly.priority(words[0], place) if found is None and words else found


def _was_requeued(rows: Sequence[tuple[Mapping[str, str], str]]) -> bool:
    """Are these attempts of one job, rather than jobs that got the same id after a counter began anew?"""
    return all(status_of(row["State"]) is not Status.SUCCEEDED for row, _ in rows[:-1])


def _gpus(row: Mapping[str, str]) -> int:
    """GPUs of all nodes: the untyped count holds the typed ones, and where it is missing they are added up."""
    for title in _TRES:
        found = _GPU.findall(row.get(title, ""))
        whole = [int(count) for kind, count in found if not kind]
        if found:
            return max(whole) if whole else sum(int(count) for _, count in found)
    return 0


def _tasks(name: str) -> int:
    """Tasks of an array that wait together in one row: ``4103947_[91,100-102%2]`` is four."""
    match = _TASKS.search(name)
    if match is None:
        return 1
    tasks = 0
    for part in match.group(1).split(","):
        span = _RANGE.fullmatch(part)
        if span is not None:
            first, last, step = (int(number) if number else None for number in span.groups())
            tasks += 1 if first is None or last is None else max(1, (last - first) // (step or 1) + 1)
    return max(1, tasks)
