"""The jobs of a replay, one a row: as JSON, as CSV, and the event log. Made for a hundred thousand of them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import cache
from json.encoder import encode_basestring_ascii
from pathlib import Path
from typing import Final

from policy_engine.outcome.history import state_after
from policy_engine.outcome.lives import Lives, Placement, submitted_at
from policy_engine.replaying.baselines import AS_IT_IS
from policy_engine.replaying.replay import ReplayResult
from policy_engine.replaying.replayed import Replayed
from policy_engine.report.writing import write_report
from policy_engine.scheduler.log import Kind, Log
from policy_engine.simulation import Run

_HARMFUL: Final = ("=", "+", "-", "@", "\t", "\r")
"""A spreadsheet takes a cell that begins so for a formula."""
COLUMNS: Final = (
    *("run", "job", "share", "instance_type", "instance_count", "priority", "submit_time_s", "start_time_s"),
    *("end_time_s", "state", "wait_s", "requeued_s", "preemptions", "lost_instance_s"),
)


def number(value: float | None) -> str:
    """A number as short as it is exact to a microsecond; ``null`` for None."""
    if value is None:
        return "null"
    whole = int(value)
    if whole == value:
        return str(whole)
    rounded = round(value, 6)
    return str(int(rounded)) if rounded.is_integer() else repr(rounded)


def job_texts(run: Run, lives: Lives) -> Iterator[str]:
    """Every job as the JSON of a result has it, in the order of the jobs."""
    name_of, share_of = encode_basestring_ascii, cache(encode_basestring_ascii)
    finished, cuts = Kind.FINISHED, lives.cuts
    for place, (job, first, last) in enumerate(zip(run.workload.jobs, lives.first, lives.last, strict=True)):
        if last is None or first is None or last[1] is not finished or place in cuts or job.started is not None:
            yield _job_text(run, lives, place)
            continue
        name, share = name_of(job.name), share_of(job.share)
        submit, end = job.submit, last[0]
        begin, begun, done = int(submit), int(first), int(end)
        if begin == submit and begun == first and done == end:
            yield _text_of_once(name, share, begin, begun, done, begun - begin)
        else:
            yield _text_of_once(name, share, *map(number, (submit, first, end, first - submit)))


def _text_of_once(name: str, share: str, submitted: object, start: object, stop: object, wait: object) -> str:
    """A job that ran once and finished, as most do: the same as ``_job_text`` makes of it, in a tenth of the time."""
    return (
        f'{{"name": {name}, "share": {share}, "state": "SUCCEEDED", "reason": null, "submitted": {submitted},'
        f' "first_started": {start}, "finished": {stop}, "wait_seconds": {wait}, "requeued_seconds": 0,'
        f' "attempts": [{{"scheduled": {start}, "stopped": {stop}, "ended_by": "finished", "by": null,'
        ' "lost_seconds": 0}], "preemptions": 0, "lost_instance_seconds": 0}'
    )


def _job_text(run: Run, lives: Lives, place: int) -> str:
    job, first = run.workload.jobs[place], lives.first[place]
    submitted = submitted_at(job)
    wait = None if first is None else first - submitted
    reason = lives.reasons.get(place)
    return (
        f'{{"name": {encode_basestring_ascii(job.name)}, "share": {encode_basestring_ascii(job.share)},'
        f' "state": "{state_after(lives.last[place], run.end, run.workload.timing.start_seconds)}",'
        f' "reason": {"null" if reason is None else encode_basestring_ascii(reason)},'
        f' "submitted": {number(submitted)}, "first_started": {number(first)},'
        f' "finished": {number(lives.ended(place))}, "wait_seconds": {number(wait)},'
        f' "requeued_seconds": {number(lives.requeued.get(place, 0))},'
        f' "attempts": [{", ".join(_attempts(run, lives.attempts(place)))}],'
        f' "preemptions": {lives.preemptions.get(place, 0)},'
        f' "lost_instance_seconds": {number(lives.lost.get(place, 0) * job.instances)}}}'
    )


def _attempts(run: Run, placements: Sequence[Placement]) -> Iterator[str]:
    for scheduled, stopped, why, by, lost in placements:
        ended = "null" if why is None else f'"{why.value}"'
        of = "null" if by < 0 else encode_basestring_ascii(run.workload.jobs[by].name)
        yield (
            f'{{"scheduled": {number(scheduled)}, "stopped": {number(stopped)}, "ended_by": {ended}, "by": {of},'
            f' "lost_seconds": {number(lost)}}}'
        )


def event_texts(log: Log) -> Iterator[str]:
    """Every event as the JSON of a result has it."""
    for event in log:
        yield (
            f'{{"at": {number(event.at)}, "kind": "{event.kind.value}", "job": {json.dumps(event.job)},'
            f' "share": {json.dumps(event.share)}, "by": {json.dumps(event.by)}, "why": {json.dumps(event.why)},'
            f' "reason": {json.dumps(event.reason)}, "usage": {json.dumps(event.usage)}}}'
        )


def write_events(path: Path, replayed: Replayed) -> None:
    """Write the log of the replay as a JSON array, an event a line. Raises InputError where it cannot be written."""
    write_report(path, "[\n" + ",\n".join(event_texts(replayed.result.run.log)) + "\n]\n")


def write_rows(path: Path, replayed: Replayed) -> None:
    """Write the jobs of every run as CSV, a row for each instance type of a job.

    Perturbed replays are there if their rows were asked for. Raises InputError where the file cannot be written.
    """
    baselines = [(compared.name, compared.result) for compared in replayed.baselines]
    lines = [",".join(COLUMNS)]
    for name, result in baselines or [(AS_IT_IS, replayed.result)]:
        lines += csv_rows(name, result)
    copies = () if replayed.shaken is None else replayed.shaken.rows
    write_report(path, "".join(("\n".join(lines), "\n", *copies)))


def csv_rows(name: str, result: ReplayResult) -> Iterator[str]:
    """The jobs of one run as rows of CSV, without a header."""
    run, lives = result.run, result.lives
    cell = cache(csv_cell)
    for place, job in enumerate(run.workload.jobs):
        first, ended = lives.first[place], lives.ended(place)
        state = state_after(lives.last[place], run.end, run.workload.timing.start_seconds)
        wait = None if first is None else first - job.submit
        lost = lives.lost.get(place, 0.0)
        for unit, count in job.demand.items():
            yield (
                f"{cell(name)},{csv_cell(job.name)},{cell(job.share)},{cell(unit)},{count},"
                f"{'' if job.priority is None else job.priority},{number(job.submit)},{_blank(first)},{_blank(ended)},"
                f"{state},{_blank(wait)},{number(lives.requeued.get(place, 0))},{lives.preemptions.get(place, 0)},"
                f"{number(lost * count)}"
            )


def _blank(value: float | None) -> str:
    return "" if value is None else number(value)


def csv_cell(text: str) -> str:
    """The text as a cell; what a spreadsheet would take for a formula gets an apostrophe before it, and is text."""
    if text.startswith(_HARMFUL):
        text = f"'{text}"
    if any(char in text for char in ',"\r\n'):
        return '"' + text.replace('"', '""') + '"'
    return text
