"""The command `compare`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from policy_engine.commands.options import policy_options, progress_bar, publish, report_options
from policy_engine.commands.replays import READING, Reading, history_of, options_of, tell_losses, together
from policy_engine.errors import InputError, visible
from policy_engine.program import FAILS, HOLDS, complain

if TYPE_CHECKING:
    from policy_engine.comparison import Comparison
    from policy_engine.sources import Source
    from policy_engine.workload.scenario import Scenario


def _names(_: click.Context, __: click.Parameter, values: Sequence[str]) -> tuple[str, ...]:
    """Names, each option with one or with several and commas between them."""
    return tuple(name.strip() for value in values for name in value.split(",") if name.strip())


@click.command(short_help="What a change does, and for whom.")
@click.argument("old")
@click.argument("new")
@click.argument("workload", required=False, metavar="[SCENARIO or HISTORY]")
@policy_options
@click.option("--new-queue", metavar="NAME", help="Name or logical id of the queue in NEW, where it has another one.")
@click.option(
    "--intends",
    metavar="SHARE",
    multiple=True,
    callback=_names,
    help="A share that the change is meant for; may be repeated, or several with commas.",
)
@click.option(
    "--fail-on",
    type=click.Choice(["worse", "destructive"]),
    help="Exit with 1 where jobs end or AWS refuses the change; with worse, also where a share loses a guarantee.",
)
@click.option("--now", is_flag=True, help="With a live queue as OLD: what becomes of the jobs that it holds.")
@click.option(
    "--witnesses",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="FOLDER",
    help="Write each witness to FOLDER as a scenario file.",
)
@together(Reading, "reading", READING)
@report_options
def compare(
    old: str,
    new: str,
    workload: str | None,
    queue: str | None,
    parameters: dict[str, str],
    new_queue: str | None,
    intends: tuple[str, ...],
    fail_on: str | None,
    now: bool,
    witnesses: Path | None,
    reading: Reading,
    form: str,
    **files: Path | None,
) -> int:
    """Say what changes from OLD to NEW, what that ends, and who loses by it.

    OLD and NEW are whatever POLICY is elsewhere. Of a SCENARIO or a job HISTORY it also says what becomes of the jobs
    under both.

    \b
    Example:
      policy-engine compare examples/teams.yaml examples/teams_changed.yaml --intends vision,research
      policy-engine compare released.template.json cdk.out examples/history.csv --fail-on destructive
      policy-engine compare queue:gpu-training cdk.out --now
    """  # noqa: D301
    import policy_engine
    from policy_engine.arguments import is_scenario
    from policy_engine.comparison import FailOn
    from policy_engine.report.comparison import ComparisonReport

    jobs: dict[str, Any] = {}
    if workload is not None and is_scenario(workload):
        jobs["scenario"] = workload
    elif workload is not None:
        jobs |= {"history": history_of(workload, reading), "replaying": options_of(reading)}
        tell_losses(jobs["history"])
    _check_used(reading, is_history="history" in jobs)
    before: str | Source = old
    if now:
        before, jobs["held"] = _held(old)
    with progress_bar() as progress:
        comparison = policy_engine.compare(
            before,
            new,
            **jobs,
            intends=intends,
            queue=queue,
            new_queue=new_queue,
            parameters=parameters,
            progress=progress,
        ).comparison
    if witnesses is not None:
        _write(witnesses, comparison)
    wanted = None if fail_on is None else FailOn(fail_on)
    publish(ComparisonReport(comparison, wanted), form, files)
    return FAILS if comparison.failed(wanted) else HOLDS


def _check_used(reading: Reading, *, is_history: bool) -> None:
    """Raises click.UsageError for options about a history where there is none."""
    if is_history:
        return
    unused = {"--map": reading.map, "--strict": reading.strict, "--warm-up": reading.warm_up}
    unused |= {"--checkpoint-every": reading.checkpoint_every, "--stop-seconds": reading.stop_seconds != _STOP}
    for option, value in unused.items():
        if value:
            raise click.UsageError(f"{option} needs a job history")


_STOP = float(READING["--stop-seconds"]["default"])


def _held(old: str) -> tuple[Source, Scenario]:
    """The live queue, read once, and the jobs that it holds. Raises InputError where OLD is none."""
    from policy_engine.commands.importing import live_queue
    from policy_engine.observing import held_scenario, hold
    from policy_engine.sources.loading import LIVE, source_of

    if not old.startswith(LIVE):
        raise InputError("--now needs a live queue as OLD (queue:NAME or queue:ARN)", file=old)
    queue = live_queue(old)
    with progress_bar() as progress:
        held = hold(queue, tell=progress)
    for job in held.left_out:
        complain(f"left out: {visible(job)}: its instance type is not known")
    if held.guessed:
        complain(f"{held.guessed} jobs have no limit and do not say how long they run: taken as a day")
    return source_of(queue), held_scenario(held, old)


def _write(folder: Path, comparison: Comparison) -> None:
    """Each witness as a scenario file, and say where."""
    from policy_engine.report.writing import write_report

    for share in comparison.shares:
        if share.witness is not None:
            path = folder / f"{share.name}.yaml"
            write_report(path, share.witness.text)
            complain(f"witness: {visible(str(path))}")
