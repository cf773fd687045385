"""The scheduler's state, brought along the log, ends where the scheduler left it; and what AWS promises holds."""

from __future__ import annotations

from collections import Counter

import pytest

from policy_engine.expectations.evidence import Evidence
from policy_engine.expectations.properties import judge_always
from policy_engine.expectations.replay import states
from policy_engine.scheduler.choices import Choices
from policy_engine.scheduler.state import State
from policy_engine.simulation import Run, simulate
from policy_engine.workload.expected import AlwaysExpectation
from tests.oracle.generator import scenario

SEEDS = range(400, 800)


@pytest.fixture(scope="module")
def runs() -> list[Run]:
    made = [scenario(seed) for seed in SEEDS]
    return [simulate(one.declared(), one.workload, one.choices) for one in made]


def picture(state: State) -> dict[str, object]:
    """What of the state decides who is first in line and inside its limit."""
    units = {name: number for number, name in enumerate(state.unit_names)}
    cells = [
        (share * len(units) + units[unit], share, unit)
        for share in range(len(state.share_names))
        for unit in sorted(units)
    ]
    return {
        "now": {(share, unit): state.now[cell] for cell, share, unit in cells if state.now[cell]},
        "after": {(share, unit): state.after[cell] for cell, share, unit in cells if state.after[cell]},
        "lines": [[-key[3] for key in line] for line in state.line],
        "claims": [claim.job for claim in state.claims],
        "phases": [str(phase) for phase in state.phase],
        "priorities": state.priority,
    }


def test_a_replay_ends_where_the_run_did(runs: list[Run]) -> None:
    seen: Counter[str] = Counter()
    for run in runs:
        seen["claims"] += any(state.claims for _, state in states(run))
        last = [state for _, state in states(run)][-1]
        assert picture(last) == picture(run.final)
        seen["lines"] += any(last.line)
    assert min(seen["claims"], seen["lines"]) > 50


@pytest.mark.parametrize("name", ["within_bounds", "reserve_never_lent", "no_futile_preemption"])
def test_what_aws_promises_holds(name: str, runs: list[Run]) -> None:
    """Of jobs that the scheduler itself started, while nobody changes the limits, by the documented rules."""
    expectation = AlwaysExpectation.model_validate({"always": name})
    checked = 0
    for run in runs:
        jobs, updates = run.workload.jobs, run.workload.updates
        if updates or any(job.started is not None for job in jobs) or run.choices != Choices():
            continue
        evidence = Evidence(run)
        assert [finding.told for finding in judge_always(expectation, evidence) if not finding.holds] == []
        checked += bool(evidence.preemptions)
    assert checked > 20
