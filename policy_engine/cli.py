"""The commands: what they take, and where their reports go. What they do is in the packages they call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from policy_engine._version import __version__
from policy_engine.program import FAILS, HOLDS, NAME, UNDECIDED, Program, put_out

# What is imported inside the commands would slow the start of the others.
if TYPE_CHECKING:
    from policy_engine.report.result import Report

F = TypeVar("F", bound=Callable[..., Any])

NOT_BUILT: Final = (
    "replay",
    "compare",
    "suggest",
    "explain",
    "import",
    "history",
    "drift",
    "watch",
    "conform",
    "serve",
)


@click.group(
    NAME,
    cls=Program,
    not_built=NOT_BUILT,
    epilog="Exit codes: 0 all holds, 1 something fails, 2 the input or the command line is wrong, 3 undecided.",
)
@click.version_option(__version__, message="%(prog)s %(version)s")
def main() -> None:
    """Check, simulate and verify AWS Batch quota shares before they are deployed.

    POLICY is a cloud assembly (cdk.out), a CloudFormation template or a policy document. Nothing here talks to AWS.

    \b
    Example:
      policy-engine check cdk.out
      policy-engine verify cdk.out examples/walkthrough.yaml
    """  # noqa: D301


# --- what several commands take ------------------------------------------------------------------


def _parameters(_: click.Context, __: click.Parameter, values: Sequence[str]) -> dict[str, str]:
    """``K=V`` pairs as a mapping."""
    given: dict[str, str] = {}
    for value in values:
        key, equals, text = value.partition("=")
        if not (key and equals):
            raise click.BadParameter(f"{value!r} is not KEY=VALUE")
        if key in given:
            raise click.BadParameter(f"{key!r} is given twice")
        given[key] = text
    return given


def policy_options(command: F) -> F:
    """Options about where the policy comes from."""
    command = click.option(
        "--parameter",
        "parameters",
        metavar="KEY=VALUE",
        multiple=True,
        callback=_parameters,
        help="Value of a parameter of the template; may be repeated.",
    )(command)
    return click.option("--queue", metavar="NAME", help="Name or logical id of the queue, where there are several.")(
        command
    )


_FILES: Final = {
    "json": "JSON",
    "markdown": "Markdown",
    "html": "one self-contained HTML page",
    "junit": "JUnit's XML",
    "sarif": "SARIF",
}
"""Kind of report file to what it holds."""


def _writable(_: click.Context, parameter: click.Parameter, path: Path | None) -> Path | None:
    """Refuse before anything is run what could not be written after it."""
    if path is not None and parameter.name == "html":
        from policy_engine.report.html import require_extra

        require_extra()
    return path


def report_options(command: F) -> F:
    """Options about reports."""
    debug = "Show the traceback of an internal error."
    command = click.option("--debug", is_flag=True, expose_value=False, help=debug)(command)
    for kind, holds in reversed(_FILES.items()):
        file = click.option(
            f"--{kind}",
            type=click.Path(path_type=Path),
            metavar="FILE",
            callback=_writable,
            help=f"Write {holds} to FILE too.",
        )
        command = file(command)
    form = click.Choice(["text", "json", "markdown"])
    told = "What standard output holds."
    return click.option("--format", "form", type=form, default="text", show_default=True, help=told)(command)


def not_built(*options: str, **settings: Any) -> Callable[[F], F]:
    """An option that is documented and not there yet: refused by name."""

    def refuse(context: click.Context, parameter: click.Parameter, _: object) -> None:
        if parameter.name and context.get_parameter_source(parameter.name) is click.core.ParameterSource.COMMANDLINE:
            raise click.UsageError(f"{parameter.opts[0]} is not built yet", context)

    return click.option(*options, hidden=True, expose_value=False, callback=refuse, **settings)


def publish(report: Report, form: str, files: Mapping[str, Path | None]) -> None:
    """Write the files first, so that a reader who stops reading loses none."""
    from policy_engine.report.publishing import shown, write_files

    write_files(report, {kind: path for kind, path in files.items() if path is not None})
    put_out(shown(report, form, _console))


def _console() -> Any:
    from rich.console import Console

    return Console()


# --- the commands --------------------------------------------------------------------------------


@main.command(short_help="Guarantees, who can stop whose jobs, findings.")
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
    callback=_parameters,
    help="Another severity for a finding: QM102=info; may be repeated.",
)
@click.option(
    "--scenario", type=click.Path(), metavar="FILE", help="Also find what its jobs and the policy come to together."
)
@report_options
def check(
    policy: str,
    queue: str | None,
    parameters: dict[str, str],
    fail_on: str,
    severities: dict[str, str],
    scenario: str | None,
    form: str,
    **files: Path | None,
) -> int:
    """Say what each share of POLICY is guaranteed, who can stop whose jobs, and what is wrong.

    \b
    Example:
      policy-engine check cdk.out
      policy-engine check template.yaml --parameter Instances=8 --fail-on warning
    """  # noqa: D301
    import policy_engine
    from policy_engine.findings import Severity
    from policy_engine.report.check import CheckReport
    from policy_engine.sources import load

    source = load(policy, parameters=parameters)
    result = policy_engine.check(source, queue=queue, severities=severities, scenario=scenario)
    threshold = Severity(fail_on)
    publish(CheckReport(source, result, threshold), form, files)
    return FAILS if result.failed(threshold) else HOLDS


@main.command(short_help="One run of a scenario: events, jobs, shares.")
@click.argument("arguments", nargs=-1, required=True, metavar="POLICY SCENARIO")
@policy_options
@report_options
def simulate(
    arguments: Sequence[str], queue: str | None, parameters: dict[str, str], form: str, **files: Path | None
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
    publish(SimulationReport(result.source, result.scenario.source, result.run), form, files)
    return HOLDS


@main.command(short_help="Judge what scenarios expect.")
@click.argument("arguments", nargs=-1, required=True, metavar="[POLICY] SCENARIO...")
@policy_options
@not_built("--all-choices", is_flag=True)
@not_built("--open")
@not_built("--max-states")
@not_built("--max-seconds")
@not_built("--property")
@not_built("--jobs")
@not_built("--sizes")
@not_built("--priorities")
@report_options
def verify(
    arguments: Sequence[str], queue: str | None, parameters: dict[str, str], form: str, **files: Path | None
) -> int:
    """Run every SCENARIO under POLICY and judge what it expects.

    POLICY may be left out where every scenario names one.

    \b
    Example:
      policy-engine verify cdk.out examples/walkthrough.yaml
      policy-engine verify scenarios/*.yaml --junit junit.xml --html report.html
    """  # noqa: D301
    import policy_engine
    from policy_engine.arguments import apart
    from policy_engine.expectations import Answer
    from policy_engine.report.verification import VerificationReport, Verified
    from policy_engine.sources import load

    policy, scenarios = apart(arguments)
    source = None if policy is None else load(policy, parameters=parameters)
    results = [policy_engine.verify(source, path, queue=queue, parameters=parameters) for path in scenarios]
    report = VerificationReport([Verified(result.source, result.verification) for result in results])
    publish(report, form, files)
    codes = {Answer.HOLDS: HOLDS, Answer.UNDECIDED: UNDECIDED}
    return codes.get(report.verdict, FAILS)


@main.command(short_help="JSON Schemas of the files.")
@click.argument("name", type=click.Choice(["policy", "scenario", "result"]))
def schema(name: str) -> int:
    """Print the JSON Schema of a policy document, a scenario file or the JSON result.

    \b
    Example:
      policy-engine schema scenario > scenario.schema.json
    """  # noqa: D301
    import json

    from policy_engine.schema import SCHEMAS

    put_out(json.dumps(SCHEMAS[name](), indent=2) + "\n")
    return HOLDS
