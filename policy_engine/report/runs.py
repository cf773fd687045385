"""What happened in one run, for the reports of every command that makes one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any, Final

from policy_engine.outcome import JobOutcome, Waits, job_outcomes, share_outcomes
from policy_engine.report import tables
from policy_engine.report.blocks import Block, Column, Details, Lines, Name, Section, Table
from policy_engine.report.story import Story, most_telling
from policy_engine.report.times import instance_time, rough
from policy_engine.report.wording import ended, plural
from policy_engine.scheduler.log import Event
from policy_engine.simulation import Run
from policy_engine.workload.durations import duration_text

NEVER: Final = "-"
"""Of a job that never started."""


def story(ident: str, run: Run, *, is_measured: bool = False) -> Story:
    """The run as reports tell it; ``ident`` is unique in the report. See ``Story.is_measured``."""
    return Story(ident, run, job_outcomes(run), is_measured)


def sections(told: Story) -> list[Section]:
    """The event log, the jobs, the shares, and who stopped whom."""
    return [
        Section(f"{told.ident}-events", "Events", list(tables.log(told))),
        Section(f"{told.ident}-jobs", "Jobs", list(tables.jobs(told))),
        Section(f"{told.ident}-shares", "Shares", list(tables.shares(told))),
        Section(f"{told.ident}-preemptions", "Preemptions", list(tables.preemptions(told))),
    ]


def narrow_sections(told: Story) -> list[Section]:
    """What fits into 80 characters of it."""
    return [
        Section(f"{told.ident}-events", "Events", list(tables.log(told))),
        Section(f"{told.ident}-jobs", "Jobs", [_jobs(told)]),
        Section(
            f"{told.ident}-shares", "Shares (capacity in instance-time: 2h is two instance-hours)", list(_shares(told))
        ),
    ]


def _jobs(told: Story) -> Table:
    shown = most_telling(told.jobs, tables.MOST_ROWS)
    left_out = len(told.jobs) - len(shown)
    caption = f"the {len(shown)} of {len(told.jobs):,} that were preempted most or waited longest" if left_out else ""
    rows = [
        (
            Name(job.name),
            Name(job.share),
            job.state if job.reason is None else Lines([job.state, job.reason]),
            NEVER if job.wait_seconds is None else duration_text(job.wait_seconds),
            Lines(_attempts(job)),
        )
        for job in shown
    ]
    return Table(caption, _columns("Job", "Share", "State", "#Waited", "Attempts"), rows)


def _attempts(job: JobOutcome) -> list[str]:
    told = [
        f"{duration_text(attempt.scheduled)} to "
        f"{'the end' if attempt.stopped is None else duration_text(attempt.stopped)}: {ended(attempt)}"
        for attempt in job.attempts[: tables.MOST_ATTEMPTS]
    ]
    if len(job.attempts) > len(told):
        told.append(f"and {plural(len(job.attempts) - len(told), 'attempt')} more")
    if job.lost_instance_seconds:
        told.append(f"lost {instance_time(job.lost_instance_seconds)}")
    return told


def _shares(told: Story) -> Iterator[Table]:
    yield Table(
        "",
        _columns("Share", "Instance type", "#Limit", "#In use", "#Borrowed", "#Lent", "#Peak use", "#Peak borrowed"),
        [
            (
                Name(share.name),
                share.unit or "",
                f"{share.limit:,}",
                rough(share.busy_instance_seconds),
                rough(share.borrowed_instance_seconds),
                rough(share.lent_instance_seconds),
                f"{share.peak_usage:,}",
                f"{share.peak_borrowed:,}",
            )
            for share in share_outcomes(told.run)
        ],
    )
    yield Table(
        "",
        _columns("Share", "#Mean wait", "#p95", "#Longest", "#Never started", "#Preempted", "#Caused", "#Work lost"),
        [
            (
                Name(share.name),
                *_waits(share.wait_seconds),
                f"{share.never_started:,}",
                f"{share.preemptions_suffered:,}",
                f"{share.preemptions_caused:,}",
                rough(share.lost_instance_seconds),
            )
            for share in share_outcomes(told.run, by_unit=False)
        ],
    )


def _waits(waits: Waits | None) -> tuple[str, str, str]:
    if waits is None:
        return (NEVER, NEVER, NEVER)
    return rough(waits.mean), rough(waits.p95), rough(waits.max)


def _columns(*titles: str) -> list[Column]:
    """Columns by their titles; ``#`` marks one of figures."""
    return [Column(title.removeprefix("#"), title.startswith("#")) for title in titles]


def folded(told: Story) -> Iterator[Block]:
    """The same, each part folded away."""
    for section in sections(told):
        yield Details(section.title, [_open(block) for block in section.blocks])


def _open(block: Block) -> Block:
    """Folded once is enough."""
    return block.blocks[0] if isinstance(block, Details) and len(block.blocks) == 1 else block


def data(run: Run) -> dict[str, Any]:
    """What happened, as JSON has it: jobs, events, shares."""
    return {
        "jobs": [
            {**_fields(job), "attempts": [_fields(attempt) for attempt in job.attempts]} for job in job_outcomes(run)
        ],
        "events": [_event(event) for event in run.log],
        "shares": [asdict(share) for share in share_outcomes(run)],
    }


def _fields(record: Any) -> dict[str, Any]:
    """The fields of a data class; ``asdict`` would copy what is in them, and take ten times as long."""
    return {name: getattr(record, name) for name in record.__dataclass_fields__}


def _event(event: Event) -> dict[str, Any]:
    return {
        "at": event.at,
        "kind": event.kind,
        "job": event.job,
        "share": event.share,
        "by": event.by,
        # that a job has finished because it finished says nothing
        "why": None if event.why == event.kind.value else event.why,
        "reason": event.reason,
        "usage": event.usage,
    }
