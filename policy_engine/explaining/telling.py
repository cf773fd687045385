"""Makes chapters of the log of a run and of what was watched."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from policy_engine.explaining.life import Watched
from policy_engine.explaining.reasons import Because, Chapter, Reason, Selection, What
from policy_engine.outcome import policies
from policy_engine.scheduler.jobs import Job
from policy_engine.scheduler.log import Event, Kind, Why
from policy_engine.simulation import Run
from policy_engine.workload.durations import duration_text


def chapters(run: Run, number: int, watched: Watched) -> list[Chapter]:
    """The whole life of a job, in order of time."""
    told = [*_Teller(run, number, watched).events()]
    told += [
        Chapter(What.WAITS, w.since, None, w.diagnosis.waits.message, diagnosis=w.diagnosis) for w in watched.waits
    ]
    told.sort(key=lambda chapter: chapter.at)
    until: float | None = None
    ended: list[Chapter] = []
    for chapter in reversed(told):
        ended.append(replace(chapter, until=until if chapter.lasts else chapter.at))
        if chapter.lasts:
            until = chapter.at
    return ended[::-1]


class _Teller:
    """Tells what the log says about one job."""

    def __init__(self, run: Run, number: int, watched: Watched) -> None:
        self.run = run
        self.job: Job = run.workload.jobs[number]
        self.selections = iter(watched.selections)
        self.policy = run.policy
        default = run.choices.default_priority
        self.priority = default if self.job.priority is None else self.job.priority
        self.preemptions = 0
        self.preempted_at: float | None = None
        """When the stop that is under way was decided."""
        self.stopped: Event | None = None
        """The latest end of an attempt that was not the last."""
        self.submitted = False

    def events(self) -> Iterator[Chapter]:
        """Everything but the waits, in the order of the log."""
        changes = dict(policies(self.run))
        if self.job.started is None and self.job.submit > 0:
            told = f"is submitted at {duration_text(self.job.submit)}"
            yield Chapter(What.NOT_SUBMITTED, 0.0, None, told)
        claims = False
        for index, (event, row) in enumerate(zip(self.run.log, self.run.log.rows, strict=True)):
            self.policy = changes.get(index, self.policy)
            claimed, claims = claims, event.kind is Kind.PREEMPTED and event.by == self.job.name
            if claims and not claimed:
                chosen = next(self.selections)
                yield Chapter(What.STOPS_OTHERS, event.at, None, chosen.message, selection=chosen)
            elif event.job == self.job.name:
                yield from self._event(event, row[5])

    def _event(self, event: Event, detail: object) -> Iterator[Chapter]:
        match event.kind:
            case Kind.SUBMITTED:
                self.submitted = True
                yield Chapter(What.SUBMITTED, event.at, None, self._submission())
            case Kind.STARTED:
                yield self._started(event)
            case Kind.PREEMPTED:
                yield from self._preempted(event)
            case Kind.STOPPED:
                self.stopped = event
                self.preemptions += event.why is None
            case Kind.REQUEUED:
                yield Chapter(What.REQUEUED, event.at, None, self._requeued())
            case Kind.PRIORITY_UPDATED:
                told = f"its priority goes from {self.priority} to {detail}"
                self.priority = int(str(detail))
                yield Chapter(What.PRIORITY_UPDATED, event.at, None, told)
            case Kind.FINISHED:
                yield Chapter(What.FINISHED, event.at, None, "has done its work")
            case Kind.FAILED:
                yield self._failed(event)
            case Kind.TERMINATED:
                told = "is terminated" + (f": {event.reason}" if event.reason else "")
                yield Chapter(What.TERMINATED, event.at, None, told)

    def _submission(self) -> str:
        told = f"submitted to {self.job.share} with priority {self.priority}, for {_instances(self.job.demand)}"
        return told if self.job.started is None else f"{told}, and dispatched before the run began"

    def _started(self, event: Event) -> Chapter:
        """Whose capacity it runs on, at the moment when it starts."""
        job, usage = self.job, event.usage.get(self.job.share, {})
        share = self.policy.shares[job.share]
        reasons = []
        for unit in job.demand:
            used, limit = usage.get(unit, 0), share.limit(unit)
            numbers = {"usage": used, "limit": limit, "borrowed": max(0, used - limit)}
            if used > limit:
                told = f"{job.share} uses {used} {unit}, {used - limit} above its limit {limit}: borrowed capacity"
                reasons.append(Reason(Because.BORROWS, told, numbers, unit=unit))
            else:
                told = f"{job.share} uses {used} {unit} of its limit {limit}"
                reasons.append(Reason(Because.OWN_CAPACITY, told, numbers, unit=unit))
        return Chapter(What.RUNS, event.at, None, "; ".join(reason.message for reason in reasons), tuple(reasons))

    def _preempted(self, event: Event) -> Iterator[Chapter]:
        if event.why is Why.LIMIT_LOWERED:
            reason = self._limit_lowered(event)
            yield Chapter(What.PREEMPTED, event.at, None, reason.message, (reason,))
        else:
            chosen = next(self.selections)
            yield Chapter(What.PREEMPTED, event.at, None, _victim_told(chosen, self.job.name), selection=chosen)
        stop_seconds = self.run.workload.timing.stop_seconds
        if stop_seconds:
            told = f"is being stopped, which takes {duration_text(stop_seconds)}"
            yield Chapter(What.STOPS, event.at, None, told)

    def _limit_lowered(self, event: Event) -> Reason:
        share, usage = self.policy.shares[self.job.share], event.usage.get(self.job.share, {})
        unit = next((u for u in self.job.demand if usage.get(u, 0) > share.limit(u)), next(iter(self.job.demand)))
        numbers = {"usage": usage.get(unit, 0), "limit": share.limit(unit)}
        told = (
            f"the limit of {self.job.share} was lowered to {share.limit(unit)} {unit} while it used {numbers['usage']}"
        )
        return Reason(Because.LIMIT_LOWERED, told, numbers, unit=unit, rests_on=("lowered_limit",))

    def _requeued(self) -> str:
        stopped = self.stopped
        if stopped is None or stopped.why is None:
            lost = 0.0 if stopped is None else stopped.lost_seconds
            return f"is RUNNABLE again; {duration_text(lost)} of its work {'is' if lost else 'are'} lost"
        why = {Why.TIMEOUT: "timed out", Why.CAPACITY_FAILURE: "found no capacity"}.get(stopped.why, "failed")
        return f"is RUNNABLE again: the attempt {why}"

    def _failed(self, event: Event) -> Chapter:
        if not self.submitted:
            reason = Reason(Because.REFUSED, event.reason or "")
            return Chapter(What.REFUSED, event.at, None, f"is refused: {event.reason}", (reason,))
        retries = self.job.preemption_retries
        if event.why is None and retries is not None:
            told = f"is preempted for the {_ordinal(self.preemptions)} time and may be requeued {retries} times"
            numbers = {"preemptions": self.preemptions, "retries": retries}
            return Chapter(What.FAILED, event.at, None, told, (Reason(Because.RETRIES_USED_UP, told, numbers),))
        told = {Why.TIMEOUT: "the attempt timed out"}.get(event.why or Why.FAILED, "the attempt failed")
        return Chapter(What.FAILED, event.at, None, event.reason or told)


def _victim_told(chosen: Selection, job: str) -> str:
    """What the preemption says of this victim."""
    mine = next(candidate for candidate in chosen.candidates if candidate.job == job)
    return chosen.message + (
        f"; of the candidates in the order of {chosen.order}, {mine.before}" if mine.before else ""
    )


def _instances(demand: Mapping[str, int]) -> str:
    return " and ".join(f"{count} {unit}" for unit, count in demand.items())


def _ordinal(number: int) -> str:
    last = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{last}"
