"""The command `replay`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from policy_engine.collector import keep_to_the_end, paused_to_the_end
from policy_engine.commands.options import policy_options, progress_bar, publish, report_options
from policy_engine.commands.replays import (
    ANONYMISE,
    FILE,
    READING,
    SHAKING,
    SPREADING,
    Making,
    Reading,
    history_of,
    options_of,
    spreading_of,
    together,
    told_when_interrupted,
)
from policy_engine.errors import visible
from policy_engine.program import HOLDS, complain

if TYPE_CHECKING:
    from policy_engine.policy import Policy
    from policy_engine.replaying import Replayed
    from policy_engine.workload.history import History


@dataclass(frozen=True)
class Replaying(Reading, Making):
    """How a history is read and replayed."""

    shake: int
    seed: int
    baselines: bool
    prices: Path | None
    events: Path | None
    rows: Path | None
    anonymise: bool


_REPLAYING: Final[Mapping[str, Mapping[str, Any]]] = {
    **READING,
    **SHAKING,
    "--baselines": {"is_flag": True, "help": "The same jobs under hard partitions and in one open queue, too."},
    "--prices": {"type": FILE, "metavar": "FILE", "help": "Price of an instance-hour by type: the result in money."},
    "--events": {"type": FILE, "metavar": "FILE", "help": "Write the event log to FILE, as JSON."},
    "--rows": {"type": FILE, "metavar": "FILE", "help": "Write every job of every run to FILE, as CSV."},
    **ANONYMISE,
    **SPREADING,
}


replaying_options: Final = together(Replaying, "asked", _REPLAYING)
"""Options about replays; the command takes them together, as ``asked``."""


@click.command(short_help="A real job history against the policy.")
@click.argument("policy")
@click.argument("history")
@policy_options
@replaying_options
@report_options
def replay(
    policy: str,
    history: str,
    queue: str | None,
    parameters: dict[str, str],
    asked: Replaying,
    form: str,
    **files: Path | None,
) -> int:
    """Say what the shares of POLICY would have done to the jobs of HISTORY.

    HISTORY is a CSV, the JSON of AWS Batch's ListServiceJobs and DescribeServiceJob, or the output of Slurm's
    sacct --parsable2; it is told by its content.

    \b
    Example:
      policy-engine replay policy.yaml examples/history.csv --baselines
      policy-engine replay cdk.out jobs.csv.gz --map map.yaml --warm-up 21d --shake 10 --html replay.html
    """  # noqa: D301
    if not asked.shake:
        # what one replay makes stays to the end; of many, the circles of those before are to be found
        click.get_current_context().with_resource(paused_to_the_end())
    from policy_engine.report.replay import ReplayReport, anonymous
    from policy_engine.report.replay_rows import write_events, write_rows
    from policy_engine.sources import load

    source = load(policy, parameters=parameters)
    ready = source.queue(queue).policy()
    jobs = history_of(history, asked)
    if asked.anonymise:
        source, ready, jobs = anonymous(source, ready, jobs)
    replayed = _replayed(ready, jobs, asked)
    keep_to_the_end(replayed)
    for remark in replayed.remarks:
        if remark.is_loss:
            complain(f"left out: {visible(remark.text)}")
    if asked.events is not None:
        write_events(asked.events, replayed)
    if asked.rows is not None:
        write_rows(asked.rows, replayed)
    publish(ReplayReport(source, replayed), form, files)
    return HOLDS


def _replayed(policy: Policy, history: History, asked: Replaying) -> Replayed:
    from policy_engine.replaying import Asked, ask, load_prices
    from policy_engine.report.replay_rows import csv_rows

    with progress_bar() as progress, told_when_interrupted(asked.results):
        return ask(
            policy,
            history,
            Asked(
                options_of(asked),
                baselines=asked.baselines,
                shakes=asked.shake,
                seed=asked.seed,
                spreading=spreading_of(asked),
                prices=None if asked.prices is None else load_prices(asked.prices, policy.units),
                rows=None if asked.rows is None else csv_rows,
            ),
            progress,
        )
