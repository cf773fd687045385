"""What an explanation is made of: reasons with their numbers, choices of victims, and the chapters of a job's life."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, NamedTuple

from policy_engine.scheduler.choices import BY_NAME
from policy_engine.scheduler.log import Why
from policy_engine.simulation import Run


class Because(StrEnum):
    """Every reason that an explanation can give."""

    # why a job waits, in the order in which it is looked for
    ITS_VICTIMS_STOP = "its_victims_stop"
    ENVIRONMENT_DISABLED = "environment_disabled"
    NOT_FIRST = "not_first"
    NEVER_FITS = "never_fits"
    DECISION_PENDING = "decision_pending"
    STOP_UNDER_WAY = "stop_under_way"
    HELD = "held"
    OWN_LIMIT = "own_limit"
    BORROW_LIMIT = "borrow_limit"
    LENDERS_LIMITS = "lenders_limits"
    ENVIRONMENT_LOWERED = "environment_lowered"
    UNOWNED = "unowned"
    IN_USE = "in_use"
    RESERVED = "reserved"
    # who came first
    SERVED_FIRST = "served_first"
    # why nobody is stopped for it
    LARGER_THAN_LIMIT = "larger_than_limit"
    BEYOND_LIMIT = "beyond_limit"
    REST_NOT_IDLE = "rest_not_idle"
    NOBODY_OVER_LIMIT = "nobody_over_limit"
    IN_SHARE_OFF = "in_share_off"
    NOTHING_RUNS = "nothing_runs"
    EQUAL_PRIORITY = "equal_priority"
    HIGHER_PRIORITY = "higher_priority"
    TOO_LITTLE = "too_little"
    NO_LEGAL_SET = "no_legal_set"
    # why it runs, and how it ends
    OWN_CAPACITY = "own_capacity"
    BORROWS = "borrows"
    LIMIT_LOWERED = "limit_lowered"
    REFUSED = "refused"
    RETRIES_USED_UP = "retries_used_up"

    @property
    def rule(self) -> str:
        """The rule it follows from: ``R5``, or the choice that AWS leaves open."""
        return MEANINGS[self].rule

    @property
    def source(self) -> str:
        """The AWS page that documents it (UG: Batch User Guide, API: API Reference); empty where none does."""
        return MEANINGS[self].source


class Meaning(NamedTuple):
    """One reason in general: the rule, what it says, and where AWS says it."""

    rule: str
    text: str
    source: str = ""


_STUCK: Final = "UG sm_job_stuck_in_runnable_misconfiguration"
MEANINGS: Final[Mapping[Because, Meaning]] = {
    Because.DECISION_PENDING: Meaning("timing", "a decision comes queue_latency after what it answers"),
    Because.ITS_VICTIMS_STOP: Meaning(
        "C14", "jobs are being stopped for it; their capacity is released when they have stopped", "UG preemption"
    ),
    Because.ENVIRONMENT_DISABLED: Meaning(
        "R14", "a DISABLED service environment dispatches nothing", "UG updating-service-environments"
    ),
    Because.NOT_FIRST: Meaning(
        "R2", "a share's jobs go by priority, and a job waits behind the one that is first", "API UpdateServiceJob"
    ),
    Because.NEVER_FITS: Meaning("R12", "it is larger than anything that its share can ever have", _STUCK),
    Because.OWN_LIMIT: Meaning(
        "R3", "a share that does not borrow uses no more than its own limit", "API QuotaShareCapacityLimit"
    ),
    Because.BORROW_LIMIT: Meaning(
        "R5",
        "a share borrows no more than its borrow limit, in percent of its own limit",
        "API QuotaShareResourceSharingConfiguration",
    ),
    Because.LENDERS_LIMITS: Meaning(
        "R5", "a share borrows no more than the other lending shares have configured", _STUCK
    ),
    Because.STOP_UNDER_WAY: Meaning(
        "C14", "it will fit when the stops under way are over; nobody else is stopped for that", "UG preemption"
    ),
    Because.HELD: Meaning("C13", "freed capacity is held for the job that others were stopped for", "UG preemption"),
    Because.ENVIRONMENT_LOWERED: Meaning(
        "R11",
        "a lowered service environment stops nothing and holds back what is new",
        "UG updating-service-environments",
    ),
    Because.UNOWNED: Meaning("C6", "environment capacity that no share declares is not used", "UG quota-shares"),
    Because.IN_USE: Meaning(
        "R1", "jobs hold no more than the shares' limits and the service environment allow", "UG quota-management"
    ),
    Because.RESERVED: Meaning("R4", "a RESERVE share lends nothing", "UG quota-shares"),
    Because.SERVED_FIRST: Meaning(
        "R6",
        "shares within their limits come before borrowers, and equals in an order that AWS leaves open",
        "API QuotaSharePolicy",
    ),
    Because.LARGER_THAN_LIMIT: Meaning(
        "C10", "a job larger than its share's own limit takes nothing back", "UG preemption"
    ),
    Because.BEYOND_LIMIT: Meaning(
        "R7", "a share takes back what is its own, not what it would borrow", "UG preemption"
    ),
    Because.REST_NOT_IDLE: Meaning(
        "C10", "what a job needs beyond the part that is its share's own has to be idle", "UG preemption"
    ),
    Because.NOBODY_OVER_LIMIT: Meaning(
        "R7", "only jobs of other shares that are over their limits are stopped", "UG preemption"
    ),
    Because.IN_SHARE_OFF: Meaning(
        "R8", "without in-share preemption a higher priority waits for capacity", "UG create-quota-shares"
    ),
    Because.NOTHING_RUNS: Meaning("R8", "in-share preemption stops running jobs of the own share", "UG preemption"),
    Because.EQUAL_PRIORITY: Meaning("R8", "only a strictly lower priority is stopped", "UG preemption"),
    Because.HIGHER_PRIORITY: Meaning("R8", "only a strictly lower priority is stopped", "UG preemption"),
    Because.TOO_LITTLE: Meaning("R7, R8", "nobody is stopped where the job would not fit all the same"),
    Because.NO_LEGAL_SET: Meaning(
        "R7", "each job that is stopped must be of a share that is over its limit at that moment", "UG preemption"
    ),
    Because.OWN_CAPACITY: Meaning(
        "R3", "a share's jobs may use up to its limit without borrowing", "API QuotaShareCapacityLimit"
    ),
    Because.BORROWS: Meaning("R5", "a LEND_AND_BORROW share may use what others do not", "UG quota-shares"),
    Because.LIMIT_LOWERED: Meaning(
        "C11", "jobs above a lowered limit are stopped when it is lowered", "UG quota-shares"
    ),
    Because.REFUSED: Meaning("R14", "a DISABLED share or queue takes no new jobs", "API UpdateQuotaShare"),
    Because.RETRIES_USED_UP: Meaning(
        "R10", "a job is requeued so many times after preemptions, and then fails", "UG preemption"
    ),
}


class About(StrEnum):
    """Which question a reason for not stopping anybody answers."""

    ANYBODY = "anybody"
    ACROSS_SHARES = "across_shares"
    IN_SHARE = "in_share"
    BOTH = "both"


@dataclass(frozen=True, slots=True)
class Reason:
    """One rule that decided something, with its numbers at that moment."""

    because: Because
    message: str
    """With the numbers; lower case, no full stop."""
    numbers: Mapping[str, float] = field(default_factory=dict)
    """Instances, places in line, priorities; times in seconds from the scenario's zero."""
    about: About | None = None
    """Of a reason why nobody was stopped."""
    rule: str = ""
    """Where it is finer than the reason's own: ``R12.3``."""
    unit: str | None = None
    jobs: tuple[str, ...] = ()
    """Other jobs that it is about."""
    shares: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Share to ``usage``, ``limit`` and the like, in instances of the unit."""
    aws_reason: str | None = None
    """AWS's own words, where it has them."""
    rests_on: tuple[str, ...] = ()
    """Open choices (C1 to C17) of which another answer could change it."""

    @property
    def follows_from(self) -> str:
        """The rule."""
        return self.rule or self.because.rule


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Why one job waits at one moment."""

    job: str
    waits: Reason
    """The first rule that stands in the way."""
    not_stopped: tuple[Reason, ...] = ()
    """Why nobody is stopped for it."""
    ahead: Diagnosis | None = None
    """Why the job that is before it in line waits."""
    further: tuple[Reason, ...] = ()
    """What would stand in the way next, and who was served first."""

    @property
    def key(self) -> tuple[object, ...]:
        """What stays the same while only numbers change."""
        return (
            self.waits.because,
            self.waits.unit,
            tuple((reason.about, reason.because) for reason in self.not_stopped),
        )

    def reasons(self) -> Sequence[Reason]:
        """All of them, those of the jobs before it too."""
        ahead = [] if self.ahead is None else self.ahead.reasons()
        return (self.waits, *self.not_stopped, *self.further, *ahead)


class Fate(StrEnum):
    """What became of a candidate."""

    STOPPED = "stopped"
    PUT_BACK = "put_back"
    """Taken, and not needed once later ones were."""
    SPARED = "spared"
    """The set was legal before its turn came."""
    WITHIN_LIMIT = "within_limit"
    """Its share was over its limit no longer when its turn came."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A job that could have been stopped, at the moment when its turn came."""

    job: str
    share: str
    priority: int
    instances: Mapping[str, int]
    """By instance type."""
    started: float
    """Seconds from the scenario's zero."""
    excess: Mapping[str, int]
    """How far its share is over its limit then, by instance type; empty for a job of the claimant's own share."""
    fate: Fate
    before: str | None = None
    """Which comparison put it before the next candidate: ``priority 1 is lower than 2 of b``."""


@dataclass(frozen=True, slots=True)
class Selection:
    """How the victims of one preemption were chosen."""

    at: float
    claimant: str
    share: str
    """The claimant's."""
    kind: Why | None
    """``cross_share`` or ``in_share``; None where there are both."""
    order: str
    """The answer to C8 that ordered the candidates, or ``decisions`` where the scenario fixes the move."""
    unit: str
    """The instance type that the claimant was short of."""
    needed: int
    """Instances of it that the claimant asks for."""
    room: int
    """Instances of it that there were for it without stopping anybody."""
    candidates: tuple[Candidate, ...]
    """In the order in which they were taken; then those that were spared."""
    message: str
    went_on: bool = False
    """The walk in order ended without a legal set, and the search went on depth-first."""
    rests_on: tuple[str, ...] = ()
    aws_reason: str | None = None

    @property
    def victims(self) -> tuple[str, ...]:
        """Jobs that were stopped, in the order taken."""
        return tuple(candidate.job for candidate in self.candidates if candidate.fate is Fate.STOPPED)


class What(StrEnum):
    """Kinds of chapter."""

    NOT_SUBMITTED = "not_submitted"
    SUBMITTED = "submitted"
    REFUSED = "refused"
    WAITS = "waits"
    STOPS_OTHERS = "stops_others"
    RUNS = "runs"
    PREEMPTED = "preempted"
    STOPS = "stops"
    """It is being stopped."""
    REQUEUED = "requeued"
    PRIORITY_UPDATED = "priority_updated"
    FINISHED = "finished"
    FAILED = "failed"
    TERMINATED = "terminated"


STATES: Final[Mapping[What, str]] = {
    What.NOT_SUBMITTED: "SUBMITTED",
    What.REFUSED: "FAILED",
    What.WAITS: "RUNNABLE",
    What.RUNS: "RUNNING",
    What.STOPS: "RUNNING",
    What.FINISHED: "SUCCEEDED",
    What.FAILED: "FAILED",
    What.TERMINATED: "FAILED",
}
"""Chapters that last, with AWS's state; the others are moments."""


@dataclass(frozen=True, slots=True)
class Chapter:
    """A part of a job's life."""

    what: What
    at: float
    """Since when, in seconds from the scenario's zero."""
    until: float | None
    """Until when; None to the end of the run. A moment ends when it begins."""
    message: str
    reasons: tuple[Reason, ...] = ()
    diagnosis: Diagnosis | None = None
    """Of a wait: as it was when the wait began, or at the time that was asked about."""
    selection: Selection | None = None
    """Of a preemption, suffered or caused."""

    @property
    def lasts(self) -> bool:
        """Is it a state rather than a moment?"""
        return self.what in STATES

    @property
    def state(self) -> str | None:
        """AWS's state; None for a moment."""
        return STATES.get(self.what)


@dataclass(frozen=True, slots=True)
class Explanation:
    """What became of a job, and why."""

    run: Run
    job: str
    at: float | None
    """The time that was asked about, in seconds; None for the whole life."""
    chapters: tuple[Chapter, ...]
    """The whole life, or what there is to say about that time."""

    @property
    def last(self) -> Chapter:
        """How it stands at the end of the run, or at the time that was asked about."""
        return next(chapter for chapter in reversed(self.chapters) if chapter.lasts)

    @property
    def rests_on(self) -> tuple[str, ...]:
        """The open choices that the answers rest on, in the order C1 to C17."""
        named = {name for chapter in self.chapters for name in _rests_on(chapter)}
        return tuple(name for name in BY_NAME if name in named)


def _rests_on(chapter: Chapter) -> set[str]:
    reasons = [*chapter.reasons, *(chapter.diagnosis.reasons() if chapter.diagnosis else ())]
    found = {name for reason in reasons for name in reason.rests_on}
    return found | set(chapter.selection.rests_on if chapter.selection else ())
