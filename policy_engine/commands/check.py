"""The command `check`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from policy_engine.commands.options import pairs, policy_options, publish, report_options
from policy_engine.program import FAILS, HOLDS

if TYPE_CHECKING:
    from policy_engine.sources.live import Account


@click.command(short_help="Guarantees, who can stop whose jobs, findings.")
@click.argument("policy")
@policy_options
@click.option(
    "--fail-on",
    type=click.Choice(["error", "warning"]),
    default="error",
    show_default=True,
    help="Exit with 1 from this severity on.",
)
@click.option(
    "--severity",
    "severities",
    metavar="ID=SEVERITY",
    multiple=True,
    callback=pairs,
    help="Another severity for a finding: QM102=info; may be repeated.",
)
@click.option(
    "--scenario", type=click.Path(), metavar="FILE", help="Also find what its jobs and the policy come to together."
)
@click.option(
    "--account", is_flag=True, help="Of a live queue: hold all queues of the account against its training quotas."
)
@report_options
def check(
    policy: str,
    queue: str | None,
    parameters: dict[str, str],
    fail_on: str,
    severities: dict[str, str],
    scenario: str | None,
    account: bool,
    form: str,
    **files: Path | None,
) -> int:
    """Say what each share of POLICY is guaranteed, who can stop whose jobs, and what is wrong.

    \b
    Example:
      policy-engine check cdk.out
      policy-engine check template.yaml --parameter Instances=8 --fail-on warning
      policy-engine check queue:gpu-training --account
    """  # noqa: D301
    import policy_engine
    from policy_engine.findings import Severity
    from policy_engine.report.check import CheckReport
    from policy_engine.sources import load

    source = load(policy, parameters=parameters)
    around = _account(policy) if account else None
    result = policy_engine.check(source, queue=queue, severities=severities, scenario=scenario, account=around)
    threshold = Severity(fail_on)
    publish(CheckReport(source, result, threshold), form, files)
    return FAILS if result.failed(threshold) else HOLDS


def _account(policy: str) -> Account:
    """The account around a live queue. Raises InputError for what is none."""
    from policy_engine.errors import InputError
    from policy_engine.sources.live import access_of, read_account
    from policy_engine.sources.loading import LIVE

    if not policy.startswith(LIVE):
        raise InputError("--account needs a live queue (queue:NAME or queue:ARN)", file=policy)
    return read_account(access_of(policy))
