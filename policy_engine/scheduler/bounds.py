"""How far a share can reach on an instance type, and which jobs can never fit: R4, R5 and R12 in closed form.

Nothing here looks at what runs; it follows from the declaration alone. Sources: AWS Batch User Guide (UG) pages
``quota-shares`` and ``sm_job_stuck_in_runnable_misconfiguration``, API Reference page
``QuotaShareResourceSharingConfiguration``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from policy_engine.policy import UNLIMITED, State, StuckReason
from policy_engine.scheduler.choices import Choices

if TYPE_CHECKING:
    from policy_engine.policy import Policy


class Rule(StrEnum):
    """The four ways in which a job can never fit (R12), in the order in which they are tried."""

    ENVIRONMENT = "R12.1"
    """More than the service environment's capacity."""
    LIMIT = "R12.2"
    """RESERVE or LEND: more than the share's own limit."""
    BORROW_LIMIT = "R12.3"
    """LEND_AND_BORROW: more than the own limit and the borrow limit together."""
    LENDERS = "R12.4"
    """LEND_AND_BORROW: more than the own limit and the other lenders' limits together."""

    @property
    def code(self) -> StuckReason:
        """The reason that a job state time limit action names (API JobStateTimeLimitAction)."""
        if self is Rule.ENVIRONMENT:
            return StuckReason.SERVICE_ENVIRONMENT_MAX_RESOURCE
        return StuckReason.QUOTA_MANAGEMENT_LIMIT_EXCEEDED

    @property
    def reason(self) -> str:
        """The status reason of a stuck job, word for word (UG sm_job_stuck_in_runnable_misconfiguration)."""
        return f"{self.code} - {_TEXTS[self]}"


_TEXTS = {
    Rule.ENVIRONMENT: "Service environment(s) associated with the job queue cannot meet the capacity requirement of"
    " the job.",
    Rule.LIMIT: "Job requirements exceed quota share capacity limits.",
    Rule.BORROW_LIMIT: "Job requirements exceed quota share capacity limits and borrow limits.",
    Rule.LENDERS: "Job requires borrowing that exceeds all configured borrowable capacity.",
}


@dataclass(frozen=True, slots=True)
class Misfit:
    """Why a job can never run in its share."""

    rule: Rule
    unit: str
    """The instance type on which it does not fit."""
    count: int
    """Instances of it that the job asks for."""
    allowed: int
    """Most instances that this rule allows."""
    largest: int
    """Most instances of the type that a job of the share can ask for and still run; every rule counted."""

    @property
    def code(self) -> StuckReason:
        """The reason that a job state time limit action names."""
        return self.rule.code

    @property
    def reason(self) -> str:
        """AWS's status reason, word for word."""
        return self.rule.reason


def percent_of(percent: int, limit: int, rounding: str) -> int:
    """``percent`` of ``limit`` in whole instances, rounded as ``borrow_rounding`` (C7) says.

    ``nearest`` rounds a half up. Raises ValueError for a rounding that is not an answer to C7.
    """
    hundredths = percent * limit
    match rounding:
        case "down":
            return hundredths // 100
        case "up":
            return -(-hundredths // 100)
        case "nearest":
            return (hundredths + 50) // 100
    raise ValueError(f"borrow_rounding: {rounding!r} is not one of down, up, nearest")


class Bounds:
    """The bounds of every share of a policy under one answer to the open choices.

    Looks everything up when it is asked: made for the places where a policy changes, not for the inner loop.
    A share that the policy has not got is a KeyError; an instance type it has not got has limit and capacity 0.
    """

    def __init__(self, policy: Policy, choices: Choices | None = None) -> None:
        self.policy = policy
        self.choices = choices if choices is not None else Choices()

    def lends(self, share: str) -> bool:
        """Does the share lend its idle capacity (R4, C12)?"""
        declared = self.policy.shares[share]
        disabled = declared.state is State.DISABLED and self.choices.disabled_share_lends == "no"
        return declared.strategy.lends and not disabled

    def lenders_limits(self, share: str, unit: str) -> int:
        """Sum of the limits of all *other* shares that lend the unit, in instances (R5)."""
        return sum(other.limit(unit) for name, other in self.policy.others(share) if self.lends(name))

    def borrow_allowance(self, share: str, unit: str) -> int | None:
        """Most instances that the share's borrow limit lets it borrow; None where it does not limit (R5, C7, C16)."""
        declared = self.policy.shares[share]
        if unit not in declared.capacity_limits and self.choices.undeclared_unit == "no":
            return 0
        percent = declared.effective_borrow_limit
        if percent == UNLIMITED:
            return None
        return percent_of(percent, declared.limit(unit), self.choices.borrow_rounding)

    def bound(self, share: str, unit: str) -> int:
        """Most instances of the unit that the share's jobs may hold at once, whatever is idle (R3, R4, R5).

        The service environment's capacity is not counted: it bounds the queue, not the share (R1).
        """
        limit = self.policy.shares[share].limit(unit)
        lent = self.lenders_limits(share, unit)
        allowance = self.borrow_allowance(share, unit)
        return limit + (lent if allowance is None else min(allowance, lent))

    def reachable(self, share: str, unit: str) -> int:
        """Most instances of the unit that the share can ever hold: its bound within the environment's capacity.

        Equals the minimum with C' of ``scheduling.md``, as no bound is more than the sum of the limits, whichever
        way C6 is answered.
        """
        return min(self.policy.capacity(unit), self.bound(share, unit))

    def never_fits(self, share: str, demand: Mapping[str, int]) -> Misfit | None:
        """Why a job of the share that asks for ``demand`` (unit to instances) can never run; None where it can.

        Rule by rule, each over the job's units in their order (R12).
        """
        for rule in Rule:
            for unit, count in demand.items():
                allowed = self._allowed(rule, share, unit)
                if allowed is not None and count > allowed:
                    return Misfit(rule, unit, count, allowed, self.reachable(share, unit))
        return None

    def allowances(self, share: str, unit: str) -> Iterator[tuple[Rule, int]]:
        """Every rule of R12 that limits the share on the unit, with the most instances that it allows."""
        for rule in Rule:
            allowed = self._allowed(rule, share, unit)
            if allowed is not None:
                yield rule, allowed

    def _allowed(self, rule: Rule, share: str, unit: str) -> int | None:
        """Most instances that the rule allows; None where it does not limit the share."""
        if rule is Rule.ENVIRONMENT:
            return self.policy.capacity(unit)
        declared = self.policy.shares[share]
        limit = declared.limit(unit)
        if not declared.strategy.borrows:
            return limit if rule is Rule.LIMIT else None
        if rule is Rule.LENDERS:
            return limit + self.lenders_limits(share, unit)
        if rule is Rule.BORROW_LIMIT:
            allowance = self.borrow_allowance(share, unit)
            return None if allowance is None else limit + allowance
        return None
