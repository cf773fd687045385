"""Puts the jobs of a history together: shares, order, time from the first submission, unique names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from operator import itemgetter
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

_Entry = tuple[float, str, str, Mapping[str, int], "int | None", "float | None", "float | None", Exit, "int | None"]
"""(submit, name, share, demand, priority, duration, started, exit, preemption retries); a None duration runs on."""

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
        self._entries: list[_Entry] = []
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
        self._entries.append((submit, name, share, demand, priority, duration, started, exit_, preemption_retries))

    def extend(self, entries: Iterable[_Entry]) -> None:
        """Jobs as ``add`` takes them; ``latest`` is the caller's to set."""
        self._entries += entries

    def history(self, *, strict: bool) -> History:
        """The history. Raises InputError where nothing is left, and where ``strict`` forbids that anything is lost."""
        entries = sorted(self._entries, key=itemgetter(0))
        losses = [remark for remark in self.remarks if remark.is_loss]
        if losses and (strict or not entries):
            total = sum(remark.count for remark in losses)
            what = "left out with --strict" if strict else "can be used"
            counted = f"{total:,} jobs are" if strict else f"none of {total:,} jobs"
            raise InputError(f"{counted} {what}: {'; '.join(remark.text for remark in losses)}", file=self.file)
        if not entries:
            raise InputError("no jobs", file=self.file)
        zero = entries[0][0]
        jobs = self._jobs(entries, zero)
        self._check_plausible(jobs)
        dated = self.times.dated or zero >= _DATED_FROM
        return History(
            self.file,
            self.format,
            jobs,
            [None if entry[6] is None else entry[6] - zero for entry in entries],
            zero,
            _date(zero) if dated else None,
            tuple(self.remarks),
        )

    def _jobs(self, entries: Sequence[_Entry], zero: float) -> tuple[Job, ...]:
        jobs = []
        for name, entry in zip(self._unique_names(entries), entries, strict=True):
            submit, _, share, demand, priority, duration, started, exit_, retries = entry
            if duration is None:
                duration = max(0.0, self.latest - (submit if started is None else started))
                self.note_running(name)
            jobs.append(
                Job(
                    name=name,
                    share=share,
                    demand=demand,
                    priority=priority,
                    submit=submit - zero,
                    duration=duration,
                    preemption_retries=retries,
                    exit=exit_,
                )
            )
        return tuple(jobs)

    def _unique_names(self, entries: Sequence[_Entry]) -> Sequence[str]:
        """The names in order, with a number where a name is taken."""
        given = [entry[1] for entry in entries]
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

    def _check_plausible(self, jobs: Sequence[Job]) -> None:
        durations = [job.duration for job in jobs if job.duration]
        if durations and not _SHORTEST <= (middle := median(durations)) <= _MONTH:
            self.remarks.note(_LONG if middle > _MONTH else _SHORT, count=len(durations))
        # the first percent of the jobs is as good as nothing: what comes after it is the history
        head, span = jobs[len(jobs) // 100].submit, jobs[-1].submit
        if head > span / 2:
            what = f"nearly all jobs come after {duration_text(round(head))}: measure from there with --warm-up"
            self.remarks.note(what, count=len(jobs))


def _date(seconds: float) -> datetime | None:
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, ValueError, OSError):
        return None
