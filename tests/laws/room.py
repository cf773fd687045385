"""Bound and room, now and after, as the specification has them (*One pass*); and what a legal set of victims is."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import combinations

from tests.laws.account import Account
from tests.laws.declared import Cell

NOTHING: Mapping[Cell, int] = {}
MOST_TRIED = 12
"""Candidates up to which every set of them is tried."""


def reserved(account: Account, share: str, unit: str, gone: Mapping[Cell, int] | None) -> int:
    """Idle capacity of other shares that the share may not have; *now* where ``gone`` is None, else after it is gone.

    With C17 ``no`` also what is too little for its owner's first job in line.
    """
    declared = account.declared
    held = account.held() if gone is None else NOTHING
    kept = 0
    for other in declared.shares:
        if other == share:
            continue
        if gone is None:
            idle = declared.limit(other, unit) - account.now[other, unit] - held.get((other, unit), 0)
        else:
            idle = -account.excess(other, unit, gone)
        if idle > 0 and (other in declared.reserving or _is_blocked(account, other, unit, gone or NOTHING)):
            kept += idle
    return max(0, kept - declared.over_committed[unit])


def _is_blocked(account: Account, share: str, unit: str, gone: Mapping[Cell, int]) -> bool:
    if account.choices.blocked_owner_lends == "yes" or not account.line[share]:
        return False
    *_, head = account.line[share][0]
    return dict(account.demand[head]).get(unit, 0) > -account.excess(share, unit, gone) > 0


def room_now(account: Account, job: int, unit: str, *, beyond: bool, own_hold: int = 0) -> int:
    """What the job may start on; the hold of its own claim does not count."""
    usable = account.declared.usable_by(unit, beyond=beyond)
    held = sum(count for (_, on), count in account.held().items() if on == unit) - own_hold
    return usable - account.now_total[unit] - held - reserved(account, account.share[job], unit, None)


def can_start(account: Account, job: int) -> bool:
    """Has a waiting job bound and room, now and after?"""
    share, declared = account.share[job], account.declared
    for unit, count in account.demand[job]:
        bound = declared.bound(share, unit)
        if account.now[share, unit] + count > bound or account.after[share, unit] + count > bound:
            return False
        beyond = account.after[share, unit] + count > declared.limit(share, unit)
        if count > room_now(account, job, unit, beyond=beyond):
            return False
    return True


def claimant_can_start(account: Account, job: int) -> bool:
    """Has a claimant bound and room now? *After* counts it already."""
    share, declared, own = account.share[job], account.declared, account.held_for(job)
    for unit, count in account.demand[job]:
        if account.now[share, unit] + count > declared.bound(share, unit):
            return False
        beyond = account.after[share, unit] > declared.limit(share, unit)
        if count > room_now(account, job, unit, beyond=beyond, own_hold=own.get(unit, 0)):
            return False
    return True


def lacking(account: Account, job: int, gone: Mapping[Cell, int] = NOTHING) -> list[str]:
    """The units on which a waiting job will not fit, once what is gone is gone."""
    share, declared = account.share[job], account.declared
    short = []
    for unit, count in account.demand[job]:
        used = account.after[share, unit] - gone.get((share, unit), 0) + count
        beyond = used > declared.limit(share, unit)
        total = account.after_total[unit] - sum(n for (_, on), n in gone.items() if on == unit)
        room = declared.usable_by(unit, beyond=beyond) - total - reserved(account, share, unit, gone)
        if used > declared.bound(share, unit) or count > room:
            short.append(unit)
    return short


def is_inside(account: Account, job: int, gone: Mapping[Cell, int] = NOTHING) -> bool:
    """Does the job leave its share within its own limit?"""
    share = account.share[job]
    return all(account.excess(share, unit, gone) + count <= 0 for unit, count in account.demand[job])


# --- victims ------------------------------------------------------------------------------------------


def may_be_taken(account: Account, victim: int, units: Collection[str], gone: Mapping[Cell, int]) -> bool:
    """Is its share over its limit, on one of the units, when it is taken?"""
    share = account.share[victim]
    return any(unit in units and account.excess(share, unit, gone) > 0 for unit, _ in account.demand[victim])


def in_some_order(account: Account, victims: Sequence[int], units: Collection[str]) -> bool:
    """Can they be taken one after the other, each while its share is over its limit?

    A job that may be taken last may be: taking the others before it leaves their share further over.
    """
    left = list(victims)
    while left:
        for last in left:
            others = [victim for victim in left if victim != last]
            if may_be_taken(account, last, units, account.sum_of(others)):
                left = others
                break
        else:
            return False
    return True


def is_lower(account: Account, victim: int, claimant: int) -> bool:
    """Is it of strictly lower priority, in a share that has in-share preemption?"""
    share = account.declared.shares[account.share[claimant]]
    return share.in_share and account.priority[victim] < account.priority[claimant]


def is_legal(account: Account, claimant: int, victims: Sequence[int], short: Collection[str]) -> bool:
    """A legal set (*A legal set*), for a claimant that is short of those units."""
    share = account.share[claimant]
    others = [victim for victim in victims if account.share[victim] != share]
    gone = account.sum_of(victims)
    return (
        bool(victims)
        and all(is_lower(account, victim, claimant) for victim in victims if account.share[victim] == share)
        and not lacking(account, claimant, gone)
        and (not others or is_inside(account, claimant, gone))
        and in_some_order(account, others, short)
    )


def candidates(account: Account, claimant: int, short: Collection[str]) -> list[int]:
    """Every job that some legal set might hold."""
    share, found = account.share[claimant], []
    units = {unit for unit, _ in account.demand[claimant]}
    for other, running in account.running.items():
        for job in sorted(running):
            if other != share:
                if may_be_taken(account, job, short, NOTHING):
                    found.append(job)
            elif is_lower(account, job, claimant) and any(unit in units for unit, _ in account.demand[job]):
                found.append(job)
    return found


def in_walk(account: Account, victims: Sequence[int], units: Collection[str]) -> bool:
    """Does the walk of C8 take all of these, where it leaves out all others?

    It takes one after the other in its own order, and may thereby bring a share to its limit too soon. ``fewest_jobs``
    tries every order.
    """
    if account.choices.victims == "fewest_jobs":
        return in_some_order(account, victims, units)
    taken: list[int] = []
    while len(taken) < len(victims):
        gone = account.sum_of(taken)
        able = [job for job in victims if job not in taken and may_be_taken(account, job, units, gone)]
        if not able:
            return False
        taken.append(min(able, key=lambda job: _rank(account, job, units, gone)))
    return True


def _rank(account: Account, job: int, units: Collection[str], gone: Mapping[Cell, int]) -> tuple[float, ...]:
    """The place of another share's job in the order of C8."""
    share, start = account.share[job], account.started[job]
    too_large = any(n > account.excess(share, unit, gone) for unit, n in account.demand[job] if unit in units)
    first: dict[str, tuple[float, ...]] = {
        "borrowed_first": (too_large,),
        "lowest_priority": (),
        "newest": (-start,),
        "oldest": (start,),
        "largest": (-account.jobs[job].instances,),
    }
    return (*first[account.choices.victims], account.priority[job], -start, -account.submitted[job], -job)


def findable_set(account: Account, claimant: int) -> tuple[int, ...] | None:
    """A legal set that the rule of C8 comes to, whatever it tries before.

    Where all candidates together would not do there is none; of very many not all sets are tried.
    """
    short = lacking(account, claimant)
    possible = candidates(account, claimant, short)
    if not possible or lacking(account, claimant, account.sum_of(possible)):
        return None
    sizes = range(1, len(possible) + 1) if len(possible) <= MOST_TRIED else (1, 2, len(possible))
    sets = (victims for size in sizes for victims in combinations(possible, size))
    share = account.share[claimant]
    for victims in sets:
        others = [victim for victim in victims if account.share[victim] != share]
        if is_legal(account, claimant, victims, short) and in_walk(account, others, short):
            return victims
    return None
