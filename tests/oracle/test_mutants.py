"""The net holds: a fault in the first engine shows within the scenarios of `test_two_engines`."""

from __future__ import annotations

from functools import cache

import pytest

from tests.oracle.difference import by_first, by_second
from tests.oracle.generator import Scenario, scenario
from tests.oracle.mutants import MUTANTS, Mutant
from tests.oracle.test_two_engines import SCENARIOS
from tests.oracle.world import Entry

# A fault may break a law too; here it is the comparison that has to notice it.
pytestmark = pytest.mark.unwatched


@cache
def made(seed: int) -> tuple[Scenario, list[Entry]]:
    """The scenario of a seed, and what the second engine makes of it."""
    one = scenario(seed)
    return one, by_second(one)


def shows(seed: int) -> bool:
    one, second = made(seed)
    return by_first(one) != second


def test_there_are_enough_mutants_and_each_is_another() -> None:
    assert len({mutant.about for mutant in MUTANTS}) == len(MUTANTS) >= 15


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.about)
def test_the_comparison_notices(mutant: Mutant, monkeypatch: pytest.MonkeyPatch) -> None:
    """At the seed that is noted or, where scenarios have changed since, at one of the others."""
    assert not shows(mutant.seed)
    mutant.apply(monkeypatch)
    assert any(shows(seed) for seed in (mutant.seed, *range(SCENARIOS)))
