"""What an exploration came to, as reports show it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policy_engine.expectations import Counterexample, Verdict, describe
from policy_engine.outcome.drawing import drawing
from policy_engine.proving import Exploration
from policy_engine.proving.showing import scenario_data, scenario_text, stories
from policy_engine.simulation import Run
from policy_engine.workload.expected import AnyExpectation


def verdict(
    found: Exploration,
    run: Run,
    *,
    written: Mapping[str, Any] | None = None,
    file: str | None = None,
    line: int | None = None,
) -> Verdict:
    """The verdict of an exploration.

    Args:
        found: the exploration.
        run: any run of the workload, which names it.
        written: the expectation as its file has it; None for one that stands in no file.
        file: that file.
        line: the line in it, from 1.
    """
    wanted = found.wanted
    return Verdict(
        name=wanted.name if wanted.name is not None else describe(wanted, run),
        verdict=found.answer,
        message=found.message,
        because=wanted.because,
        depends_on=found.depends_on,
        looked_at=found.looked_at,
        counterexample=_shown(found, run.policy.queue, written or expectation_data(wanted)),
        file=file,
        line=line,
    )


def _shown(found: Exploration, queue: str | None, written: Mapping[str, Any]) -> Counterexample | None:
    broken = found.counterexample
    if broken is None:
        return None
    data = scenario_data(broken, written, queue)
    return Counterexample(
        scenario=data | {"expect": [expectation_data(found.wanted)]},
        text=scenario_text(data),
        drawing=drawing(broken.run),
        departures=tuple(stories(broken)),
    )


def expectation_data(wanted: AnyExpectation) -> dict[str, Any]:
    """An expectation as a scenario file may have it: names are strings, times are seconds."""
    return wanted.model_dump(mode="json", exclude_unset=True)
