"""What AWS recorded of each job: when it came, when each of its attempts ran, and which of them were preempted.

Sources: API Reference pages ``DescribeServiceJob``, ``ServiceJobPreemptedAttempt``; User Guide pages ``preemption`` and
``batch-service-job-preemption-events``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Final

from policy_engine.errors import InputError
from policy_engine.policy import Policy
from policy_engine.scheduler.jobs import Job
from policy_engine.workload.history import Format, HistoryMap, Remark
from policy_engine.workload.history.assembling import Assembly
from policy_engine.workload.history.batch import BatchReader, demand_of, mappings, retries_of
from policy_engine.workload.history.mapping import NO_MAP, TimeUnit
from policy_engine.workload.history.opening import text_of

_CROSS: Final = "Cross-share preemption"
"""How AWS's reason begins where it is the job of another share that took the capacity back; it publishes no other."""
_STOPPING: Final = "PREEMPTION_IN_PROGRESS"
_ENDED: Final = ("SUCCEEDED", "FAILED")
_HOLDING: Final = ("SCHEDULED", "STARTING", "RUNNING")

_NO_ID: Final = "no quotaShareName (a container job, or a queue without quota shares)"
_NO_SUBMIT: Final = "no createdAt that can be read"
_NO_CAPACITY: Final = "neither capacityUsage of an instance type nor a ResourceConfig in serviceRequestPayload"
_NO_SHARE: Final = "a quota share that the policy has not got"
_NO_UNIT: Final = "an instance type that the policy has not got"
_BACKWARDS: Final = "attempts that overlap, or end before they begin"
_FORGOTTEN: Final = "preempted attempts that AWS tells of no more: nothing is judged before the first that it does"

_Told = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RecordedAttempt:
    """One placement of a job. Milliseconds from the first submission."""

    start: int | None
    """When it was dispatched, or else when it ran; None where it was stopped before it did."""
    ran: int | None
    """When its training job ran, for all that is told."""
    stop: int | None
    """None while it holds its instances."""
    is_preempted: bool
    is_cross: bool
    """It is told that it was for another share's job."""


@dataclass(frozen=True, slots=True)
class RecordedJob:
    """One job. Milliseconds from the first submission."""

    job: Job
    """As the scheduler sees it; its submission is in milliseconds, too."""
    submit: int
    attempts: tuple[RecordedAttempt, ...]
    end: int | None
    """When it succeeded, failed or was terminated; None while it has not."""


@dataclass(frozen=True)
class Record:
    """What happened in a queue, as AWS tells it afterwards."""

    source: str
    jobs: tuple[RecordedJob, ...]
    """In the order of submission."""
    zero: float
    """The first submission, in seconds since 1970."""
    end: int
    """The last instant that the record tells of, in milliseconds from the first submission."""
    known_from: int
    """From here on every attempt of every job is known."""
    shares: frozenset[str]
    """Those of the policy."""
    remarks: tuple[Remark, ...] = field(default=())

    @property
    def preemptions(self) -> int:
        """Attempts that were preempted."""
        return sum(attempt.is_preempted for job in self.jobs for attempt in job.attempts)

    def date(self, seconds: float) -> datetime:
        """The date of a time in seconds from the first submission."""
        return datetime.fromtimestamp(self.zero + seconds, UTC)


def read_record(path: str, policy: Policy, given: HistoryMap | None = None, *, strict: bool = False) -> Record:
    """The record of a history of AWS Batch: JSON of DescribeServiceJob, such as ``history`` writes.

    Args:
        path: the file; gzip and a zip of one file are unpacked.
        policy: in force all the while.
        given: the history's teams to the policy's shares, as for ``replay``.
        strict: is it an error that a job is left out?

    Raises:
        InputError: the file cannot be read, holds another format, or none of its jobs can be used.
    """
    text = text_of(path)
    if text.lstrip()[:1] not in ("{", "["):
        what = "no AWS Batch JSON; conform needs attempts and preemptions, which only DescribeServiceJob tells"
        raise InputError(f"{what} (policy-engine history queue:NAME)", file=path)
    assembly = Assembly(path, Format.BATCH, NO_MAP if given is None else given, TimeUnit.MILLISECONDS)
    reader = BatchReader(assembly)
    reader.gather(text)
    return _Recorder(reader, policy).record(strict=strict)


class _Recorder:
    """Makes the record of what the reader gathered."""

    def __init__(self, reader: BatchReader, policy: Policy) -> None:
        self.reader = reader
        self.policy = policy
        self.remarks = reader.remarks
        self.known_from = 0

    def record(self, *, strict: bool) -> Record:
        named = zip(self.reader.told.items(), self.reader.names(), strict=True)
        found = [job for (ident, told), name in named if (job := self._job(ident, name, told)) is not None]
        losses = [remark for remark in self.remarks if remark.is_loss]
        file = self.reader.assembly.file
        if losses and (strict or not found):
            total = sum(remark.count for remark in losses)
            what = f"{total:,} jobs cannot be used: {'; '.join(remark.text for remark in losses)}"
            raise InputError(what, file=file)
        if not found:
            raise InputError("no jobs", file=file)
        found.sort(key=lambda job: job.submit)
        zero = found[0].submit
        jobs = tuple(_moved(job, zero) for job in found)
        return Record(
            file,
            jobs,
            zero / 1000,
            max(time for job in jobs for time in _times(job)),
            max(0, self.known_from - zero),
            frozenset(self.policy.shares),
            tuple(self.remarks),
        )

    def _job(self, ident: str, name: str, told: _Told) -> RecordedJob | None:
        """The job, with times in milliseconds since 1970; None, and a remark, where it cannot be used."""
        team = told.get("quotaShareName")
        share = self.reader.assembly.share(str(team), ident) if team else None
        submit = self._time(told.get("createdAt"), ident)
        demand = demand_of(told)
        problem = _problem(team, submit, demand)
        if problem is None and share is not None and demand is not None:
            problem = self._misplaced(share, demand)
        if problem is not None:
            self.remarks.lose(problem, ident)
        if problem is not None or share is None or submit is None or demand is None:
            return None
        attempts = self._attempts(ident, told, submit)
        if attempts is None:
            self.remarks.lose(_BACKWARDS, ident)
            return None
        self._note_forgotten(ident, told, attempts, submit)
        job = Job(
            name=name,
            share=share,
            demand=demand,
            priority=self.reader.priority(told, ident),
            submit=submit,
            preemption_retries=retries_of(told),
        )
        return RecordedJob(job, submit, attempts, self._end(ident, told, attempts))

    def _misplaced(self, share: str, demand: Mapping[str, int]) -> str | None:
        if share not in self.policy.shares:
            return _NO_SHARE
        return None if all(self.policy.capacity(unit) for unit in demand) else _NO_UNIT

    def _attempts(self, ident: str, told: _Told, submit: int) -> tuple[RecordedAttempt, ...] | None:
        """Its attempts in order; None where they make no sense."""
        summary = told.get("preemptionSummary") or {}
        recent = mappings(summary.get("recentPreemptedAttempts"))
        preempted = [self._attempt(ident, one, preempted=True) for one in recent]
        stops = {attempt.stop for attempt in preempted}
        others = [self._attempt(ident, one, preempted=False) for one in mappings(told.get("attempts"))]
        # AWS does not say whether preempted attempts stand among the others too
        found = [*preempted, *(one for one in others if one.stop is None or one.stop not in stops)]
        found = [one for one in found if one.start is not None or one.stop is not None]
        found.sort(key=_begins)
        last = self._last(ident, told, found)
        if last is not None:
            found = [*(one for one in found if one.stop is not None and one.stop != last.stop), last]
        before = submit
        for attempt in found:
            start = before if attempt.start is None else attempt.start
            if start < before or (attempt.stop is not None and attempt.stop < start):
                return None
            before = start if attempt.stop is None else attempt.stop
        return tuple(found)

    def _attempt(self, ident: str, told: _Told, *, preempted: bool) -> RecordedAttempt:
        is_cross = str(told.get("statusReason") or "").startswith(_CROSS)
        start, stop = (self._time(told.get(key), ident) for key in ("startedAt", "stoppedAt"))
        return RecordedAttempt(start, start, stop, preempted, preempted and is_cross)

    def _last(self, ident: str, told: _Told, found: Sequence[RecordedAttempt]) -> RecordedAttempt | None:
        """The attempt that the job's own times tell of; None where it waits, or they tell nothing more."""
        status = told.get("status")
        before = max((one.stop for one in found if one.is_preempted and one.stop is not None), default=0)
        scheduled, started = (self._time(told.get(key), ident) for key in ("scheduledAt", "startedAt"))
        # dispatched is what the scheduler decided; running comes later
        start = scheduled if scheduled is not None and scheduled >= before else started
        if start is None or start < before:
            return None
        if status in _HOLDING:
            if str(told.get("statusReason") or "").startswith(_STOPPING):
                return None if not found else _stopping(found[-1])
            return RecordedAttempt(start, started, None, is_preempted=False, is_cross=False)
        stop = self._time(told.get("stoppedAt"), ident)
        if status not in _ENDED or stop is None or (found and found[-1].is_preempted and found[-1].stop == stop):
            return None
        if told.get("isTerminated") and found and found[-1].stop is not None and start <= found[-1].stop < stop:
            return None  # it was waiting when it was terminated
        return RecordedAttempt(start, started, stop, is_preempted=False, is_cross=False)

    def _end(self, ident: str, told: _Told, attempts: Sequence[RecordedAttempt]) -> int | None:
        if told.get("status") not in _ENDED:
            return None
        stop = self._time(told.get("stoppedAt"), ident)
        last = attempts[-1].stop if attempts else None
        return stop if last is None or (stop is not None and stop > last) else last

    def _note_forgotten(self, ident: str, told: _Told, attempts: Sequence[RecordedAttempt], submit: int) -> None:
        """Preempted attempts beyond AWS's window: where the job was is known from the first one on that it tells."""
        count = (told.get("preemptionSummary") or {}).get("preemptedAttemptCount")
        preempted = [attempt for attempt in attempts if attempt.is_preempted]
        if isinstance(count, int) and count > len(preempted):
            self.remarks.note(_FORGOTTEN, ident)
            first = next((one.start if one.start is not None else one.stop for one in attempts), None)
            self.known_from = max(self.known_from, submit if first is None else first)

    def _time(self, value: object, ident: str) -> int | None:
        seconds = self.reader.instant(value, ident)
        return None if seconds is None else round(seconds * 1000)


def _problem(team: object, submit: int | None, demand: object) -> str | None:
    if not team:
        return _NO_ID
    if submit is None:
        return _NO_SUBMIT
    return _NO_CAPACITY if demand is None else None


def _begins(attempt: RecordedAttempt) -> int:
    return attempt.start if attempt.start is not None else attempt.stop or 0


def _stopping(attempt: RecordedAttempt) -> RecordedAttempt:
    """An attempt that is being stopped as the record ends."""
    return replace(attempt, is_preempted=True)


def _moved(job: RecordedJob, zero: int) -> RecordedJob:
    """The job with its times from the first submission."""

    def moved(time: int | None) -> int | None:
        return None if time is None else time - zero

    attempts = tuple(
        replace(one, start=moved(one.start), ran=moved(one.ran), stop=moved(one.stop)) for one in job.attempts
    )
    submit = job.submit - zero
    return RecordedJob(replace(job.job, submit=submit), submit, attempts, moved(job.end))


def _times(job: RecordedJob) -> Iterator[int]:
    yield job.submit
    for attempt in job.attempts:
        yield from (time for time in (attempt.start, attempt.stop) if time is not None)
    if job.end is not None:
        yield job.end
