"""What is said about an expectation, and about a scenario as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from policy_engine.outcome.drawing import DrawnStep
from policy_engine.policy import Policy
from policy_engine.simulation import Run
from policy_engine.workload.scenario import Scenario


class Answer(StrEnum):
    """Verdicts. One run gives the first two; every schedule together can give the others."""

    HOLDS = "holds"
    FAILS = "fails"
    DEPENDS = "depends"
    """Holds under some of the open choices and fails under others."""
    UNDECIDED = "undecided"
    """A bound was reached before the answer."""


_WORST_FIRST: Final = (Answer.FAILS, Answer.DEPENDS, Answer.UNDECIDED, Answer.HOLDS)


@dataclass(frozen=True, slots=True)
class Counterexample:
    """A schedule that breaks an expectation, ready to be shown: it has been run again, and breaks it."""

    scenario: Mapping[str, Any]
    """The scenario file that replays it, as data."""
    text: str
    """The same as YAML."""
    drawing: tuple[DrawnStep, ...]
    """What happens at each instant, and the instances of each share before and after it."""
    departures: tuple[str, ...]
    """The moves that the choices by themselves would not have made, in words."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """One expectation, judged."""

    name: str
    """The expectation's own, or a sentence that says what it expects."""
    verdict: Answer
    message: str
    """What happened; where it fails: what was expected instead, when and why."""
    because: str | None = None
    """Why it matters, in the words of the scenario."""
    depends_on: tuple[str, ...] = ()
    """The open choices that a ``depends`` hinges on."""
    rests_on: tuple[str, ...] | None = None
    """The open choices of which another answer, by itself, would change the verdict: AWS does not document them.
    None where that was not looked into."""
    looked_at: str | None = None
    """What an exploration of every schedule looked at; None where there was one run alone."""
    counterexample: Counterexample | None = None
    """Where every schedule was asked for: one that breaks it."""
    file: str | None = None
    line: int | None = None
    """Where the expectation stands, from 1."""


@dataclass(frozen=True, slots=True)
class Verification:
    """A scenario that was run under a policy, and every expectation judged."""

    policy: Policy
    scenario: Scenario
    run: Run
    verdicts: tuple[Verdict, ...]
    open_choices: tuple[str, ...] | None = None
    """The choices that were answered in every way; None: each in one, and ``run`` is what was judged."""

    @property
    def verdict(self) -> Answer:
        """The worst of all: a failure beats undecided."""
        return min((verdict.verdict for verdict in self.verdicts), key=_WORST_FIRST.index)
