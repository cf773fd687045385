"""What happened to the queue and to each share: capacity over time, and the jobs below on the same axis."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from functools import partial
from typing import Final

from markupsafe import Markup

from policy_engine.outcome import JobOutcome
from policy_engine.report.blocks import Block, Facts, Figure, Lane, Legend, Name, Text
from policy_engine.report.escaping import visible
from policy_engine.report.html import charts
from policy_engine.report.html.charts import Capacity, End, Label, Row, Span, Window
from policy_engine.report.series import BANDS, Course
from policy_engine.report.story import Story, most_telling
from policy_engine.report.times import TimeAxis, rough
from policy_engine.report.wording import borrowing, ended, plural, times
from policy_engine.workload.durations import duration_text

MOST_JOBS: Final = 60
"""Of more jobs, as many are drawn: those preempted most, then those that waited longest."""
MOST_MARKS: Final = 100
"""More preemptions of one share are not marked one by one."""
MOST_TOLD: Final = 12
"""A chart of more spans or jobs is described by its extremes."""
WIDTHS: Final = {"wide": 680, "narrow": 280}

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

LEGEND: Final = {
    "own": "in use within the limit",
    "borrowed": "borrowed: in use beyond the limit",
    "lent": "lent: used by other shares",
    "reserved": "reserved: idle, lent to nobody",
    "free": "free: idle, can be lent",
    "unallocated": "of no share",
    "limit": "limit, capacity",
    "stop": "one of its jobs was preempted",
}
JOB_LEGEND: Final = {
    "kept": "work that was kept",
    "lost": "work that was lost",
    "waiting": "waiting",
    "finished": "finished",
    "preempted": "preempted",
    "terminated": "terminated",
    "failed": "failed",
    "running": "running at the end",
}
"""Swatch of the template to its words."""


def lanes(story: Story) -> Iterator[Block]:
    """The legend, the queue as a whole, every share, and a word on what is left out."""
    drawing = Drawing(story)
    shown = most_telling(story.jobs, MOST_JOBS)
    yield from legends(drawing.seen(), drawing.drawn(shown))
    if not drawing.axis.is_to_scale:
        yield Text(
            f"Time is not to scale: things happen at {len(drawing.axis.stops)} instants, and all stretches between"
            " them are equally wide."
        )
    if len(shown) < len(story.jobs):
        yield Text(
            f"Of {len(story.jobs):,} jobs the {len(shown)} that were preempted most or waited longest are drawn;"
            " the tables count all of them."
        )
    yield drawing.queue_lane()
    for number, share in enumerate(story.run.policy.shares):
        yield drawing.share_lane(f"{story.ident}-{number}", share, [job for job in shown if job.share == share])


def time_axis(story: Story) -> TimeAxis:
    """The time that every chart of the run shows; at least a second."""
    attempts = [attempt for job in story.jobs for attempt in job.attempts]
    start = min([0.0, *(attempt.scheduled for attempt in attempts)])
    instants = {row[0] for row in story.run.log.rows}
    return TimeAxis.of(instants, start, max(story.run.end, start + 1))


def legends(seen: Container[str], drawn: Container[str]) -> Iterator[Legend]:
    """What the colours, patterns and shapes that there are to see mean."""
    yield Legend([(key, words) for key, words in LEGEND.items() if key in seen])
    jobs = [(key, words) for key, words in JOB_LEGEND.items() if key in drawn]
    if jobs:
        yield Legend(jobs)


class Drawing:
    """Draws the lanes of one run on one time axis."""

    def __init__(
        self,
        story: Story,
        axis: TimeAxis | None = None,
        widths: Mapping[str, int] = WIDTHS,
        beside: Story | None = None,
    ) -> None:
        self.story = story
        self.beside = beside
        """The run whose charts are beside these, at the same scale."""
        self.run = story.run
        self.axis = time_axis(story) if axis is None else axis
        self.widths = widths
        self.demand = {job.name: job.demand for job in self.run.workload.jobs}

    def seen(self) -> set[str]:
        """What of the colours and patterns of capacity there is to see."""
        seen = {"limit"} | ({"stop"} if any(job.preemptions for job in self.story.jobs) else set())
        for timeline in self.story.timelines.values():
            for course in timeline.shares.values():
                seen |= {band for band, peak in zip(BANDS, course.peaks, strict=True) if peak}
            seen |= {"unallocated"} if timeline.queue.peaks[BANDS.index("unallocated")] else set()
        return seen

    def drawn(self, shown: Sequence[JobOutcome]) -> set[str]:
        """What of the patterns and shapes of jobs there is to see."""
        spans = {part.kind for job in shown for part in _spans(0, job, self.axis.end)}
        return spans | {end.kind for job in shown for end in _ends(0, job, self.axis.end)}

    def queue_lane(self) -> Lane:
        """All shares together."""
        figures = []
        for n, (unit, timeline) in enumerate(self.story.timelines.items()):
            ident = f"{self.story.ident}-queue-{n}"
            limits = self.story.capacity(unit)
            least = self._highest_beside(None, unit)
            figures.append(
                self._capacity_figure(ident, unit, "the whole queue", "capacity", timeline.queue, limits, (), least)
            )
        preempted = sum(job.preemptions for job in self.story.jobs)
        facts = Facts((("Jobs", f"{len(self.story.jobs):,}"), ("Preemptions", f"{preempted:,}")))
        return Lane("The whole queue", "", facts, figures)

    def share_lane(self, ident: str, share: str, shown: Sequence[JobOutcome]) -> Lane:
        """One share: its instances of every type it ever had any of, and those of its jobs that are shown."""
        declared = self.run.policy.shares[share]
        mine = [job for job in self.story.jobs if job.share == share]
        figures = []
        for n, (unit, timeline) in enumerate(self.story.timelines.items()):
            course = timeline.shares[share]
            if course.is_ever_there:
                limits, stops = self.story.limit(share, unit), self._stops(mine, unit)
                least = self._highest_beside(share, unit)
                figures.append(
                    self._capacity_figure(f"{ident}-{n}", unit, share, "limit", course, limits, stops, least)
                )
        if shown:
            figures.append(self._jobs_figure(f"{ident}-jobs", share, shown))
        facts = Facts(
            (
                ("Borrowing", borrowing(declared)),
                ("In-share preemption", "on" if declared.in_share_preemption else "off"),
                ("Jobs", f"{len(mine):,}"),
                ("Preempted", f"{sum(job.preemptions for job in mine):,}"),
            )
        )
        return Lane(Name(share), declared.strategy, facts, figures)

    def _highest_beside(self, share: str | None, unit: str) -> float:
        """Instances at the top of the chart beside one of the share, or of the whole queue."""
        other = self.beside
        if other is None or unit not in other.timelines:
            return 0.0
        timeline = other.timelines[unit]
        course = timeline.queue if share is None else timeline.shares.get(share)
        limits = other.capacity(unit) if share is None else other.limit(share, unit)
        used = (interval.total for interval in course.intervals) if course is not None else ()
        return max((*used, *(limit for _, limit in limits)), default=0.0)

    def _stops(self, jobs: Sequence[JobOutcome], unit: str) -> list[float]:
        """When jobs on the unit were preempted; none where they are too many to tell apart."""
        stops = [
            attempt.stopped
            for job in jobs
            if unit in self.demand[job.name]
            for attempt in job.attempts
            if attempt.stopped is not None and ENDS[attempt.ended_by or "finished"] == "preempted"
        ]
        return sorted(set(stops)) if len(stops) <= MOST_MARKS else []

    def _capacity_figure(
        self,
        ident: str,
        unit: str,
        whose: str,
        what: str,
        course: Course,
        limits: Sequence[tuple[float, int]],
        stops: Sequence[float],
        least: float,
    ) -> Figure:
        limit = " then ".join(f"{limit:,}" for _, limit in limits)
        caption = f"{unit}: {what} {limit}, at most {course.most_used:,g} in use"
        if course.mean_over is not None:
            caption += f" (means over {rough(course.mean_over)})"
        title = f"Instances of {unit} of {visible(whose)} over time"
        drawn = Capacity(course.intervals, limits, stops, least)
        return self._both(caption, ident, title, _told(course), partial(charts.capacity, drawn))

    def _jobs_figure(self, ident: str, share: str, jobs: Sequence[JobOutcome]) -> Figure:
        rows = [Row(visible(job.name), _note(job)) for job in jobs]
        spans = [part for row, job in enumerate(jobs) for part in _spans(row, job, self.axis.end)]
        ends = [end for row, job in enumerate(jobs) for end in _ends(row, job, self.axis.end)]
        told = plural(len(jobs), "job")
        caption = f"{told}, from submission to end"
        if len(jobs) <= MOST_TOLD:
            told = "; ".join(f"{visible(job.name)}: {_attempts_told(job)}" for job in jobs)
        title = f"Jobs of {visible(share)} and their attempts"
        return self._both(caption, ident, title, told, partial(charts.jobs, rows, spans, ends))

    def _both(self, caption: str, ident: str, title: str, told: str, draw: Callable[[Window, Label], Markup]) -> Figure:
        """The chart for screens and for phones, of which the page shows one."""
        wide, narrow = (
            draw(Window(self.axis, width), Label(f"{ident}-{name}", title, told)) for name, width in self.widths.items()
        )
        return Figure(caption, wide, narrow)


def _told(course: Course) -> str:
    """What the chart shows, in words: every span where they are few, else the means and peaks."""
    if len(course.intervals) <= MOST_TOLD:
        return "; ".join(
            f"from {duration_text(interval.start)} to {duration_text(interval.end)}: {_levels(interval.levels)}"
            for interval in course.intervals
        )
    return f"on average {_levels(course.mean())}; at most {_levels(course.peaks)}"


def _levels(levels: Sequence[float]) -> str:
    said = [f"{round(level, 1):g} {band.replace('_', ' ')}" for band, level in zip(BANDS, levels, strict=True) if level]
    return ", ".join(said) or "nothing"


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
