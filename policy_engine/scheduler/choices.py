"""The choices that AWS leaves open: one registry, from which schema, reports and documentation come.

A report names the choices a verdict rests on; ``verify --all-choices`` answers each in every way.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
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
    meanings: Mapping[str, str] = field(default_factory=dict)
    """What each answer in words means here, and how far it goes."""
    reading: str = ""
    """What holds whatever the answer is, where that is a reading too."""

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
        meanings={
            "oldest_head": "the share whose job at the front was submitted first",
            "declared": "the order in which the policy declares its shares",
            "name": "the alphabetical order of the shares' names",
            "least_used": "the lowest usage now over limit, on the unit of the job at the front; of several units the"
            " most used one counts, and a share without a limit on one comes last",
        },
        reading="Ties go by the order in which the jobs are given. It orders starts inside the own limit and both"
        " kinds of preemption; borrowers are ordered by C2.",
    ),
    OpenChoice(
        "C2",
        "idle_assignment",
        "what FIFO orders borrowers by",
        "submitted",
        ("runnable_since",),
        source="API QuotaSharePolicy: idleResourceAssignmentStrategy FIFO",
        meanings={
            "submitted": "the time at which the job was first submitted",
            "runnable_since": "the time at which the job last became RUNNABLE: its submission, or when it was put"
            " back in line after a preemption or a failed attempt",
        },
        reading="Only the first job of each share that may move takes part (C5); ties go by the order in which the"
        " jobs are given.",
    ),
    OpenChoice(
        "C3",
        "requeue",
        "the place in line of a preempted job",
        "keep_place",
        ("back_of_priority",),
        source="UG preemption: a preempted job is re-queued as RUNNABLE",
        meanings={
            "keep_place": "the place of its first submission, among jobs of its priority",
            "back_of_priority": "behind the jobs of its priority that are in line by then; of several that stop at"
            " one instant, in the order in which they stop",
        },
        reading="A change of its priority later on keeps its place among the jobs of the new priority.",
    ),
    OpenChoice(
        "C4",
        "equal_priority",
        "the order of jobs of one share with equal priority",
        "submitted",
        ("runnable_since",),
        source="API UpdateServiceJob: a higher priority is scheduled first",
        meanings={
            "submitted": "the time at which the job was first submitted",
            "runnable_since": "the time at which it last became RUNNABLE, after an attempt that failed or found no"
            " capacity",
        },
        reading="Where a preempted job goes is C3's alone.",
    ),
    OpenChoice(
        "C5",
        "head_of_line",
        "does a blocked job hold back the jobs behind it",
        "strict",
        ("per_unit", "skip"),
        source="UG sm_job_stuck_in_runnable: the next job advances to the head",
        meanings={
            "strict": "the first job in line alone may move, and holds its share until it has moved, whatever its unit",
            "per_unit": "a job holds back those behind it that ask for one of its units",
            "skip": "every job in line may move, the first in line that can first",
        },
        reading="A job that can never fit holds its place like any other. It is reported as blocked when it is first"
        " in line; with per_unit, when no job before it asks for one of its units.",
    ),
    OpenChoice(
        "C6",
        "unallocated",
        "may environment capacity that no share declares be used",
        "unusable",
        ("borrowable",),
        source="UG quota-shares: shares borrow from other shares",
        meanings={
            "unusable": "nobody uses it: all shares together use at most the sum of their limits",
            "borrowable": "borrowers may use it, within their own bound; jobs inside their share's limit may not",
        },
        reading="It widens no share's bound: that counts what the other lenders have configured.",
    ),
    OpenChoice(
        "C7",
        "borrow_rounding",
        "how a borrow limit in percent is rounded to instances",
        "down",
        ("up", "nearest"),
        source="API QuotaShareResourceSharingConfiguration",
        meanings={
            "down": "to the whole instance below",
            "up": "to the whole instance above",
            "nearest": "to the nearest, a half up",
        },
    ),
    OpenChoice(
        "C8",
        "victims",
        "which of the legal sets of jobs is stopped",
        "borrowed_first",
        ("lowest_priority", "newest", "oldest", "largest", "fewest_jobs"),
        source="UG preemption: borrowed instances, priorities and durations, weighed by a heuristic",
        meanings={
            "borrowed_first": "of other shares first the jobs that fit into what their share borrows at that moment;"
            " then, and within the own share, the lowest priority, the most recently started, the latest submitted,"
            " the latest given",
            "lowest_priority": "the same without regard to what a share borrows",
            "newest": "the most recently started first, then as lowest_priority",
            "oldest": "the first started first, then as lowest_priority",
            "largest": "the most instances first, of all types together, then as lowest_priority",
            "fewest_jobs": "the smallest set; of several the first in the order of borrowed_first",
        },
        reading="Jobs are taken in this order until the set is legal, what a share borrows reckoned anew after each."
        " Then, from the last but one backwards, every job without which the set is still legal is put back. Where"
        " taking them in this order ends without a legal set, the last one taken is left out, and so on; a legal set"
        " whose jobs could only be taken in another order is not found, except by fewest_jobs. Of other shares, only"
        " jobs on a unit that the claimant lacks are taken, from shares that are over their limit on one.",
    ),
    OpenChoice(
        "C9",
        "reclaim_or_in_share",
        "which kind of preemption serves a job that could use either",
        "reclaim_first",
        ("in_share_first", "any"),
        source="UG preemption",
        meanings={
            "reclaim_first": "jobs of other shares are stopped before jobs of its own share",
            "in_share_first": "jobs of its own share are stopped first, where that leaves the share inside its limit",
            "any": "a legal set of either kind or of both, for `verify --all-choices`; a single run takes the first"
            " there is",
        },
    ),
    OpenChoice(
        "C10",
        "partly_borrowed",
        "may a job larger than its share's own limit reclaim the part that is its own",
        "no",
        ("yes",),
        source="UG preemption",
        meanings={
            "no": "a job that takes its share beyond its limit stops nobody of another share",
            "yes": "a job larger than its share's limit stops jobs of shares over their limit, where everything"
            " beyond its share's own idle capacity is there already; tried after borrowing and before the last kind"
            " of in-share preemption",
        },
        reading="With yes, two jobs that are each larger than their share's limit can stop each other without end.",
    ),
    OpenChoice(
        "C11",
        "lowered_limit",
        "when are jobs above a lowered limit stopped",
        "on_demand",
        ("at_once",),
        source="UG quota-shares: they become eligible for preemption",
        meanings={
            "on_demand": "when another job needs what they hold",
            "at_once": "at the update, until the share is within the limits that were lowered; in the order of"
            " borrowed_first, jobs without which that holds too put back",
        },
    ),
    OpenChoice(
        "C12",
        "disabled_share_lends",
        "does a DISABLED share go on lending",
        "yes",
        ("no",),
        source="API UpdateQuotaShare",
        meanings={
            "yes": "as when it was ENABLED",
            "no": "its idle capacity is kept for its own jobs, like that of RESERVE, and widens nobody's bound",
        },
    ),
    OpenChoice(
        "C13",
        "freed_capacity",
        "is capacity that victims free held for the job they were stopped for",
        "held_for_claimant",
        ("open",),
        source="UG preemption",
        meanings={
            "held_for_claimant": "nobody else may start on it until all victims have stopped and the claimant has"
            " started",
            "open": "whoever may start on it does; the claimant starts when there is bound and room for it",
        },
        reading="Held is the claimant's count less what its victims still occupy. A claimant keeps its claim whatever"
        " happens to priorities and limits; if it is terminated, its victims stop all the same.",
    ),
    OpenChoice(
        "C14",
        "stop_seconds",
        "seconds from a preemption to the release of its capacity",
        0.0,
        most=None,
        source="UG batch-service-job-preemption-events (about 20); SageMaker StopTrainingJob (up to 120)",
        reading="Given under `timing`. A victim works until it has stopped, and keeps a checkpoint that is due just"
        " then.",
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
        meanings={
            "no": "its bound there is 0, whatever its borrow limit",
            "yes": "where its borrow limit is -1, up to what the other lenders have configured; a percentage of"
            " nothing is nothing",
        },
    ),
    OpenChoice(
        "C17",
        "blocked_owner_lends",
        "is an owner's idle capacity lent while its own head is too large for it",
        "yes",
        ("no",),
        source="UG quota-shares: idle capacity is lent",
        meanings={
            "yes": "like all idle capacity",
            "no": "what is idle of a unit is kept for the owner while its first job in line asks for more than that",
        },
        reading="With no, two owners whose first jobs are both too large keep what is idle from each other.",
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
