"""The command `simulate`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from policy_engine.commands.options import policy_options, publish, report_options
from policy_engine.program import HOLDS


@click.command(short_help="One run of a scenario: events, jobs, shares.")
@click.argument("arguments", nargs=-1, required=True, metavar="POLICY SCENARIO")
@policy_options
@click.option(
    "--history",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write the jobs as AWS Batch would tell of them, as JSON lines, for replay and conform.",
)
@report_options
def simulate(
    arguments: Sequence[str],
    queue: str | None,
    parameters: dict[str, str],
    history: Path | None,
    form: str,
    **files: Path | None,
) -> int:
    """Run SCENARIO under POLICY once and show what happens; what it expects is not judged.

    POLICY may be left out where the scenario names one.

    \b
    Example:
      policy-engine simulate policy.yaml scenario.yaml
      policy-engine simulate cdk.out scenario.yaml --format json
    """  # noqa: D301
    import policy_engine
    from policy_engine.arguments import apart
    from policy_engine.report.simulation import SimulationReport

    policy, scenarios = apart(arguments)
    if len(scenarios) > 1:
        raise click.UsageError(f"{len(scenarios)} scenarios; simulate takes one")
    result = policy_engine.simulate(policy, scenarios[0], queue=queue, parameters=parameters)
    if history is not None:
        from policy_engine.outcome.as_batch import history_text
        from policy_engine.report.writing import write_report

        write_report(history, history_text(result.run))
    publish(SimulationReport(result.source, result.scenario.source, result.run), form, files)
    return HOLDS
