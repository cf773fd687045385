"""When two states have the same future: the key under which a state is remembered.

What cannot matter any more is left out (names and ended jobs, absolute times, the order of starts where victims are
open), and interchangeable jobs are put in one order. Each reduction can be turned off, and a test compares verdicts
with and without.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from math import inf
from typing import Any, Final, TypeAlias

from policy_engine.scheduler.jobs import Job, UpdatePriority
from policy_engine.scheduler.state import Phase, State
from policy_engine.simulation import Clock

_NEW, _WAITING, _RUNNING, _ENDED = int(Phase.NEW), int(Phase.WAITING), int(Phase.RUNNING), int(Phase.ENDED)
_PHASES = len(Phase)

Ranks: TypeAlias = Mapping[int, int]
Entry: TypeAlias = tuple[int, int, Any, int, int, int, int, int, Any]
"""What of a job its future depends on; two of them can be put in order."""
_NO_RANKS: Final[Ranks] = {}


class Keys:
    """Makes keys for the states of one exploration."""

    def __init__(
        self,
        clock: Clock,
        open_choices: frozenset[str],
        named: frozenset[str],
        *,
        symmetry: bool,
        timed: bool,
        come_at_any_time: bool = False,
    ) -> None:
        """Keys for the states that follow from the clock's.

        Args:
            clock: before anything has happened.
            open_choices: the choices that may fall differently each time.
            named: jobs that an expectation asks about; they are interchangeable with no other.
            symmetry: take interchangeable jobs and shares for one another.
            timed: does it matter when what is under way ends?
            come_at_any_time: jobs come in any order.
        """
        self.come_at_any_time = come_at_any_time
        self.timed = timed
        self.symmetry = symmetry
        self.orders_matter = not {"share_order", "idle_assignment"} <= open_choices
        self.starts_matter = "victims" not in open_choices
        self.keeps_place = clock.choices.requeue == "keep_place"
        self.kind_of = [self._kind(job, named) for job in clock.jobs]
        self.counted = [
            job.preemption_retries is not None or job.attempts > 1 or job.timeout is not None or job.exit != "succeeded"
            for job in clock.jobs
        ]
        self.alike_shares = self._alike_shares(clock) if symmetry and not self.orders_matter else []
        updated = any(isinstance(update, UpdatePriority) for update in clock.updates)
        self.runners_are_alike = symmetry and not (self.orders_matter or self.starts_matter or updated)
        self.open_ended = [
            job.duration is None and not counted for job, counted in zip(clock.jobs, self.counted, strict=True)
        ]
        self.phases_suffice = self._phases_suffice(clock)
        """With no stop under way, a state is the phases of its jobs, each share's in the order of their places."""
        self.jobs_suffice = (
            self.phases_suffice
            and self.keeps_place
            and not clock.updates
            and not come_at_any_time
            and _is_instant(clock)
        )
        """A state is which of its jobs wait and which run."""
        self.each_by_itself = not symmetry and not come_at_any_time and self.keeps_place
        self.codes, self.order = self._codes(clock)
        self.interchanges = symmetry and (len(self.alike_shares) > 0 or len(set(self.codes)) < len(self.codes))
        """Are any jobs or shares taken for one another?"""
        self.in_line = [job for jobs in self.order for job in jobs]
        in_line = [self.codes[job] for job in self.in_line]
        self.kinds_stand_together = (
            self.keeps_place and not (come_at_any_time or self.alike_shares) and in_line == sorted(in_line)
        )

    def _phases_suffice(self, clock: Clock) -> bool:
        return not (
            self.orders_matter
            or self.starts_matter
            or any(self.counted)
            or any(job.duration is not None for job in clock.jobs)
            or any(isinstance(update, UpdatePriority) for update in clock.updates)
            or clock.timing.queue_latency
            or clock.policy.job_state_time_limits
        )

    def _codes(self, clock: Clock) -> tuple[list[int], list[list[int]]]:
        """A number for each job, the same for interchangeable ones, and each share's jobs in the order of their places.

        Numbers are far enough apart for a phase to be added.
        """
        state = clock.state
        order: list[list[int]] = [[] for _ in state.share_names]
        for job, share in enumerate(state.share_of):
            order[share].append(job)
        order = [sorted(jobs, key=lambda job: self._place(state, job)) for jobs in order]
        kinds: dict[Hashable, int] = {}
        codes = [0] * len(clock.jobs)
        for share, jobs in enumerate(order):
            for job in jobs:
                kind = (None if self.alike_shares else share, self.kind_of[job], state.priority[job])
                codes[job] = kinds.setdefault(kind, len(kinds) * _PHASES)
        return codes, order

    @staticmethod
    def _place(state: State, job: int) -> tuple[int, float, int]:
        return (-state.priority[job], state.submitted[job], job)

    def _kind(self, job: Job, named: frozenset[str]) -> Hashable:
        if not self.symmetry or job.name in named:
            return job.name
        demand = tuple(sorted(job.demand.items()))
        return (
            demand,
            job.duration,
            job.shortest,
            job.checkpoint_every,
            job.preemption_retries,
            job.attempts,
            job.timeout,
            job.exit,
        )

    def _alike_shares(self, clock: Clock) -> list[list[int]]:
        """Shares that are declared alike and to which the same is submitted at the same times."""
        signs: dict[Hashable, list[int]] = {}
        for number, name in enumerate(clock.state.share_names):
            jobs = tuple(
                (self.kind_of[n], job.priority, job.submit, job.started)
                for n, job in enumerate(clock.jobs)
                if job.share == name
            )
            declared = clock.policy.shares[name].model_dump_json()
            updated = any(getattr(update, "share", name) == name for update in clock.updates)
            signs.setdefault((declared, jobs) if not updated else number, []).append(number)
        return [alike for alike in signs.values() if len(alike) > 1]

    def key(self, clock: Clock, memory: Hashable) -> Hashable:
        """The same for two states with the same future, given what the expectations remember."""
        if self.phases_suffice and not clock.state.claims and not clock.due:
            return (len(clock.arrivals), len(clock.updates), self._key_of_phases(clock), memory)
        return self._key(clock, memory)

    def _key_of_phases(self, clock: Clock) -> Hashable:
        """The same for states with the same future, where ``phases_suffice``."""
        phase = clock.state.phase
        if self.each_by_itself:
            return bytes(phase)
        codes = self.codes
        if self.kinds_stand_together:
            found = [codes[job] + phase[job] for job in self.in_line if _NEW < phase[job] < _ENDED]
            found.sort()
            return tuple(found)
        if not self.keeps_place:
            shares = [self._in_new_places(clock, number) for number in range(len(self.order))]
            self.interchange(shares)
            return tuple(shares)
        order = self.order
        if self.come_at_any_time:
            order = [sorted(jobs, key=lambda job: self._place(clock.state, job)) for jobs in order]
        shares = [self._of_phases(jobs, phase) for jobs in order]
        self.interchange(shares)
        return tuple(shares)

    def share_of_phases(self, share: int, phase: Sequence[int]) -> tuple[int, ...]:
        """The part of the key that is of one share, where ``jobs_suffice``."""
        return self._of_phases(self.order[share], phase)

    def _of_phases(self, jobs: Sequence[int], phase: Sequence[int]) -> tuple[int, ...]:
        codes = self.codes
        return tuple(self._in_one_order([codes[job] + phase[job] for job in jobs if _NEW < phase[job] < _ENDED]))

    def _in_new_places(self, clock: Clock, share: int) -> tuple[int, ...]:
        """Those that wait as they stand in line, and those that run, whose old places do not matter any more."""
        state = clock.state
        running = (job for job in self.order[share] if state.phase[job] is Phase.RUNNING)
        return (
            *(self.codes[-key[3]] + _WAITING for key in reversed(state.line[share])),
            *sorted(self.codes[job] + _RUNNING for job in running),
        )

    def groups(self, state: State) -> list[int] | None:
        """Of each job a number that it shares with those that are interchangeable with it while all of them run.

        These are neighbours of one kind, of open duration, among the jobs of a share that have not ended; or any of one
        kind where a preempted job loses its place. None where no two jobs are.
        """
        if not self.runners_are_alike:
            return None
        groups = list(range(len(state.phase)))
        for jobs in self.order:
            in_line = sorted(jobs, key=lambda job: self._place(state, job)) if self.come_at_any_time else jobs
            self._group(in_line, state.phase, groups)
        return groups

    def groups_of_phases(self, phase: Sequence[int]) -> list[int]:
        """The same by the phases of all jobs, where ``jobs_suffice``."""
        groups = list(range(len(phase)))
        for jobs in self.order:
            self._group(jobs, phase, groups)
        return groups

    def _group(self, in_line: Sequence[int], phase: Sequence[int], groups: list[int]) -> None:
        """Note the groups of one share's jobs."""
        firsts: dict[int, int] = {}
        for job in in_line:
            code = self.codes[job]
            if not _NEW < phase[job] < _ENDED:
                continue
            if self.keeps_place and code not in firsts:
                firsts.clear()
            if self.open_ended[job]:
                groups[job] = firsts.setdefault(code, job)

    def _in_one_order(self, codes: list[int]) -> list[int]:
        """Neighbours of one kind interchanged."""
        if not self.symmetry or len(codes) < 2:
            return codes
        start, kind = 0, codes[0] // _PHASES
        for end in range(1, len(codes)):
            if codes[end] // _PHASES != kind:
                if end - start > 1:
                    codes[start:end] = sorted(codes[start:end])
                start, kind = end, codes[end] // _PHASES
        codes[start:] = sorted(codes[start:])
        return codes

    def _key(self, clock: Clock, memory: Hashable) -> Hashable:
        state = clock.state
        phase = state.phase
        live = [job for job, at in enumerate(phase) if _NEW < at < _ENDED]
        timed = self._times(clock, live) if self.timed else {}
        claims = {claim.job: place for place, claim in enumerate(state.claims)}
        ranks, turns, starts = self._orders(clock, live)
        by_share: list[list[tuple[tuple[float, float, int], Entry]]] = [[] for _ in state.share_names]
        for job in live:
            if phase[job] is Phase.WAITING:
                _, place, turn, _ = state.line_key[job]
                order = (-place, -turn, job)
            else:
                order = (state.submitted[job] if self.keeps_place else inf, 0.0, job)
            victim_of = state.claim_of.get(job)
            entry = (
                self.codes[job] + phase[job],
                state.priority[job],
                timed.get(job, ()),
                ranks.get(job, -1),
                turns.get(job, -1),
                starts.get(job, -1),
                claims.get(job, -1),
                -2 if victim_of is None else claims.get(victim_of.job, -1),
                (state.preemptions[job], clock.placements[job], clock.resumes[job]) if self.counted[job] else (),
            )
            by_share[state.share_of[job]].append((order, entry))
        shares = [self._share_key(entries) for entries in by_share]
        self.interchange(shares)
        return (
            len(clock.arrivals),
            len(clock.updates),
            tuple(shares),
            tuple((at - clock.at, job) for at, job, _ in sorted(clock.limits)),
            tuple(at - clock.at for at in sorted(clock.decisions)),
            timed.get(-1),
            memory,
        )

    def _orders(self, clock: Clock, live: list[int]) -> tuple[Ranks, Ranks, Ranks]:
        """The orders that still matter, of submissions, of turns in line and of starts: job to rank."""
        state = clock.state
        ranks, turns, starts = _NO_RANKS, _NO_RANKS, _NO_RANKS
        if self.orders_matter:
            ranks = self._ranks(state.submitted, live)
            if state.choices.idle_assignment == "runnable_since":
                turns = self._ranks(state.runnable_since, live)
        if self.starts_matter:
            running = [job for job in live if state.phase[job] is Phase.RUNNING]
            running.sort(key=lambda job: state.run_key[job][1:])
            starts = {job: rank for rank, job in enumerate(running)}
        return ranks, turns, starts

    def _share_key(self, entries: list[tuple[tuple[float, float, int], Entry]]) -> tuple[Entry, ...]:
        """The jobs of one share in the order of their places, neighbours of one kind interchanged."""
        entries.sort()
        found = [entry for _, entry in entries]
        if not self.symmetry:
            return tuple(found)
        start = 0
        for end in range(1, len(found) + 1):
            if end == len(found) or not _alike(found[end], found[start]):
                if end - start > 1:
                    found[start:end] = sorted(found[start:end])
                start = end
        return tuple(found)

    def interchange(self, shares: list[Any]) -> None:
        """Put shares that are alike in one order."""
        for alike in self.alike_shares:
            ordered = sorted(shares[number] for number in alike)
            for number, value in zip(alike, ordered, strict=True):
                shares[number] = value

    @staticmethod
    def _ranks(times: list[float], jobs: list[int]) -> Mapping[int, int]:
        return {job: rank for rank, job in enumerate(sorted(jobs, key=lambda job: (times[job], job)))}

    @staticmethod
    def _times(clock: Clock, live: list[int]) -> dict[int, tuple[float, ...]]:
        """Of each job with an end to come: when, from now, and how much of its work is kept."""
        phase, left = clock.state.phase, clock.work_left
        timed: dict[int, tuple[float, ...]] = {
            job: (left[job],) for job in live if phase[job] is Phase.WAITING and left[job] < inf
        }
        valid = {job: at for at, job, stamp in clock.due if stamp == clock.stamp[job]}
        for job, at in valid.items():
            timed[job] = (at - clock.at, clock.ends_at[job] - clock.at, left[job])
        if valid:
            timed[-1] = (clock.next_instant() - clock.at,)
        return timed


def _alike(one: Entry, other: Entry) -> bool:
    """Are two jobs of one kind and one priority?"""
    return (one[0] // _PHASES, one[1]) == (other[0] // _PHASES, other[1])


def _is_instant(clock: Clock) -> bool:
    """Do stops and starts take no time?"""
    timing = clock.timing
    return timing.stop_seconds == timing.start_seconds == timing.restart_seconds == 0
