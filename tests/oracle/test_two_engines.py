"""The two engines agree, event for event, on scenarios that neither was made for."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.oracle.difference import compare, shrunk
from tests.oracle.generator import census, scenario

SCENARIOS = 5_000
AT_ONCE = 625
"""Scenarios in one test, so that several processes can share the work."""
NIGHTLY = 100_000
NIGHTLY_AT_ONCE = 5_000


def assert_agree(seeds: range, note: Callable[[str, object], None]) -> None:
    """Both engines give the same log for every seed; if not, say where in the smallest scenario."""
    ran = []
    for seed in seeds:
        found = compare(scenario(seed))
        if not found.agree:
            pytest.fail(f"the engines differ on seed {seed}, and still do on this part of it:\n{shrunk(found)}")
        ran.append((found.scenario, found.preempts))
    parts = census(ran)
    for what, part in parts.items():
        note(what, round(part, 3))
    assert parts["preempt"] >= 0.5
    assert parts["stop_seconds above 0"] >= 0.25


@pytest.mark.parametrize("first", range(0, SCENARIOS, AT_ONCE))
def test_the_engines_agree(first: int, record_property: Callable[[str, object], None]) -> None:
    assert_agree(range(first, first + AT_ONCE), record_property)


@pytest.mark.nightly
@pytest.mark.parametrize("first", range(0, NIGHTLY, NIGHTLY_AT_ONCE))
def test_the_engines_agree_on_many(first: int, record_property: Callable[[str, object], None]) -> None:
    assert_agree(range(first, first + NIGHTLY_AT_ONCE), record_property)
