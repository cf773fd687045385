"""What is declared at a time, in plain numbers: R4, R5 and what the service environment and the limits come to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from policy_engine.policy import Policy
from policy_engine.scheduler.choices import Choices
from policy_engine.scheduler.jobs import DeleteShare, Update, UpdateServiceEnvironment, UpdateShare

Cell = tuple[str, str]
"""A share and a unit."""


@dataclass
class ShareTerms:
    """What one share declares; ``borrow_limit`` -1 does not limit."""

    limits: dict[str, int]
    strategy: str
    borrow_limit: int
    in_share: bool
    enabled: bool


class Declared:
    """What is declared, and what follows from it. Changes with the updates of a run."""

    def __init__(self, policy: Policy, choices: Choices, units: Iterable[str]) -> None:
        self.choices = choices
        self.units = list(dict.fromkeys((*policy.units, *units)))
        self.capacity = dict(policy.service_environment.capacity_limits)
        self.dispatching = policy.service_environment.state == "ENABLED"
        self.shares = {
            name: ShareTerms(
                dict(share.capacity_limits),
                str(share.strategy),
                -1 if share.borrow_limit is None else share.borrow_limit,
                share.in_share_preemption,
                share.state == "ENABLED",
            )
            for name, share in policy.shares.items()
        }
        self._work_out()

    def apply(self, update: Update) -> None:
        """What is None stays (R11, R14, R16)."""
        if isinstance(update, UpdateShare):
            share = self.shares[update.share]
            share.limits = share.limits if update.capacity_limits is None else dict(update.capacity_limits)
            share.strategy = update.strategy or share.strategy
            if share.strategy != "LEND_AND_BORROW":
                share.borrow_limit = -1
            share.borrow_limit = share.borrow_limit if update.borrow_limit is None else update.borrow_limit
            share.in_share = share.in_share if update.in_share_preemption is None else update.in_share_preemption
            share.enabled = share.enabled if update.state is None else update.state == "ENABLED"
        elif isinstance(update, DeleteShare):
            del self.shares[update.share]
        elif isinstance(update, UpdateServiceEnvironment):
            self.capacity = self.capacity if update.capacity_limits is None else dict(update.capacity_limits)
            self.dispatching = self.dispatching if update.state is None else update.state == "ENABLED"
        self._work_out()

    def _work_out(self) -> None:
        self.limits: dict[Cell, int] = {}
        """What each share declares for each unit, 0 where nothing."""
        self.bounds: dict[Cell, int] = {}
        """Most that each share may use (R3, R4, R5)."""
        self.usable: dict[str, int] = {}
        """What there is to share of each unit, but for what nobody declares."""
        self.over_committed: dict[str, int] = {}
        self.reserving = {name for name in self.shares if self._reserves(name)}
        """Shares whose idle capacity nobody else may have."""
        for unit in self.units:
            declared = {name: share.limits.get(unit, 0) for name, share in self.shares.items()}
            total, capacity = sum(declared.values()), self.capacity.get(unit, 0)
            self.usable[unit] = min(total, capacity)
            self.over_committed[unit] = max(0, total - capacity)
            lent = sum(limit for name, limit in declared.items() if name not in self.reserving)
            for name, limit in declared.items():
                others = lent if name in self.reserving else lent - limit
                self.limits[name, unit] = limit
                self.bounds[name, unit] = limit + self._borrowable(self.shares[name], unit, others)

    def _reserves(self, name: str) -> bool:
        share = self.shares[name]
        return share.strategy == "RESERVE" or (not share.enabled and self.choices.disabled_share_lends == "no")

    def _borrowable(self, share: ShareTerms, unit: str, lent_by_others: int) -> int:
        """R5 in instances; C7 and C16 are what AWS leaves open of it."""
        if share.strategy != "LEND_AND_BORROW":
            return 0
        limit = share.limits.get(unit, 0)
        if share.borrow_limit == -1:
            undeclared = limit == 0 and self.choices.undeclared_unit == "no"
            return 0 if undeclared else lent_by_others
        whole, rest = divmod(share.borrow_limit * limit, 100)
        more = {"down": 0, "up": rest > 0, "nearest": rest >= 50}[self.choices.borrow_rounding]
        return min(whole + more, lent_by_others)

    def limit(self, share: str, unit: str) -> int:
        """A deleted share has none."""
        return self.limits.get((share, unit), 0)

    def bound(self, share: str, unit: str) -> int:
        """A deleted share may use nothing."""
        return self.bounds.get((share, unit), 0)

    def usable_by(self, unit: str, *, beyond: bool) -> int:
        """What there is for a job, which may lie beyond its share's limit (C6)."""
        if beyond and self.choices.unallocated == "borrowable":
            return self.capacity.get(unit, 0)
        return self.usable[unit]
