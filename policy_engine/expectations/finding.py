"""What is found about one part of an expectation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from policy_engine.workload.durations import duration_text
from policy_engine.workload.expected import Bound


class Finding(NamedTuple):
    """Whether the part holds, and what happened."""

    holds: bool
    told: str


def bounded(bound: Bound[Any], value: float, told: str, written: Callable[[float], str]) -> Finding:
    """Is the value within the bound? ``told`` says what it is."""
    holds = bound.holds(value)
    return Finding(holds, told if holds else f"{told}; expected {bound.text(written)}")


def within(seconds: float, most: float, told: str) -> Finding:
    """Did something take no longer than ``most`` seconds?"""
    return bounded(Bound[float](at_most=most), seconds, told, duration_text)
