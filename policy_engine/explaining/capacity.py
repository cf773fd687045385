"""Why there is not enough capacity for a job: the bound of its share, or the room in the queue."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from policy_engine.expectations.wording import listed
from policy_engine.explaining.reasons import Because, Reason
from policy_engine.policy import UNLIMITED, Policy
from policy_engine.policy import State as Switch
from policy_engine.scheduler.bounds import Bounds
from policy_engine.scheduler.state import State
from policy_engine.workload.durations import duration_text

_WHY_KEPT: Final[Mapping[str | None, str]] = {
    None: "RESERVE",
    "disabled_share_lends": "DISABLED",
    "blocked_owner_lends": "its own first job waits for more",
}
"""The open choice by which a share keeps what is idle to why it does."""

Course = Sequence[tuple[float, Policy]]
"""The policies of a run so far, each with since when it holds; the present one last."""


@dataclass(frozen=True, slots=True)
class Room:
    """What there is of a unit for one job: now, or when everything under way is over."""

    pool: int
    """Instances that there are for all."""
    by_cell: Sequence[int]
    """Usage."""
    used: int
    """Usage of all."""
    free: int
    """The pool less the usage and what is held for others."""
    kept_by_cell: Sequence[int]
    """Idle capacity that is kept from others."""
    kept: int
    """What is kept from this job; where shares are over-committed, it may be below 0."""
    beyond: bool
    """Does the job leave its share beyond its own limit?"""

    @property
    def left(self) -> int:
        """What is left for the job, in instances."""
        return self.free - max(0, self.kept)


def room_after(state: State, cell: int, unit: int, count: int) -> Room:
    """What a waiting job of so many instances will find when everything under way is over."""
    state.freshen()
    pool = state.pool_for(cell, unit, count)
    return Room(
        pool=pool,
        by_cell=state.after,
        used=state.after_total[unit],
        free=pool - state.after_total[unit],
        kept_by_cell=state.kept_after,
        kept=state.kept_after_total[unit] - state.kept_after[cell] - state.overcommitted[unit],
        beyond=state.after[cell] + count > state.limit[cell],
    )


def room_of_claim(state: State, cell: int, unit: int, held: int) -> Room:
    """What a claimant, for which ``held`` instances are held, finds now."""
    state.freshen()
    beyond = state.after[cell] > state.limit[cell]
    pool = (state.borrow_pool if beyond else state.pool)[unit]
    return Room(
        pool=pool,
        by_cell=state.now,
        used=state.now_total[unit],
        free=pool - state.now_total[unit] - state.held_total[unit] + held,
        kept_by_cell=state.kept_now,
        kept=state.kept_now_total[unit] - state.kept_now[cell] - state.overcommitted[unit],
        beyond=beyond,
    )


@dataclass(frozen=True, slots=True)
class Capacity:
    """Bound and room of one share on one unit."""

    state: State
    policies: Course
    cell: int
    unit: int

    @property
    def share(self) -> str:
        """The share's name."""
        return self.state.share_names[self.cell // len(self.state.unit_names)]

    @property
    def name(self) -> str:
        """The unit's name."""
        return self.state.unit_names[self.unit]

    @property
    def policy(self) -> Policy:
        """The present one."""
        return self.state.policy

    # --- the bound ------------------------------------------------------------------------------

    def beyond_bound(self, count: int, used: int) -> Reason:
        """R3, R4 and R5: what a share may hold at once."""
        declared, name = self.policy.shares[self.share], self.name
        limit, bound = self.state.limit[self.cell], self.state.bound[self.cell]
        numbers: dict[str, float] = {"count": count, "usage": used, "limit": limit, "bound": bound}
        more = f"{count} more would be {used + count}"
        if not declared.strategy.borrows:
            told = f"{self.share} uses {used} {name} of its limit {limit} and borrows nothing, as it is"
            told = f"{told} {declared.strategy}; {more}"
            return Reason(Because.OWN_LIMIT, told, numbers, unit=name)
        bounds, percent = Bounds(self.policy, self.state.choices), declared.effective_borrow_limit
        allowance, lent = bounds.borrow_allowance(self.share, name), bounds.lenders_limits(self.share, name)
        numbers["lenders_limits"] = lent
        told = f"{self.share} uses {used} {name} and may hold {bound}: its limit {limit}"
        rests_on = self.bound_rests_on()
        if allowance is not None and allowance <= lent:
            numbers |= {"borrow_limit": percent, "allowance": allowance}
            told = f"{told} and {percent} % of it, {allowance}, on top; {more}"
            return Reason(Because.BORROW_LIMIT, told, numbers, unit=name, rests_on=rests_on)
        told = f"{told} and the {lent} of the other lending shares; {more}"
        return Reason(Because.LENDERS_LIMITS, told, numbers, unit=name, rests_on=rests_on)

    def bound_rests_on(self) -> tuple[str, ...]:
        """Open choices that the bound of a borrower depends on."""
        declared, found = self.policy.shares[self.share], []
        percent = declared.effective_borrow_limit
        if percent > 0 and percent * declared.limit(self.name) % 100:
            found.append("borrow_rounding")
        lenders = (other for _, other in self.policy.others(self.share) if other.strategy.lends)
        if any(other.state is Switch.DISABLED and other.limit(self.name) for other in lenders):
            found.append("disabled_share_lends")
        if self.name not in declared.capacity_limits and percent == UNLIMITED:
            found.append("undeclared_unit")
        return tuple(found)

    # --- the room -------------------------------------------------------------------------------

    def too_little_room(self, count: int, room: Room) -> Reason:
        """R1: what there is for all, less what is used, less what is reserved for others; the first that is short."""
        state = self.state
        numbers: dict[str, float] = {
            "count": count,
            "capacity": state.capacity[self.unit],
            "limits": self.policy.sum_of_limits(self.name),
            "usable": room.pool,
            "used": room.used,
            "reserved": max(0, room.kept),
            "room": max(0, room.left),
        }
        reason = Reason(Because.IN_USE, "", numbers, unit=self.name, shares=self._shares(room))
        if count <= room.free:
            return self._reserved(reason, count, room)
        lowered = self._lowered(count, room)
        if lowered is not None:
            return self._held_back(reason, count, room, *lowered)
        unowned = state.capacity[self.unit] - room.pool
        if room.beyond and unowned > 0 and count <= room.left + unowned:
            told = (
                f"the shares declare {room.pool} of the {state.capacity[self.unit]} {self.name} and use {room.used};"
                f" the other {unowned} belong to no share and are not used"
            )
            numbers["unowned"] = unowned
            return replace(reason, because=Because.UNOWNED, message=told, rests_on=("unallocated",))
        whose = "service environment has" if room.pool == state.capacity[self.unit] else "shares have"
        users = ", ".join(f"{share} {row['usage']}" for share, row in reason.shares.items() if row["usage"])
        told = (
            f"the {whose} {room.pool} {self.name} and {room.used} {_are(room.used)} in use ({users}); it needs {count}"
        )
        return replace(reason, message=told)

    def _shares(self, room: Room) -> dict[str, dict[str, int]]:
        """Usage and limit of every share that has any of the unit."""
        state = self.state
        cells = {name: cells[self.unit][0] for name, cells in zip(state.share_names, state.cells_of, strict=True)}
        rows = {name: {"usage": room.by_cell[cell], "limit": state.limit[cell]} for name, cell in cells.items()}
        return {name: row for name, row in rows.items() if any(row.values())}

    def _reserved(self, reason: Reason, count: int, room: Room) -> Reason:
        keepers = list(self._keepers(room))
        whose = [f"{share} ({_WHY_KEPT[choice]})" for share, choice in keepers]
        kept, left = max(0, room.kept), max(0, room.left)
        told = (
            f"{room.free} of {room.pool} {self.name} {_are(room.free)} idle, of which {kept} {_are(kept)} kept for"
            f" {listed(whose)}: {left} {_are(left)} left and it needs {count}"
        )
        rests_on = tuple(dict.fromkeys(choice for _, choice in keepers if choice is not None))
        return replace(reason, because=Because.RESERVED, message=told, rests_on=rests_on)

    def _keepers(self, room: Room) -> Iterator[tuple[str, str | None]]:
        """Other shares that keep idle instances to themselves, and the open choice by which a lender does."""
        state = self.state
        for name, cells in zip(state.share_names, state.cells_of, strict=True):
            cell = cells[self.unit][0]
            if cell == self.cell or not room.kept_by_cell[cell]:
                continue
            if not self.policy.shares[name].strategy.lends:
                yield name, None
            else:
                yield name, "disabled_share_lends" if state.always_keeps[cell] else "blocked_owner_lends"

    def _held_back(self, reason: Reason, count: int, room: Room, at: float, before: int) -> Reason:
        told = (
            f"the service environment was lowered from {before} {self.name} to {self.state.capacity[self.unit]} at"
            f" {duration_text(at)}, and {room.used} {_are(room.used)} in use; it needs {count}"
        )
        numbers = {**reason.numbers, "lowered_from": before, "lowered_at": at}
        return replace(reason, because=Because.ENVIRONMENT_LOWERED, message=told, numbers=numbers)

    def _lowered(self, count: int, room: Room) -> tuple[float, int] | None:
        """When the environment's capacity was lowered and from what, if the job would fit but for that."""
        limits = self.policy.sum_of_limits(self.name)
        kept = room.kept + self.state.overcommitted[self.unit]
        unowned = room.beyond and self.state.choices.unallocated == "borrowable"
        course = changes(self.policies, lambda policy: policy.capacity(self.name))
        for (_, before), (at, after) in reversed(list(pairwise(course))):
            capacity = before.capacity(self.name)
            pool = capacity if unowned else min(capacity, limits)
            reserved = max(0, kept - max(0, limits - capacity))
            if capacity > after.capacity(self.name) and count <= room.free - room.pool + pool - reserved:
                return at, capacity
        return None


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def changes(course: Course, what: Callable[[Policy], object]) -> list[tuple[float, Policy]]:
    """Those policies that brought another value, the first among them."""
    found = [course[0]]
    found += [later for earlier, later in pairwise(course) if what(earlier[1]) != what(later[1])]
    return found
