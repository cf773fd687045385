"""Guarantees gained and lost: what each share is promised before and after, and one word for it.

In closed form, from the two policies alone. Everything is symmetric: with the policies the other way round, better and
worse change places.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from policy_engine.guarantees import Guarantee, guarantees
from policy_engine.policy import Policy, State
from policy_engine.scheduler.bounds import Bounds
from policy_engine.scheduler.choices import Choices


class Word(StrEnum):
    """What became of all that a share is promised."""

    SAME = "same"
    BETTER = "better"
    WORSE = "worse"
    MIXED = "mixed"
    """Better in one thing and worse in another, or better for some of its jobs and worse for others."""

    @property
    def has_losses(self) -> bool:
        """Is there something that it had and has no more?"""
        return self in (Word.WORSE, Word.MIXED)


class Measure(StrEnum):
    """What a share can be promised; instances where it is a number."""

    THERE = "there is such a share"
    TAKES_JOBS = "takes new jobs and starts them"
    GUARANTEED = "guaranteed"
    """What it can always have back."""
    REACHABLE = "reachable"
    """The most that it can hold, and so its largest job."""
    AT_ONCE = "has at once"
    """What of its limit it has without anybody being stopped, even where all others hold as much as they can."""
    LENT_BY_OTHERS = "lent by others"
    """The limits of the shares that it can borrow from."""
    BORROWS_AT_ONCE = "can borrow at once"
    """What other borrowers leave it to borrow, even where they hold all that they can, while those that only lend are
    idle."""
    IN_SHARE = "in-share preemption"
    """Good for its urgent jobs and bad for the others, whichever way it is switched."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that a share is promised, before and after."""

    share: str
    unit: str | None
    """The instance type; None where it is about all of them."""
    measure: Measure
    old: int
    """Instances, or 1 for yes and 0 for no."""
    new: int

    @property
    def word(self) -> Word:
        """Better or worse; mixed for in-share preemption."""
        if self.measure is Measure.IN_SHARE:
            return Word.MIXED
        return Word.BETTER if self.new > self.old else Word.WORSE

    @property
    def told(self) -> str:
        """In words; lower case, no full stop."""
        return _TOLD[self.measure](self)


def word_of(differences: Iterable[Difference]) -> Word:
    """One word for all of them."""
    words = {difference.word for difference in differences}
    if not words:
        return Word.SAME
    return words.pop() if len(words) == 1 else Word.MIXED


def differences(old: Policy, new: Policy, choices: Choices) -> dict[str, tuple[Difference, ...]]:
    """Share to what is promised otherwise than before; shares of both policies, those of the old one first."""
    before, after = _Promises(old, choices), _Promises(new, choices)
    names = dict.fromkeys((*old.shares, *new.shares))
    return {name: tuple(_of_share(name, before, after)) for name in names}


class _Promises:
    """What one policy promises."""

    def __init__(self, policy: Policy, choices: Choices) -> None:
        self.policy = policy
        self.bounds = Bounds(policy, choices)
        self.of: defaultdict[str, dict[str, Guarantee]] = defaultdict(dict)
        for row in guarantees(policy, choices):
            self.of[row.share][row.unit] = row

    def takes_jobs(self, name: str) -> bool:
        """Are the share, the queue and the environment all switched on (R14)?"""
        states = (self.policy.shares[name].state, self.policy.state, self.policy.service_environment.state)
        return all(state is State.ENABLED for state in states)

    def at_once(self, name: str, unit: str) -> int:
        """What all others together cannot hold, and what is reserved for it."""
        policy, row = self.policy, self.of[name].get(unit)
        usable = min(policy.capacity(unit), policy.sum_of_limits(unit))
        left = usable - sum(self.bounds.reachable(other, unit) for other, _ in policy.others(name))
        if row is not None and not self.bounds.lends(name):
            left = max(left, row.guaranteed)
        return max(0, min(policy.shares[name].limit(unit), left))

    def may_borrow(self, name: str, unit: str) -> bool:
        """Does its borrow limit leave it any?"""
        return self.bounds.borrow_allowance(name, unit) != 0

    def borrows_at_once(self, name: str, unit: str) -> int:
        """What is left to borrow when all that is reserved is kept, and every other borrower holds all that it can.

        They cannot hold what is the share's own: what they borrow of that is reckoned under ``at_once``.
        """
        policy = self.policy
        left = min(policy.capacity(unit), policy.sum_of_limits(unit)) - policy.shares[name].limit(unit)
        for other, share in policy.others(name):
            if not self.bounds.lends(other) or share.strategy.borrows:
                left -= share.limit(unit) + self._borrowed_by(other, name, unit)
        allowance = self.bounds.borrow_allowance(name, unit)
        return max(0, left if allowance is None else min(allowance, left))

    def _borrowed_by(self, name: str, but: str, unit: str) -> int:
        """Most that a share may borrow of what all but one other lend."""
        others = ((other, share) for other, share in self.policy.others(name) if other != but)
        lent = sum(share.limit(unit) for other, share in others if self.bounds.lends(other))
        allowance = self.bounds.borrow_allowance(name, unit)
        return lent if allowance is None else min(allowance, lent)


def _of_share(name: str, old: _Promises, new: _Promises) -> Iterator[Difference]:
    there = name in old.policy.shares, name in new.policy.shares
    if not all(there):
        yield Difference(name, None, Measure.THERE, *map(int, there))
        return
    yield from _differing(name, None, Measure.TAKES_JOBS, old.takes_jobs(name), new.takes_jobs(name))
    for unit in dict.fromkeys((*old.of[name], *new.of[name])):
        yield from _on_unit(name, unit, old, new)
    in_share = (promises.policy.shares[name].in_share_preemption for promises in (old, new))
    yield from _differing(name, None, Measure.IN_SHARE, *in_share)


def _on_unit(name: str, unit: str, old: _Promises, new: _Promises) -> Iterator[Difference]:
    before, after = old.of[name].get(unit), new.of[name].get(unit)
    sides = (before, after)
    guaranteed = [0 if row is None else row.guaranteed for row in sides]
    yield from _differing(name, unit, Measure.GUARANTEED, *guaranteed)
    yield from _differing(name, unit, Measure.REACHABLE, *(0 if row is None else row.reachable for row in sides))
    yield from _differing(name, unit, Measure.AT_ONCE, old.at_once(name, unit), new.at_once(name, unit))
    yield from _borrowing(name, unit, old, new)


def _borrowing(name: str, unit: str, old: _Promises, new: _Promises) -> Iterator[Difference]:
    """What there is to borrow, where the share may borrow before and after; else ``reachable`` says it."""
    if old.may_borrow(name, unit) and new.may_borrow(name, unit):
        lent = (promises.bounds.lenders_limits(name, unit) for promises in (old, new))
        yield from _differing(name, unit, Measure.LENT_BY_OTHERS, *lent)
        at_once = (promises.borrows_at_once(name, unit) for promises in (old, new))
        yield from _differing(name, unit, Measure.BORROWS_AT_ONCE, *at_once)


def _differing(name: str, unit: str | None, measure: Measure, old: int, new: int) -> Iterator[Difference]:
    if old != new:
        yield Difference(name, unit, measure, int(old), int(new))


# --- in words ---------------------------------------------------------------------------------------


def _there(difference: Difference) -> str:
    return "a new share" if difference.new else "there is no such share any more"


def _takes_jobs(difference: Difference) -> str:
    return "takes new jobs again" if difference.new else "takes or starts no new jobs any more"


def _guaranteed(difference: Difference) -> str:
    return f"can always have {difference.new:,} {difference.unit} back, not {difference.old:,}"


def _reachable(difference: Difference) -> str:
    return f"can reach {difference.new:,} {difference.unit}, not {difference.old:,}, and so can its largest job"


def _at_once(difference: Difference) -> str:
    old, new, unit = difference.old, difference.new, difference.unit
    return f"other shares' jobs leave it {new:,} {unit} without being stopped first, not {old:,}"


def _lent(difference: Difference) -> str:
    return f"others lend {difference.new:,} {difference.unit} that it may borrow, not {difference.old:,}"


def _borrows_at_once(difference: Difference) -> str:
    return (
        f"other borrowers leave it {difference.new:,} {difference.unit} to borrow while those that only lend are idle,"
        f" not {difference.old:,}"
    )


def _in_share(difference: Difference) -> str:
    if difference.new:
        return "its urgent jobs stop its less urgent ones now"
    return "its urgent jobs no longer stop its less urgent ones"


_TOLD: Final = {
    Measure.THERE: _there,
    Measure.TAKES_JOBS: _takes_jobs,
    Measure.GUARANTEED: _guaranteed,
    Measure.REACHABLE: _reachable,
    Measure.AT_ONCE: _at_once,
    Measure.LENT_BY_OTHERS: _lent,
    Measure.BORROWS_AT_ONCE: _borrows_at_once,
    Measure.IN_SHARE: _in_share,
}
