"""Which verdicts rest on something that AWS does not document."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from policy_engine.expectations.verdict import Verdict
from policy_engine.scheduler.choices import CHOICES, Choices
from policy_engine.scheduler.endless import TooManyMovesError
from policy_engine.scheduler.moves import Chooser
from policy_engine.simulation import Run, simulate

MAX_EVENTS: Final = 1_000
"""Longer runs are not run again for every answer: it would take seconds."""
_EXPLORED_ALONE: Final = frozenset({"any"})
"""Answers that no single run can give."""


def resting(
    run: Run,
    verdicts: Sequence[Verdict],
    judge: Callable[[Run], Sequence[Verdict]],
    chooser: Callable[[], Chooser | None],
) -> tuple[Verdict, ...]:
    """The verdicts, each with the open choices of which another answer, by itself, would change it.

    Found by running the workload once more for every other answer in words. Two answers together may change a verdict
    that neither changes alone; numbers (C14, C15) are left as the scenario gives them, and so are the moves that it
    fixes: each run gets a ``chooser`` of its own.
    """
    if len(run.log) > MAX_EVENTS:
        return tuple(verdicts)
    found: list[list[str]] = [[] for _ in verdicts]
    for name, other in _others(run.choices):
        try:
            judged = judge(simulate(run.policy, run.workload, other, chooser=chooser()))
        except TooManyMovesError:
            continue
        for names, verdict, changed in zip(found, verdicts, judged, strict=True):
            if changed.verdict is not verdict.verdict and name not in names:
                names.append(name)
    return tuple(replace(verdict, rests_on=tuple(names)) for verdict, names in zip(verdicts, found, strict=True))


def _others(choices: Choices) -> Iterator[tuple[str, Choices]]:
    """Every other answer to every choice in words, with the name of the choice."""
    for choice in CHOICES:
        for answer in choice.answers:
            if answer not in _EXPLORED_ALONE and answer != getattr(choices, choice.name):
                changed: dict[str, Any] = {choice.name: answer}
                yield choice.name, replace(choices, **changed)
