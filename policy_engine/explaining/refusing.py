"""Why nobody is stopped for a job that has no room: the first rule in the way of each kind of preemption."""

from __future__ import annotations

from policy_engine.expectations.wording import counted, listed
from policy_engine.explaining.reasons import About, Because, Reason
from policy_engine.scheduler.moves import Pass
from policy_engine.scheduler.state import INSIDE, RunKey, State
from policy_engine.scheduler.victims import Kind, Search, Shortfall, most_taken

_ABOUT = {Kind.CROSS: About.ACROSS_SHARES, Kind.OWN: About.IN_SHARE, Kind.MIXED: About.BOTH}

_NO_MIXED = frozenset({Because.LARGER_THAN_LIMIT, Because.REST_NOT_IDLE})
"""What also rules out a set of both kinds: with any victim of another share, the job ends up inside its own limit."""


def refusals(moves: Pass, job: int) -> tuple[Reason, ...] | None:
    """Why nobody is stopped for a job at the front of its share that neither starts nor will fit.

    None where somebody could be stopped for it.
    """
    asked = _Asked(moves, job)
    across = asked.across_shares()
    own = None if across is None else asked.in_share()
    if across is None or own is None:
        return None
    found = [across, own]
    if own.because is Because.TOO_LITTLE and across.because not in _NO_MIXED:
        search = Search(asked.state, job, Kind.MIXED)
        if search.cross_candidates():
            both = asked.searched(search)
            if both is None:
                return None
            found.append(both)
    return tuple(found)


class _Asked:
    """One job for which somebody might be stopped."""

    def __init__(self, moves: Pass, job: int) -> None:
        self.moves = moves
        self.state: State = moves.state
        self.job = job
        self.share = self.state.share_of[job]
        self.share_name = self.state.share_names[self.share]

    # --- jobs of other shares -------------------------------------------------------------------

    def across_shares(self) -> Reason | None:
        """Why the share takes nothing back (R7); None where it can."""
        state = self.state
        larger = [part for part in state.demand[self.job] if part[2] > state.limit[part[0]]]
        if larger:
            return self._larger(*larger[0])
        if not state.look(self.job) & INSIDE:
            return self._beyond()
        return self._reclaim(Search(state, self.job, Kind.CROSS))

    def _larger(self, cell: int, unit: int, count: int) -> Reason | None:
        """C10: it is larger than its share's own limit."""
        state = self.state
        name, limit = state.unit_names[unit], state.limit[cell]
        if not self.moves.partly_borrowed:
            told = f"it needs {count} {name} and {self.share_name}'s own limit is {limit}: it takes nothing back"
            numbers = {"count": count, "limit": limit}
            return Reason(
                Because.LARGER_THAN_LIMIT,
                told,
                numbers,
                About.ACROSS_SHARES,
                unit=name,
                rests_on=("partly_borrowed",),
            )
        for part in state.demand[self.job]:
            if not self.moves.own_part_suffices(*part):
                return self._rest_not_idle(*part)
        return self._reclaim(Search(state, self.job, Kind.CROSS, partly=True))

    def _rest_not_idle(self, cell: int, unit: int, count: int) -> Reason:
        state, name = self.state, self.state.unit_names[unit]
        own = max(0, min(count, state.limit[cell] - state.after[cell]))
        room = max(0, state.room_after(cell, unit, state.pool_for(cell, unit, count)))
        told = f"of the {count} {name} it needs, {own} are {self.share_name}'s own and can be taken back; of the other"
        return Reason(
            Because.REST_NOT_IDLE,
            f"{told} {count - own}, {min(room, count - own)} are idle",
            {"count": count, "own": own, "room": room},
            About.ACROSS_SHARES,
            unit=name,
            rests_on=("partly_borrowed",),
        )

    def _beyond(self) -> Reason:
        """It would borrow: what is lent to its share is nobody's to take back."""
        state = self.state
        cell, unit, count = next(
            part for part in state.demand[self.job] if state.after[part[0]] + part[2] > state.limit[part[0]]
        )
        used, limit, name = state.after[cell], state.limit[cell], state.unit_names[unit]
        told = (
            f"{self.share_name} uses {used} {name} of its limit {limit}; with {count} more it would borrow"
            f" {used + count - limit}, and nobody is stopped for that"
        )
        numbers = {"count": count, "usage": used, "limit": limit}
        return Reason(Because.BEYOND_LIMIT, told, numbers, About.ACROSS_SHARES, unit=name)

    def _reclaim(self, search: Search) -> Reason | None:
        if search.cells and search.cross_candidates():
            return self.searched(search)
        state = self.state
        unit = next(unit for cell, unit, count in state.demand[self.job] if state.is_short(cell, unit, count))
        name = state.unit_names[unit]
        over = sorted(share for share in state.over[unit] if share != self.share)
        told = f"no other share uses more {name} than its limit"
        if over:
            # what stops already, or is claimed by a job that has not started, cannot be stopped
            names = [state.share_names[share] for share in over]
            is_one = len(names) == 1
            told = f"{listed(names)} {'is' if is_one else 'are'} over the limit, and no job of"
            told = f"{told} {'it' if is_one else 'them'} can be stopped"
        return Reason(
            Because.NOBODY_OVER_LIMIT,
            told,
            {"over_limit": len(over)},
            About.ACROSS_SHARES,
            unit=name,
            shares=self._usages(unit),
        )

    def _usages(self, unit: int) -> dict[str, dict[str, int]]:
        """Usage and limit of the other shares that use the unit, when everything under way is over."""
        state = self.state
        cells = {name: cells[unit][0] for name, cells in zip(state.share_names, state.cells_of, strict=True)}
        return {
            name: {"usage": state.after[cell], "limit": state.limit[cell]}
            for name, cell in cells.items()
            if state.after[cell] and name != self.share_name
        }

    # --- jobs of its own share ------------------------------------------------------------------

    def in_share(self) -> Reason | None:
        """Why no job of its own share is stopped (R8); None where one can."""
        state = self.state
        if not state.in_share[self.share]:
            told = f"in-share preemption of {self.share_name} is off"
            return Reason(Because.IN_SHARE_OFF, told, about=About.IN_SHARE)
        cells = [cell for cell, _, _ in state.demand[self.job]]
        keys = [state.runners[cell][0] for cell in cells if state.runners[cell]]
        units = listed([state.unit_names[unit] for _, unit, _ in state.demand[self.job]])
        if not keys:
            told = f"no job of {self.share_name} runs on {units}"
            return Reason(Because.NOTHING_RUNS, told, about=About.IN_SHARE)
        lowest = min(keys)
        if lowest[0] >= state.priority[self.job]:
            return self._no_lower(lowest, units)
        return self.searched(Search(state, self.job, Kind.OWN))

    def _no_lower(self, lowest: RunKey, units: str) -> Reason:
        state = self.state
        own, name = state.priority[self.job], state.jobs[-lowest[3]].name
        is_equal = lowest[0] == own
        told = (
            f"the lowest priority of {self.share_name} that runs on {units} is {lowest[0]}, of {name}:"
            f" {'equal to' if is_equal else 'higher than'} its own{'' if is_equal else f', {own}'}"
        )
        return Reason(
            Because.EQUAL_PRIORITY if is_equal else Because.HIGHER_PRIORITY,
            told,
            {"priority": own, "lowest_priority": lowest[0]},
            About.IN_SHARE,
            jobs=(name,),
            rests_on=("default_priority",) if self._is_by_default(-lowest[3]) else (),
        )

    def _is_by_default(self, other: int) -> bool:
        """Does one of the two state no priority?"""
        return any(self.state.jobs[job].priority is None for job in (self.job, other))

    # --- candidates that would not do -----------------------------------------------------------

    def searched(self, search: Search) -> Reason | None:
        """Why there is no legal set among candidates that there are; None where there is one."""
        keys = search.cross_candidates() if search.kind & Kind.CROSS else []
        if search.kind & Kind.OWN:
            keys = [*keys, *search.own_candidates()]
        lacking = search.shortfall(_most_freed(search), crosses=bool(search.kind & Kind.CROSS))
        if lacking is None and search.taken() is not None:
            return None
        return self._too_little(search, keys, lacking)

    def _too_little(self, search: Search, keys: list[RunKey], lacking: Shortfall | None) -> Reason:
        state, about = self.state, _ABOUT[search.kind]
        jobs = tuple(state.jobs[-key[3]].name for key in keys)
        if lacking is None:
            order, number = state.choices.victims, counted(len(jobs), "candidate")
            told = f"taken in the order of {order}, no set of the {number} makes room while they are over their limits"
            return Reason(
                Because.NO_LEGAL_SET, told, {"candidates": len(jobs)}, about, jobs=jobs, rests_on=("victims",)
            )
        name, left = state.unit_names[lacking.unit], max(0, lacking.left)
        held = sum(n for key in keys for _, unit, n in state.demand[-key[3]] if unit == lacking.unit)
        together = "" if len(jobs) == 1 else " together"
        told = (
            f"{listed(jobs)}{together} would leave {left} of the {lacking.wanted} {name} that it needs: that would be"
            " futile"
        )
        numbers = {"needed": lacking.wanted, "left": left, "candidates": len(jobs), "held": held}
        return Reason(Because.TOO_LITTLE, told, numbers, about, unit=name, jobs=jobs)


def _most_freed(search: Search) -> dict[int, int]:
    """Instances of each cell that candidates can give up, where jobs of others go only while above their limit."""
    state, freed = search.state, dict[int, int]()
    if search.kind & Kind.OWN:
        for key in search.own_candidates():
            for cell, _, count in state.demand[-key[3]]:
                freed[cell] = freed.get(cell, 0) + count
    if len(state.demand[search.job]) > 1:
        return {**(search.most_freed() or {}), **freed}
    for cell, _ in search.cells if search.kind & Kind.CROSS else ():
        counts = [n for key in state.runners[cell] for c, _, n in state.demand[-key[3]] if c == cell]
        freed[cell] = most_taken([], counts, state.after[cell] - state.limit[cell])
    return freed
