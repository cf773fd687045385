"""What happened to the queue and to each share: capacity over time, and the jobs below on the same axis."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from operator import methodcaller
from typing import Final

from markupsafe import Markup

from policy_engine.outcome import JobOutcome, Step
from policy_engine.policy import Policy
from policy_engine.report.blocks import Block, Facts, Figure, Lane, Legend, Name, Text
from policy_engine.report.escaping import visible
from policy_engine.report.html import charts
from policy_engine.report.html.charts import Capacity, End, Label, Row, Span, Window
from policy_engine.report.series import BANDS, Interval, binned, limits, of_queue, of_share
from policy_engine.report.story import Story, most_telling
from policy_engine.report.times import TimeAxis
from policy_engine.report.wording import borrowing, ended, plural, times
from policy_engine.workload.durations import duration_text

MOST_JOBS: Final = 60
"""Of more jobs, as many are drawn: those preempted most, then those that waited longest."""
MOST_MARKS: Final = 100
"""More preemptions of one share are not marked one by one."""
MOST_TOLD: Final = 12
"""A chart of more spans or jobs is described by its extremes."""
_WIDTHS: Final = {"wide": 680, "narrow": 280}

ENDS: Final = {
    "finished": "finished",
    "cross_share": "preempted",
    "in_share": "preempted",
    "limit_lowered": "preempted",
    "terminated": "terminated",
    "failed": "failed",
    "timeout": "failed",
    "capacity_failure": "failed",
}
"""``ended_by`` of an attempt to the shape that shows it."""

LEGEND: Final = Legend(
    (
        ("own", "in use within the limit"),
        ("borrowed", "borrowed: in use beyond the limit"),
        ("lent", "lent: used by other shares"),
        ("reserved", "reserved: idle, lent to nobody"),
        ("free", "free: idle, can be lent"),
        ("unallocated", "of no share"),
        ("limit", "limit, capacity"),
        ("stop", "one of its jobs was preempted"),
    )
)
JOB_LEGEND: Final = Legend(
    (
        ("own", "work that was kept"),
        ("lost", "work that was lost"),
        ("waiting", "waiting"),
        ("finished", "finished"),
        ("preempted", "preempted"),
        ("terminated", "terminated"),
        ("failed", "failed"),
        ("running", "running at the end"),
    )
)


def lanes(story: Story) -> Iterator[Block]:
    """The legend, the queue as a whole, every share, and a word on what is left out."""
    axis = time_axis(story)
    timelines = story.timelines()
    shown = most_telling(story.jobs, MOST_JOBS)
    yield LEGEND
    if shown:
        yield JOB_LEGEND
    if not axis.is_to_scale:
        yield Text(
            f"Time is not to scale: things happen at {len(axis.stops)} instants, and all stretches between them are"
            " equally wide."
        )
    if len(shown) < len(story.jobs):
        yield Text(
            f"Of {len(story.jobs):,} jobs the {len(shown)} that were preempted most or waited longest are drawn;"
            " the tables count all of them."
        )
    yield _queue_lane(story, axis, timelines)
    for number, share in enumerate(story.run.policy.shares):
        jobs = [job for job in shown if job.share == share]
        yield _share_lane(story, f"{story.ident}-{number}", share, axis, timelines, jobs)


def time_axis(story: Story) -> TimeAxis:
    """The time that every chart of the run shows; at least a second."""
    attempts = [attempt for job in story.jobs for attempt in job.attempts]
    start = min([0.0, *(attempt.scheduled for attempt in attempts)])
    instants = {row[0] for row in story.run.log.rows}
    return TimeAxis.of(instants, start, max(story.run.end, start + 1))


def _queue_lane(story: Story, axis: TimeAxis, timelines: Mapping[str, Sequence[Step]]) -> Lane:
    figures = []
    for n, (unit, found) in enumerate(timelines.items()):
        capacity = limits(story.run, methodcaller("capacity", unit))
        shown = Capacity(of_queue(found, axis.end), capacity)
        figures.append(_capacity_figure(f"{story.ident}-queue-{n}", unit, "the whole queue", "capacity", shown, axis))
    preempted = sum(job.preemptions for job in story.jobs)
    facts = Facts((("Jobs", f"{len(story.jobs):,}"), ("Preemptions", f"{preempted:,}")))
    return Lane("The whole queue", "", facts, figures)


def _share_lane(
    story: Story,
    ident: str,
    share: str,
    axis: TimeAxis,
    timelines: Mapping[str, Sequence[Step]],
    shown: Sequence[JobOutcome],
) -> Lane:
    declared = story.run.policy.shares[share]
    mine = [job for job in story.jobs if job.share == share]
    stops = _preempted_at(mine)
    figures = []
    for n, (unit, found) in enumerate(timelines.items()):
        intervals = of_share(found, share, axis.end)
        if any(interval.total for interval in intervals):
            limit = limits(story.run, partial(_limit, share, unit))
            capacity = Capacity(intervals, limit, stops)
            figures.append(_capacity_figure(f"{ident}-{n}", unit, share, "limit", capacity, axis))
    if shown:
        figures.append(_jobs_figure(f"{ident}-jobs", share, shown, axis))
    facts = Facts(
        (
            ("Borrowing", borrowing(declared)),
            ("In-share preemption", "on" if declared.in_share_preemption else "off"),
            ("Jobs", f"{len(mine):,}"),
            ("Preempted", f"{sum(job.preemptions for job in mine):,}"),
        )
    )
    return Lane(Name(share), declared.strategy, facts, figures)


def _limit(share: str, unit: str, policy: Policy) -> int:
    """The share's limit; 0 once it is deleted."""
    return policy.shares[share].limit(unit) if share in policy.shares else 0


def _preempted_at(jobs: Sequence[JobOutcome]) -> list[float]:
    """When jobs were preempted; none where they are too many to tell apart."""
    stops = [
        attempt.stopped
        for job in jobs
        for attempt in job.attempts
        if attempt.stopped is not None and ENDS.get(attempt.ended_by or "") == "preempted"
    ]
    return sorted(set(stops)) if len(stops) <= MOST_MARKS else []


def _capacity_figure(ident: str, unit: str, whose: str, what: str, exact: Capacity, axis: TimeAxis) -> Figure:
    drawn = replace(exact, intervals=binned(exact.intervals))
    peak = max((interval.used for interval in exact.intervals), default=0)
    caption = f"{unit}: {what} {' then '.join(f'{limit:,}' for _, limit in exact.limits)}, at most {peak:,g} in use"
    if len(drawn.intervals) < len(exact.intervals):
        caption += f" (means over {duration_text(round((axis.end - axis.start) / len(drawn.intervals)))})"
    title = f"Instances of {unit} of {visible(whose)} over time"
    told = _told(exact.intervals)
    return _both(caption, ident, title, told, axis, lambda w, label: charts.capacity(drawn, w, label))


def _told(intervals: Sequence[Interval]) -> str:
    """What the chart shows, in words: every span where they are few, else the means and peaks."""
    if len(intervals) <= MOST_TOLD:
        return "; ".join(
            f"from {duration_text(interval.start)} to {duration_text(interval.end)}: {_levels(interval.levels)}"
            for interval in intervals
        )
    whole = binned(intervals, 1)[0]
    peaks = tuple(max(levels) for levels in zip(*(interval.levels for interval in intervals), strict=True))
    return f"on average {_levels(whole.levels)}; at most {_levels(peaks)}"


def _levels(levels: Sequence[float]) -> str:
    said = [f"{round(level, 1):g} {band}" for band, level in zip(BANDS, levels, strict=True) if level]
    return ", ".join(said) or "nothing"


def _jobs_figure(ident: str, share: str, jobs: Sequence[JobOutcome], axis: TimeAxis) -> Figure:
    rows = [Row(visible(job.name), _note(job)) for job in jobs]
    spans = [part for row, job in enumerate(jobs) for part in _spans(row, job, axis.end)]
    ends = [end for row, job in enumerate(jobs) for end in _ends(row, job, axis.end)]
    told = f"{plural(len(jobs), 'job')}"
    if len(jobs) <= MOST_TOLD:
        told = "; ".join(f"{visible(job.name)}: {_attempts_told(job)}" for job in jobs)
    caption = f"{plural(len(jobs), 'job')}, from submission to end"
    title = f"Jobs of {visible(share)} and their attempts"
    return _both(caption, ident, title, told, axis, lambda w, label: charts.jobs(rows, spans, ends, w, label))


def _note(job: JobOutcome) -> str:
    if job.preemptions:
        return f"preempted {times(job.preemptions)}"
    return "never started" if job.first_started is None else ""


def _attempts_told(job: JobOutcome) -> str:
    if not job.attempts:
        return "never started"
    return ", ".join(
        f"ran from {duration_text(attempt.scheduled)} "
        + ("on" if attempt.stopped is None else f"to {duration_text(attempt.stopped)}, {ended(attempt)}")
        for attempt in job.attempts
    )


def _spans(row: int, job: JobOutcome, end: float) -> Iterator[Span]:
    waiting_since = job.submitted
    for attempt in job.attempts:
        stopped = end if attempt.stopped is None else attempt.stopped
        lost_from = max(attempt.scheduled, stopped - attempt.lost_seconds)
        yield from (
            part
            for part in (
                Span(row, waiting_since, attempt.scheduled, "waiting"),
                Span(row, attempt.scheduled, lost_from, "kept"),
                Span(row, lost_from, stopped, "lost"),
            )
            if part.end > part.start
        )
        waiting_since = stopped
    until = end if job.finished is None else job.finished
    if until > waiting_since:
        yield Span(row, waiting_since, until, "waiting")


def _ends(row: int, job: JobOutcome, end: float) -> Iterator[End]:
    for attempt in job.attempts:
        if attempt.stopped is None:
            yield End(row, end, "running")
        else:
            yield End(row, attempt.stopped, ENDS[attempt.ended_by or "finished"])


def _both(
    caption: str, ident: str, title: str, told: str, axis: TimeAxis, draw: Callable[[Window, Label], Markup]
) -> Figure:
    """The chart for screens and for phones, of which the page shows one."""
    wide, narrow = (draw(Window(axis, width), Label(f"{ident}-{name}", title, told)) for name, width in _WIDTHS.items())
    return Figure(caption, wide, narrow)
