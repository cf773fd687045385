"""The laws. Each says what is wrong, or None where nothing is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from policy_engine.scheduler.state import Phase as EnginePhase
from policy_engine.scheduler.state import State
from tests.laws.account import Account, Phase
from tests.laws.room import (
    can_start,
    claimant_can_start,
    findable_set,
    in_some_order,
    is_inside,
    is_legal,
    is_lower,
    lacking,
)


class BrokenLawError(AssertionError):
    """A run broke a law."""

    def __init__(self, law: str, at: float, what: str) -> None:
        super().__init__(f"{law} is broken at {at:g} s: {what}")
        self.law = law


@dataclass(frozen=True)
class Preemption:
    """One decision to stop jobs; the account stands as it was before."""

    claimant: int
    """-1 where a lowered limit is the reason (C11 ``at_once``)."""
    victims: tuple[int, ...]
    """In the order taken."""


# --- after every start ----------------------------------------------------------------------------------


def within_bounds(account: Account, job: int) -> str | None:
    """R1, R5: a start never takes usage beyond a bound. Above a bound that was lowered, usage only falls."""
    declared, share = account.declared, account.share[job]
    for unit, _ in account.demand[job]:
        used, bound = account.now[share, unit], declared.bound(share, unit)
        if used > bound:
            return f"{account.name(job)} takes {share} to {used} {unit}, its bound is {bound}"
        total, usable = account.now_total[unit], declared.usable_by(unit, beyond=True)
        if total > usable:
            return f"{account.name(job)} takes all shares together to {total} of {usable} {unit}"
    return None


def reserved_never_lent(account: Account, job: int) -> str | None:
    """R4: what a RESERVE share does not use is left alone by the others, but for what is over-committed."""
    declared, share = account.declared, account.share[job]
    for unit, _ in account.demand[job]:
        held = account.held()
        taken = {other: account.now[other, unit] + held[other, unit] for other in declared.reserving if other != share}
        idle = sum(max(0, declared.limit(other, unit) - count) for other, count in taken.items())
        kept = max(0, idle - declared.over_committed[unit])
        used, usable = account.now_total[unit], declared.usable_by(unit, beyond=True)
        if kept and used + kept > usable:
            return (
                f"{account.name(job)} runs on what is reserved: {used} of {usable} {unit} used, {kept} kept for others"
            )
    return None


def held_for_its_claimant(account: Account, job: int) -> str | None:
    """C13: what victims have freed goes to nobody but the job they were stopped for."""
    for unit, _ in account.demand[job]:
        held = sum(count for (_, on), count in account.held().items() if on == unit)
        used, usable = account.now_total[unit], account.declared.usable_by(unit, beyond=True)
        if held and used + held > usable:
            return (
                f"{account.name(job)} runs on what is held: {used} of {usable} {unit} used, {held} held for claimants"
            )
    return None


# --- at every decision to stop jobs -----------------------------------------------------------------------


def no_futile_eviction(account: Account, decision: Preemption) -> str | None:
    """Nobody is stopped for a job that fits without, or does not fit with it."""
    claimant = decision.claimant
    if claimant < 0:
        return None
    if not lacking(account, claimant):
        return f"{account.name(claimant)} fits without stopping {_names(account, decision.victims)}"
    if short := lacking(account, claimant, account.sum_of(decision.victims)):
        return f"{account.name(claimant)} lacks {short} also without {_names(account, decision.victims)}"
    return None


def victims_are_minimal(account: Account, decision: Preemption) -> str | None:
    """C8: no victim could be left out."""
    claimant, victims = decision.claimant, decision.victims
    if claimant < 0:
        return None
    short = lacking(account, claimant)
    for spared in victims:
        fewer = [victim for victim in victims if victim != spared]
        if is_legal(account, claimant, fewer, short):
            return (
                f"{account.name(spared)} is stopped for {account.name(claimant)}, and {_names(account, fewer)} would do"
            )
    return None


def only_lower_in_share(account: Account, decision: Preemption) -> str | None:
    """R8: nobody is stopped by its equal or lower in its share, nor where the share has not opted in."""
    claimant = decision.claimant
    for victim in decision.victims:
        own = claimant >= 0 and account.share[victim] == account.share[claimant]
        if own and not is_lower(account, victim, claimant):
            return (
                f"{account.name(victim)} of priority {account.priority[victim]} is stopped by {account.name(claimant)}"
                f" of its share, of priority {account.priority[claimant]}"
            )
    return None


def only_over_limit_loses(account: Account, decision: Preemption) -> str | None:
    """R7, R11: across shares only jobs of a share over its limit are stopped, and only for an owner."""
    claimant = decision.claimant
    share = account.share[claimant] if claimant >= 0 else None
    others = [victim for victim in decision.victims if account.share[victim] != share]
    if not others:
        return None
    units = account.declared.units if claimant < 0 else lacking(account, claimant) or dict(account.demand[claimant])
    if not in_some_order(account, others, units):
        return f"{_names(account, others)} are stopped though a share is within its limit"
    if claimant >= 0 and not _is_owner(account, claimant, decision.victims):
        return f"{account.name(claimant)} stops {_names(account, others)} and ends beyond its own limit"
    return None


def _is_owner(account: Account, claimant: int, victims: Sequence[int]) -> bool:
    if is_inside(account, claimant, account.sum_of(victims)):
        return True
    limits = [
        (count, account.declared.limit(account.share[claimant], unit)) for unit, count in account.demand[claimant]
    ]
    return account.choices.partly_borrowed == "yes" and any(count > limit for count, limit in limits)


def _names(account: Account, jobs: Sequence[int]) -> str:
    return " and ".join(map(account.name, jobs))


# --- at the end of every pass -----------------------------------------------------------------------------


def no_claimant_is_left(account: Account) -> str | None:
    """Nobody waits who may start or may have others stopped. With C10 ``yes`` this is less than there may be."""
    if not account.declared.dispatching:
        return None
    for claimant, victims in account.victims.items():
        if not victims and claimant_can_start(account, claimant):
            return f"{account.name(claimant)} waits, all its victims have stopped, and there is bound and room"
    for share in account.line:
        for job in account.heads(share):
            if can_start(account, job):
                return f"{account.name(job)} waits and could start"
            if lacking(account, job) and (found := findable_set(account, job)):
                return f"{account.name(job)} waits and could have {_names(account, found)} stopped"
    return None


_ENGINE_PHASES = {
    Phase.NEW: {EnginePhase.NEW},
    Phase.WAITING: {EnginePhase.WAITING},
    Phase.CLAIMING: {EnginePhase.CLAIMING},
    Phase.RUNNING: {EnginePhase.RUNNING},
    Phase.STOPPING: {EnginePhase.STOPPING},
    Phase.ENDED: {EnginePhase.ENDED},
}


def instances_are_conserved(account: Account, state: State) -> str | None:
    """What the engine counts is what the jobs hold that the log says hold it; no job is lost or doubled."""
    for number, share in enumerate(state.share_names):
        for cell, unit in state.cells_of[number]:
            name = state.unit_names[unit]
            counted = state.now[cell], state.after[cell]
            held = account.now[share, name], account.after[share, name]
            if counted != held:
                return f"{share} has {held} {name} now and after by the log, and {counted} by the engine's count"
    for unit, name in enumerate(state.unit_names):
        counted = state.now_total[unit], state.after_total[unit]
        held = account.now_total[name], account.after_total[name]
        if counted != held:
            return f"all shares have {held} {name} now and after by the log, and {counted} by the engine's count"
    for job, phase in enumerate(account.phase):
        if state.phase[job] not in _ENGINE_PHASES[phase]:
            return f"{account.name(job)} is {phase.name} by the log and {state.phase[job].name} for the engine"
    return None
