"""The commands: what they take, and where their reports go. What they do is in the packages they call."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from policy_engine._version import __version__
from policy_engine.errors import visible
from policy_engine.program import FAILS, HOLDS, NAME, UNDECIDED, Program, complain, put_out

# What is imported inside the commands would slow the start of the others.
if TYPE_CHECKING:
    from policy_engine.expectations import Verdict
    from policy_engine.policy import Policy
    from policy_engine.replaying import Replayed
    from policy_engine.report.proof import ProofReport
    from policy_engine.report.result import Report
    from policy_engine.report.verification import VerificationReport
    from policy_engine.workload.history import History

F = TypeVar("F", bound=Callable[..., Any])

NOT_BUILT: Final = (
    "compare",
    "suggest",
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


@dataclass(frozen=True, slots=True)
class Exploring:
    """What is asked of an exploration of every schedule."""

    all_choices: bool
    open: tuple[str, ...] | None
    max_states: int
    max_seconds: float
    property: str | None
    jobs: int | None
    sizes: tuple[int, ...] | None
    priorities: tuple[int, ...] | None
    counterexamples: Path | None

    def check(self) -> None:
        """Raises click.UsageError for options that do nothing without another."""
        of_property = {"--jobs": self.jobs, "--sizes": self.sizes, "--priorities": self.priorities}
        for option, value in of_property.items():
            if value is not None and self.property is None:
                raise click.UsageError(f"{option} needs --property")
        if self.property is not None and self.jobs is None:
            raise click.UsageError("--property needs --jobs: the most jobs of a workload")
        explores = self.all_choices or self.open is not None or self.property is not None
        if self.counterexamples is not None and not explores:
            raise click.UsageError("--counterexamples needs --all-choices, --open or --property")


def _numbers(_: click.Context, __: click.Parameter, value: str | None) -> tuple[int, ...] | None:
    """Whole numbers with commas between them."""
    if value is None:
        return None
    numbers = value.split(",")
    for number in numbers:
        if not (number.isascii() and number.isdecimal()):
            raise click.BadParameter(f"{number!r} is not a whole number; write 1 or 1,2")
    return tuple(map(int, numbers))


def _names(_: click.Context, __: click.Parameter, value: str | None) -> tuple[str, ...] | None:
    return None if value is None else tuple(value.split(","))


_EXPLORATION: Final[Mapping[str, Mapping[str, Any]]] = {
    "--all-choices": {"is_flag": True, "help": "Judge every schedule that AWS's documentation allows."},
    "--open": {
        "metavar": "NAMES",
        "callback": _names,
        "help": "The same with these choices open: victims,share_order.",
    },
    "--max-states": {
        "type": click.IntRange(min=1),
        "default": 1_000_000,
        "show_default": True,
        "metavar": "N",
        "help": "States to look at for each expectation.",
    },
    "--max-seconds": {
        "type": click.FloatRange(min=0, min_open=True),
        "default": 60.0,
        "show_default": True,
        "metavar": "S",
        "help": "Seconds to look for each expectation.",
    },
    "--property": {
        "metavar": "NAME",
        "help": "Without a scenario: this, over every workload: within_bounds, owner_reclaims, disruption_ratio=2, ...",
    },
    "--jobs": {"type": click.IntRange(min=1), "metavar": "N", "help": "Of --property: the most jobs of a workload."},
    "--sizes": {"metavar": "N,...", "callback": _numbers, "help": "Of --property: instances of a job; default 1."},
    "--priorities": {
        "metavar": "N,...",
        "callback": _numbers,
        "help": "Of --property: priorities of a job; default 0.",
    },
    "--counterexamples": {
        "type": click.Path(path_type=Path, file_okay=False),
        "metavar": "FOLDER",
        "help": "Write each counterexample to FOLDER as a scenario file.",
    },
}


def exploration_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Options about every schedule; the command takes them together, as ``asked``."""
    names = [field.name for field in fields(Exploring)]

    @wraps(command)
    def gathered(**given: Any) -> Any:
        return command(asked=Exploring(**{name: given.pop(name) for name in names}), **given)

    wrapped: Callable[..., Any] = gathered
    for option, settings in reversed(list(_EXPLORATION.items())):
        wrapped = click.option(option, **settings)(wrapped)
    return wrapped


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


def _seconds(_: click.Context, __: click.Parameter, value: str | None) -> float | None:
    """A time as scenario files write it."""
    from policy_engine.workload.durations import parse_duration

    try:
        # on a command line a number is text too
        return None if value is None else parse_duration(value)
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


@main.command(short_help="Why a job waits or was preempted.")
@click.argument("arguments", nargs=-1, required=True, metavar="POLICY SCENARIO")
@click.option("--job", metavar="NAME", required=True, help="The job.")
@click.option(
    "--at", metavar="TIME", callback=_seconds, help="How it stands then, such as 90s or 1h30m; else its life."
)
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


@main.command(short_help="Judge what scenarios expect.")
@click.argument("arguments", nargs=-1, required=True, metavar="[POLICY] SCENARIO...")
@policy_options
@exploration_options
@report_options
def verify(
    arguments: Sequence[str],
    queue: str | None,
    parameters: dict[str, str],
    asked: Exploring,
    form: str,
    **files: Path | None,
) -> int:
    """Run every SCENARIO under POLICY and judge what it expects.

    POLICY may be left out where every scenario names one. With --all-choices every schedule is judged that AWS's
    documentation allows; with --property instead of scenarios, every workload of so many jobs too.

    \b
    Example:
      policy-engine verify cdk.out examples/walkthrough.yaml
      policy-engine verify scenarios/*.yaml --junit junit.xml --html report.html
      policy-engine verify cdk.out examples/walkthrough.yaml --all-choices --counterexamples broken
      policy-engine verify cdk.out --all-choices --property reserve_never_lent --jobs 3
    """  # noqa: D301
    from policy_engine.expectations import Answer

    asked.check()
    report: VerificationReport | ProofReport
    if asked.property is None:
        report, broken = _verify_scenarios(arguments, queue, parameters, asked)
    else:
        report, broken = _verify_property(arguments, asked.property, queue, parameters, asked)
    if asked.counterexamples is not None:
        from policy_engine.report.counterexamples import write

        for path in write(asked.counterexamples, broken):
            complain(f"counterexample: {visible(str(path))}")
    publish(report, form, files)
    codes = {Answer.HOLDS: HOLDS, Answer.UNDECIDED: UNDECIDED}
    return codes.get(report.verdict, FAILS)


def _verify_scenarios(
    arguments: Sequence[str], queue: str | None, parameters: dict[str, str], asked: Exploring
) -> tuple[VerificationReport, list[tuple[str, Verdict]]]:
    """The report on the scenarios, and the verdicts with what their files' names begin with."""
    import policy_engine
    from policy_engine.arguments import apart
    from policy_engine.report.verification import VerificationReport, Verified
    from policy_engine.sources import load

    policy, scenarios = apart(arguments)
    source = None if policy is None else load(policy, parameters=parameters)
    with _progress() as told:
        results = [
            policy_engine.verify(
                source,
                path,
                queue=queue,
                parameters=parameters,
                all_choices=asked.all_choices,
                open=asked.open,
                max_states=asked.max_states,
                max_seconds=asked.max_seconds,
                progress=told,
            )
            for path in scenarios
        ]
    report = VerificationReport([Verified(result.source, result.verification) for result in results])
    prefixes = ["" if len(results) == 1 else Path(result.scenario.source).stem for result in results]
    return report, [
        (prefix, verdict) for prefix, result in zip(prefixes, results, strict=True) for verdict in result.expectations
    ]


def _verify_property(
    arguments: Sequence[str], wanted: str, queue: str | None, parameters: dict[str, str], asked: Exploring
) -> tuple[ProofReport, list[tuple[str, Verdict]]]:
    """The report on the property, and its verdict."""
    import policy_engine

    if len(arguments) != 1:
        raise click.UsageError("--property takes a policy and no scenario: it is about every workload")
    with _progress() as told:
        told(f"{arguments[0]}: {wanted}")
        result = policy_engine.prove(
            arguments[0],
            wanted,
            jobs=asked.jobs or 1,
            sizes=asked.sizes or (1,),
            priorities=asked.priorities or (0,),
            open=asked.open,
            queue=queue,
            parameters=parameters,
            max_states=asked.max_states,
            max_seconds=asked.max_seconds,
        )
    return result.report, [("", result.property)]


@contextmanager
def _progress() -> Iterator[Callable[[str], None]]:
    """Takes what is being looked at, and shows it where standard error is a terminal."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.text import Text

    with Console(stderr=True).status("") as status:
        yield lambda text: status.update(Text(visible(text)))


@dataclass(frozen=True, slots=True)
class Replaying:
    """How a history is read and replayed."""

    map: Path | None
    strict: bool
    stop_seconds: float
    checkpoint_every: float | None
    warm_up: float
    shake: int
    seed: int
    workers: int | None
    baselines: bool
    prices: Path | None
    events: Path | None
    rows: Path | None
    anonymise: bool


def _duration(_: click.Context, __: click.Parameter, value: str | None) -> float | None:
    """Seconds of ``21d``."""
    from policy_engine.workload.durations import parse_duration

    if value is None:
        return None
    try:
        seconds = parse_duration(value)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None
    if seconds < 0:
        raise click.BadParameter(f"{value!r} is below zero")
    return seconds


_FILE: Final = click.Path(path_type=Path, dir_okay=False)
_REPLAYING: Final[Mapping[str, Mapping[str, Any]]] = {
    "--map": {"type": _FILE, "metavar": "FILE", "help": "Teams to shares, GPUs to instance types, and so on."},
    "--strict": {"is_flag": True, "help": "It is an error that a job is left out."},
    "--stop-seconds": {
        "callback": _duration,
        "default": "20",
        "show_default": True,
        "metavar": "S",
        "help": "From a preemption to the release of its capacity.",
    },
    "--checkpoint-every": {"callback": _duration, "metavar": "TIME", "help": "Jobs save their work so often."},
    "--warm-up": {
        "callback": _duration,
        "default": "0",
        "metavar": "TIME",
        "help": "Run this much of the history, such as 21d, without measuring it.",
    },
    "--shake": {
        "type": click.IntRange(min=0),
        "default": 0,
        "metavar": "N",
        "help": "Replay N perturbed copies too, and show the spread.",
    },
    "--seed": {"type": int, "default": 0, "metavar": "N", "help": "Of --shake."},
    "--workers": {"type": click.IntRange(min=1), "metavar": "N", "help": "Processes for --shake; default: the cores."},
    "--baselines": {"is_flag": True, "help": "The same jobs under hard partitions and in one open queue, too."},
    "--prices": {"type": _FILE, "metavar": "FILE", "help": "Price of an instance-hour by type: the result in money."},
    "--events": {"type": _FILE, "metavar": "FILE", "help": "Write the event log to FILE, as JSON."},
    "--rows": {"type": _FILE, "metavar": "FILE", "help": "Write every job of every run to FILE, as CSV."},
    "--anonymise": {"is_flag": True, "help": "Replace the names of jobs, teams and files everywhere."},
}


def replaying_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Options about replays; the command takes them together, as ``asked``."""
    names = [field.name for field in fields(Replaying)]

    @wraps(command)
    def gathered(**given: Any) -> Any:
        return command(asked=Replaying(**{name: given.pop(name) for name in names}), **given)

    wrapped: Callable[..., Any] = gathered
    for option, settings in reversed(list(_REPLAYING.items())):
        wrapped = click.option(option, **settings)(wrapped)
    return wrapped


@main.command(short_help="A real job history against the policy.")
@click.argument("policy")
@click.argument("history")
@policy_options
@replaying_options
@report_options
def replay(
    policy: str,
    history: str,
    queue: str | None,
    parameters: dict[str, str],
    asked: Replaying,
    form: str,
    **files: Path | None,
) -> int:
    """Say what the shares of POLICY would have done to the jobs of HISTORY.

    HISTORY is a CSV, the JSON of AWS Batch's ListServiceJobs and DescribeServiceJob, or the output of Slurm's
    sacct --parsable2; it is told by its content.

    \b
    Example:
      policy-engine replay policy.yaml examples/history.csv --baselines
      policy-engine replay cdk.out jobs.csv.gz --map map.yaml --warm-up 21d --shake 10 --html replay.html
    """  # noqa: D301
    from policy_engine.report.replay import ReplayReport, anonymous
    from policy_engine.report.replay_rows import write_events, write_rows
    from policy_engine.sources import load

    source = load(policy, parameters=parameters)
    ready = source.queue(queue).policy()
    jobs = _history(history, asked)
    if asked.anonymise:
        source, ready, jobs = anonymous(source, ready, jobs)
    replayed = _replayed(ready, jobs, asked)
    for remark in replayed.remarks:
        if remark.is_loss:
            complain(f"left out: {visible(remark.text)}")
    if asked.events is not None:
        write_events(asked.events, replayed)
    if asked.rows is not None:
        write_rows(asked.rows, replayed)
    publish(ReplayReport(source, replayed), form, files)
    return HOLDS


def _history(path: str, asked: Replaying) -> History:
    from policy_engine.workload.history import load_map, read_history

    return read_history(path, None if asked.map is None else load_map(asked.map), strict=asked.strict)


def _replayed(policy: Policy, history: History, asked: Replaying) -> Replayed:
    from policy_engine.replaying import Asked, ReplayOptions, ask, load_prices
    from policy_engine.scheduler.jobs import Timing

    timing = Timing(stop_seconds=asked.stop_seconds, checkpoint_every=asked.checkpoint_every or None)
    with _bar() as progress:
        return ask(
            policy,
            history,
            Asked(
                ReplayOptions(timing, warm_up=asked.warm_up, strict=asked.strict),
                baselines=asked.baselines,
                shakes=asked.shake,
                seed=asked.seed,
                workers=asked.workers,
                prices=None if asked.prices is None else load_prices(asked.prices, policy.units),
            ),
            progress,
        )


@contextmanager
def _bar() -> Iterator[Callable[[str, float], None] | None]:
    """Takes what is being done and how much of it is, and shows it where standard error is a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    # no thread of its own: worker processes are forked while it is shown
    with Progress(*columns, console=Console(stderr=True), transient=True, auto_refresh=False) as bar:
        task = bar.add_task("replay", total=1.0)

        def show(what: str, done: float) -> None:
            bar.update(task, description=what, completed=done, refresh=True)

        yield show


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
