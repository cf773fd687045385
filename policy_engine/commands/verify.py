"""The command `verify`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from policy_engine.commands.options import duration, policy_options, progress, publish, report_options
from policy_engine.errors import UndecidedError, visible
from policy_engine.program import FAILS, HOLDS, UNDECIDED, complain

if TYPE_CHECKING:
    from policy_engine.expectations import Verdict
    from policy_engine.report.proof import ProofReport
    from policy_engine.report.verification import VerificationReport


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
    stop_seconds: float | None
    counterexamples: Path | None

    def check(self) -> None:
        """Raises click.UsageError for options that do nothing without another."""
        of_property = {
            "--jobs": self.jobs,
            "--sizes": self.sizes,
            "--priorities": self.priorities,
            "--stop-seconds": self.stop_seconds,
        }
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
        "help": "Without a scenario: this, over every workload: within_bounds, owner_reclaims, disruption_ratio=2, or"
        " what never happens: '{share: QS3, preempted: any}'.",
    },
    "--jobs": {"type": click.IntRange(min=1), "metavar": "N", "help": "Of --property: the most jobs of a workload."},
    "--sizes": {"metavar": "N,...", "callback": _numbers, "help": "Of --property: instances of a job; default 1."},
    "--priorities": {
        "metavar": "N,...",
        "callback": _numbers,
        "help": "Of --property: priorities of a job; default 0.",
    },
    "--stop-seconds": {
        "callback": duration,
        "metavar": "S",
        "help": "Of --property: from a preemption to the release of its capacity; default 0.",
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


@click.command(short_help="Judge what scenarios expect.")
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
    from policy_engine.running import undecided
    from policy_engine.sources import load

    policy, scenarios = apart(arguments)
    source = None if policy is None else load(policy, parameters=parameters)
    results = []
    with progress() as told:
        for path in scenarios:
            try:
                result = policy_engine.verify(
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
            except UndecidedError as error:
                if len(scenarios) == 1:
                    raise
                # the others are judged all the same, and a failure of theirs beats this
                complain(str(error))
                result = undecided(source, path, error, queue=queue, parameters=parameters)
            results.append(result)
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
    with progress() as told:
        told(f"{arguments[0]}: {wanted}")
        result = policy_engine.prove(
            arguments[0],
            wanted,
            jobs=asked.jobs or 1,
            sizes=asked.sizes or (1,),
            priorities=asked.priorities or (0,),
            open=asked.open,
            stop_seconds=asked.stop_seconds or 0.0,
            queue=queue,
            parameters=parameters,
            max_states=asked.max_states,
            max_seconds=asked.max_seconds,
        )
    return result.report, [("", result.property)]
