"""The choices that AWS leaves open: one registry, from which schema, reports and documentation come.

A report names the choices a verdict rests on; ``verify --all-choices`` answers each in every way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class OpenChoice:
    """One question that AWS's documentation does not answer."""

    id: str
    """C1 to C17."""
    name: str
    """The key under ``choices:`` of a scenario."""
    question: str
    default: str | float
    alternatives: tuple[str, ...] = ()
    """The other answers, where they are words."""
    least: float = 0
    """The least value, where the answer is a number (seconds, or a priority)."""
    most: float | None = None
    source: str = ""
    """Where AWS's documentation comes nearest."""

    @property
    def is_number(self) -> bool:
        """Is the answer a number rather than a word?"""
        return not isinstance(self.default, str)

    @property
    def answers(self) -> tuple[str, ...]:
        """Every answer in words, the default first; empty where the answer is a number."""
        return (self.default, *self.alternatives) if isinstance(self.default, str) else ()


CHOICES: Final[tuple[OpenChoice, ...]] = (
    OpenChoice(
        "C1",
        "share_order",
        "in which order are shares offered capacity",
        "oldest_head",
        ("declared", "name", "least_used"),
        source="UG quota-management: Batch iterates through all attached quota shares",
    ),
    OpenChoice(
        "C2",
        "idle_assignment",
        "what FIFO orders borrowers by",
        "submitted",
        ("runnable_since",),
        source="API QuotaSharePolicy: idleResourceAssignmentStrategy FIFO",
    ),
    OpenChoice(
        "C3",
        "requeue",
        "the place in line of a preempted job",
        "keep_place",
        ("back_of_priority",),
        source="UG preemption: a preempted job is re-queued as RUNNABLE",
    ),
    OpenChoice(
        "C4",
        "equal_priority",
        "the order of jobs of one share with equal priority",
        "submitted",
        ("runnable_since",),
        source="API UpdateServiceJob: a higher priority is scheduled first",
    ),
    OpenChoice(
        "C5",
        "head_of_line",
        "does a blocked job hold back the jobs behind it",
        "strict",
        ("per_unit", "skip"),
        source="UG sm_job_stuck_in_runnable: the next job advances to the head",
    ),
    OpenChoice(
        "C6",
        "unallocated",
        "may environment capacity that no share declares be used",
        "unusable",
        ("borrowable",),
        source="UG quota-shares: shares borrow from other shares",
    ),
    OpenChoice(
        "C7",
        "borrow_rounding",
        "how a borrow limit in percent is rounded to instances",
        "down",
        ("up", "nearest"),
        source="API QuotaShareResourceSharingConfiguration",
    ),
    OpenChoice(
        "C8",
        "victims",
        "which of the legal sets of jobs is stopped",
        "borrowed_first",
        ("lowest_priority", "newest", "oldest", "largest", "fewest_jobs"),
        source="UG preemption: borrowed instances, priorities and durations, weighed by a heuristic",
    ),
    OpenChoice(
        "C9",
        "reclaim_or_in_share",
        "which kind of preemption serves a job that could use either",
        "reclaim_first",
        ("in_share_first", "any"),
        source="UG preemption",
    ),
    OpenChoice(
        "C10",
        "partly_borrowed",
        "may a job larger than its share's own limit reclaim the part that is its own",
        "no",
        ("yes",),
        source="UG preemption",
    ),
    OpenChoice(
        "C11",
        "lowered_limit",
        "when are jobs above a lowered limit stopped",
        "on_demand",
        ("at_once",),
        source="UG quota-shares: they become eligible for preemption",
    ),
    OpenChoice(
        "C12",
        "disabled_share_lends",
        "does a DISABLED share go on lending",
        "yes",
        ("no",),
        source="API UpdateQuotaShare",
    ),
    OpenChoice(
        "C13",
        "freed_capacity",
        "is capacity that victims free held for the job they were stopped for",
        "held_for_claimant",
        ("open",),
        source="UG preemption",
    ),
    OpenChoice(
        "C14",
        "stop_seconds",
        "seconds from a preemption to the release of its capacity",
        0.0,
        most=None,
        source="UG batch-service-job-preemption-events (about 20); SageMaker StopTrainingJob (up to 120)",
    ),
    OpenChoice(
        "C15",
        "default_priority",
        "the priority of a job that states none",
        0.0,
        most=9999,
        source="API SubmitServiceJob",
    ),
    OpenChoice(
        "C16",
        "undeclared_unit",
        "may a LEND_AND_BORROW share borrow an instance type it declares no limit for",
        "no",
        ("yes",),
        source="API QuotaShareResourceSharingConfiguration: percent of the own limit",
    ),
    OpenChoice(
        "C17",
        "blocked_owner_lends",
        "is an owner's idle capacity lent while its own head is too large for it",
        "yes",
        ("no",),
        source="UG quota-shares: idle capacity is lent",
    ),
)

BY_NAME: Final = {choice.name: choice for choice in CHOICES}


@dataclass(frozen=True, slots=True)
class Choices:
    """One answer to every open choice: what a run rests on.

    ``stop_seconds`` (C14) stands with the other times in ``Timing``.
    """

    share_order: str = "oldest_head"
    idle_assignment: str = "submitted"
    requeue: str = "keep_place"
    equal_priority: str = "submitted"
    head_of_line: str = "strict"
    unallocated: str = "unusable"
    borrow_rounding: str = "down"
    victims: str = "borrowed_first"
    reclaim_or_in_share: str = "reclaim_first"
    partly_borrowed: str = "no"
    lowered_limit: str = "on_demand"
    disabled_share_lends: str = "yes"
    freed_capacity: str = "held_for_claimant"
    default_priority: int = 0
    undeclared_unit: str = "no"
    blocked_owner_lends: str = "yes"
