"""The command `sweep`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

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
    tell_losses,
    together,
    told_when_interrupted,
)
from policy_engine.program import HOLDS

if TYPE_CHECKING:
    from policy_engine.policy import Policy
    from policy_engine.replaying import Sweep
    from policy_engine.workload.history import History


@dataclass(frozen=True)
class Sweeping(Reading, Making):
    """How histories are read and replayed."""

    shake: int
    seed: int
    rows: Path | None
    anonymise: bool


_ROWS: Final = {
    "--rows": {"type": FILE, "metavar": "FILE", "help": "Write every share of every replay to FILE, as CSV."}
}


@click.command(short_help="Many policies, histories and perturbed copies at once.")
@click.argument("policies", nargs=-1, required=True, metavar="POLICY...")
@click.option("--history", "histories", multiple=True, required=True, metavar="HISTORY", help="May be repeated.")
@policy_options
@together(Sweeping, "asked", {**READING, **SHAKING, **_ROWS, **ANONYMISE, **SPREADING})
@report_options
def sweep(
    policies: Sequence[str],
    histories: Sequence[str],
    queue: str | None,
    parameters: dict[str, str],
    asked: Sweeping,
    form: str,
    **files: Path | None,
) -> int:
    """Replay every HISTORY under every POLICY, on all cores or on a Dask cluster, and set them beside each other.

    \b
    Example:
      policy-engine sweep old.yaml new.yaml --history may.csv --history june.csv
      policy-engine sweep *.yaml --history jobs.csv.gz --shake 10 --results sweep.jsonl --dask tcp://scheduler:8786
    """  # noqa: D301
    from policy_engine.report.sweep import SweepReport, anonymous, write_sweep_rows
    from policy_engine.sources import load

    _refuse_twice("policy", policies)
    _refuse_twice("history", histories)
    sources = {name: load(name, parameters=parameters) for name in policies}
    ready = {name: source.queue(queue).policy() for name, source in sources.items()}
    jobs = {name: history_of(name, asked) for name in histories}
    if asked.anonymise:
        sources, ready, jobs = anonymous(sources, ready, jobs)
    for history in jobs.values():
        tell_losses(history)
    swept = _swept(ready, jobs, asked)
    if asked.rows is not None:
        write_sweep_rows(asked.rows, swept)
    publish(SweepReport(sources, swept), form, files)
    return HOLDS


def _refuse_twice(what: str, names: Sequence[str]) -> None:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise click.UsageError(f"{what} {twice[0]!r} is given twice")


def _swept(policies: dict[str, Policy], histories: dict[str, History], asked: Sweeping) -> Sweep:
    from policy_engine.replaying import sweep

    with progress_bar() as progress, told_when_interrupted(asked.results):
        return sweep(
            policies,
            histories,
            options_of(asked),
            shakes=asked.shake,
            seed=asked.seed,
            spreading=spreading_of(asked),
            tell=_counted(len(policies) * len(histories) * (1 + asked.shake), progress),
        )


def _counted(replays: int, progress: Callable[[str, float], None] | None) -> Callable[[], None] | None:
    """Shows how many of the replays are made."""
    if progress is None:
        return None
    done = 0

    def tell() -> None:
        nonlocal done
        done += 1
        progress(f"replay {min(done + 1, replays)} of {replays}", done / replays)

    progress(f"replay 1 of {replays}", 0.0)
    return tell
