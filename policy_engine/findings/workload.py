"""QM201 to QM203: what a policy and a scenario come to together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from policy_engine.findings import pages
from policy_engine.findings.rule import Found, Severity, rule
from policy_engine.findings.subject import Planned, Subject
from policy_engine.guarantees import Kind, preemptions
from policy_engine.scheduler.bounds import Bounds
from policy_engine.scheduler.jobs import DeleteShare, Job, UpdatePriority, UpdateServiceEnvironment, UpdateShare
from policy_engine.sources.declaration import Place, QuotaShare
from policy_engine.sources.reading import dotted

if TYPE_CHECKING:
    # a check without a scenario does without
    from policy_engine.workload.scenario import Scenario


@dataclass(frozen=True, slots=True)
class _Entry:
    """A job of the scenario, or its copies, which are alike but for their names and times."""

    name: str
    job: Job
    share: QuotaShare
    place: Place


@rule(
    "QM201",
    Severity.ERROR,
    "(with a scenario) a job that can never run",
    why="It stays RUNNABLE at the front of its share with AWS's reason, and the jobs behind it wait, until a job state"
    " time limit action ends it.",
    remedy="ask for no more than the share can reach, or raise its limit, its borrow limit or what others lend",
    source=pages.NEVER_FITS,
)
def jobs_that_never_fit(subject: Subject) -> Iterator[Found]:
    """Holds every job to R12. Where the scenario changes limits, a job may fit later: nothing is said."""
    plan = subject.plan
    if plan is None or any(
        isinstance(update, UpdateShare | UpdateServiceEnvironment | DeleteShare) for update in plan.workload.updates
    ):
        return
    bounds = Bounds(plan.policy, subject.choices)
    for entry in _entries(subject, plan):
        misfit = bounds.never_fits(entry.job.share, entry.job.demand)
        if misfit is not None:
            asked = f"{entry.name} asks for {misfit.count} {misfit.unit}, and {misfit.rule} allows {misfit.allowed}"
            what = f"{asked}; the largest job that runs in {entry.job.share} has {misfit.largest}: {misfit.reason}"
            yield Found(what, entry.share, entry.place, misfit.unit)


@rule(
    "QM202",
    Severity.WARNING,
    "(with a scenario) in-share preemption on, and all jobs of the share of one priority",
    why="Only a strictly higher priority stops a job of the same share, so the switch does nothing here.",
    remedy="give the jobs different priorities, or switch in-share preemption off",
    source=pages.PREEMPTION,
)
def priorities_alike(subject: Subject) -> Iterator[Found]:
    """Compares the priorities of a share's jobs; those that the scenario changes are left alone."""
    plan = subject.plan
    if plan is None:
        return
    changed = {update.job for update in plan.workload.updates if isinstance(update, UpdatePriority)}
    for share in subject.shares:
        jobs = [job for job in plan.workload.jobs if job.share == share.name]
        priorities = {plan.priority(job) for job in jobs}
        is_on = plan.policy.shares[str(share.name)].in_share_preemption
        if is_on and len(jobs) > 1 and len(priorities) == 1 and changed.isdisjoint(job.name for job in jobs):
            what = f"all {len(jobs)} jobs of {share.label} have priority {priorities.pop()}, and none can stop another"
            yield Found(what, share, share.where("in_share_preemption"))


@rule(
    "QM203",
    Severity.WARNING,
    "(with a scenario) a preemptible job without checkpoints",
    why="Each attempt is a training job of its own: what a preempted one had not checkpointed is lost, and it starts"
    " from zero.",
    remedy="let the job write checkpoints and say how often (checkpoint_every), or run it where nothing can stop it",
    source=pages.CHECKPOINTS,
)
def nothing_kept(subject: Subject) -> Iterator[Found]:
    """Looks for jobs that somebody can stop, and that keep nothing."""
    plan = subject.plan
    if plan is None or plan.workload.timing.checkpoint_every is not None:
        return
    rows = preemptions(plan.policy, subject.choices)
    highest: dict[str, int] = {}
    for job in plan.workload.jobs:
        highest[job.share] = max(highest.get(job.share, 0), plan.priority(job))
    for entry in _entries(subject, plan):
        job = entry.job
        owners = {
            row.share
            for row in rows
            if row.takes_from == job.share
            and row.unit in job.demand
            and (row.kind is Kind.CROSS_SHARE or highest[job.share] > plan.priority(job))
        }
        if owners and job.checkpoint_every is None:
            by = " or ".join(sorted(owners))
            yield Found(f"{entry.name} can be stopped for a job of {by}, and keeps no work", entry.share, entry.place)


def _entries(subject: Subject, plan: Planned) -> Iterator[_Entry]:
    """Every entry of the scenario's ``running`` and ``jobs``, with the first of its jobs."""
    shares = {share.name: share for share in subject.shares}
    jobs = iter(plan.workload.jobs)
    scenario: Scenario = plan.scenario
    for section, listed in (("running", scenario.file.running), ("jobs", scenario.file.jobs)):
        for number, entry in enumerate(listed):
            alike = [next(jobs) for _ in range(entry.copies or 1)]
            path = (section, number)
            place = Place(dotted(path), document=scenario.document, path=path)
            yield _Entry(entry.name, alike[0], shares[entry.share], place)
