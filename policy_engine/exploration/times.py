"""The times that stand for all at which a job may end."""

from __future__ import annotations

from typing import Final

LATER: Final = 1e11
"""Seconds; what is due later is never."""


def between(now: float, following: float, earliest: float) -> float | None:
    """A time after ``now`` and before ``following``, if possible a whole second; None where it would be too early."""
    at = max(now + 1, earliest)
    if at < following:
        return at
    at = max((now + following) / 2, earliest)
    return at if now < at < following else None
