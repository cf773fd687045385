"""Each reduction is sound: with it and without it the verdicts and the reachable outcomes are the same."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from policy_engine.exploration.explored import Bounds
from policy_engine.scheduler.choices import BY_NAME, Choices
from policy_engine.scheduler.jobs import Job, Workload
from policy_engine.simulation import Clock
from policy_engine.workload.expected import AnyExpectation
from tests.policy_engine.exploration.models import Model, Recording, model, outcome, questions
from tests.policy_engine.logs import UNIT, policy_of

ENOUGH = 20_000
"""States; a model that has more without reductions is left out, and may not be one of many."""
REDUCTIONS: dict[str, dict[str, bool]] = {
    "symmetry": {"symmetry": True, "partial_order": False},
    "partial order": {"symmetry": False, "partial_order": True},
    "both": {"symmetry": True, "partial_order": True},
}
NONE = {"symmetry": False, "partial_order": False, "meeting": False}


def reachable(of: Model, reductions: dict[str, bool]) -> tuple[set[Any], int] | None:
    """Outcomes and states; None where there are too many."""
    watch = Recording()
    explored = of.space(watch, **reductions).explore(Bounds(ENOUGH))
    return None if explored.unsettled else (watch.seen, explored.states)


def disagreements(seed: int, of: Model, asked: Sequence[AnyExpectation]) -> list[str] | None:
    """What comes out otherwise with a reduction; None where the model is too large."""
    plain = reachable(of, NONE)
    if plain is None:
        return None
    found = []
    for name, reductions in REDUCTIONS.items():
        reduced = reachable(of, reductions)
        assert reduced is not None
        if reduced[0] != plain[0]:
            found.append(f"seed {seed}, {name}: outcomes {sorted(plain[0] ^ reduced[0])}")
        if reduced[1] > plain[1]:
            found.append(f"seed {seed}, {name}: {reduced[1]} states instead of {plain[1]}")
    for wanted in asked:
        breaks = of.broken(wanted, Bounds(), **NONE).broken is not None
        if (of.broken(wanted, Bounds(), **REDUCTIONS["both"]).broken is not None) is not breaks:
            found.append(f"seed {seed}, {wanted}: breaks without reductions: {breaks}")
    return found


def test_two_thousand_models_of_up_to_six_jobs_come_out_the_same() -> None:
    """Outcomes of each, and the verdict on one of the questions in turn."""
    found = []
    for seed in range(2_000):
        of = model(seed, 1, 6)
        asked = questions(of)
        found.append(disagreements(seed, of, [asked[seed % len(asked)]]))
    assert [line for lines in found for line in lines or ()] == []
    assert found.count(None) <= len(found) // 50


@pytest.mark.nightly
@pytest.mark.parametrize("hundred", range(20))
def test_larger_models_come_out_the_same(hundred: int) -> None:
    """The same with more jobs each, and every question."""
    found = []
    for seed in range(10_000 + 100 * hundred, 10_100 + 100 * hundred):
        of = model(seed, 5, 7)
        found.append(disagreements(seed, of, questions(of)))
    assert [line for lines in found for line in lines or ()] == []
    assert found.count(None) <= len(found) // 50


def test_jobs_alike_in_all_but_their_places_are_not_interchanged() -> None:
    """j0 and j5 start together, and between them wait others: it matters which of the two ends first."""
    demands = [("j0", "a", 1, 0), ("j1", "b", 1, 1), ("j2", "a", 2, 0), ("j3", "b", 1, 0), ("j4", "a", 2, 0)]
    demands += [("j5", "a", 1, 0), ("j6", "b", 1, 1)]
    jobs = tuple(Job(name, share, {UNIT: count}, priority) for name, share, count, priority in demands)
    late = (*jobs[:-1], replace(jobs[-1], submit=60.0))
    of = Model(
        policy_of({"a": "2 LEND_AND_BORROW 100", "b": "2 LEND"}),
        Workload(late),
        frozenset({"share_order", "idle_assignment", "reclaim_or_in_share"}),
        Choices(reclaim_or_in_share="any", head_of_line="skip"),
    )
    plain = reachable(of, NONE)
    assert plain is not None
    assert disagreements(0, of, []) == []
    assert any((("RUNNING", 1, 0), ("WAITING", 2, 0)) in [jobs for _, jobs in found] for found in plain[0])


def test_the_reductions_reduce() -> None:
    """Else the tests above would say nothing."""
    states, moves = dict.fromkeys(("none", *REDUCTIONS), 0), dict.fromkeys(("none", *REDUCTIONS), 0)
    for seed in range(40):
        of = model(seed, 4, 6)
        for name, reductions in {"none": NONE, **REDUCTIONS}.items():
            watch = Recording()
            states[name] += of.space(watch, **reductions).explore(Bounds()).states
            moves[name] += watch.moves
    assert states["symmetry"] < states["none"]
    assert moves["partial order"] < moves["none"]
    assert moves["both"] < min(moves["symmetry"], moves["partial order"])


def test_every_plain_run_is_among_the_schedules() -> None:
    """Whatever the choices answer, the simulator comes to an outcome that an exploration of all answers reaches."""
    compared = 0
    for seed in range(40):
        of = model(seed, 2, 5)
        found = reachable(of, REDUCTIONS["both"])
        assert found is not None
        for given in product(*(BY_NAME[name].answers for name in sorted(of.open))):
            answers: dict[str, Any] = dict(zip(sorted(of.open), given, strict=True))
            clock = Clock(of.policy, of.workload, replace(of.choices, **answers), None)
            clock.run()
            assert outcome(clock) in found[0], (seed, answers)
            compared += 1
    assert compared > 500
