"""The command `drift`."""

from __future__ import annotations

from pathlib import Path

import click

from policy_engine.commands.importing import live_queue
from policy_engine.commands.options import policy_options, publish, report_options
from policy_engine.program import FAILS, HOLDS


@click.command(short_help="What a live queue has otherwise than it is declared.")
@click.argument("policy")
@click.argument("name", metavar="queue:NAME")
@policy_options
@report_options
def drift(
    policy: str, name: str, queue: str | None, parameters: dict[str, str], form: str, **files: Path | None
) -> int:
    """Name every difference between what POLICY declares and what AWS has; exit with 1 where there is one.

    Values that are known only at deployment are told as not compared.

    \b
    Example:
      policy-engine drift cdk.out queue:gpu-training
      policy-engine drift policy.yaml queue:gpu-training --format json
    """  # noqa: D301
    from policy_engine.observing import drift as compared
    from policy_engine.report.drift import DriftReport
    from policy_engine.sources import load
    from policy_engine.sources.loading import source_of

    source = load(policy, parameters=parameters)
    declared = source.queue(queue)
    live = live_queue(name)
    found = compared(declared, live.declaration.queues[0], live.tags_of)
    report = DriftReport(source, source_of(live), live.name, found)
    publish(report, form, files)
    return FAILS if found.differences else HOLDS
