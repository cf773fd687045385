"""A workload under two policies: which of its jobs each has a place for, and what became of each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from policy_engine.outcome import JobOutcome, job_outcomes
from policy_engine.policy import Policy
from policy_engine.scheduler.choices import Choices
from policy_engine.scheduler.jobs import Job, Update, UpdateServiceEnvironment, UpdateShare, Workload
from policy_engine.scheduler.moves import Chooser
from policy_engine.simulation import Run, simulate


@dataclass(frozen=True)
class Side:
    """A workload as it went under one policy."""

    run: Run
    """Of the jobs that the policy has a place for."""
    outcomes: dict[str, JobOutcome]
    """By name."""
    refused: dict[str, str]
    """Jobs that could not be submitted, and why."""


@dataclass(frozen=True, slots=True)
class Effect:
    """One job, before and after. A side is None where the job could not be submitted."""

    job: Job
    old: JobOutcome | None
    new: JobOutcome | None

    @property
    def is_worse(self) -> bool:
        """Does it wait longer, is it stopped more often, or does it not end as well?"""
        return _is_worse(self.old, self.new)

    @property
    def is_better(self) -> bool:
        """The same the other way round; a job can be both."""
        return _is_worse(self.new, self.old)

    @property
    def is_changed(self) -> bool:
        """Is there any difference, also one that costs nobody anything?"""
        return _told(self.old) != _told(self.new)


def _is_worse(old: JobOutcome | None, new: JobOutcome | None) -> bool:
    ranks = _rank(old), _rank(new)
    if ranks[0] != ranks[1] or old is None or new is None:
        return ranks[1] > ranks[0]
    return any(after > before for before, after in zip(_costs(old), _costs(new), strict=True))


def _rank(outcome: JobOutcome | None) -> int:
    """How it ends, before all else: it runs, it never starts, it fails or could not be submitted."""
    if outcome is None or outcome.state == "FAILED":
        return 2
    return int(outcome.wait_seconds is None)


def _costs(outcome: JobOutcome) -> tuple[float, ...]:
    """What a job would have less of: waiting, being stopped, losing work."""
    return (
        outcome.wait_seconds or 0.0,
        outcome.preemptions,
        outcome.requeued_seconds,
        outcome.lost_instance_seconds,
    )


def _told(outcome: JobOutcome | None) -> tuple[Any, ...] | None:
    if outcome is None:
        return None
    return (outcome.state, outcome.first_started, outcome.finished, outcome.preemptions, outcome.lost_instance_seconds)


def side(policy: Policy, workload: Workload, choices: Choices, chooser: Chooser | None = None) -> Side:
    """The run of what the policy has a place for. Raises TooManyMovesError where it has no end."""
    refused = {job.name: why for job in workload.jobs if (why := _refusal(policy, workload, job)) is not None}
    fitting = workload
    if refused or any(not _applies(policy, update, refused) for update in workload.updates):
        fitting = replace(
            workload,
            jobs=tuple(job for job in workload.jobs if job.name not in refused),
            updates=tuple(update for update in workload.updates if _applies(policy, update, refused)),
        )
    run = simulate(policy, fitting, choices, chooser=chooser)
    return Side(run, {outcome.name: outcome for outcome in job_outcomes(run)}, refused)


def _refusal(policy: Policy, workload: Workload, job: Job) -> str | None:
    """Why the job has no place under the policy; None where it has one."""
    if job.share not in policy.shares:
        return f"there is no share {job.share}"
    known = set(policy.service_environment.capacity_limits)
    for update in workload.updates:
        if isinstance(update, UpdateServiceEnvironment):
            known |= set(update.capacity_limits or ())
    missing = next((unit for unit in job.demand if unit not in known), None)
    return None if missing is None else f"the service environment has no {missing}"


def _applies(policy: Policy, update: Update, refused: dict[str, str]) -> bool:
    """Is what it changes there, and may it have these limits?"""
    share = getattr(update, "share", None)
    if getattr(update, "job", None) in refused or (share is not None and share not in policy.shares):
        return False
    limits = update.capacity_limits if isinstance(update, UpdateShare) else None
    return all(unit in policy.service_environment.capacity_limits for unit in limits or ())


def effects(workload: Workload, old: Side, new: Side) -> tuple[Effect, ...]:
    """What became of every job on both sides, in the order given."""
    return tuple(Effect(job, old.outcomes.get(job.name), new.outcomes.get(job.name)) for job in workload.jobs)
