"""How the page says what the policy and the outcome hold in the words of the API."""

from __future__ import annotations

from typing import TYPE_CHECKING

from policy_engine.policy import UNLIMITED, Share

if TYPE_CHECKING:
    # slow to load for what never runs anything
    from policy_engine.outcome import Attempt

_ENDED = {
    "cross_share": "preempted (cross-share)",
    "in_share": "preempted (in-share)",
    "limit_lowered": "preempted (limit lowered)",
    "timeout": "timed out",
    "capacity_failure": "no capacity",
}


def plural(count: int, thing: str) -> str:
    """``1 job``, ``2 jobs``, ``0 jobs``."""
    return f"{count:,} {thing}" if count == 1 else f"{count:,} {thing}s"


def times(count: int) -> str:
    """``once``, ``twice``, ``3 times``."""
    return {1: "once", 2: "twice"}.get(count, f"{count:,} times")


def why(word: str) -> str:
    """What ended an attempt, or why a job was preempted, in words."""
    return _ENDED.get(word, word)


def ended(attempt: Attempt) -> str:
    """How an attempt ended and for whom: ``preempted (cross-share) for qs2_job_1``."""
    if attempt.ended_by is None:
        return "running"
    return why(attempt.ended_by) + (f" for {attempt.by}" if attempt.by else "")


def borrowing(share: Share) -> str:
    """The borrow limit as declared: ``none``, ``200 %``, ``unlimited``, ``unlimited (by omission)``."""
    if not share.strategy.borrows:
        return "none"
    if share.borrow_limit is None:
        return "unlimited (by omission)"
    if share.borrow_limit == UNLIMITED:
        return "unlimited"
    return f"{share.borrow_limit} % of its limit"
