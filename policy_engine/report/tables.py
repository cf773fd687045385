"""The tables of the page: jobs with their attempts, who stopped whom, the log, the policy as declared."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import islice
from typing import Final

from policy_engine.outcome import JobOutcome, ShareOutcome, share_outcomes
from policy_engine.policy import Policy
from policy_engine.report.blocks import Block, Cell, Column, Details, Facts, Lines, Name, Table, Text
from policy_engine.report.series import BANDS
from policy_engine.report.story import Story, most_telling
from policy_engine.report.times import instance_time, instance_unit, rough
from policy_engine.report.wording import borrowing, ended, plural, why
from policy_engine.scheduler.log import Event, Kind
from policy_engine.workload.durations import duration_text

MOST_ROWS: Final = 200
"""Rows of the log that the page holds; the rest is counted."""
MOST_ATTEMPTS: Final = 8
"""Attempts of one job that the page lists one by one."""
NONE: Final = ""
"""A cell that says nothing."""
SHARE_BANDS: Final = ("own", "borrowed", "lent", "reserved", "free")

_CLASSES: Final = {
    Kind.SUBMITTED: "submissions",
    Kind.STARTED: "moves",
    Kind.PREEMPTED: "preemptions",
    Kind.STOPPED: "preemptions moves",
    Kind.REQUEUED: "preemptions",
    Kind.FINISHED: "moves",
    Kind.FAILED: "moves",
    Kind.TERMINATED: "moves updates",
    Kind.PRIORITY_UPDATED: "updates",
    Kind.SHARE_UPDATED: "updates",
    Kind.ENVIRONMENT_UPDATED: "updates",
    Kind.BLOCKED: "blocked",
}


def declared(policy: Policy) -> Iterator[Block]:
    """The policy as it was declared: environment and shares."""
    limits = policy.service_environment.capacity_limits
    yield Facts(
        (
            *((f"Capacity of {unit}", f"{count:,}") for unit, count in limits.items()),
            ("Queue", policy.state.lower()),
            ("Service environment", policy.service_environment.state.lower()),
        )
    )
    columns = ("Share", "Limits", "Strategy", "May borrow", "In-share preemption", "State")
    rows: list[tuple[Cell, ...]] = [
        (
            Name(name),
            Lines([f"{count:,} {unit}" for unit, count in share.capacity_limits.items()]),
            share.strategy,
            borrowing(share),
            "on" if share.in_share_preemption else "off",
            share.state.lower(),
        )
        for name, share in policy.shares.items()
    ]
    yield Table("Quota shares", [Column(title) for title in columns], rows)


def steps(story: Story) -> Iterator[Block]:
    """What the charts of capacity show, as a table; nothing where it is too long to read."""
    rows: list[tuple[Cell, ...]] = []
    spans = (
        (unit, share, interval)
        for unit, timeline in story.timelines.items()
        for share, course in timeline.shares.items()
        for interval in course.intervals
        if any(interval.levels)
    )
    for unit, share, interval in spans:
        levels = dict(zip(BANDS, interval.levels, strict=True))
        times = f"{duration_text(interval.start)} to {duration_text(interval.end)}"
        rows.append((times, Name(share), unit, *(f"{round(levels[band], 2):g}" for band in SHARE_BANDS)))
        if len(rows) > MOST_ROWS:
            return
    columns = [Column("When"), Column("Share"), Column("Instance type")]
    columns += [Column(band.capitalize(), is_number=True) for band in SHARE_BANDS]
    yield Details("The charts of capacity as a table", [Table("Instances of each share over time", columns, rows)])


def shares(story: Story) -> Iterator[Block]:
    """What the run came to for each share: capacity by instance type, waits and preemptions."""
    outcomes = share_outcomes(story.run)
    size, name = instance_unit(max((outcome.busy_instance_seconds for outcome in outcomes), default=0))
    texts = ("Share", "Instance type")
    numbers = ("Limit", "In use", "Borrowed", "Lent", "Most in use", "Most borrowed")
    rows: list[tuple[Cell, ...]] = [
        (
            Name(outcome.name),
            outcome.unit or "",
            f"{outcome.limit:,}",
            f"{outcome.busy_instance_seconds / size:,.1f}",
            f"{outcome.borrowed_instance_seconds / size:,.1f}",
            f"{outcome.lent_instance_seconds / size:,.1f}",
            f"{outcome.peak_usage:,}",
            f"{outcome.peak_borrowed:,}",
        )
        for outcome in outcomes
    ]
    yield Table(
        f"Capacity by share; in use, borrowed and lent in {name}s",
        [Column(title, title in numbers) for title in (*texts, *numbers)],
        rows,
    )
    figures = ("Mean wait", "95th percentile", "Longest", "Never started", "Preempted", "Caused", "Work lost")
    yield Table(
        "Waits until the first start, preemptions suffered and caused",
        [Column("Share"), *(Column(title, is_number=True) for title in figures)],
        [_waits_row(outcome) for outcome in share_outcomes(story.run, by_unit=False)],
    )


def _waits_row(outcome: ShareOutcome) -> tuple[Cell, ...]:
    waits = outcome.wait_seconds
    told = [NONE] * 3 if waits is None else [rough(wait) for wait in (waits.mean, waits.p95, waits.max)]
    return (
        Name(outcome.name),
        *told,
        f"{outcome.never_started:,}",
        f"{outcome.preemptions_suffered:,}",
        f"{outcome.preemptions_caused:,}",
        instance_time(outcome.lost_instance_seconds) if outcome.lost_instance_seconds else NONE,
    )


def jobs(story: Story) -> Iterator[Block]:
    """Every job with its attempts, or the most telling ones where there are many."""
    shown = most_telling(story.jobs, MOST_ROWS)
    instances = {job.name: job.instances for job in story.run.workload.jobs}
    columns = ("Job", "Share", "Instances", "State", "Waited", "What happened", "Work lost")
    caption = "Jobs and their attempts"
    if len(shown) < len(story.jobs):
        caption += f": the {len(shown)} of {len(story.jobs):,} that were preempted most or waited longest"
    table = Table(
        caption,
        [Column(title, title in ("Instances", "Waited")) for title in columns],
        [_job_row(job, instances[job.name]) for job in shown],
    )
    yield Details("All of this as a table", [table]) if len(story.jobs) > MOST_ROWS else table


def _job_row(job: JobOutcome, instances: int) -> tuple[Cell, ...]:
    state: Cell = job.state if job.reason is None else Lines([job.state, job.reason])
    return (
        Name(job.name),
        Name(job.share),
        f"{instances:,}",
        state,
        "never started" if job.wait_seconds is None else duration_text(job.wait_seconds),
        Lines(_history(job)),
        instance_time(job.lost_instance_seconds) if job.lost_instance_seconds else NONE,
    )


def _history(job: JobOutcome) -> list[str]:
    told = [f"submitted at {duration_text(job.submitted)}"]
    told += [
        f"{duration_text(attempt.scheduled)} to "
        f"{'the end' if attempt.stopped is None else duration_text(attempt.stopped)}: {ended(attempt)}"
        for attempt in job.attempts[:MOST_ATTEMPTS]
    ]
    if len(job.attempts) > MOST_ATTEMPTS:
        told.append(f"and {plural(len(job.attempts) - MOST_ATTEMPTS, 'attempt')} more")
    last = job.attempts[-1].stopped if job.attempts else job.submitted
    if job.finished is not None and last is not None and job.finished > last:
        told.append(f"ended at {duration_text(job.finished)} while it waited")
    return told


def preemptions(story: Story) -> Iterator[Block]:
    """Which share stopped jobs of which, how often, and what it cost."""
    share_of = {job.name: job.share for job in story.jobs}
    instances = {job.name: job.instances for job in story.run.workload.jobs}
    counted: Counter[tuple[str, str, str]] = Counter()
    lost: dict[tuple[str, str, str], float] = defaultdict(float)
    for job in story.jobs:
        for attempt in job.attempts:
            if attempt.by is not None and attempt.ended_by is not None:
                key = (share_of[attempt.by], job.share, attempt.ended_by)
                counted[key] += 1
                lost[key] += attempt.lost_seconds * instances[job.name]
    if not counted:
        yield Text("No job was preempted.")
        return
    rows: list[tuple[Cell, ...]] = [
        (Name(by), Name(of), why(kind), f"{count:,}", instance_time(lost[by, of, kind]))
        for (by, of, kind), count in sorted(counted.items(), key=lambda item: (-item[1], item[0]))
    ]
    columns = ("A job of", "stopped a job of", "Kind", "Times", "Work lost")
    yield Table("Who stopped whom", [Column(title, title == "Times") for title in columns], rows)


def log(story: Story) -> Iterator[Block]:
    """The event log, or its beginning and a count where it is long."""
    events = story.run.log
    shown = list(islice(events, MOST_ROWS))
    if len(shown) < len(events):
        counts = Counter(row[1] for row in events.rows)
        pairs = [(str(kind).replace("_", " "), f"{counts[kind]:,}") for kind in Kind if counts[kind]]
        yield Facts(pairs)
    caption = f"{plural(len(events), 'event')}" + (f", the first {len(shown)} here" if len(shown) < len(events) else "")
    columns = ("When", "What", "Job", "Share", "Why", "Share uses afterwards")
    table = Table(
        caption,
        [Column(title) for title in columns],
        # a row of the log holds what an event leaves out: the new priority
        [_event_row(event, row[-1]) for event, row in zip(shown, events.rows, strict=False)],
        [_CLASSES[event.kind] for event in shown],
        f"{story.ident}-log",
    )
    yield Details("Show the log", [table])


def _event_row(event: Event, detail: object) -> tuple[Cell, ...]:
    usage = [f"{count:,} {unit}" for of_share in event.usage.values() for unit, count in of_share.items()]
    return (
        duration_text(event.at),
        str(event.kind).replace("_", " "),
        Name(event.job) if event.job else NONE,
        Name(event.share) if event.share else NONE,
        _event_reason(event, detail),
        Lines(usage) if usage else NONE,
    )


def _event_reason(event: Event, detail: object) -> str:
    if event.kind is Kind.PREEMPTED and event.why is not None:
        kind = str(event.why).replace("_", "-")
        return f"{kind}, for {event.by}" if event.by else kind
    if event.kind is Kind.PRIORITY_UPDATED:
        return f"to {detail}"
    return event.reason or NONE
