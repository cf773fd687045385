"""The command `watch`."""

from __future__ import annotations

import time

import click

from policy_engine.commands.importing import live_queue
from policy_engine.commands.options import duration, live_options
from policy_engine.program import HOLDS, put_out


@click.command(short_help="A live queue at a glance, and what comes next.")
@click.argument("name", metavar="queue:NAME")
@click.option("--once", is_flag=True, help="Show it once and end.")
@click.option(
    "--every", callback=duration, default="10s", show_default=True, metavar="TIME", help="How often AWS is asked."
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="What standard output holds; json shows it once.",
)
@live_options
def watch(name: str, once: bool, every: float, form: str) -> int:
    """Show what each share of a live queue uses, borrows and waits for, and what the engine expects next.

    \b
    Example:
      policy-engine watch queue:gpu-training
      policy-engine watch queue:gpu-training --once --format json
    """  # noqa: D301
    from policy_engine.observing import look
    from policy_engine.observing.watching import Jobs
    from policy_engine.report import json
    from policy_engine.report.watch import data, render

    jobs = Jobs()
    sight = look(live_queue(name), jobs)
    if form == "json":
        put_out(json.text(data(sight)))
        return HOLDS
    from rich.console import Console

    console = Console(highlight=False)
    if once:
        console.print(render(sight))
        return HOLDS
    from rich.live import Live

    with Live(render(sight), console=console, screen=console.is_terminal, auto_refresh=False) as live:
        while True:
            time.sleep(max(1.0, every))
            live.update(render(look(live_queue(name), jobs)), refresh=True)
