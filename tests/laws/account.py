"""Who holds what, who waits and who is being stopped for whom: reckoned entry by entry from the log alone."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum, auto

from policy_engine.policy import Policy
from policy_engine.scheduler.choices import Choices
from policy_engine.scheduler.jobs import DeleteShare, UpdateServiceEnvironment, UpdateShare, Workload
from policy_engine.scheduler.log import Kind, Row, Why
from tests.laws.declared import Cell, Declared

Key = tuple[int, float, int, int]
"""(-priority, place, turn, number of the job): the first of a line is its head."""


class Phase(Enum):
    """Where a job is in its life."""

    NEW = auto()
    WAITING = auto()
    CLAIMING = auto()
    """Others are being stopped for it."""
    RUNNING = auto()
    STOPPING = auto()
    RELEASED = auto()
    """It has stopped, and the next entry says whether it is put back in line."""
    ENDED = auto()


HOLDING = (Phase.RUNNING, Phase.STOPPING)
_DECLARING = (UpdateShare, DeleteShare, UpdateServiceEnvironment)


class ImpossibleEntryError(Exception):
    """What the log says can not happen to a job in that phase."""


class Account:
    """The queue as the log tells it so far. Jobs are numbers, as in the log."""

    def __init__(self, policy: Policy, workload: Workload, choices: Choices) -> None:
        self.choices = choices
        self.jobs = workload.jobs
        self.declared = Declared(policy, choices, _units(workload))
        declaring = [update for update in workload.updates if isinstance(update, _DECLARING)]
        self.updates = iter(sorted(declaring, key=lambda update: update.at))
        """To come; each has its entry in the log."""
        self.share = [job.share for job in self.jobs]
        self.demand = [tuple(job.demand.items()) for job in self.jobs]
        self.priority = [choices.default_priority if job.priority is None else job.priority for job in self.jobs]
        self.submitted = [job.submit if job.started is None else job.started for job in self.jobs]
        self.started = [0.0] * len(self.jobs)
        """When its last attempt began."""
        self.phase = [Phase.NEW] * len(self.jobs)
        self.key: dict[int, Key] = {}
        self.line: dict[str, list[Key]] = {name: [] for name in policy.shares}
        self.running: dict[str, set[int]] = {name: set() for name in policy.shares}
        """Jobs that hold capacity and are not being stopped: what may become a victim."""
        self.stopped_for: dict[int, int] = {}
        self.victims: dict[int, set[int]] = {}
        """Of each claimant: those that have not stopped yet. Oldest claim first."""
        self.now: Counter[Cell] = Counter()
        self.after: Counter[Cell] = Counter()
        self.now_total: Counter[str] = Counter()
        self.after_total: Counter[str] = Counter()
        self.turns = 0
        self.was_preempted: set[int] = set()

    # --- entries ----------------------------------------------------------------------------------

    def book(self, row: Row) -> None:
        """Take in the next entry of the log. Raises ImpossibleEntryError."""
        at, kind, job, by, why, detail = row
        match kind:
            case Kind.SUBMITTED:
                self._expect(job, kind, Phase.NEW)
                self._enter(job, self.submitted[job], 0)
            case Kind.STARTED:
                self._start(job, at)
            case Kind.PREEMPTED:
                self._stop(job, by)
            case Kind.STOPPED:
                self._release(job, why)
            case Kind.REQUEUED:
                self._requeue(job, at)
            case Kind.FINISHED | Kind.FAILED | Kind.TERMINATED:
                self._end(job, kind)
            case Kind.PRIORITY_UPDATED:
                self._prioritise(job, detail)
            case Kind.SHARE_UPDATED | Kind.ENVIRONMENT_UPDATED:
                self.declared.apply(next(self.updates))
            case Kind.BLOCKED:
                self._expect(job, kind, Phase.WAITING)

    def _expect(self, job: int, kind: Kind, *phases: Phase) -> None:
        if self.phase[job] not in phases:
            raise ImpossibleEntryError(f"{self.jobs[job].name} is {kind} while it is {self.phase[job].name}")

    def _enter(self, job: int, place: float, turn: int) -> None:
        self.key[job] = key = (-self.priority[job], place, turn, job)
        insort(self.line[self.share[job]], key)
        self.phase[job] = Phase.WAITING

    def _leave(self, job: int) -> None:
        line = self.line[self.share[job]]
        del line[bisect_left(line, self.key.pop(job))]

    def _count(self, job: int, *, now: int = 0, after: int = 0) -> None:
        share = self.share[job]
        for unit, count in self.demand[job]:
            self.now[share, unit] += now * count
            self.now_total[unit] += now * count
            self.after[share, unit] += after * count
            self.after_total[unit] += after * count

    def _start(self, job: int, at: float) -> None:
        self._expect(job, Kind.STARTED, Phase.WAITING, Phase.CLAIMING)
        self.started[job] = at
        if self.phase[job] is Phase.WAITING:
            self._leave(job)
            self._count(job, now=1, after=1)
        else:
            del self.victims[job]
            self._count(job, now=1)
        self.phase[job] = Phase.RUNNING
        self.running[self.share[job]].add(job)

    def _stop(self, job: int, by: int) -> None:
        self._expect(job, Kind.PREEMPTED, Phase.RUNNING)
        self.phase[job] = Phase.STOPPING
        self.running[self.share[job]].discard(job)
        self._count(job, after=-1)
        if by >= 0:
            self._expect(by, Kind.PREEMPTED, Phase.WAITING, Phase.CLAIMING)
            if self.phase[by] is Phase.WAITING:
                self._leave(by)
                self._count(by, after=1)
                self.phase[by] = Phase.CLAIMING
                self.victims[by] = set()
            self.victims[by].add(job)
            self.stopped_for[job] = by

    def _release(self, job: int, why: Why | None) -> None:
        self._expect(job, Kind.STOPPED, *HOLDING)
        self._let_go(job)
        self.phase[job] = Phase.RELEASED
        if why is None:
            self.was_preempted.add(job)
        else:
            self.was_preempted.discard(job)

    def _let_go(self, job: int) -> None:
        """Whatever it holds or claims is free."""
        match self.phase[job]:
            case Phase.WAITING:
                self._leave(job)
            case Phase.CLAIMING:
                del self.victims[job]
                self._count(job, after=-1)
            case Phase.RUNNING:
                self.running[self.share[job]].discard(job)
                self._count(job, now=-1, after=-1)
            case Phase.STOPPING:
                self._count(job, now=-1)
                self.victims.get(self.stopped_for.pop(job, -1), set()).discard(job)

    def _requeue(self, job: int, at: float) -> None:
        """C3 for a job that was preempted, C4 for one whose attempt failed."""
        self._expect(job, Kind.REQUEUED, Phase.RELEASED)
        if job in self.was_preempted and self.choices.requeue == "back_of_priority":
            self.turns += 1
            self._enter(job, at, self.turns)
        elif job not in self.was_preempted and self.choices.equal_priority == "runnable_since":
            self._enter(job, at, 0)
        else:
            self._enter(job, self.submitted[job], 0)

    def _end(self, job: int, kind: Kind) -> None:
        if kind is Kind.FINISHED:
            self._expect(job, kind, *HOLDING)
        elif self.phase[job] is Phase.ENDED:
            raise ImpossibleEntryError(f"{self.jobs[job].name} is {kind} after it has ended")
        self._let_go(job)
        self.phase[job] = Phase.ENDED

    def _prioritise(self, job: int, priority: int) -> None:
        if self.phase[job] is Phase.ENDED:
            return
        self.priority[job] = priority
        if self.phase[job] is Phase.WAITING:
            _, place, turn, _ = self.key[job]
            self._leave(job)
            self._enter(job, place, turn)

    # --- sums ---------------------------------------------------------------------------------------

    def name(self, job: int) -> str:
        """As the scenario calls it."""
        return self.jobs[job].name

    def excess(self, share: str, unit: str, gone: Mapping[Cell, int]) -> int:
        """Usage after, without what is gone, over the limit; below it where negative."""
        return self.after[share, unit] - gone.get((share, unit), 0) - self.declared.limit(share, unit)

    def held(self) -> Counter[Cell]:
        """Of claimants: their count less what their victims still occupy (C13)."""
        held: Counter[Cell] = Counter()
        if self.victims and self.choices.freed_capacity == "held_for_claimant":
            for claimant in self.victims:
                for unit, count in self.held_for(claimant).items():
                    held[self.share[claimant], unit] += count
        return held

    def held_for(self, claimant: int) -> dict[str, int]:
        """The same of one claimant."""
        if self.choices.freed_capacity != "held_for_claimant":
            return {}
        occupied = self.sum_of(self.victims[claimant])
        by_unit = Counter[str]()
        for (_, unit), count in occupied.items():
            by_unit[unit] += count
        return {unit: max(0, count - by_unit[unit]) for unit, count in self.demand[claimant]}

    def sum_of(self, jobs: Iterable[int]) -> Counter[Cell]:
        """What they have together."""
        counts: Counter[Cell] = Counter()
        for job in jobs:
            for unit, count in self.demand[job]:
                counts[self.share[job], unit] += count
        return counts

    def heads(self, share: str) -> Iterator[int]:
        """The waiting jobs of a share that no job before them holds back (C5)."""
        taken: set[str] = set()
        for *_, job in self.line[share]:
            units = {unit for unit, _ in self.demand[job]}
            if self.choices.head_of_line != "per_unit" or not units & taken:
                yield job
            if self.choices.head_of_line == "strict":
                return
            taken |= units


def _units(workload: Workload) -> Iterator[str]:
    for job in workload.jobs:
        yield from job.demand
    for update in workload.updates:
        if isinstance(update, UpdateShare | UpdateServiceEnvironment):
            yield from update.capacity_limits or ()
