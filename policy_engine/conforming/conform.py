"""Follows a record under every answer to every open choice."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import islice, product
from typing import Any, Final

from policy_engine.conforming.following import Contradiction, Followed, Follower, Timeline
from policy_engine.conforming.lines import Lines
from policy_engine.conforming.record import Record
from policy_engine.exploration.relevance import answers as answers_to
from policy_engine.exploration.relevance import matters
from policy_engine.exploration.space import PER_DECISION
from policy_engine.policy import Policy
from policy_engine.scheduler.choices import CHOICES, Choices, OpenChoice
from policy_engine.scheduler.jobs import Timing, Update, Workload

MOST_TRIES: Final = 600
"""Combinations of the other choices' answers that are tried for one answer."""
TOLERANCE: Final = 300.0
"""Seconds from a decision to the recorded start, unless told otherwise: instances take minutes to come."""
STOP_WITHIN: Final = 180.0
"""Seconds from a decision to the recorded stop: SageMaker gives a job 120 to save what it has."""

Tell = Callable[[str, float], None]


class Fit(StrEnum):
    """How an answer stands to what happened."""

    CONSISTENT = "consistent"
    """All of it is reachable under this answer, with some answers to the other choices."""
    REFUTED = "refuted"
    """It is not, whatever the others' answers."""
    UNDECIDED = "undecided"
    """There were more combinations, or more ways to go on, than were tried."""


class Standing(StrEnum):
    """How a choice stands to what happened."""

    DECIDED = "decided"
    """One answer fits."""
    NARROWED = "narrowed"
    """Some answers are refuted."""
    CONTRADICTED = "contradicted"
    """Every answer is refuted: something else than this choice is other than the rules say."""
    UNDECIDED = "undecided"
    """No answer is refuted, and not every one is known to fit."""
    NOT_EXERCISED = "not exercised"
    """Every answer fits: the history never puts it to the test."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer to one choice."""

    answer: str
    fit: Fit
    contradiction: Contradiction | None = None
    """The decision that refutes it."""


@dataclass(frozen=True, slots=True)
class ChoiceConformance:
    """One choice."""

    choice: OpenChoice
    answers: tuple[Answer, ...]
    """The default first."""

    @property
    def standing(self) -> Standing:
        """What the history says about it."""
        fits = [answer.fit for answer in self.answers]
        if all(fit is Fit.CONSISTENT for fit in fits):
            return Standing.NOT_EXERCISED
        if Fit.REFUTED not in fits:
            return Standing.UNDECIDED
        if all(fit is Fit.REFUTED for fit in fits):
            return Standing.CONTRADICTED
        left = [fit for fit in fits if fit is not Fit.REFUTED]
        return Standing.DECIDED if left == [Fit.CONSISTENT] else Standing.NARROWED

    @property
    def fitting(self) -> tuple[str, ...]:
        """The answers that are consistent."""
        return tuple(answer.answer for answer in self.answers if answer.fit is Fit.CONSISTENT)


@dataclass(frozen=True)
class Asked:
    """How a record is followed. Seconds."""

    tolerance: float = TOLERANCE
    """From a decision to the recorded start."""
    stop_within: float = STOP_WITHIN
    """From a decision to the recorded stop."""
    warm_up: float = 0.0
    """From the first submission; what is recorded in it is taken as it is."""
    updates: tuple[Update, ...] = ()
    """What was done to the queue and to priorities meanwhile, which no history tells; from the first submission."""


@dataclass(frozen=True)
class Conformance:
    """What a history says about the open choices."""

    policy: Policy
    record: Record
    asked: Asked
    default: Answer
    """All choices as the engine answers them by default, together."""
    anything: Answer
    """All choices answered in every way: what the documentation allows at all."""
    choices: tuple[ChoiceConformance, ...]
    together: Choices | None
    """Answers to all choices that fit together: the default where it does; None where none was found."""

    @property
    def judged_from(self) -> float:
        """Seconds from the first submission from which on decisions are judged."""
        return max(self.asked.warm_up, self.record.known_from / 1000)


def conform(policy: Policy, record: Record, asked: Asked | None = None, tell: Tell | None = None) -> Conformance:
    """Which answers to the open choices what happened is consistent with.

    Each answer is tried with every answer to the others: whose turn it is and who is stopped may fall differently each
    time, the rest is one for the whole history.

    Args:
        policy: in force all the while.
        record: from ``read_record``.
        asked: None for the defaults.
        tell: told what is being tried, and the part of it, 0 to 1, that is done.
    """
    asked = Asked() if asked is None else asked
    trial = _Trial(policy, record, asked)
    default = trial.default()
    anything = trial.anything(default)
    found: list[ChoiceConformance] = []
    told = [choice for choice in CHOICES if not choice.is_number]
    for number, choice in enumerate(told):
        if tell is not None:
            tell(choice.name, number / len(told))
        found.append(ChoiceConformance(choice, tuple(trial.answers(choice, anything))))
    return Conformance(policy, record, asked, default, anything, tuple(found), trial.together(default, found))


class _Trial:
    """One record, tried under many answers."""

    def __init__(self, policy: Policy, record: Record, asked: Asked) -> None:
        self.policy = policy
        self.record = record
        self.timeline = Timeline(
            record,
            tolerance=round(asked.tolerance * 1000),
            stop_within=round(asked.stop_within * 1000),
            updates=asked.updates,
        )
        self.judged_from = max(round(asked.warm_up * 1000), record.known_from)
        self.reached: Mapping[str, str] | None = None
        """Answers, to the choices that hold for a whole run, under which all of it is reachable."""
        jobs = tuple(
            replace(recorded.job, attempts=max(1, sum(not one.is_preempted for one in recorded.attempts)))
            for recorded in record.jobs
        )
        # stops take some time where they may
        self.workload = Workload(jobs, asked.updates, Timing(stop_seconds=asked.stop_within))
        self.matter = frozenset(self._matter())

    def _matter(self) -> Iterator[str]:
        """The choices that can make a difference to this record."""
        lines = Lines(self.record)
        without = {
            "requeue": not lines.meets_its_like(preempted=True),
            "equal_priority": not lines.meets_its_like(preempted=False),
            "freed_capacity": not self.record.preemptions,
            "blocked_owner_lends": all(job.instances < 2 for job in self.workload.jobs),
        }
        for name in _NAMES:
            if not without.get(name) and matters(name, self.policy, self.workload):
                yield name

    def default(self) -> Answer:
        """All choices by default, together."""
        return _answer("default", self._follow(Choices(), frozenset()))

    def anything(self, default: Answer) -> Answer:
        """All choices in every way."""
        if default.fit is Fit.CONSISTENT:
            self.reached = {}
            return Answer("any", Fit.CONSISTENT)
        return self._tried("any", {})

    def answers(self, choice: OpenChoice, anything: Answer) -> Iterator[Answer]:
        """Every answer to the choice."""
        for answer in choice.answers:
            if choice.name == "reclaim_or_in_share" and answer == "any":
                continue  # for explorations: what all others are tried with
            if anything.fit is Fit.REFUTED:
                yield replace(anything, answer=answer)
            elif self.reached is not None and self._is_as_reached(choice, answer):
                yield Answer(answer, Fit.CONSISTENT)
            else:
                yield self._tried(answer, {choice.name: answer})

    def _is_as_reached(self, choice: OpenChoice, answer: str) -> bool:
        """Does all fit under this answer, by what is known already?"""
        if choice.name not in self.matter:
            return True
        is_by_default = self.reached == {} and answer == choice.default
        return is_by_default or (choice.name not in PER_DECISION and (self.reached or {}).get(choice.name) == answer)

    def _tried(self, answer: str, fixed: Mapping[str, str]) -> Answer:
        """Follow the record with these answers and every one to the others."""
        open_choices = PER_DECISION - fixed.keys()
        refuted: Followed | None = None
        tries = self._combinations(fixed)
        for others in islice(tries, MOST_TRIES):
            followed = self._follow(_choices({**others, **fixed}), open_choices)
            if followed.contradiction is None:
                self.reached = self.reached if fixed else others
                return Answer(answer, Fit.CONSISTENT)
            refuted = _further(refuted, followed)
        if refuted is None or next(tries, None) is not None:
            return Answer(answer, Fit.UNDECIDED)
        return _answer(answer, refuted)

    def _combinations(self, fixed: Mapping[str, str]) -> Iterator[Mapping[str, str]]:
        """Answers to the choices that hold for a whole run, those with the fewest departures from the default first."""
        once = (self.matter - PER_DECISION | {"reclaim_or_in_share"} & self.matter) - fixed.keys()
        names = [name for name in _NAMES if name in once]
        answers = [[one for one in answers_to(name, self.workload) if one != "any"] for name in names]
        known = self.reached or {}
        first = [known.get(name, Choices.__dataclass_fields__[name].default) for name in names]
        combinations = sorted(
            product(*answers), key=lambda combination: sum(a != f for a, f in zip(combination, first, strict=True))
        )
        return (dict(zip(names, combination, strict=True)) for combination in combinations)

    def together(self, default: Answer, found: list[ChoiceConformance]) -> Choices | None:
        """Answers that fit together, the nearest to the default first."""
        if default.fit is Fit.CONSISTENT:
            return Choices()
        open_ones = [
            one for one in found if one.standing is not Standing.NOT_EXERCISED or one.choice.name in self.matter
        ]
        fitting = [one.fitting for one in open_ones]
        if not all(fitting):
            return None
        names = [one.choice.name for one in open_ones]
        defaults = [one.choice.default for one in open_ones]
        tries = sorted(
            islice(product(*fitting), _MOST_SORTED),
            key=lambda answers: sum(a != d for a, d in zip(answers, defaults, strict=True)),
        )
        for answers in tries[:MOST_TRIES]:
            choices = _choices(dict(zip(names, answers, strict=True)))
            if self._follow(choices, frozenset()).contradiction is None:
                return choices
        return None

    def _follow(self, choices: Choices, open_choices: frozenset[str]) -> Followed:
        """The quick way first: what is reachable so needs no other way to be followed."""

        def followed(*, eager: bool) -> Followed:
            return Follower(self.timeline, self.policy, choices, open_choices).follow(self.judged_from, eager=eager)

        if self.timeline.tolerance and (quick := followed(eager=True)).contradiction is None:
            return quick
        return followed(eager=False)


_NAMES: Final = tuple(choice.name for choice in CHOICES if not choice.is_number)
_MOST_SORTED: Final = 20_000
"""Combinations that are put in order; there are seldom more."""


def _choices(answers: Mapping[str, Any]) -> Choices:
    return replace(Choices(), **answers)


def _answer(answer: str, followed: Followed) -> Answer:
    if followed.contradiction is None:
        return Answer(answer, Fit.CONSISTENT)
    if not followed.is_certain:
        return Answer(answer, Fit.UNDECIDED)
    return Answer(answer, Fit.REFUTED, followed.contradiction)


def _further(one: Followed | None, other: Followed) -> Followed:
    """Of two that end in a contradiction the one that came further; uncertain where one is."""
    if one is None or one.contradiction is None or other.contradiction is None:
        return other
    further = other if other.contradiction.at > one.contradiction.at else one
    return Followed(further.contradiction, one.is_certain and other.is_certain)
