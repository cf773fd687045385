"""One expectation, asked of every schedule with more or fewer choices fixed."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from time import monotonic
from typing import Any, Final

from policy_engine.errors import InputError
from policy_engine.expectations import judge_one
from policy_engine.expectations.verdict import Answer
from policy_engine.exploration.counterexample import Counterexample, NotReplayedError, replayed
from policy_engine.exploration.explored import Bounds, Explored
from policy_engine.exploration.relevance import answers, matters
from policy_engine.exploration.space import PER_DECISION, Space, with_arrivals, without_times
from policy_engine.exploration.watch import Watch
from policy_engine.policy import Policy
from policy_engine.proving.watches import NotBroken, OwnersAtAnyTime, watch_for
from policy_engine.scheduler.choices import CHOICES, Choices
from policy_engine.scheduler.jobs import Timing, UpdatePriority, Workload
from policy_engine.simulation import Clock
from policy_engine.workload.expected import AlwaysExpectation, AnyExpectation, NeverExpectation

ALL: Final = tuple(choice.name for choice in CHOICES if not choice.is_number)
"""Every choice that has words for answers; numbers take the values that the scenario gives."""


class UnsettledError(Exception):
    """There is no answer: a bound was reached, or not everything that can happen was tried."""

    def __init__(self, reason: str, *, out_of_bounds: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.out_of_bounds = out_of_bounds
        """Nothing more can be asked within these bounds."""


@dataclass(frozen=True, slots=True)
class Numbers:
    """What the numbers may be that a scenario leaves open."""

    timings: Sequence[Timing]
    """Both ends of every range."""
    default_priorities: Sequence[int] = (0,)
    """One of every kind that can differ (C15)."""

    @classmethod
    def of(
        cls, timings: Sequence[Timing], default: tuple[int, int], wanted: AnyExpectation, workload: Workload
    ) -> Numbers:
        """A default priority matters by those that it is below, equal to or above."""
        least, most = default
        stated = {job.priority for job in workload.jobs if job.priority is not None}
        stated |= {update.priority for update in workload.updates if isinstance(update, UpdatePriority)}
        if isinstance(wanted, NeverExpectation) and wanted.never.priority_at_least is not None:
            stated.add(wanted.never.priority_at_least)
        near = {number + step for number in stated for step in (-1, 0, 1)}
        return cls(timings, sorted({least, most} | {number for number in near if least < number < most}))


class Question:
    """One expectation, asked of spaces with more or fewer choices fixed."""

    def __init__(
        self,
        policy: Policy,
        workload: Workload,
        wanted: AnyExpectation,
        bounds: Bounds,
        numbers: Numbers,
        *,
        arrivals: int | None = None,
    ) -> None:
        """``arrivals``: so many of the jobs come, whichever and whenever; None: all, at their times."""
        self.policy, self.workload = policy, workload
        self.wanted, self.bounds = wanted, bounds
        self.numbers, self.arrivals = numbers, arrivals
        self.states = self.depth = 0
        """Of all spaces so far."""

    def broken(self, choices: Choices, open_choices: Collection[str]) -> Counterexample | None:
        """A schedule that breaks it while these choices are open; None where none does.

        Raises UnsettledError where neither is known.
        """
        unsettled: str | None = None
        for workload, given in self._cases(choices):
            for answer in _answers(given, open_choices, self.policy, workload):
                if monotonic() > self.bounds.until:
                    raise UnsettledError(f"--max-seconds {self.bounds.max_seconds:g} was reached", out_of_bounds=True)
                explored = self._explore(answer, open_choices, workload)
                reason = explored.unsettled
                if explored.is_endless:
                    reason = f"{reason}{_with(answer, given)}"
                if explored.broken is None and reason is None and not self._has_all_times(explored, workload):
                    reason = self._any_time(answer, open_choices, workload)
                    if reason is not None:
                        explored = self._explore(answer, open_choices, workload, late=True)
                if explored.broken is not None:
                    return self._confirmed(workload, answer, explored.broken, over=explored.over)
                unsettled = unsettled or reason
        if unsettled is not None:
            raise UnsettledError(unsettled, out_of_bounds=self.states >= self.bounds.max_states)
        return None

    def breaks_always(self, found: Counterexample, open_choices: Collection[str]) -> bool:
        """Does it break over every schedule, with the durations of the counterexample?"""
        for answer in _answers(found.choices, open_choices, self.policy, found.workload):
            watch = NotBroken(watch_for(self.wanted, found.workload))
            space = Space(self.policy, found.workload, answer, self._answered_anew(open_choices), watch)
            explored = space.explore(self.bounds)
            if explored.broken is not None or explored.unsettled is not None:
                return False
        return True

    def about(self, workload: Workload, bounds: Bounds) -> Question:
        """The same asked of another workload, all jobs of which come at their times."""
        return Question(self.policy, workload, self.wanted, bounds, self.numbers)

    def _cases(self, choices: Choices) -> Iterator[tuple[Workload, Choices]]:
        """Every value of the numbers that are open."""
        for timing, priority in product(self.numbers.timings, self.numbers.default_priorities):
            yield replace(self.workload, timing=timing), replace(choices, default_priority=priority)

    def _confirmed(self, workload: Workload, choices: Choices, broken: Clock, *, over: bool) -> Counterexample:
        if self.arrivals is not None:
            workload = with_arrivals(workload, broken)
        found = replayed(self.policy, workload, choices, broken, over=over)
        if judge_one(found.run, self.wanted).verdict is not Answer.FAILS:
            raise NotReplayedError(
                "a run of the schedule that was found does not break the expectation: please report this"
            )
        return found

    # --- times ----------------------------------------------------------------------------------

    @property
    def _owners_in_time(self) -> bool:
        """Is it about how long owners wait?"""
        return isinstance(self.wanted, AlwaysExpectation) and self.wanted.always.kind == "owner_reclaims"

    def _has_all_times(self, explored: Explored, workload: Workload) -> bool:
        """Can times that were not tried make no difference?"""
        if len(self.numbers.timings) > 1 or not explored.has_all_times:
            return False
        free = self.arrivals is not None or any(job.duration is None or job.shortest for job in workload.jobs)
        return not (self._owners_in_time and free)

    def _any_time(self, choices: Choices, open_choices: Collection[str], workload: Workload) -> str | None:
        """None where it holds even if whatever runs or stops may end at any time; else why that is not known."""
        if len({timing.queue_latency for timing in self.numbers.timings}) > 1:
            return self._other_times(workload)
        if self._owners_in_time and workload.timing.queue_latency:
            return self._other_times(workload)
        try:
            explored = self._explore(choices, open_choices, workload, any_time=True)
        except InputError:  # it is about how long things take
            return self._other_times(workload)
        return self._other_times(workload) if explored.broken is not None else explored.unsettled

    def _other_times(self, workload: Workload) -> str:
        """Why times that were not tried may make a difference, and what would settle it."""
        told = "events may come at other times than were tried"
        if self.arrivals is not None:
            return f"{told}; --stop-seconds 0 would settle it" if workload.timing.stop_seconds else told
        if len(self.numbers.timings) > 1:
            return f"{told}; one duration for every job and one value for every time would settle it"
        told += "; one duration for every job would settle it"
        if any(job.duration is not None for job in workload.jobs) and workload.timing == Timing():
            told += ", or no duration for any"
        return told

    def _answered_anew(self, open_choices: Collection[str]) -> frozenset[str]:
        """The choices that may fall differently at each move: also those that do not matter, and tell less apart so."""
        irrelevant = {name for name in PER_DECISION if not matters(name, self.policy, self.workload)}
        return PER_DECISION & {*open_choices, *irrelevant}

    # --- spaces ---------------------------------------------------------------------------------

    def _explore(
        self,
        choices: Choices,
        open_choices: Collection[str],
        workload: Workload,
        *,
        any_time: bool = False,
        late: bool = False,
    ) -> Explored:
        space = Space(
            self.policy,
            workload,
            choices,
            self._answered_anew(open_choices),
            self._watch_at_any_time(workload) if any_time else watch_for(self.wanted, workload),
            any_time=any_time,
            late=late,
            arrivals=self.arrivals,
        )
        explored = space.explore(replace(self.bounds, spent=self.states))
        self.states += explored.states
        self.depth = max(self.depth, explored.depth)
        return explored

    def _watch_at_any_time(self, workload: Workload) -> Watch:
        if not self._owners_in_time:
            return watch_for(self.wanted, without_times(workload))
        within = self.wanted.reclaims_within if isinstance(self.wanted, AlwaysExpectation) else None
        longest = max(timing.stop_seconds for timing in self.numbers.timings)
        return OwnersAtAnyTime(
            self.wanted,
            without_times(workload),
            stop_seconds=longest,
            within=workload.timing.stop_seconds if within is None else within,
        )


def _with(answer: Choices, given: Choices) -> str:
    """The answers that are other than given, in words."""
    names = [name for name in ALL if name not in PER_DECISION and getattr(answer, name) != getattr(given, name)]
    told = ", ".join(f"{name}: {getattr(answer, name)}" for name in names)
    return f" (with {told})" if told else ""


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
