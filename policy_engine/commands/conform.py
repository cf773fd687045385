"""The command `conform`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from policy_engine.commands.options import duration, policy_options, progress_bar, publish, report_options
from policy_engine.errors import visible
from policy_engine.program import FAILS, HOLDS, UNDECIDED, complain

if TYPE_CHECKING:
    from policy_engine.conforming import Record
    from policy_engine.scheduler.jobs import Update

_FILE: Final = click.Path(path_type=Path, dir_okay=False)
_CODES: Final = {"holds": HOLDS, "fails": FAILS, "undecided": UNDECIDED}


@click.command(short_help="Which answers to the open choices fit a history.")
@click.argument("policy")
@click.argument("history")
@policy_options
@click.option(
    "--tolerance",
    callback=duration,
    default="5m",
    show_default=True,
    metavar="TIME",
    help="A decision may come so late, and the recorded start so long after it.",
)
@click.option(
    "--stop-within",
    callback=duration,
    default="3m",
    show_default=True,
    metavar="TIME",
    help="A recorded stop may come so long after its decision.",
)
@click.option(
    "--warm-up",
    callback=duration,
    default="0",
    metavar="TIME",
    help="Take so much of the history, such as 1d, as it is recorded, and judge what comes after.",
)
@click.option(
    "--events",
    type=_FILE,
    metavar="FILE",
    help="What was done to the queue and to priorities meanwhile: a scenario with `events:` alone.",
)
@click.option("--map", "teams", type=_FILE, metavar="FILE", help="Teams of the history to shares, as for replay.")
@click.option("--strict", is_flag=True, help="It is an error that a job is left out.")
@report_options
def conform(
    policy: str,
    history: str,
    queue: str | None,
    parameters: dict[str, str],
    tolerance: float,
    stop_within: float,
    warm_up: float,
    events: Path | None,
    teams: Path | None,
    strict: bool,
    form: str,
    **files: Path | None,
) -> int:
    """Say which answers to what AWS leaves open fit the jobs of HISTORY, and which decision refutes the others.

    HISTORY is JSON of DescribeServiceJob, such as `history` writes; POLICY was in force all the while. Exits with 1
    where no answers explain what is recorded, with 3 where that is not known.

    \b
    Example:
      policy-engine history queue:gpu-training --output jobs.jsonl
      policy-engine conform queue:gpu-training jobs.jsonl
      policy-engine conform policy.yaml jobs.jsonl --tolerance 30s --stop-within 2m --warm-up 1d
    """  # noqa: D301
    from policy_engine.conforming import Asked, read_record
    from policy_engine.conforming import conform as tried
    from policy_engine.report.conformance import ConformanceReport
    from policy_engine.sources import load
    from policy_engine.workload.history import load_map

    source = load(policy, parameters=parameters)
    ready = source.queue(queue).policy()
    record = read_record(history, ready, None if teams is None else load_map(teams), strict=strict)
    for remark in record.remarks:
        if remark.is_loss:
            complain(f"left out: {visible(remark.text)}")
    updates = () if events is None else _updates(events, record)
    with progress_bar() as progress:
        found = tried(ready, record, Asked(tolerance, stop_within, warm_up, updates), progress)
    report = ConformanceReport(source, found)
    publish(report, form, files)
    return _CODES[report.verdict]


def _updates(path: Path, record: Record) -> tuple[Update, ...]:
    from policy_engine.conforming.happenings import load_updates

    return load_updates(path, record)
