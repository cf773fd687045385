"""Why a waiting job does not start: the first rule that stands in the way, on the state as it is."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, replace
from itertools import takewhile

from policy_engine.expectations.wording import counted, listed
from policy_engine.explaining.capacity import Capacity, Course, changes, room_after, room_of_claim
from policy_engine.explaining.reasons import About, Because, Diagnosis, Reason
from policy_engine.explaining.refusing import refusals
from policy_engine.scheduler.bounds import Bounds, Rule
from policy_engine.scheduler.state import NEVER, STARTS, WAITS, Claim, Phase
from policy_engine.simulation import Clock
from policy_engine.workload.durations import duration_text


class ContradictionError(RuntimeError):
    """A job waits though nothing stands in its way: a bug of the engine or of the explanation."""


_UNCONSIDERED = {
    Because.DECISION_PENDING: "nobody is stopped before the decision comes",
    Because.ENVIRONMENT_DISABLED: "nobody is stopped while the service environment is DISABLED",
    Because.NEVER_FITS: "nobody is stopped for a job that can never fit",
    Because.NOT_FIRST: "nobody is stopped for a job that is not first in line",
    Because.STOP_UNDER_WAY: "nobody is stopped for what a stop under way will give",
    Because.HELD: "nobody is stopped for what a stop under way will give",
    Because.ITS_VICTIMS_STOP: "nobody else is stopped for a job that others are being stopped for",
}
"""Of a job for which no victims are looked for."""
_OF_BORROWERS = frozenset({Rule.BORROW_LIMIT, Rule.LENDERS})


@dataclass(frozen=True, slots=True)
class Queue:
    """A queue at a moment of a run."""

    clock: Clock
    policies: Course

    def diagnose(self, job: int) -> Diagnosis:
        """Why the job waits, and why nobody is stopped for it.

        Raises ContradictionError where nothing stands in its way.
        """
        state = self.clock.state
        name = state.jobs[job].name
        if state.phase[job] is Phase.CLAIMING:
            return self._unconsidered(name, self._claim(next(claim for claim in state.claims if claim.job == job)))
        if not state.dispatching:
            return self._unconsidered(name, self._disabled())
        before = self._before(job)
        if before is not None:
            diagnosis = self._unconsidered(name, self._not_first(job, before))
            never = self._never_fits(job)
            further = () if never is None else (never,)
            return replace(diagnosis, ahead=self.diagnose(before), further=further)
        return self._of_front(job)

    def _of_front(self, job: int) -> Diagnosis:
        """Of a job that no other job of its share holds back."""
        state = self.clock.state
        name = state.jobs[job].name
        can = state.look(job)
        if can == NEVER and (never := self._never_fits(job)) is not None:
            return self._unconsidered(name, never)
        if can & STARTS:
            return self._unconsidered(name, self._pending(job))
        if can & WAITS:
            return self._unconsidered(name, self._under_way(job))
        refused = refusals(self.clock.passes, job)
        if refused is None:
            return self._unconsidered(name, self._pending(job))
        return Diagnosis(name, self._in_the_way(job), refused)

    @staticmethod
    def _unconsidered(name: str, waits: Reason) -> Diagnosis:
        text = _UNCONSIDERED.get(waits.because)
        refused = () if text is None else (Reason(waits.because, text, about=About.ANYBODY, rule=waits.rule),)
        return Diagnosis(name, waits, refused)

    # --- what is not about capacity -------------------------------------------------------------

    def _pending(self, job: int) -> Reason:
        """It could move: the decision is yet to come."""
        if not self.clock.decisions:
            name = self.clock.state.jobs[job].name
            raise ContradictionError(f"{name!r} waits at {self.clock.at} s and could move: please report this")
        at, latency = self.clock.decisions[0], self.clock.timing.queue_latency
        return Reason(
            Because.DECISION_PENDING,
            f"the decision comes at {duration_text(at)}: queue_latency is {duration_text(latency)}",
            {"decision_at": at, "queue_latency": latency},
        )

    def _disabled(self) -> Reason:
        since, _ = changes(self.policies, lambda policy: policy.service_environment.state)[-1]
        when = f" since {duration_text(since)}" if since > 0 else ""
        return Reason(
            Because.ENVIRONMENT_DISABLED,
            f"the service environment is DISABLED{when} and dispatches nothing",
            {"since": since},
        )

    def _before(self, job: int) -> int | None:
        """The job that holds it back in its share's line (C5); None where none does."""
        state = self.clock.state
        line = state.line[state.share_of[job]]
        match state.choices.head_of_line:
            case "strict":
                first = -line[-1][3]
                return None if first == job else first
            case "per_unit":
                units = {unit for _, unit, _ in state.demand[job]}
                in_line = takewhile(lambda other: other != job, (-key[3] for key in reversed(line)))
                return next((o for o in in_line if units & {unit for _, unit, _ in state.demand[o]}), None)
        return None

    def _not_first(self, job: int, before: int) -> Reason:
        state = self.clock.state
        share, line = state.jobs[job].share, state.line[state.share_of[job]]
        # the head is the last of a sorted line
        ahead, first = len(line) - 1 - bisect_left(line, state.line_key[job]), state.jobs[before].name
        own, other = state.priority[job], state.priority[before]
        rests_on = ["head_of_line"]
        if own == other:
            why = f"has the same priority, {own}, and stands before it"
            rests_on.append("equal_priority")
            if state.preemptions[job] or state.preemptions[before]:
                rests_on.append("requeue")
        else:
            why = f"has the higher priority, {other} to {own}"
        units = "" if state.choices.head_of_line == "strict" else f" for {self._common_unit(job, before)}"
        return Reason(
            Because.NOT_FIRST,
            f"{counted(ahead, 'job')} of {share} {'is' if ahead == 1 else 'are'} before it in line; {first}, which is"
            f" first{units}, {why}",
            {"place": ahead + 1, "before": ahead, "priority": own, "first_priority": other},
            jobs=(first,),
            rests_on=tuple(rests_on),
        )

    def _common_unit(self, job: int, before: int) -> str:
        state = self.clock.state
        units = {unit for _, unit, _ in state.demand[before]}
        return next(state.unit_names[unit] for _, unit, _ in state.demand[job] if unit in units)

    def _never_fits(self, job: int) -> Reason | None:
        clock, what = self.clock, self.clock.state.jobs[job]
        misfit = Bounds(clock.policy, clock.choices).never_fits(what.share, what.demand)
        if misfit is None:
            return None
        stuck_since = clock.stuck.get(job, (None, None))[1]
        ends = next((at for at, stuck, since in clock.limits if stuck == job and since == stuck_since), None)
        ended = "" if ends is None else f"; a job state time limit ends it at {duration_text(ends)}"
        numbers = {"count": misfit.count, "allowed": misfit.allowed, "largest": misfit.largest}
        return Reason(
            Because.NEVER_FITS,
            f"asks for {misfit.count} {misfit.unit}; {misfit.rule} allows {misfit.allowed}, and the largest job of"
            f" {what.share} that can run has {misfit.largest}{ended}",
            numbers if ends is None else {**numbers, "ends_at": ends},
            rule=misfit.rule.value,
            unit=misfit.unit,
            aws_reason=misfit.reason,
            rests_on=self._capacity(job, misfit.unit).bound_rests_on() if misfit.rule in _OF_BORROWERS else (),
        )

    # --- stops under way ------------------------------------------------------------------------

    def _due(self) -> dict[int, float]:
        """Of each job that is being stopped, when it has stopped."""
        clock = self.clock
        return {
            job: at
            for at, job, stamp in clock.due
            if stamp == clock.stamp[job] and clock.state.phase[job] is Phase.STOPPING
        }

    def _claim(self, claim: Claim) -> Reason:
        """It claims what its victims hold, or held."""
        state, due = self.clock.state, self._due()
        if claim.outstanding:
            victims = sorted(claim.outstanding)
            at = max(due[victim] for victim in victims)
            names = tuple(state.jobs[victim].name for victim in victims)
            return Reason(
                Because.ITS_VICTIMS_STOP,
                f"{listed(names)} {'is' if len(names) == 1 else 'are'} being stopped for it until {duration_text(at)}",
                {"until": at},
                jobs=names,
                rests_on=("stop_seconds",),
            )
        if not state.dispatching:
            return self._disabled()
        for cell, unit, count in state.demand[claim.job]:
            capacity = Capacity(state, self.policies, cell, unit)
            used = state.now[cell]
            room = room_of_claim(state, cell, unit, state.held_for(claim, unit, count))
            if used + count > state.bound[cell]:
                return capacity.beyond_bound(count, used)
            if count > room.left:
                return capacity.too_little_room(count, room)
        return self._pending(claim.job)

    def _under_way(self, job: int) -> Reason:
        """It will fit when what is under way is over; now it lacks bound or room."""
        state, due = self.clock.state, self._due()
        cell, unit, count = next(part for part in state.demand[job] if self._lacks_now(*part))
        pool = state.pool_for(cell, unit, count)
        room = state.room_now(cell, unit, pool)
        stopping = sorted((v for v in due if any(u == unit for _, u, _ in state.demand[v])), key=lambda v: (due[v], v))
        names = tuple(state.jobs[victim].name for victim in stopping)
        claimants = tuple(
            state.jobs[claim.job].name
            for claim in state.claims
            if any(u == unit and state.held_for(claim, u, n) for _, u, n in state.demand[claim.job])
        )
        held = state.held_total[unit]
        is_held = state.now[cell] + count <= state.bound[cell] and count <= room + held
        numbers: dict[str, float] = {"count": count, "room": max(0, room), "held": held}
        told = f"{max(0, room)} {state.unit_names[unit]} are free for it now and it needs {count}"
        if names:
            numbers["until"] = due[stopping[-1]]
            told += f"; {listed(names)} {'stops' if len(names) == 1 else 'stop'} by {duration_text(due[stopping[-1]])}"
        if held:
            told += f"; {held} are held for {listed(claimants)}"
        return Reason(
            Because.HELD if is_held else Because.STOP_UNDER_WAY,
            f"{told}; it will fit when that is over",
            numbers,
            unit=state.unit_names[unit],
            jobs=(*names, *claimants),
            rests_on=("freed_capacity", "stop_seconds") if is_held else ("stop_seconds",),
        )

    def _lacks_now(self, cell: int, unit: int, count: int) -> bool:
        state = self.clock.state
        room = state.room_now(cell, unit, state.pool_for(cell, unit, count))
        return count > room or state.now[cell] + count > state.bound[cell]

    # --- bound and room -------------------------------------------------------------------------

    def _in_the_way(self, job: int) -> Reason:
        """The bound of its share, or else the room, when everything under way is over."""
        state = self.clock.state
        for cell, unit, count in state.demand[job]:
            capacity, room = Capacity(state, self.policies, cell, unit), room_after(state, cell, unit, count)
            if state.after[cell] + count > state.bound[cell]:
                return capacity.beyond_bound(count, state.after[cell])
            if count > room.left:
                return capacity.too_little_room(count, room)
        raise ContradictionError(f"{state.jobs[job].name!r} lacks nothing: please report this")

    def _capacity(self, job: int, unit: str) -> Capacity:
        state = self.clock.state
        number = state.unit_index[unit]
        return Capacity(state, self.policies, state.cells_of[state.share_of[job]][number][0], number)
