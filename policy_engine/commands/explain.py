"""The command `explain`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from policy_engine.commands.options import moment, policy_options, publish, report_options
from policy_engine.program import HOLDS


@click.command(short_help="Why a job waits or was preempted.")
@click.argument("arguments", nargs=-1, required=True, metavar="POLICY SCENARIO")
@click.option("--job", metavar="NAME", required=True, help="The job.")
@click.option("--at", metavar="TIME", callback=moment, help="How it stands then, such as 90s or 1h30m; else its life.")
@policy_options
@report_options
def explain(
    arguments: Sequence[str],
    job: str,
    at: float | None,
    queue: str | None,
    parameters: dict[str, str],
    form: str,
    **files: Path | None,
) -> int:
    """Say why a job of SCENARIO waits, why it was preempted, and why nobody was stopped for it.

    Each answer is the first rule that stands in the way, with its numbers, in AWS's words where it has them. POLICY
    may be left out where the scenario names one.

    \b
    Example:
      policy-engine explain cdk.out examples/walkthrough.yaml --job qs1_job_low
      policy-engine explain policy.yaml scenario.yaml --job qs1_job_med --at 1m
    """  # noqa: D301
    import policy_engine
    from policy_engine.arguments import apart
    from policy_engine.report.explanation import ExplanationReport

    policy, scenarios = apart(arguments)
    if len(scenarios) > 1:
        raise click.UsageError(f"{len(scenarios)} scenarios; explain takes one")
    result = policy_engine.explain(policy, scenarios[0], job=job, at=at, queue=queue, parameters=parameters)
    publish(ExplanationReport(result.source, result.scenario.source, result.explanation), form, files)
    return HOLDS
