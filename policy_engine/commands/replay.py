"""The command `replay`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from policy_engine.commands.options import duration, policy_options, progress_bar, publish, report_options
from policy_engine.commands.spreading import FILE, SPREADING, spreading_of, together, told_when_interrupted
from policy_engine.errors import visible
from policy_engine.program import HOLDS, complain

if TYPE_CHECKING:
    from policy_engine.policy import Policy
    from policy_engine.replaying import Replayed
    from policy_engine.workload.history import History


@dataclass(frozen=True, slots=True)
class Replaying:
    """How a history is read and replayed."""

    map: Path | None
    strict: bool
    stop_seconds: float
    checkpoint_every: float | None
    warm_up: float
    shake: int
    seed: int
    baselines: bool
    prices: Path | None
    events: Path | None
    rows: Path | None
    anonymise: bool
    workers: int | None
    dask: str | None
    results: Path | None


_REPLAYING: Final[Mapping[str, Mapping[str, Any]]] = {
    "--map": {"type": FILE, "metavar": "FILE", "help": "Teams to shares, GPUs to instance types, and so on."},
    "--strict": {"is_flag": True, "help": "It is an error that a job is left out."},
    "--stop-seconds": {
        "callback": duration,
        "default": "20",
        "show_default": True,
        "metavar": "S",
        "help": "From a preemption to the release of its capacity.",
    },
    "--checkpoint-every": {"callback": duration, "metavar": "TIME", "help": "Jobs save their work so often."},
    "--warm-up": {
        "callback": duration,
        "default": "0",
        "metavar": "TIME",
        "help": "Run this much of the history, such as 21d, without measuring it.",
    },
    "--shake": {
        "type": click.IntRange(min=0),
        "default": 0,
        "metavar": "N",
        "help": "Replay N perturbed copies too, and show the spread.",
    },
    "--seed": {"type": int, "default": 0, "metavar": "N", "help": "Of --shake."},
    "--baselines": {"is_flag": True, "help": "The same jobs under hard partitions and in one open queue, too."},
    "--prices": {"type": FILE, "metavar": "FILE", "help": "Price of an instance-hour by type: the result in money."},
    "--events": {"type": FILE, "metavar": "FILE", "help": "Write the event log to FILE, as JSON."},
    "--rows": {"type": FILE, "metavar": "FILE", "help": "Write every job of every run to FILE, as CSV."},
    "--anonymise": {"is_flag": True, "help": "Replace the names of jobs, teams and files everywhere."},
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
    from policy_engine.report.replay import ReplayReport, anonymous
    from policy_engine.report.replay_rows import write_events, write_rows
    from policy_engine.sources import load

    source = load(policy, parameters=parameters)
    ready = source.queue(queue).policy()
    jobs = _history(history, asked)
    if asked.anonymise:
        source, ready, jobs = anonymous(source, ready, jobs)
    replayed = _replayed(ready, jobs, asked)
    for remark in replayed.remarks:
        if remark.is_loss:
            complain(f"left out: {visible(remark.text)}")
    if asked.events is not None:
        write_events(asked.events, replayed)
    if asked.rows is not None:
        write_rows(asked.rows, replayed)
    publish(ReplayReport(source, replayed), form, files)
    return HOLDS


def _history(path: str, asked: Replaying) -> History:
    from policy_engine.workload.history import load_map, read_history

    return read_history(path, None if asked.map is None else load_map(asked.map), strict=asked.strict)


def _replayed(policy: Policy, history: History, asked: Replaying) -> Replayed:
    from policy_engine.replaying import Asked, ReplayOptions, ask, load_prices
    from policy_engine.scheduler.jobs import Timing

    timing = Timing(stop_seconds=asked.stop_seconds, checkpoint_every=asked.checkpoint_every or None)
    with progress_bar() as progress, told_when_interrupted(asked.results):
        return ask(
            policy,
            history,
            Asked(
                ReplayOptions(timing, warm_up=asked.warm_up, strict=asked.strict),
                baselines=asked.baselines,
                shakes=asked.shake,
                seed=asked.seed,
                spreading=spreading_of(asked),
                prices=None if asked.prices is None else load_prices(asked.prices, policy.units),
            ),
            progress,
        )
