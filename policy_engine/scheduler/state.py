"""The queue as it stands: what runs, what waits, what is being stopped, and what is held for whom.

Two states are kept side by side (``scheduling.md``, One pass). *Now* is what holds capacity, jobs
being stopped included. *After* is what will be when every stop under way is over and every waiting
claimant has started. Everything is counted in instances of a unit (an instance type).

Shares and units are small integers here; a *cell* is one share on one unit, ``share * units + unit``.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import IntEnum
from operator import attrgetter
from typing import Any, Final, Self

from policy_engine.policy import Policy, SharingStrategy
from policy_engine.policy import State as Switch
from policy_engine.scheduler.bounds import Bounds
from policy_engine.scheduler.choices import Choices
from policy_engine.scheduler.copying import copier
from policy_engine.scheduler.jobs import Job

Demand = tuple[tuple[int, int, int], ...]
"""(cell, unit, instances) for each unit of a job."""
LineKey = tuple[int, float, float, int]
"""(priority, -place, -turn, -job): the last of a sorted line is its head."""
RunKey = tuple[int, float, float, int]
"""(priority, -start, -submit, -job): the first of a sorted list is the default's first victim."""


_NEVER_ENOUGH: Final = 1 << 62
ANY: Final = -(1 << 62)
"""Any end may do: even where more is used than there is (a lowered environment), it makes room to stop others."""
_NO_KEY: Final = (0, 0.0, 0.0, 0)
_NONE: Final = -1
SUBMIT: Final = attrgetter("submit")
"""Of many jobs in a row, this is had sooner than by a loop."""

INSIDE: Final = 1
"""The job would leave its share within its own limit."""
STARTS: Final = 2
"""There is bound and room for it, now and after."""
WAITS: Final = 4
"""It cannot start now; it will fit when what is under way is over."""
NEVER: Final = 8
"""It is larger than anything its share can ever reach (R12)."""


_STARTS_INSIDE: Final = STARTS | INSIDE


class Phase(IntEnum):
    """Where a job is in its life."""

    NEW = 0
    WAITING = 1
    RUNNING = 2
    STOPPING = 3
    CLAIMING = 4
    ENDED = 5


# Members of an enumeration are slow to look up, and these are looked up for every event.
WAITING: Final = Phase.WAITING
RUNNING: Final = Phase.RUNNING
STOPPING: Final = Phase.STOPPING
CLAIMING: Final = Phase.CLAIMING
ENDED: Final = Phase.ENDED


class Claim:
    """A job for which others are being stopped, and what of its capacity they still occupy."""

    __slots__ = ("job", "occupied", "outstanding")

    def __init__(self, job: int, victims: Sequence[int], demands: Sequence[Demand]) -> None:
        self.job = job
        self.outstanding = set(victims)
        self.occupied: dict[int, int] = {}
        for victim in victims:
            for _, unit, count in demands[victim]:
                self.occupied[unit] = self.occupied.get(unit, 0) + count

    def copy(self) -> Claim:
        """The same claim, in another state."""
        twin = Claim(self.job, (), ())
        twin.outstanding = set(self.outstanding)
        twin.occupied = dict(self.occupied)
        return twin


_CHANGING: Final = (
    *("now", "after", "now_total", "after_total", "held", "held_total"),
    *("kept_now", "kept_after", "kept_now_total", "kept_after_total"),
    *("waiting", "unsettled", "freed", "tried", "needs", "settled_as", "expectant", "owners"),
    *("priority", "submitted", "runnable_since", "line_key", "run_key", "phase", "preemptions"),
)
"""Attributes of a state that moves change in place."""
_CHANGING_LISTS: Final = ("over", "line", "runners", "settled_on")
"""The same, of lists in lists."""


class State:
    """Everything the next pass depends on. Jobs are added as they become known."""

    __slots__ = (
        "after",
        "after_total",
        "all_unsettle",
        "always_keeps",
        "borrow_pool",
        "borrows",
        "bound",
        "capacity",
        "cells_of",
        "choices",
        "claim_of",
        "claims",
        "demand",
        "dispatching",
        "expectant",
        "freed",
        "held",
        "held_total",
        "in_share",
        "jobs",
        "keeps",
        "kept_after",
        "kept_after_total",
        "kept_now",
        "kept_now_total",
        "largest",
        "limit",
        "line",
        "line_key",
        "needs",
        "now",
        "now_total",
        "over",
        "overcommitted",
        "owners",
        "phase",
        "policy",
        "pool",
        "preemptions",
        "priority",
        "run_key",
        "runnable_since",
        "runners",
        "settled_as",
        "settled_on",
        "share_index",
        "share_names",
        "share_of",
        "stale",
        "stopping",
        "submitted",
        "tried",
        "turns",
        "unit_index",
        "unit_names",
        "unsettled",
        "waiting",
    )

    def __new__(cls, *_: object, **__: object) -> Self:
        """Nothing set yet, as a copy begins; mypyc's own calls ``__init__``."""
        return super().__new__(cls)

    def __init__(self, policy: Policy, choices: Choices, later_units: Iterable[str] = ()) -> None:
        """``later_units``: instance types that only an update or a job names."""
        self.choices = choices
        self.all_unsettle = choices.head_of_line != "strict"
        """A job may move though it is not the first of its line."""
        self.share_names: list[str] = list(policy.shares)
        self.share_index = {name: s for s, name in enumerate(self.share_names)}
        self.unit_names: list[str] = list(dict.fromkeys((*policy.units, *later_units)))
        self.unit_index = {name: u for u, name in enumerate(self.unit_names)}
        units, cells = len(self.unit_names), len(self.share_names) * len(self.unit_names)
        self.cells_of = [tuple((s * units + u, u) for u in range(units)) for s in range(len(self.share_names))]
        # what is used, now and after
        self.now = [0] * cells
        self.after = [0] * cells
        self.now_total = [0] * units
        self.after_total = [0] * units
        # what waiting claimants hold back (now), and idle capacity that nobody else may have
        self.held = [0] * cells
        self.held_total = [0] * units
        self.kept_now = [0] * cells
        self.kept_after = [0] * cells
        self.kept_now_total = [0] * units
        self.kept_after_total = [0] * units
        self.stale = _NONE
        """The cell whose part in what is kept has changed since it was last reckoned; see ``freshen``."""
        # who is over its limit after, per unit; who has a line
        self.over: list[set[int]] = [set() for _ in range(units)]
        self.waiting: set[int] = set()
        self.unsettled: set[int] = set()
        """Shares whose head might move; every other head is known to have no move."""
        self.freed: set[int] = set()
        """Units on which an end may have made room for settled heads; nothing else has changed for them."""
        self.tried: set[int] = set()
        """Settled shares whose head was looked at since."""
        self.needs = [0] * len(self.share_names)
        """Free instances without which an end cannot make a settled head start."""
        self.settled_on: list[set[int]] = [set() for _ in range(units)]
        """Shares whose settled head is for the unit."""
        self.settled_as: list[Demand] = [()] * len(self.share_names)
        """What the head asked for when its share was settled last."""
        self.expectant: set[int] = set()
        """Shares whose settled head will fit when what is under way is over, unless others take the room."""
        self.owners: set[int] = set()
        """Shares whose settled head is inside its limit, or found nobody that it could have stopped."""
        self.line: list[list[LineKey]] = [[] for _ in self.share_names]
        self.runners: list[list[RunKey]] = [[] for _ in range(cells)]
        self.claims: list[Claim] = []
        self.claim_of: dict[int, Claim] = {}
        """Victim being stopped to the claim it is stopped for."""
        # jobs
        self.jobs: list[Job] = []
        self.demand: list[Demand] = []
        self.share_of: list[int] = []
        self.priority: list[int] = []
        self.submitted: list[float] = []
        self.runnable_since: list[float] = []
        # a LineKey and a RunKey for each job; as Any, compiled code takes and stores them whole
        self.line_key: list[Any] = []
        self.run_key: list[Any] = []
        self.phase: list[Phase] = []
        self.preemptions: list[int] = []
        self.turns = 0
        self.stopping = 0
        """Jobs that are being stopped."""
        self.adopt(policy)

    def copy(self) -> State:
        """Another state that is the same now and goes its own way; what no pass changes is shared."""
        twin = _copied(self)
        if self.claims:
            claims = {id(claim): claim.copy() for claim in {*self.claims, *self.claim_of.values()}}
            twin.claims = [claims[id(claim)] for claim in self.claims]
            twin.claim_of = {victim: claims[id(claim)] for victim, claim in self.claim_of.items()}
        else:
            twin.claims, twin.claim_of = [], dict(self.claim_of)
        return twin

    # --- the policy -----------------------------------------------------------------------------

    def grow(self, shares: Iterable[str], units: Iterable[str]) -> None:
        """Make room for shares and instance types that are not known yet; ``adopt`` gives them their limits."""
        old_shares, old_width = len(self.share_names), len(self.unit_names)
        self.share_names += [name for name in shares if name not in self.share_index]
        self.unit_names += [unit for unit in units if unit not in self.unit_index]
        self.share_index = {name: s for s, name in enumerate(self.share_names)}
        self.unit_index = {name: u for u, name in enumerate(self.unit_names)}
        width, more_shares = len(self.unit_names), len(self.share_names) - old_shares
        self.cells_of = [tuple((s * width + u, u) for u in range(width)) for s in range(len(self.share_names))]
        for name in ("now_total", "after_total", "held_total", "kept_now_total", "kept_after_total"):
            getattr(self, name).extend([0] * (width - old_width))
        self.over += [set() for _ in range(width - old_width)]
        self.settled_on += [set() for _ in range(width - old_width)]
        self.line += [[] for _ in range(more_shares)]
        self.needs += [0] * more_shares
        self.settled_as += [()] * more_shares
        old = {s * width + u: s * old_width + u for s in range(old_shares) for u in range(old_width)}
        cells = range(len(self.share_names) * width)
        for name in ("now", "after", "held", "kept_now", "kept_after"):
            values = getattr(self, name)
            setattr(self, name, [values[old[cell]] if cell in old else 0 for cell in cells])
        self.runners = [self.runners[old[cell]] if cell in old else [] for cell in cells]
        if width > old_width:
            moved = {demand: self._moved(demand, old_width, width) for demand in set(self.demand)}
            self.demand = [moved[demand] for demand in self.demand]

    @staticmethod
    def _moved(demand: Demand, old_width: int, width: int) -> Demand:
        """A demand where the cells have moved apart."""
        return tuple((cell // old_width * width + unit, unit, count) for cell, unit, count in demand)

    def adopt(self, policy: Policy) -> None:
        """Take over a policy of the same shares and units, or with some of the shares deleted."""
        self.policy = policy
        choices = self.choices
        bounds = Bounds(policy, choices)
        self.dispatching = policy.service_environment.state is Switch.ENABLED
        self.capacity = [policy.capacity(unit) for unit in self.unit_names]
        sums = [policy.sum_of_limits(unit) for unit in self.unit_names]
        self.pool = [min(c, s) for c, s in zip(self.capacity, sums, strict=True)]
        self.overcommitted = [max(0, s - c) for c, s in zip(self.capacity, sums, strict=True)]
        """Limits beyond what the environment has: idle that cannot be reserved."""
        self.borrow_pool = self.capacity if choices.unallocated == "borrowable" else self.pool
        self.limit: list[int] = []
        self.bound: list[int] = []
        self.largest: list[int] = []
        self.keeps: list[bool] = []
        self.borrows: list[bool] = []
        self.in_share: list[bool] = []
        for name in self.share_names:
            share = policy.shares.get(name)
            self.borrows.append(share is not None and share.strategy.borrows)
            self.in_share.append(share is not None and share.in_share_preemption)
            keeps = share is not None and (
                share.strategy is SharingStrategy.RESERVE
                or (share.state is Switch.DISABLED and choices.disabled_share_lends == "no")
            )
            for unit in self.unit_names:
                most = 0 if share is None else bounds.bound(name, unit)
                self.limit.append(0 if share is None else share.limit(unit))
                self.bound.append(most)
                self.largest.append(min(most, policy.capacity(unit)))
                self.keeps.append(keeps)
        self.always_keeps = list(self.keeps)
        self._recount()
        self.unsettled |= self.waiting

    def _recount(self) -> None:
        """Work out anew who is over its limit and what idle is kept from others."""
        for share, cells in enumerate(self.cells_of):
            for cell, unit in cells:
                if self.after[cell] > self.limit[cell]:
                    self.over[unit].add(share)
                else:
                    self.over[unit].discard(share)
        for unit in range(len(self.unit_names)):
            self.kept_now_total[unit] = self.kept_after_total[unit] = 0
        for cells in self.cells_of:
            for cell, _ in cells:
                self.kept_now[cell] = self.kept_after[cell] = 0
                if self.keeps[cell]:
                    self._keep(cell)
        self.stale = _NONE

    def keep_for_blocked_owners(self) -> None:
        """C17 ``no``: idle capacity that is too small for its owner's first job in line is kept for it."""
        keeps = [
            self.kept_if(cell, self.after[cell]) > 0 or self.always_keeps[cell]
            for cells in self.cells_of
            for cell, _ in cells
        ]
        if keeps != self.keeps:
            self.keeps = keeps
            self._recount()
            self.unsettled |= self.waiting

    def kept_if(self, cell: int, after: int) -> int:
        """What the cell would keep from others, if its share used ``after`` instances."""
        idle = self.limit[cell] - after
        if idle <= 0 or self.always_keeps[cell]:
            return max(0, idle)
        share = cell // len(self.unit_names)
        if self.choices.blocked_owner_lends == "yes" or share not in self.waiting:
            return 0
        wanted = next((count for c, _, count in self.demand[-self.line[share][-1][3]] if c == cell), 0)
        return idle if wanted > idle else 0

    def freshen(self) -> None:
        """Bring ``kept_now``, ``kept_after`` and their totals up to date.

        One cell is left until it is asked: what a cell keeps is of no concern to the cell itself, and most changes
        are followed by a look at the same share.
        """
        if self.stale != _NONE:
            self._keep(self.stale)
            self.stale = _NONE

    def _changed(self, cell: int) -> None:
        """What the cell keeps has changed; that of another one is brought up to date."""
        self.freshen()
        self.stale = cell

    def _keep(self, cell: int) -> None:
        """Bring what the cell keeps from others up to date (``reserved`` of the specification)."""
        limit, unit = self.limit[cell], cell % len(self.unit_names)
        kept = limit - self.now[cell] - self.held[cell]
        if kept < 0:
            kept = 0
        self.kept_now_total[unit] += kept - self.kept_now[cell]
        self.kept_now[cell] = kept
        kept = limit - self.after[cell]
        if kept < 0:
            kept = 0
        self.kept_after_total[unit] += kept - self.kept_after[cell]
        self.kept_after[cell] = kept

    # --- jobs -----------------------------------------------------------------------------------

    def add(self, jobs: Sequence[Job]) -> None:
        """Make jobs known, in the order in which they are given. ``enqueue`` submits one."""
        units, shares, width = self.unit_index, self.share_index, len(self.unit_names)
        known: dict[tuple[Any, ...], Demand] = {}
        self.share_of += [shares[job.share] for job in jobs]
        for job in jobs:
            asked = (job.share, *job.demand.items())
            demand = known.get(asked)
            if demand is None:
                base = shares[job.share] * width
                demand = known[asked] = tuple((base + units[unit], units[unit], n) for unit, n in job.demand.items())
            self.demand.append(demand)
        default = self.choices.default_priority
        self.jobs += jobs
        self.priority += [default if job.priority is None else job.priority for job in jobs]
        submitted: list[float] = list(map(SUBMIT, jobs))
        self.submitted += submitted
        self.runnable_since += submitted
        self.line_key += [_NO_KEY] * len(jobs)
        self.run_key += [_NO_KEY] * len(jobs)
        self.phase += [Phase.NEW] * len(jobs)
        self.preemptions += [0] * len(jobs)

    def enqueue(self, job: int, place: float, turn: int = 0) -> None:
        """Put a job in its share's line at its place."""
        share = self.share_of[job]
        priority = self.priority[job]
        key: Any = (priority, -place, -turn, -job)
        self.line_key[job] = key
        self.phase[job] = WAITING
        line = self.line[share]
        if line and line[0][0] == priority and -place < line[0][1]:
            line.insert(0, key)  # as most do, after all that wait
        else:
            insort(line, key)
        self.waiting.add(share)
        if self.all_unsettle or -line[-1][3] == job:
            self.unsettled.add(share)

    def requeue(self, job: int, at: float, *, preempted: bool) -> None:
        """Put a job that ran back in line (C3 for a preempted one, C4 for the others)."""
        self.turns += 1
        self.runnable_since[job] = at
        if preempted:
            if self.choices.requeue == "back_of_priority":
                self.enqueue(job, at, self.turns)
                return
        elif self.choices.equal_priority == "runnable_since":
            self.enqueue(job, at)
            return
        self.enqueue(job, self.submitted[job])

    def dequeue(self, job: int) -> None:
        """Take a waiting job out of its line."""
        share = self.share_of[job]
        line = self.line[share]
        key = self.line_key[job]
        self.phase[job] = Phase.NEW
        if -line[-1][3] == job:
            line.pop()
        else:
            del line[bisect_left(line, key)]
        if line:
            self.unsettled.add(share)
        else:
            self._leave(share)
        if self.choices.blocked_owner_lends == "no":
            self.unsettled |= self.waiting  # what was kept for the job may be lent now

    def _leave(self, share: int) -> None:
        """The share's line is empty."""
        self.waiting.discard(share)
        self.unsettled.discard(share)
        for settled in self.settled_on:
            settled.discard(share)
        if self.owners:
            self.owners.discard(share)
        if self.expectant:
            self.expectant.discard(share)

    def set_priority(self, job: int, priority: int) -> None:
        """UpdateServiceJob: it takes part in the next decision (R13)."""
        self.priority[job] = priority
        phase = self.phase[job]
        if phase is Phase.WAITING:
            _, place, turn, _ = self.line_key[job]
            self.dequeue(job)
            self.enqueue(job, -place, int(-turn))
        elif phase is Phase.RUNNING:
            _, start, submit, _ = self.run_key[job]
            self._drop_runner(job)
            self._add_runner(job, (priority, start, submit, -job))
        self.unsettled |= self.waiting

    def _add_runner(self, job: int, key: RunKey) -> None:
        self.run_key[job] = key
        for cell, _, _ in self.demand[job]:
            insort(self.runners[cell], key)

    def _drop_runner(self, job: int) -> None:
        key = self.run_key[job]
        for cell, _, _ in self.demand[job]:
            runners = self.runners[cell]
            del runners[bisect_left(runners, key)]

    # --- capacity -------------------------------------------------------------------------------

    def start(self, job: int, at: float) -> None:
        """Dispatch a job, from its line or as a claimant: it holds its capacity from here on."""
        share = self.share_of[job]
        phase = self.phase[job]
        if phase is WAITING:
            line = self.line[share]
            if -line[-1][3] == job:
                line.pop()
                self.line_key[job] = _NO_KEY
                if not line:
                    self._leave(share)
            else:
                self.dequeue(job)
        self.phase[job] = RUNNING
        key: Any = (self.priority[job], -at, -self.submitted[job], -job)
        self.run_key[job] = key
        for cell, unit, count in self.demand[job]:
            self.now[cell] += count
            self.now_total[unit] += count
            if phase is not CLAIMING:
                self.after[cell] += count
                self.after_total[unit] += count
            if self.after[cell] > self.limit[cell]:
                self.over[unit].add(share)
                if self.owners:
                    self.unsettled |= self.owners & self.settled_on[unit]
            insort(self.runners[cell], key)
            if self.keeps[cell] and self.stale != cell:
                self._changed(cell)
        if self.expectant:
            self.unsettled |= self.expectant

    def end(self, job: int) -> None:  # noqa: C901 - the inner loop
        """A running job, or one being stopped, releases its capacity."""
        share = self.share_of[job]
        if self.phase[job] is STOPPING:
            self.stopping -= 1
            for cell, unit, count in self.demand[job]:
                self.now[cell] -= count
                self.now_total[unit] -= count
                if self.keeps[cell] and self.stale != cell:
                    self._changed(cell)
            self._stopped(job)
        else:
            key = self.run_key[job]
            for cell, unit, count in self.demand[job]:
                self.now[cell] -= count
                self.now_total[unit] -= count
                self.after[cell] -= count
                self.after_total[unit] -= count
                if self.over[unit] and self.after[cell] <= self.limit[cell]:
                    self.over[unit].discard(share)
                runners = self.runners[cell]
                del runners[bisect_left(runners, key)]
                if self.keeps[cell] and self.stale != cell:
                    self._changed(cell)
        self.phase[job] = ENDED
        self.run_key[job] = _NO_KEY  # of jobs that have ended, nothing is kept that nobody asks for
        if self.waiting:
            waits = share in self.waiting
            for cell, unit, _ in self.demand[job]:
                if waits:
                    # the head may start now, or has come to be inside its limit, or finds fewer of its own to stop
                    needs = self.needs[share]
                    free = self.borrow_pool[unit] - self.now_total[unit]
                    if needs <= free or needs <= self.limit[cell] - self.after[cell] or self.in_share[share]:
                        self.unsettled.add(share)
                settled = self.settled_on[unit]
                if settled and (len(settled) > 1 or share not in settled):
                    self.freed.add(unit)
                    self.tried.clear()

    def begin_stop(self, victim: int) -> None:
        """From here on the victim counts in *now* alone."""
        self._drop_runner(victim)
        self.phase[victim] = STOPPING
        self.stopping += 1
        self._count_after(victim, -1)

    def _count_after(self, job: int, sign: int) -> None:
        share = self.share_of[job]
        for cell, unit, count in self.demand[job]:
            self.after[cell] += sign * count
            self.after_total[unit] += sign * count
            if self.after[cell] > self.limit[cell]:
                self.over[unit].add(share)
            else:
                self.over[unit].discard(share)
            if self.keeps[cell] and self.stale != cell:
                self._changed(cell)
        self.unsettled |= self.owners
        self.unsettled |= self.expectant
        if share in self.waiting:
            self.unsettled.add(share)

    # --- claims ---------------------------------------------------------------------------------

    def claim(self, job: int, victims: Sequence[int]) -> None:
        """The job, in no line any more, waits for its victims to stop."""
        claim = Claim(job, victims, self.demand)
        self.claims.append(claim)
        for victim in victims:
            self.claim_of[victim] = claim
        self.phase[job] = Phase.CLAIMING
        self._count_after(job, 1)
        self._hold(claim, 1)

    def _hold(self, claim: Claim, sign: int) -> None:
        """Add or take away what is held for a claimant: its count less what its victims occupy."""
        if self.choices.freed_capacity == "open":
            return
        for cell, unit, count in self.demand[claim.job]:
            held = count - claim.occupied.get(unit, 0)
            if held > 0:
                self.held[cell] += sign * held
                self.held_total[unit] += sign * held
                if self.keeps[cell] and self.stale != cell:
                    self._changed(cell)

    def _stopped(self, victim: int) -> None:
        claim = self.claim_of.pop(victim, None)
        if claim is None:
            return
        claim.outstanding.discard(victim)
        live = claim in self.claims
        if live:
            self._hold(claim, -1)
        for _, unit, count in self.demand[victim]:
            claim.occupied[unit] -= count
        if live:
            self._hold(claim, 1)

    def drop_claim(self, claim: Claim, *, started: bool) -> None:
        """The claimant starts, or is gone; victims under way stop all the same."""
        self._hold(claim, -1)
        self.claims.remove(claim)
        if not started:
            self._count_after(claim.job, -1)
        self.unsettled |= self.waiting

    def held_for(self, claim: Claim, unit: int, count: int) -> int:
        """Instances of the unit held for this claimant of ``count``."""
        if self.choices.freed_capacity == "open":
            return 0
        return max(0, count - claim.occupied.get(unit, 0))

    # --- room -----------------------------------------------------------------------------------

    def room_now(self, cell: int, unit: int, pool: int) -> int:
        """Instances that a job of the cell's share may start on now (what ``look`` reckons too)."""
        if self.stale != cell:
            self.freshen()
        kept = self.kept_now_total[unit] - self.kept_now[cell] - self.overcommitted[unit]
        room = pool - self.now_total[unit] - self.held_total[unit]
        return room - kept if kept > 0 else room

    def room_after(self, cell: int, unit: int, pool: int) -> int:
        """Instances that a job of the cell's share will find when what is under way is over."""
        if self.stale != cell:
            self.freshen()
        kept = self.kept_after_total[unit] - self.kept_after[cell] - self.overcommitted[unit]
        room = pool - self.after_total[unit]
        return room - kept if kept > 0 else room

    def pool_for(self, cell: int, unit: int, count: int) -> int:
        """What there is to share: more for a borrower where unowned capacity may be borrowed (C6)."""
        if self.after[cell] + count > self.limit[cell]:
            return self.borrow_pool[unit]
        return self.pool[unit]

    def settle(self, share: int, job: int, can: int) -> None:
        """The share's one head has no move, and what it can do by itself is ``can``.

        It takes more room to change that, or something that unsettles every share or those of its
        kind. So an end is followed by a look at those heads alone that the room it makes may suffice for.
        """
        self.unsettled.discard(share)
        self.tried.add(share)
        demand = self.demand[job]
        if can == NEVER:
            self.needs[share] = _NEVER_ENOUGH
        else:
            self.needs[share] = demand[0][2] if len(demand) == 1 else ANY
        if self.settled_as[share] != demand:
            self._unsettle(share, demand)
        for _, unit, _ in demand:
            self.settled_on[unit].add(share)
        if can & INSIDE:
            self.owners.add(share)
        else:
            self.owners.discard(share)
        if can & WAITS:
            self.expectant.add(share)
        else:
            self.expectant.discard(share)

    def settle_stuck(self, share: int) -> None:
        """The share's head would have stopped others, had it found any: any end may help it, and who goes over."""
        self.unsettled.discard(share)
        self.tried.add(share)
        self.needs[share] = ANY
        self.owners.add(share)
        if self.all_unsettle:
            for settled in self.settled_on:
                settled.add(share)
            return
        demand = self.demand[-self.line[share][-1][3]]
        self._unsettle(share, demand)
        for _, unit, _ in demand:
            self.settled_on[unit].add(share)

    def settle_all(self) -> None:
        """No head has a move; those not settled yet would have stopped others, had they found any."""
        self.freed.clear()
        for share in [*self.unsettled]:
            self.settle_stuck(share)

    def _unsettle(self, share: int, demand: Demand) -> None:
        """The share's head asks for something else than its last one that was settled."""
        for _, unit, _ in self.settled_as[share]:
            self.settled_on[unit].discard(share)
        self.settled_as[share] = demand

    def roomy(self) -> list[int]:
        """Settled shares, not tried yet, for whose head the room that ends have made may suffice."""
        needs, unsettled, tried = self.needs, self.unsettled, self.tried
        found: list[int] = []
        for unit in self.freed:
            free = self.borrow_pool[unit] - self.now_total[unit]
            found += [
                share
                for share in self.settled_on[unit]
                if needs[share] <= free and share not in unsettled and share not in tried
            ]
        if not found:
            self.freed.clear()
        return found

    def reach(self, job: int) -> int:
        """INSIDE, NEVER or 0: what can be said of a waiting job without looking for room."""
        reach = INSIDE
        for cell, _, count in self.demand[job]:
            if count > self.largest[cell]:
                return NEVER
            if self.after[cell] + count > self.limit[cell]:
                reach = 0
        return reach

    def look(self, job: int) -> int:
        """What a waiting job can do by itself: a sum of INSIDE, STARTS, WAITS and NEVER.

        One walk over the job's units, as this is asked of every head after every event.
        """
        can = _STARTS_INSIDE
        for cell, unit, count in self.demand[job]:
            used = self.after[cell] + count
            if used > self.limit[cell]:
                if used > self.bound[cell]:
                    return self._look_at_stuck(job)
                can &= ~INSIDE
                pool = self.borrow_pool[unit]
            else:
                pool = self.pool[unit]
            if self.stale >= 0 and self.stale != cell:
                self.freshen()
            room = pool - self.now_total[unit] - self.held_total[unit]
            kept = self.kept_now_total[unit] - self.kept_now[cell] - self.overcommitted[unit]
            if count > (room - kept if kept > 0 else room) or self.now[cell] + count > self.bound[cell]:
                can = can & ~STARTS | WAITS
                if not (self.stopping or self.claims):  # what is now is what will be after
                    return self._look_at_stuck(job)
                if count > self.room_after(cell, unit, pool):
                    return self._look_at_stuck(job)
        return can

    def is_short(self, cell: int, unit: int, count: int) -> bool:
        """Does a job of so many instances lack bound or room on the unit, after?"""
        if self.after[cell] + count > self.bound[cell]:
            return True
        return count > self.room_after(cell, unit, self.pool_for(cell, unit, count))

    def _look_at_stuck(self, job: int) -> int:
        """The same of a job that does not fit, now or after."""
        inside = INSIDE
        for cell, _, count in self.demand[job]:
            if count > self.largest[cell]:
                return NEVER
            if self.after[cell] + count > self.limit[cell]:
                inside = 0
        return inside

    def claimant_can_start(self, claim: Claim) -> bool:
        """Move 0: bound and room now, its own hold not counted."""
        for cell, unit, count in self.demand[claim.job]:
            if self.now[cell] + count > self.bound[cell]:
                return False
            beyond = self.after[cell] > self.limit[cell]
            pool = self.borrow_pool[unit] if beyond else self.pool[unit]
            if count > self.room_now(cell, unit, pool) + self.held_for(claim, unit, count):
                return False
        return True

    def fronts(self, share: int) -> Iterator[int]:
        """The jobs of the share's line that a blocked job before them does not hold back (C5)."""
        line = self.line[share]
        head_of_line = self.choices.head_of_line
        if head_of_line == "strict":
            yield -line[-1][3]
            return
        held: set[int] = set()
        for key in reversed(line):
            job = -key[3]
            if head_of_line == "skip":
                yield job
                continue
            units = {unit for _, unit, _ in self.demand[job]}
            if not units & held:
                yield job
            held |= units

    def unfinished(self) -> int:
        """Jobs submitted and not ended, counted by where they are: those that have ended may be many."""
        running = {key[3] for runners in self.runners for key in runners}
        return sum(map(len, self.line)) + len(running) + self.stopping + len(self.claims)

    def usage(self) -> Mapping[str, Mapping[str, int]]:
        """Instances held now: share to unit to count."""
        return {
            name: {self.unit_names[unit]: self.now[cell] for cell, unit in cells}
            for name, cells in zip(self.share_names, self.cells_of, strict=True)
        }


_copied: Final = copier(State, _CHANGING, _CHANGING_LISTS)
