"""The program `policy-engine`: its commands."""

from __future__ import annotations

import click

from policy_engine._version import __version__
from policy_engine.commands.check import check
from policy_engine.commands.compare import compare
from policy_engine.commands.conform import conform
from policy_engine.commands.drift import drift
from policy_engine.commands.explain import explain
from policy_engine.commands.history import history
from policy_engine.commands.importing import import_
from policy_engine.commands.replay import replay
from policy_engine.commands.schema import schema
from policy_engine.commands.serve import serve
from policy_engine.commands.simulate import simulate
from policy_engine.commands.suggest import suggest
from policy_engine.commands.sweep import sweep
from policy_engine.commands.verify import verify
from policy_engine.commands.watch import watch
from policy_engine.program import NAME, Program


@click.group(
    NAME,
    cls=Program,
    epilog="Exit codes: 0 all holds, 1 something fails, 2 the input or the command line is wrong, 3 undecided.",
)
@click.version_option(__version__, message="%(prog)s %(version)s")
def main() -> None:
    """Check, simulate and verify AWS Batch quota shares before they are deployed.

    POLICY is a cloud assembly (cdk.out), a CloudFormation template, a policy document or a live queue (queue:NAME).
    AWS is asked where a live queue is named, and never changed.

    \b
    Example:
      policy-engine check cdk.out
      policy-engine verify cdk.out examples/walkthrough.yaml
    """  # noqa: D301


for _command in (
    check,
    simulate,
    verify,
    explain,
    compare,
    replay,
    sweep,
    suggest,
    import_,
    history,
    drift,
    watch,
    conform,
    schema,
    serve,
):
    main.add_command(_command)
