"""Judges ``always`` and ``never``: what holds at every instant of a run, and what happens at none."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from itertools import groupby
from typing import Final

from policy_engine.expectations.evidence import Evidence, Preemption
from policy_engine.expectations.finding import Finding
from policy_engine.expectations.jobs import judge_start
from policy_engine.expectations.replay import states
from policy_engine.expectations.wording import counted, listed, number, preempted
from policy_engine.outcome import policies
from policy_engine.policy import Policy, SharingStrategy
from policy_engine.scheduler.bounds import Bounds
from policy_engine.scheduler.log import RELEASES, Kind
from policy_engine.scheduler.state import Phase, State
from policy_engine.simulation import Run
from policy_engine.workload.durations import duration_text
from policy_engine.workload.expected import AlwaysExpectation, NeverExpectation

# --- always ----------------------------------------------------------------------------------------


def judge_always(expectation: AlwaysExpectation, evidence: Evidence) -> Iterator[Finding]:
    """A property that holds at every instant; the first that breaks it is told, and how many do."""
    broken = list(_JUDGES[expectation.always.kind](expectation, evidence))
    if broken:
        more = f" (and {len(broken) - 1} more)" if len(broken) > 1 else ""
        yield Finding(False, f"{broken[0]}{more}")
    else:
        yield Finding(True, f"at every instant up to {duration_text(evidence.run.end)}")


def describe_always(expectation: AlwaysExpectation, run: Run) -> str:
    """What is expected, as a sentence."""
    wanted = expectation.always
    if wanted.kind == "owner_reclaims":
        most = duration_text(_reclaims_within(expectation, run))
        return f"a job first in line inside its share's own limit always starts within {most}"
    if wanted.kind == "starts_within":
        of = f" of {wanted.share}" if wanted.share is not None else ""
        size = (
            f" of at most {counted(wanted.at_most_instances, 'instance')}"
            if wanted.at_most_instances is not None
            else ""
        )
        return f"every job{of}{size} starts within {duration_text(wanted.starts_within or 0.0)}"
    if wanted.disruption_ratio is not None:
        return (
            f"instances stopped at once for a job, per instance it asks for, are {wanted.disruption_ratio.text(number)}"
        )
    return _SENTENCES[wanted.kind]


_SENTENCES: Final = {
    "reserve_never_lent": "idle capacity of a RESERVE share is never lent",
    "within_bounds": "no start ever exceeds a share's bound or the environment's capacity",
    "no_futile_preemption": "no job is ever stopped for one that then does not start",
    "no_preemption_cycle": "no job is ever stopped, directly or through others, by one that it stopped",
}


class _Usage:
    """Instances in use just after each start, and the policy that then holds."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.of_share: dict[tuple[str, str], int] = {}
        self.total: dict[str, int] = {}
        self.bounds = Bounds(run.policy, run.choices)

    @property
    def policy(self) -> Policy:
        """The policy at that time."""
        return self.bounds.policy

    def after_starts(self) -> Iterator[tuple[float, int]]:
        """Time and job of each start; the usage here is just after it."""
        changes = dict(policies(self.run))
        held: set[int] = set()
        for index, (at, kind, job, _, _, _) in enumerate(self.run.log.rows):
            if index in changes:
                self.bounds = Bounds(changes[index], self.run.choices)
            elif kind is Kind.STARTED:
                held.add(job)
                self._add(job, 1)
                yield at, job
            elif kind in RELEASES and job in held:
                held.discard(job)
                self._add(job, -1)

    def _add(self, number_: int, sign: int) -> None:
        job = self.run.workload.jobs[number_]
        for unit, count in job.demand.items():
            cell = job.share, unit
            self.of_share[cell] = self.of_share.get(cell, 0) + sign * count
            self.total[unit] = self.total.get(unit, 0) + sign * count


def _within_bounds(_: AlwaysExpectation, evidence: Evidence) -> Iterator[str]:
    """R1 and R5; usage above a lowered limit breaks nothing as long as it only falls."""
    usage = _Usage(evidence.run)
    for at, number_ in usage.after_starts():
        job = evidence.run.workload.jobs[number_]
        for unit in job.demand:
            used, bound = usage.of_share[job.share, unit], usage.bounds.bound(job.share, unit)
            total, capacity = usage.total[unit], usage.policy.capacity(unit)
            told = f"{job.name} started at {duration_text(at)} and brought"
            if used > bound:
                yield f"{told} {job.share} to {used} {unit}, beyond its bound of {bound}"
            if total > capacity:
                yield f"{told} the queue to {total} {unit}, beyond the environment's {capacity}"


def _reserve_never_lent(_: AlwaysExpectation, evidence: Evidence) -> Iterator[str]:
    """R4: a job that starts beyond its share's limit leaves alone what other RESERVE shares have idle.

    Where limits sum to more than the environment has, what is over-committed is nobody's to reserve.
    """
    usage = _Usage(evidence.run)
    unowned = evidence.run.choices.unallocated == "borrowable"
    for at, number_ in usage.after_starts():
        job = evidence.run.workload.jobs[number_]
        policy = usage.policy
        for unit in job.demand:
            if usage.of_share[job.share, unit] <= policy.shares[job.share].limit(unit):
                continue
            capacity, limits = policy.capacity(unit), policy.sum_of_limits(unit)
            idle = sum(
                max(0, share.limit(unit) - usage.of_share.get((name, unit), 0))
                for name, share in policy.others(job.share)
                if share.strategy is SharingStrategy.RESERVE
            )
            reserved = max(0, idle - max(0, limits - capacity))
            left = (capacity if unowned else min(capacity, limits)) - usage.total[unit]
            if left < reserved:
                told = (
                    f"{job.name} of {job.share} started at {duration_text(at)} on borrowed {unit} and left {left} idle"
                )
                yield f"{told}, where RESERVE shares have {reserved} reserved"


def _no_futile_preemption(_: AlwaysExpectation, evidence: Evidence) -> Iterator[str]:
    """A claimant starts on what its victims give back, unless somebody terminates it or the run ends before."""
    run = evidence.run
    settled: dict[int, list[float]] = {}
    for at, kind, job, *_rest in run.log.rows:
        if kind in (Kind.STARTED, Kind.FAILED, Kind.TERMINATED):
            settled.setdefault(job, []).append(at)
    for (at, by), victims in _decisions(evidence):
        stopping = any(victim.released is None for victim in victims)
        if not stopping and not any(time >= at for time in settled.get(by, ())):
            names = listed([run.workload.jobs[victim.victim].name for victim in victims])
            claimant = run.workload.jobs[by].name
            yield (
                f"{names} {'was' if len(victims) == 1 else 'were'} preempted at {duration_text(at)} for {claimant},"
                f" which had not started when the run ended at {duration_text(run.end)}"
            )


def _decisions(evidence: Evidence) -> Iterator[tuple[tuple[float, int], list[Preemption]]]:
    """(time, claimant) and victims of every preemption for a job."""
    for key, victims in groupby(evidence.preemptions, key=lambda p: (p.at, p.by)):
        if key[1] >= 0:
            yield key, list(victims)


def _no_preemption_cycle(_: AlwaysExpectation, evidence: Evidence) -> Iterator[str]:
    """Over the whole run, whoever stopped whom; a stop that found its victim ended does not count."""
    stopped_by: TopologicalSorter[int] = TopologicalSorter()
    for p in evidence.preemptions:
        if p.by >= 0 and not p.spared:
            stopped_by.add(p.victim, p.by)
    try:
        stopped_by.prepare()
    except CycleError as error:
        cycle = [evidence.run.workload.jobs[job].name for job in error.args[1]]
        yield " stopped ".join([cycle[0], *(f"{name}, which" for name in cycle[1:-1]), cycle[-1]])


def _starts_within(expectation: AlwaysExpectation, evidence: Evidence) -> Iterator[str]:
    """A job that the end of the run leaves less time than that has broken nothing, where ``until`` ended it."""
    wanted = expectation.always
    most = wanted.starts_within or 0.0
    run = evidence.run
    for job in run.workload.jobs:
        outcome = evidence.jobs[job.name]
        if wanted.share not in (None, job.share) or outcome.state == "SUBMITTED":
            continue
        if wanted.at_most_instances is not None and job.instances > wanted.at_most_instances:
            continue
        early = run.workload.until is not None and run.end - outcome.submitted <= most
        if outcome.wait_seconds is None and early:
            continue
        finding = judge_start(outcome, most, run.end)
        if not finding.holds:
            yield finding.told


def _disruption_ratio(expectation: AlwaysExpectation, evidence: Evidence) -> Iterator[str]:
    jobs = evidence.run.workload.jobs
    bound = expectation.always.disruption_ratio
    for (at, by), victims in _decisions(evidence):
        stopped = sum(jobs[victim.victim].instances for victim in victims if not victim.spared)
        asked = jobs[by].instances
        if bound is not None and not bound.holds(stopped / asked):
            told = f"for {jobs[by].name}, which asks for {asked}, {counted(stopped, 'instance')} had to stop"
            yield f"{told} at {duration_text(at)}, a ratio of {number(stopped / asked)}; expected {bound.text(number)}"


# --- owners ----------------------------------------------------------------------------------------


def _reclaims_within(expectation: AlwaysExpectation, run: Run) -> float:
    """Seconds; by default as long as deciding, stopping and deciding again take."""
    if expectation.reclaims_within is not None:
        return expectation.reclaims_within
    return run.workload.timing.stop_seconds + 2 * run.workload.timing.queue_latency


def _owner_reclaims(expectation: AlwaysExpectation, evidence: Evidence) -> Iterator[str]:
    """Counts from when a head inside its own limit came to the front; a claimant's time goes on."""
    run = evidence.run
    most = _reclaims_within(expectation, run)
    since: dict[int, float] = {}
    for at, state in states(run):
        owners = set(_owners(state))
        for job in [job for job in since if job not in owners]:
            started = state.phase[job] in (Phase.RUNNING, Phase.STOPPING)
            if at - since[job] > most:
                yield _late(
                    run, job, since[job], f"{'started' if started else 'waited until'} {duration_text(at)}", most
                )
            del since[job]
        for job in owners:
            since.setdefault(job, at)
    for job, front in since.items():
        if run.workload.until is None or run.end - front > most:
            yield _late(run, job, front, f"had not started when the run ended at {duration_text(run.end)}", most)


def _owners(state: State) -> Iterator[int]:
    """Heads inside their share's own limit, and claimants that will be."""
    for share in state.waiting:
        head = -state.line[share][-1][3]
        if all(state.after[cell] + count <= state.limit[cell] for cell, _, count in state.demand[head]):
            yield head
    for claim in state.claims:
        if all(state.after[cell] <= state.limit[cell] for cell, _, _ in state.demand[claim.job]):
            yield claim.job


def _late(run: Run, job: int, front: float, what: str, most: float) -> str:
    name, share = run.workload.jobs[job].name, run.workload.jobs[job].share
    first = f"{name}, first in line of {share} and inside its limit from {duration_text(front)} on"
    return f"{first}, {what}; expected a start within {duration_text(most)}"


_JUDGES: Final[Mapping[str, Callable[[AlwaysExpectation, Evidence], Iterator[str]]]] = {
    "owner_reclaims": _owner_reclaims,
    "reserve_never_lent": _reserve_never_lent,
    "within_bounds": _within_bounds,
    "no_futile_preemption": _no_futile_preemption,
    "no_preemption_cycle": _no_preemption_cycle,
    "starts_within": _starts_within,
    "disruption_ratio": _disruption_ratio,
}

# --- never -----------------------------------------------------------------------------------------


def judge_never(expectation: NeverExpectation, evidence: Evidence) -> Iterator[Finding]:
    """No such preemption, those included that are still under way when the run ends."""
    wanted, run = expectation.never, evidence.run
    found = [
        p
        for p in evidence.preemptions
        if not p.spared
        and wanted.preempted in (p.why, "any")
        and wanted.share in (None, run.workload.jobs[p.victim].share)
        and (wanted.priority_at_least is None or p.priority >= wanted.priority_at_least)
    ]
    told = [
        f"{run.workload.jobs[p.victim].name} of {run.workload.jobs[p.victim].share}, priority {p.priority}, was"
        f" {preempted(run, p)}"
        for p in found
    ]
    yield Finding(not found, listed(told) or f"at no instant up to {duration_text(run.end)}")


def describe_never(expectation: NeverExpectation) -> str:
    """What is expected, as a sentence."""
    wanted = expectation.never
    of = f" of {wanted.share}" if wanted.share is not None else ""
    priority = f" of priority {wanted.priority_at_least} or higher" if wanted.priority_at_least is not None else ""
    return f"no job{of}{priority} is ever preempted{_KINDS[wanted.preempted]}"


_KINDS: Final = {
    "cross_share": " for another share's job",
    "in_share": " for a job of its own share",
    "limit_lowered": " because a limit was lowered",
    "any": "",
}
