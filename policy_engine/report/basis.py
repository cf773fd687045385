"""What a report rests on: the last part of every report, in every format."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, fields
from typing import Final

from policy_engine._version import __version__
from policy_engine.scheduler.choices import Choices
from policy_engine.scheduler.jobs import Timing
from policy_engine.sources import Source
from policy_engine.workload.durations import duration_text

INSTANT: Final = "without timing, stopping is instant"
"""Stands beside every timed verdict of a scenario that gives no timing (``scheduling.md``)."""


def rests_on(choices: Choices, timing: Timing | None, *sources: Source) -> list[tuple[str, str]]:
    """A word and a sentence for each thing that a result rests on; ``timing`` is None where nothing ran.

    ``sources``: where the policies come from.
    """
    answers = asdict(choices)
    defaults = asdict(Choices())
    chosen = {name: answer for name, answer in answers.items() if answer != defaults[name]}
    left = {name: answer for name, answer in answers.items() if name not in chosen}
    if chosen:
        pairs = [("choices", f"set by the scenario: {_listed(chosen)}"), ("by default", _listed(left))]
    else:
        pairs = [("choices", f"all by default: {_listed(left)}")]
    if timing is not None:
        pairs += [("stop_seconds", _stopping(timing.stop_seconds)), ("other times", _other_times(timing, timing))]
    return [*pairs, *_always(sources)]


def rests_on_every_schedule(
    choices: Choices,
    opened: Collection[str],
    timings: Sequence[Timing],
    default_priority: tuple[int, int],
    *sources: Source,
) -> list[tuple[str, str]]:
    """The same of a verdict over every schedule.

    Args:
        choices: the answers that are fixed.
        opened: the choices that are answered in every way.
        timings: with the ends of each time that is a range.
        default_priority: the least and the most that it may be.
        sources: where the policies come from.
    """
    fixed = {name: answer for name, answer in asdict(choices).items() if name not in opened}
    if default_priority[0] != default_priority[1]:
        fixed["default_priority"] = f"{default_priority[0]} to {default_priority[1]}"
    pairs = [("choices", f"answered in every way: {', '.join(opened) or 'none'}"), ("fixed", _listed(fixed))]
    least, most = timings[0], timings[-1]
    stopping = _stopping(most.stop_seconds)
    if least.stop_seconds != most.stop_seconds:
        stopping = f"{_span(least.stop_seconds, most.stop_seconds)}, from a preemption to the release of its capacity"
    return [*pairs, ("stop_seconds", stopping), ("other times", _other_times(least, most)), *_always(sources)]


def _listed(answers: Mapping[str, object]) -> str:
    return ", ".join(f"{name}: {answer}" for name, answer in answers.items())


def _stopping(seconds: float) -> str:
    if seconds:
        return f"{duration_text(seconds)} from a preemption to the release of its capacity"
    return "0: stopping is instant (AWS's sample event takes about 20 s, SageMaker allows 120 s)"


def _other_times(least: Timing, most: Timing) -> str:
    """The times beside ``stop_seconds``; both ends of those that are ranges."""
    given: dict[str, str] = {}
    for field in fields(most):
        first, last = getattr(least, field.name), getattr(most, field.name)
        if field.name != "stop_seconds" and last:
            given[field.name] = duration_text(last) if first == last else _span(first, last)
    return _listed(given) if given else "none given: a job starts at once and has a duration and nothing else"


def _span(least: float, most: float) -> str:
    return f"{duration_text(least)} to {duration_text(most)}"


def _always(sources: Sequence[Source]) -> list[tuple[str, str]]:
    """What stands at the end of every report."""
    asked = "was asked for the policy alone" if any(source.is_live for source in sources) else "was not consulted"
    return [
        ("engine", f"policy-engine {__version__}"),
        ("AWS", f"the live service {asked}; the rules are those that AWS documents"),
    ]
