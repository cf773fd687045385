"""Verdicts over every schedule that the documentation allows, and the schedule that breaks an expectation.

Every open choice is answered in every way, and where a job's duration is not given, the job may end at any time, one
job after the other.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from itertools import combinations, product
from time import monotonic
from typing import Any, Final

from policy_engine.expectations import judge_one
from policy_engine.expectations.verdict import Answer
from policy_engine.exploration.counterexample import Counterexample, NotReplayedError, again, replayed, shrunk
from policy_engine.exploration.relevance import answers, matters
from policy_engine.exploration.space import (
    PER_DECISION,
    Bounds,
    Explored,
    Space,
    has_all_times,
    with_arrivals,
    without_times,
)
from policy_engine.policy import Policy
from policy_engine.proving.watches import NotBroken, watch_for
from policy_engine.scheduler.choices import BY_NAME, CHOICES, Choices
from policy_engine.scheduler.jobs import Job, Timing, Workload
from policy_engine.scheduler.script import Decision, Script
from policy_engine.simulation import Clock, simulate
from policy_engine.workload.expected import AlwaysExpectation, AnyExpectation
from policy_engine.workload.scenario import Scenario

__all__ = ["Bounds", "Counterexample", "Decision", "Exploration", "Script", "Space", "again", "explore", "open_names"]

ALL = tuple(choice.name for choice in CHOICES if not choice.is_number)
"""Every choice that has words for answers; numbers take the value that the scenario gives."""


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


class _Spent(Exception):  # noqa: N818 - not an error, a signal
    """A bound is reached."""

    def __init__(self, bound: str) -> None:
        super().__init__(bound)
        self.bound = bound


class _Question:
    """One expectation, asked of spaces with more or fewer choices fixed."""

    def __init__(
        self,
        policy: Policy,
        workload: Workload,
        wanted: AnyExpectation,
        bounds: Bounds,
        *,
        stop_seconds: Collection[float],
        arrivals: int | None = None,
    ) -> None:
        """``arrivals``: so many of the jobs come, whichever and whenever; None: all, at their times."""
        self.policy, self.workload = policy, workload
        self.wanted, self.bounds = wanted, bounds
        self.stop_seconds, self.arrivals = stop_seconds, arrivals
        self.states = self.depth = 0
        """Of all spaces so far."""

    def broken(self, choices: Choices, open_choices: Collection[str]) -> Counterexample | None:
        """A schedule that breaks it while these choices are open; None where none does.

        Raises _Spent where a bound is reached before either is known.
        """
        spent: str | None = None
        for workload in self._stop_times(self.workload):
            for answer in _answers(choices, open_choices, self.policy, workload):
                if monotonic() > self.bounds.until:
                    raise _Spent(f"--max-seconds {self.bounds.max_seconds:g}")
                explored = self._explore(answer, open_choices, workload)
                if explored.broken is not None:
                    return self._confirmed(workload, answer, explored.broken, over=explored.over)
                spent = spent or explored.bound
                if explored.bound is None and not self._has_all_times(workload):
                    spent = self._any_time(answer, open_choices, workload)
        if spent is not None:
            raise _Spent(spent)
        return None

    def breaks_always(self, found: Counterexample, open_choices: Collection[str]) -> bool:
        """Does it break over every schedule, with the durations of the counterexample?"""
        for answer in _answers(found.choices, open_choices, self.policy, found.workload):
            watch = NotBroken(watch_for(self.wanted, found.workload))
            space = Space(self.policy, found.workload, answer, frozenset(open_choices) & PER_DECISION, watch)
            explored = space.explore(self.bounds)
            if explored.broken is not None or explored.bound is not None:
                return False
        return True

    def _stop_times(self, workload: Workload) -> Iterator[Workload]:
        """Both ends of a range of stop_seconds."""
        for seconds in sorted(set(self.stop_seconds)):
            yield replace(workload, timing=replace(workload.timing, stop_seconds=seconds))

    def _confirmed(self, workload: Workload, choices: Choices, broken: Clock, *, over: bool) -> Counterexample:
        if self.arrivals is not None:
            workload = with_arrivals(workload, broken)
        found = replayed(self.policy, workload, choices, broken, over=over)
        if judge_one(found.run, self.wanted).verdict is not Answer.FAILS:
            raise NotReplayedError(
                "a run of the schedule that was found does not break the expectation: please report this"
            )
        return found

    def _has_all_times(self, workload: Workload) -> bool:
        within = self.wanted.reclaims_within if isinstance(self.wanted, AlwaysExpectation) else None
        return has_all_times(workload) and (not within or all(job.duration is not None for job in workload.jobs))

    def _any_time(self, choices: Choices, open_choices: Collection[str], workload: Workload) -> str | None:
        """None where it holds even if whatever runs or stops may end at any time; else what is left undecided."""
        if isinstance(self.wanted, AlwaysExpectation) and self.wanted.always.kind == "owner_reclaims":
            return _OTHER_TIMES
        explored = self._explore(choices, open_choices, workload, any_time=True)
        return _OTHER_TIMES if explored.broken is not None else explored.bound

    def _explore(
        self, choices: Choices, open_choices: Collection[str], workload: Workload, *, any_time: bool = False
    ) -> Explored:
        watched = without_times(workload) if any_time else workload
        watch = watch_for(self.wanted, watched)
        space = Space(
            self.policy,
            workload,
            choices,
            frozenset(open_choices) & PER_DECISION,
            watch,
            any_time=any_time,
            arrivals=self.arrivals,
        )
        explored = space.explore(replace(self.bounds, spent=self.states))
        self.states += explored.states
        self.depth = max(self.depth, explored.depth)
        return explored


def with_answers(choices: Choices, names: Sequence[str], given: Sequence[str]) -> Choices:
    """The choices with these answered so."""
    answered: dict[str, Any] = dict(zip(names, given, strict=True))
    return replace(choices, **answered)


def _answers(choices: Choices, open_choices: Collection[str], policy: Policy, workload: Workload) -> Iterator[Choices]:
    """Every combination of answers to the open choices that are made once for a run."""
    if "reclaim_or_in_share" in open_choices:
        choices = replace(choices, reclaim_or_in_share="any")
    once = [name for name in ALL if name in open_choices and name not in PER_DECISION]
    once = [name for name in once if matters(name, policy, workload)]
    for given in product(*(answers(name, workload) for name in once)):
        yield with_answers(choices, once, given)


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
        question = _Question(policy, workload, wanted, bounds, stop_seconds=scenario.stop_seconds)
        yield explored(question, scenario.choices(), names)


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
    workload = Workload(tuple(kinds), timing=Timing(stop_seconds=stop_seconds))
    bounds = Bounds(max_states, max_seconds, monotonic() + max_seconds)
    question = _Question(policy, workload, wanted, bounds, stop_seconds=[stop_seconds], arrivals=jobs)
    return explored(question, choices, names)


def explored(question: _Question, choices: Choices, names: Sequence[str]) -> Exploration:
    """The verdict on one expectation."""
    relevant = tuple(name for name in names if matters(name, question.policy, question.workload))
    bound: str | None = None
    found: Counterexample | None = None
    hinges: tuple[str, ...] = ()
    holding = choices
    try:
        found = question.broken(choices, relevant)
    except _Spent as spent:
        bound = spent.bound
    looked_at = _looked_at(question, relevant)
    if found is None:
        answer = Answer.HOLDS if bound is None else Answer.UNDECIDED
        return Exploration(question.wanted, answer, (), _message(bound), looked_at, None)
    try:
        if not question.breaks_always(found, relevant):
            hinges, holding = _hinges(question, choices, relevant)
    except _Spent as spent:
        looked_at += f"; what it hinges on was not found out: {_why(spent.bound)}"
    if question.arrivals is None:
        found = _smallest(question, found, choices, relevant, holding if hinges else None)
    if judge_one(again(found), question.wanted).verdict is not Answer.FAILS:
        raise NotReplayedError("the counterexample holds when its scenario is run: please report this")
    message = judge_one(found.run, question.wanted).message
    return Exploration(question.wanted, Answer.DEPENDS if hinges else Answer.FAILS, hinges, message, looked_at, found)


def _hinges(question: _Question, choices: Choices, relevant: Sequence[str]) -> tuple[tuple[str, ...], Choices]:
    """The fewest choices whose fixing, to some answers, makes it hold whatever the others are; () for none."""
    for size in range(1, len(relevant) + 1):
        for names in combinations(relevant, size):
            others = [name for name in relevant if name not in names]
            for given in product(*(answers(name, question.workload) for name in names)):
                fixed = with_answers(choices, names, given)
                if question.broken(fixed, others) is None:
                    return names, fixed
    return (), choices


def _smallest(
    question: _Question,
    found: Counterexample,
    choices: Choices,
    relevant: Sequence[str],
    holding: Choices | None,
) -> Counterexample:
    """A smaller one; where the answer depends, one that under ``holding`` holds."""

    def look(workload: Workload) -> Counterexample | None:
        bounds = Bounds(5_000, 2.0, monotonic() + 2.0)
        small = _Question(question.policy, workload, question.wanted, bounds, stop_seconds=question.stop_seconds)
        try:
            smaller = small.broken(choices, relevant)
        except (_Spent, ValueError, StopIteration):
            return None
        if smaller is not None and holding is not None:
            run = simulate(question.policy, smaller.workload, holding)
            if judge_one(run, question.wanted).verdict is not Answer.HOLDS:
                return None
        return smaller

    named = watch_for(question.wanted, question.workload).named
    return shrunk(found, question.workload, look, named, seconds=10.0)


def _looked_at(question: _Question, relevant: Sequence[str]) -> str:
    opened = ", ".join(relevant) if relevant else "none that matters here"
    return (
        f"{question.states:,} states, up to {question.depth} instants deep; open: {opened};"
        " interchangeable jobs and shares collapsed, independent starts in one order"
    )


_OTHER_TIMES: Final = "other times"
"""Left open where no bound was reached."""


def _why(bound: str) -> str:
    """Why there is no answer."""
    return "events may come at other times than were tried" if bound == _OTHER_TIMES else f"{bound} was reached"


def _message(bound: str | None) -> str:
    if bound is None:
        return "holds over every schedule that the documentation allows"
    return f"no schedule that was looked at breaks it, but not all were: {_why(bound)}"
