"""The command `history`."""

from __future__ import annotations

from pathlib import Path

import click

from policy_engine.commands.importing import live_queue
from policy_engine.commands.options import live_options, progress_bar
from policy_engine.program import HOLDS, complain, put_out


@click.command(short_help="The jobs of a live queue, for `replay` and `conform`.")
@click.argument("name", metavar="queue:NAME")
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write to FILE, each line at once; a run that was broken off goes on, and a later one adds what is new.",
)
@click.option(
    "--rate",
    type=click.FloatRange(min=0, min_open=True),
    default=5.0,
    show_default=True,
    metavar="N",
    help="Jobs a second to ask AWS for.",
)
@live_options
def history(name: str, output: Path | None, rate: float) -> int:
    """Write every job that AWS still knows of a live queue, as JSON lines.

    AWS keeps ended jobs for seven days or longer. Of a job's training request only its instances and its limits are
    kept, and no tags.

    \b
    Example:
      policy-engine history queue:gpu-training --output jobs.jsonl
      policy-engine replay policy.yaml jobs.jsonl
    """  # noqa: D301
    from policy_engine.observing.recording import history_lines, record

    queue = live_queue(name)
    with progress_bar() as progress:
        if output is None:
            for line in history_lines(queue, rate=rate, tell=progress):
                put_out(line)
            return HOLDS
        new, known = record(queue, output, rate=rate, tell=progress)
    complain(f"{output}: {new:,} jobs written, {known:,} were there")
    return HOLDS
