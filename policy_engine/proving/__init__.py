"""Verdicts over every schedule that the documentation allows, and the schedule that breaks an expectation.

Every open choice is answered in every way, and where a job's duration is not given, the job may end at any time, one
job after the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from time import monotonic
from typing import Any

from policy_engine.expectations import describe, judge_one
from policy_engine.expectations.verdict import Answer
from policy_engine.exploration.counterexample import Counterexample, again, replayed, shrunk
from policy_engine.exploration.relevance import matters
from policy_engine.scheduler.script import Decision, Script
from policy_engine.exploration.space import PER_DECISION, Bounds, Explored, Space
from policy_engine.policy import Policy
from policy_engine.proving.watches import watch_for
from policy_engine.scheduler.choices import BY_NAME, CHOICES, Choices
from policy_engine.scheduler.jobs import Workload
from policy_engine.workload.expected import AnyExpectation
from policy_engine.workload.scenario import Scenario

__all__ = ["Bounds", "Counterexample", "Decision", "Exploration", "Script", "Space", "again", "explore", "open_names"]

ALL = tuple(choice.name for choice in CHOICES if not choice.is_number)
"""Every choice that has words for answers; numbers take the value that the scenario gives."""


@dataclass(frozen=True, slots=True)
class Exploration:
    """What is true of one expectation over every schedule."""

    name: str
    answer: Answer
    depends_on: tuple[str, ...]
    """The open choices that the answer hinges on; fixing these alone settles it."""
    message: str
    states: int
    depth: int
    open: tuple[str, ...]
    """The choices that were left open and can matter here."""
    bound: str | None
    """What was reached before the end, where the answer is undecided."""
    counterexample: Counterexample | None
    wanted: AnyExpectation


class _Spent(Exception):  # noqa: N818 - not an error, a signal
    """A bound is reached."""

    def __init__(self, bound: str) -> None:
        super().__init__(bound)
        self.bound = bound


class _Question:
    """One expectation, asked of spaces with more or fewer choices fixed."""

    def __init__(self, policy: Policy, workload: Workload, wanted: AnyExpectation, scenario: Scenario, bounds: Bounds):
        self.policy, self.workload = policy, workload
        self.wanted, self.scenario, self.bounds = wanted, scenario, bounds
        self.states = self.depth = 0
        self.reductions = True

    def broken(
        self, choices: Choices, open_names: Iterable[str], workload: Workload | None = None
    ) -> Counterexample | None:
        """A schedule that breaks it while these choices are open; None where none does. Raises _Spent."""
        workload = self.workload if workload is None else workload
        spent: str | None = None
        for answer in _answers(choices, open_names, self.policy, workload):
            explored = self._explore(answer, frozenset(open_names) & PER_DECISION, workload)
            self.states += explored.states
            self.depth = max(self.depth, explored.depth)
            if explored.broken is not None:
                found = replayed(self.policy, workload, answer, explored.broken)
                if judge_one(found.run, self.wanted, self.scenario).verdict is Answer.FAILS:
                    return found
            spent = spent or explored.bound
        if spent is not None:
            raise _Spent(spent)
        return None

    def _explore(self, choices: Choices, open_names: frozenset[str], workload: Workload) -> Explored:
        watch = watch_for(self.wanted, self.scenario, workload)
        space = Space(
            self.policy,
            workload,
            choices,
            open_names,
            watch,
            symmetry=self.reductions,
            partial_order=self.reductions,
        )
        left = replace(self.bounds, max_states=max(1, self.bounds.max_states - self.states))
        return space.explore(left)


def with_answers(choices: Choices, names: Sequence[str], answers: Sequence[str]) -> Choices:
    """The choices with these answered so."""
    given: dict[str, Any] = dict(zip(names, answers, strict=True))
    return replace(choices, **given)


def _answers(choices: Choices, open_names: Iterable[str], policy: Policy, workload: Workload) -> Iterator[Choices]:
    """Every combination of answers to the open choices that are made once for a run."""
    names = set(open_names)
    if "reclaim_or_in_share" in names:
        choices = replace(choices, reclaim_or_in_share="any")
    once = [name for name in ALL if name in names - PER_DECISION and matters(name, policy, workload)]
    for answers in product(*(BY_NAME[name].answers for name in once)):
        yield with_answers(choices, once, answers)


def open_names(asked: Sequence[str] | None, given: Mapping[str, object]) -> tuple[str, ...]:
    """The choices to leave open: those asked for, or all that the scenario does not fix.

    Raises ValueError for a name that is no choice, or that has no words for answers.
    """
    if asked is None:
        return tuple(name for name in ALL if name not in given)
    for name in asked:
        if name not in BY_NAME:
            raise ValueError(f"no choice {name!r}; there is {', '.join(ALL)}")
        if name not in ALL:
            raise ValueError(f"{name!r} is a number; give it a range in the scenario")
    return tuple(name for name in ALL if name in asked)


def explore(
    policy: Policy, scenario: Scenario, names: Sequence[str], *, max_states: int, max_seconds: float
) -> Iterator[Exploration]:
    """The verdict on each expectation of the scenario, over every schedule with the named choices open."""
    workload = scenario.workload(policy)
    for wanted in scenario.expect:
        until = monotonic() + max_seconds
        question = _Question(policy, workload, wanted, scenario, Bounds(max_states, max_seconds, until))
        yield _explored(question, scenario.choices(), names)


def _explored(question: _Question, choices: Choices, names: Sequence[str]) -> Exploration:
    relevant = tuple(name for name in names if matters(name, question.policy, question.workload))
    bound: str | None = None
    found: Counterexample | None = None
    hinges: tuple[str, ...] = ()
    try:
        found = question.broken(choices, relevant)
        answer = Answer.HOLDS if found is None else Answer.FAILS
        if found is not None:
            hinges = _hinges(question, choices, relevant)
            answer = Answer.DEPENDS if hinges else Answer.FAILS
    except _Spent as spent:
        bound = spent.bound
        answer = Answer.UNDECIDED if found is None else Answer.FAILS
    states = question.states
    if found is not None:
        found = _smallest(question, found, choices, relevant)
    return Exploration(
        name=question.wanted.name or describe_wanted(question),
        answer=answer,
        depends_on=hinges,
        message=_message(question, answer, found, bound, states),
        states=states,
        depth=question.depth,
        open=relevant,
        bound=bound,
        counterexample=found,
        wanted=question.wanted,
    )


def _hinges(question: _Question, choices: Choices, relevant: Sequence[str]) -> tuple[str, ...]:
    """The fewest choices whose fixing, to some answers, makes it hold whatever the others are; () for none."""
    for size in range(1, len(relevant) + 1):
        for names in combinations(relevant, size):
            others = [name for name in relevant if name not in names]
            for answers in product(*(BY_NAME[name].answers for name in names)):
                fixed = with_answers(choices, names, answers)
                if question.broken(fixed, others) is None:
                    return names
    return ()


def _smallest(question: _Question, found: Counterexample, choices: Choices, relevant: Sequence[str]) -> Counterexample:
    def look(workload: Workload) -> Counterexample | None:
        small = _Question(
            question.policy, workload, question.wanted, question.scenario, Bounds(5_000, 5.0, monotonic() + 5)
        )
        try:
            return small.broken(choices, relevant)
        except (_Spent, ValueError):
            return None

    named = watch_for(question.wanted, question.scenario, question.workload).named
    return shrunk(found, question.workload, look, named, seconds=10.0)


def describe_wanted(question: _Question) -> str:
    """A sentence for an expectation without a name."""
    from policy_engine.simulation import simulate

    run = simulate(question.policy, replace(question.workload, jobs=(), updates=()))
    return describe(question.wanted, run)


def _message(question: _Question, answer: Answer, found: Counterexample | None, bound: str | None, states: int) -> str:
    if found is not None:
        return judge_one(found.run, question.wanted, question.scenario).message
    if answer is Answer.UNDECIDED:
        return f"no schedule breaks it as far as was looked: {bound} was reached after {states:,} states"
    return f"over every schedule: {states:,} states"
