"""Verdicts over every schedule that the documentation allows, and the schedule that breaks an expectation.

Every open choice is answered in every way, and where a job's duration is not given, the job may end at any time, one
job after the other.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from time import monotonic

from policy_engine.expectations import judge_one
from policy_engine.expectations.verdict import Answer
from policy_engine.exploration.counterexample import Counterexample, NotReplayedError, again
from policy_engine.exploration.explored import Bounds
from policy_engine.exploration.relevance import matters
from policy_engine.exploration.space import Space
from policy_engine.policy import Policy
from policy_engine.proving.hinges import Hinges, Search
from policy_engine.proving.question import ALL, Numbers, Question, UnsettledError
from policy_engine.proving.shrinking import smallest
from policy_engine.scheduler.choices import BY_NAME, Choices
from policy_engine.scheduler.jobs import Job, Timing, Workload
from policy_engine.scheduler.script import Decision, Script
from policy_engine.workload.expected import AnyExpectation
from policy_engine.workload.scenario import Scenario

__all__ = ["Bounds", "Counterexample", "Decision", "Exploration", "Script", "Space", "again", "explore", "open_names"]


@dataclass(frozen=True, slots=True)
class Exploration:
    """What is true of one expectation over every schedule."""

    wanted: AnyExpectation
    answer: Answer
    depends_on: tuple[str, ...]
    """The open choices that the answer hinges on; fixing these alone settles it."""
    message: str
    looked_at: str
    """States, depth, open choices and reductions, in words."""
    counterexample: Counterexample | None


def open_names(asked: Sequence[str] | None, given: Collection[str]) -> tuple[str, ...]:
    """The choices to leave open: those asked for, or all that the scenario does not answer itself.

    Raises ValueError for a name that is no choice, or whose answer is a number.
    """
    if asked is None:
        return tuple(name for name in ALL if name not in given)
    for name in asked:
        if name not in BY_NAME:
            nearest = get_close_matches(name, ALL, n=1, cutoff=0.5)
            hint = f"did you mean {nearest[0]!r}?" if nearest else f"there is {', '.join(ALL)}"
            raise ValueError(f"no choice {name!r}; {hint}")
        if name not in ALL:
            raise ValueError(f"{name!r} is a number; give it a range in the scenario")
    return tuple(name for name in ALL if name in asked)


def explore(
    policy: Policy, scenario: Scenario, names: Sequence[str], *, max_states: int, max_seconds: float
) -> Iterator[Exploration]:
    """The verdict on each expectation of the scenario, over every schedule with the named choices open.

    The bounds hold for each expectation. Raises InputError where the scenario does not fit the policy.
    """
    workload = scenario.workload(policy, ranges=True)
    for wanted in scenario.expect:
        bounds = Bounds(max_states, max_seconds, monotonic() + max_seconds)
        numbers = Numbers.of(scenario.timings(), scenario.default_priority, wanted, workload)
        question = Question(policy, workload, wanted, bounds, numbers)
        yield explored(question, scenario.choices(ranges=True), names)


def prove(
    policy: Policy,
    wanted: AnyExpectation,
    names: Sequence[str],
    choices: Choices,
    *,
    jobs: int,
    sizes: Sequence[int] = (1,),
    priorities: Sequence[int] = (0,),
    stop_seconds: float = 0.0,
    max_states: int,
    max_seconds: float,
) -> Exploration:
    """The verdict on a property over every workload of up to ``jobs`` jobs of these sizes (instances) and priorities.

    They come to any share on any instance type that it declares, at any time, and end at any time.
    """
    kinds = [
        Job(f"{share}-{size}x{unit}-p{priority}-{number}", share, {unit: size}, priority)
        for share, declared in policy.shares.items()
        for unit in declared.capacity_limits
        for size in sizes
        for priority in priorities
        for number in range(1, jobs + 1)
    ]
    timing = Timing(stop_seconds=stop_seconds)
    workload = Workload(tuple(kinds), timing=timing)
    bounds = Bounds(max_states, max_seconds, monotonic() + max_seconds)
    numbers = Numbers([timing], [choices.default_priority])
    return explored(Question(policy, workload, wanted, bounds, numbers, arrivals=jobs), choices, names)


def explored(question: Question, choices: Choices, names: Sequence[str]) -> Exploration:
    """The verdict on one expectation."""
    relevant = tuple(name for name in names if matters(name, question.policy, question.workload))
    try:
        found = question.broken(choices, relevant)
    except UnsettledError as unsettled:
        message = f"no schedule that was looked at breaks it, but not all were: {unsettled.reason}"
        return Exploration(question.wanted, Answer.UNDECIDED, (), message, _looked_at(question, relevant), None)
    looked_at = _looked_at(question, relevant)
    if found is None:
        message = "holds over every schedule that the documentation allows"
        return Exploration(question.wanted, Answer.HOLDS, (), message, looked_at, None)
    hinge = Hinges((), choices, are_fewest=True)
    try:
        if not question.breaks_always(found, relevant):
            hinge = Search(question, choices, relevant, found).hinges()
            looked_at += "" if hinge.are_fewest else "; whether fewer choices settle it was not found out"
    except UnsettledError as unsettled:
        looked_at += f"; what it hinges on was not found out: {unsettled.reason}"
    found = smallest(question, found, choices, relevant, hinge.holding if hinge.names else None)
    if judge_one(again(found), question.wanted).verdict is not Answer.FAILS:
        raise NotReplayedError("the counterexample holds when its scenario is run: please report this")
    message = judge_one(found.run, question.wanted).message
    answer = Answer.DEPENDS if hinge.names else Answer.FAILS
    return Exploration(question.wanted, answer, hinge.names, message, looked_at, found)


def _looked_at(question: Question, relevant: Sequence[str]) -> str:
    opened = ", ".join(relevant) if relevant else "none that matters here"
    return (
        f"{question.states:,} states, up to {question.depth} instants deep; open: {opened};"
        " interchangeable jobs and shares collapsed, independent starts in one order"
    )
