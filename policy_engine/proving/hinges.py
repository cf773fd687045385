"""What a verdict hinges on: the fewest open choices whose answers, given rightly, make an expectation hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from time import monotonic
from typing import Final

from policy_engine.expectations import judge_one
from policy_engine.expectations.verdict import Answer
from policy_engine.exploration.counterexample import Counterexample
from policy_engine.exploration.relevance import answers
from policy_engine.proving.question import Question, UnsettledError, with_answers
from policy_engine.scheduler.choices import Choices
from policy_engine.scheduler.endless import TooManyMovesError
from policy_engine.simulation import simulate

SECONDS: Final = 10.0
"""To look for them, of the time that there is for the expectation."""
MOST_RUN: Final = 5_000
"""Runs that rule answers out; after them answers are explored at once."""


@dataclass(frozen=True, slots=True)
class Hinges:
    """Choices that settle it."""

    names: tuple[str, ...]
    """Empty where no answers make it hold."""
    holding: Choices
    """With the answers under which it holds, whatever the others are."""
    are_fewest: bool
    """Is it known that fewer do not settle it?"""


class Search:
    """Looks for the fewest choices that settle a question which a counterexample answers with no."""

    def __init__(self, question: Question, choices: Choices, relevant: Sequence[str], found: Counterexample) -> None:
        self.question, self.choices, self.relevant = question, choices, relevant
        self.found = found
        self.answers = [answers(name, question.workload) for name in relevant]
        self.until = min(question.bounds.until, monotonic() + SECONDS)
        self.breaks: dict[tuple[str, ...], bool] = {}
        """Answers to all choices, and whether the counterexample's workload breaks it under them."""

    def hinges(self) -> Hinges:
        """The fewest choices that settle it.

        Most answers are ruled out by running the counterexample's workload under them; what survives that is explored.
        Raises UnsettledError where a bound is reached before the answer.
        """
        sure = True
        for names, given in self._fixes():
            if monotonic() > self.until:
                raise UnsettledError(f"too many answers to try in {SECONDS:g} s", out_of_bounds=True)
            if self._is_ruled_out(names, given):
                continue
            fixed = with_answers(self.choices, names, given)
            try:
                broken = self.question.broken(fixed, [name for name in self.relevant if name not in names])
            except UnsettledError as unsettled:
                if unsettled.out_of_bounds:
                    raise
                sure = False
                continue
            if broken is None:
                return Hinges(names, fixed, sure)
        return Hinges((), self.choices, sure)

    def _fixes(self) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
        """Every way of answering some of the choices, few of them first."""
        numbers = range(len(self.relevant))
        for size in range(1, len(self.relevant) + 1):
            for some in combinations(numbers, size):
                for given in product(*(self.answers[number] for number in some)):
                    yield tuple(self.relevant[number] for number in some), given

    def _is_ruled_out(self, names: Sequence[str], given: Sequence[str]) -> bool:
        """Does the counterexample's workload break it under some answers to the other choices too?"""
        fixed = dict(zip(names, given, strict=True))
        every = [
            (fixed[name],) if name in fixed else known for name, known in zip(self.relevant, self.answers, strict=True)
        ]
        return any(self._breaks(full) for full in product(*every))

    def _breaks(self, full: tuple[str, ...]) -> bool:
        if full not in self.breaks:
            if len(self.breaks) >= MOST_RUN or monotonic() > self.until:
                return False
            self.breaks[full] = self._run_breaks(with_answers(self.found.choices, self.relevant, full))
        return self.breaks[full]

    def _run_breaks(self, choices: Choices) -> bool:
        try:
            run = simulate(self.question.policy, self.found.workload, choices)
        except (TooManyMovesError, ValueError):
            return False
        return judge_one(run, self.question.wanted).verdict is Answer.FAILS
