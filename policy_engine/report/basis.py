"""What a report rests on: the last part of every report, in every format."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import asdict, fields
from typing import Final

from policy_engine._version import __version__
from policy_engine.scheduler.choices import Choices
from policy_engine.scheduler.jobs import Timing
from policy_engine.workload.durations import duration_text

INSTANT: Final = "without timing, stopping is instant"
"""Stands beside every timed verdict of a scenario that gives no timing (``scheduling.md``)."""


def rests_on(choices: Choices, timing: Timing | None) -> list[tuple[str, str]]:
    """A word and a sentence for each thing that a result rests on; ``timing`` is None where nothing ran."""
    answers = asdict(choices)
    defaults = asdict(Choices())
    chosen = {name: answer for name, answer in answers.items() if answer != defaults[name]}
    left = {name: answer for name, answer in answers.items() if name not in chosen}
    if chosen:
        pairs = [("choices", f"set by the scenario: {_listed(chosen)}"), ("by default", _listed(left))]
    else:
        pairs = [("choices", f"all by default: {_listed(left)}")]
    if timing is not None:
        pairs += [("stop_seconds", _stopping(timing.stop_seconds)), ("other times", _other_times(timing))]
    pairs.append(("engine", f"policy-engine {__version__}"))
    pairs.append(("AWS", "the live service was not consulted; the rules are those that AWS documents"))
    return pairs


def rests_on_every_schedule(
    choices: Choices, timing: Timing, opened: Collection[str], stop_seconds: tuple[float, float]
) -> list[tuple[str, str]]:
    """The same of a verdict over every schedule; ``stop_seconds`` are the least and the most that a stop takes."""
    fixed = {name: answer for name, answer in asdict(choices).items() if name not in opened}
    _, *others = [pair for pair in rests_on(choices, timing) if pair[0] != "by default"]
    least, most = stop_seconds
    if least != most:
        both = f"{duration_text(least)} and {duration_text(most)}, and where both hold, whatever is between"
        others = [(word, both if word == "stop_seconds" else text) for word, text in others]
    answered = f"answered in every way: {', '.join(opened) or 'none'}"
    return [("choices", answered), ("fixed", _listed(fixed)), *others]


def _listed(answers: Mapping[str, object]) -> str:
    return ", ".join(f"{name}: {answer}" for name, answer in answers.items())


def _stopping(seconds: float) -> str:
    if seconds:
        return f"{duration_text(seconds)} from a preemption to the release of its capacity"
    return "0: stopping is instant (AWS's sample event takes about 20 s, SageMaker allows 120 s)"


def _other_times(timing: Timing) -> str:
    names = [field.name for field in fields(timing) if field.name != "stop_seconds"]
    given = {name: duration_text(seconds) for name in names if (seconds := getattr(timing, name))}
    return _listed(given) if given else "none given: a job starts at once and has a duration and nothing else"
