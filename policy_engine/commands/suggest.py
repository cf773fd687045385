"""The command `suggest`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from policy_engine.commands.options import pairs, progress_bar, publish, report_options
from policy_engine.commands.replays import (
    ANONYMISE,
    FILE,
    READING,
    SPREADING,
    Making,
    Reading,
    history_of,
    options_of,
    spreading_of,
    tell_losses,
    together,
    told_when_interrupted,
)
from policy_engine.program import FAILS, HOLDS

if TYPE_CHECKING:
    from policy_engine.suggesting import Goals, Suggestion
    from policy_engine.workload.history import History


@dataclass(frozen=True)
class Searching(Reading, Making):
    """What is looked for, and how."""

    wait_p95: dict[str, float]
    lost_hours: float | None
    prices: Path | None
    in_share_preemption: bool
    replays: int
    shake: int
    seed: int
    output: Path | None
    anonymise: bool


def _environment(context: click.Context, parameter: click.Parameter, values: Sequence[str]) -> dict[str, int]:
    from policy_engine.policy import capacity_problem, unit_problem

    found = {}
    for unit, text in pairs(context, parameter, values).items():
        problem = unit_problem(unit) or capacity_problem(int(text) if text.isdecimal() else text)
        if problem is not None:
            raise click.BadParameter(problem)
        found[unit] = int(text)
    return found


def _waits(_: click.Context, __: click.Parameter, values: Sequence[str]) -> dict[str, float]:
    """Seconds by team, of ``TEAM=1h`` and of ``1h`` for every other team."""
    from policy_engine.workload.durations import parse_duration

    found: dict[str, float] = {}
    for value in values:
        team, _equals, time = value.rpartition("=")
        try:
            seconds = parse_duration(time)
        except ValueError as error:
            raise click.BadParameter(str(error)) from None
        if seconds < 0:
            raise click.BadParameter(f"{value!r} is below zero")
        if (team or "*") in found:
            raise click.BadParameter(f"{team or '*'!r} is given twice")
        found[team or "*"] = seconds
    return found


_GOALS: Final = {
    "--wait-p95": {
        "multiple": True,
        "callback": _waits,
        "metavar": "[TEAM=]TIME",
        "help": "95 % of the team's jobs, of every other team's without a name, start within TIME; may be repeated."
        "  [default: 1h, where no goal is given]",
    },
    "--lost-hours": {
        "type": click.FloatRange(min=0),
        "metavar": "HOURS",
        "help": "Preemptions cost at most so many instance-hours of work.",
    },
}
_SEARCH: Final = {
    "--prices": {"type": FILE, "metavar": "FILE", "help": "Price of an instance-hour by type: look for the cheapest."},
    "--in-share-preemption": {"is_flag": True, "help": "Jobs may stop others of their team with lower priority."},
    "--replays": {
        "type": click.IntRange(min=1),
        "default": 300,
        "show_default": True,
        "metavar": "N",
        "help": "The search makes no more.",
    },
    "--shake": {
        "type": click.IntRange(min=0),
        "default": 0,
        "metavar": "N",
        "help": "Replay the answer on N perturbed copies of the history, too.",
    },
    "--seed": {"type": int, "default": 0, "metavar": "N", "help": "Of --shake; the search has no chance in it."},
    "--output": {"type": FILE, "metavar": "FILE", "help": "Write the answer to FILE, as a policy document."},
}


@click.command(short_help="Limits that meet stated goals.")
@click.argument("history")
@click.option(
    "--environment",
    multiple=True,
    required=True,
    callback=_environment,
    metavar="TYPE=N",
    help="Instances that there are of a type; may be repeated.",
)
@together(Searching, "asked", {**_GOALS, **READING, **_SEARCH, **ANONYMISE, **SPREADING})
@report_options
def suggest(history: str, environment: dict[str, int], asked: Searching, form: str, **files: Path | None) -> int:
    """Find the smallest limits and borrow limits under which the jobs of HISTORY meet the goals.

    It replays the history under one policy after the other, and shows what fewer and more instances come to. It exits
    with 1 where the goals cannot be met, and then shows what comes nearest.

    \b
    Example:
      policy-engine suggest jobs.csv --environment ml.g5.xlarge=40 --wait-p95 2h --output policy.yaml
      policy-engine suggest jobs.csv --environment ml.g5.xlarge=40 --wait-p95 prod=5m --wait-p95 4h --lost-hours 10
    """  # noqa: D301
    from policy_engine.replaying import Aliases
    from policy_engine.report.suggestion import SuggestionReport, policy_text
    from policy_engine.report.writing import write_report

    jobs, goals = history_of(history, asked), _goals(asked)
    if asked.anonymise:
        aliases = Aliases.of([], [jobs])
        jobs = aliases.history(jobs)
        goals = replace(goals, wait_p95={aliases.share(team): most for team, most in goals.wait_p95.items()})
    tell_losses(jobs)
    found = _searched(jobs, environment, goals, asked)
    if asked.output is not None:
        write_report(asked.output, policy_text(found))
    publish(SuggestionReport(found), form, files)
    return HOLDS if found.is_met else FAILS


def _searched(history: History, environment: dict[str, int], goals: Goals, asked: Searching) -> Suggestion:
    from policy_engine.replaying import load_prices
    from policy_engine.suggesting import suggest

    with progress_bar() as progress, told_when_interrupted(asked.results):
        return suggest(
            history,
            environment,
            goals,
            options_of(asked),
            prices=None if asked.prices is None else load_prices(asked.prices, environment),
            in_share_preemption=asked.in_share_preemption,
            most_replays=asked.replays,
            shakes=asked.shake,
            seed=asked.seed,
            spreading=spreading_of(asked),
            progress=progress,
        )


def _goals(asked: Searching) -> Goals:
    from policy_engine.suggesting import Goals

    if not asked.wait_p95 and asked.lost_hours is None:
        return Goals()
    return Goals(asked.wait_p95, asked.lost_hours)
