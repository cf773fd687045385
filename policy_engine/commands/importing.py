"""The command `import`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from policy_engine.commands.options import duration, live_options, progress_bar
from policy_engine.errors import InputError, visible
from policy_engine.program import HOLDS, complain, put_out

if TYPE_CHECKING:
    from policy_engine.sources.live import LiveQueue


def live_queue(name: str) -> LiveQueue:
    """The live queue that an argument names. Raises InputError where it names something else."""
    from policy_engine.sources.live import open_queue
    from policy_engine.sources.loading import LIVE

    if not name.startswith(LIVE):
        raise InputError("is no live queue; expected queue:NAME or queue:ARN", file=name)
    return open_queue(name)


@click.command("import", short_help="A live queue as a policy document.")
@click.argument("name", metavar="queue:NAME")
@click.option("--jobs", is_flag=True, help="Write a scenario of the jobs that it holds now, instead of its policy.")
@click.option(
    "--duration",
    "default",
    callback=duration,
    metavar="TIME",
    help="With --jobs: how long a job runs that neither says it nor has a limit, such as 2h; default: a day.",
)
@click.option(
    "--output", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Write to FILE instead."
)
@live_options
def import_(name: str, jobs: bool, default: float | None, output: Path | None) -> int:
    """Write the policy of a live queue as a policy document, or its jobs as a scenario.

    \b
    Example:
      policy-engine import queue:gpu-training --output policy.yaml
      policy-engine import queue:gpu-training --jobs --output now.yaml
      policy-engine simulate policy.yaml now.yaml
    """  # noqa: D301
    queue = live_queue(name)
    text = _scenario(queue, default) if jobs else _document(queue)
    if output is None:
        put_out(text)
    else:
        from policy_engine.report.writing import write_report

        write_report(output, text)
    return HOLDS


def _document(queue: LiveQueue) -> str:
    policy = queue.declaration.queues[0].policy()
    return f"# {queue.description}\n{_yaml(policy.document())}"


def _scenario(queue: LiveQueue, default: float | None) -> str:
    from policy_engine.observing import hold

    with progress_bar() as progress:
        held = hold(queue, duration=default, tell=progress)
    for job in held.left_out:
        complain(f"left out: {visible(job)}: its instance type is not known")
    if held.guessed:
        complain(f"jobs without a limit that do not say how long they run: {held.guessed}, taken as a day (--duration)")
    head = f"# {queue.description}, {held.at:%Y-%m-%dT%H:%M:%SZ}: {held.running} running, {held.waiting} waiting\n"
    return head + _yaml({key: value for key, value in held.data.items() if value})


def _yaml(data: Mapping[str, Any]) -> str:
    from policy_engine.proving.showing import scenario_text

    return scenario_text(data)
