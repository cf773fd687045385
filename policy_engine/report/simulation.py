"""The report of ``simulate``: what happened, judged by nobody."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from policy_engine.report import json, runs
from policy_engine.report.basis import rests_on
from policy_engine.report.blocks import Badge, Page, Section
from policy_engine.report.junit import Suite
from policy_engine.report.sarif import Result
from policy_engine.report.story import Story
from policy_engine.report.wording import plural
from policy_engine.simulation import Run
from policy_engine.sources import Source
from policy_engine.workload.durations import duration_text


@dataclass(frozen=True, slots=True)
class SimulationReport:
    """One run of a scenario."""

    source: Source
    """Where the policy was read from."""
    scenario: str
    """The scenario's file."""
    run: Run

    # --- for people ------------------------------------------------------------------------------

    def summary(self) -> Page:
        """The event log, jobs and shares, in few columns."""
        return self._page(runs.narrow_sections(self._story()))

    def page(self) -> Page:
        """The event log, jobs and shares."""
        return self._page(runs.sections(self._story()))

    def head(self) -> Page:
        """What was run."""
        return self._page([])

    def stories(self) -> list[tuple[str, Story]]:
        """The run."""
        return [("What happened", self._story())]

    def _story(self) -> Story:
        return runs.story("run", self.run)

    def _page(self, sections: Sequence[Section]) -> Page:
        run = self.run
        queue = f", queue {run.policy.queue}" if run.policy.queue else ""
        jobs, events = plural(len(run.workload.jobs), "job"), plural(len(run.log), "event")
        return Page(
            command="simulate",
            title=f"{jobs}, {events}, {duration_text(run.end)}; what the scenario expects was not judged",
            verdict=Badge("ran"),
            sources=[("policy", self.source.description + queue), ("scenario", self.scenario)],
            sections=sections,
            rests_on=rests_on(run.choices, run.workload.timing, self.source),
        )

    # --- for machines ----------------------------------------------------------------------------

    def data(self) -> dict[str, Any]:
        """What the JSON holds; there is no verdict."""
        run = self.run
        return {
            **json.head("simulate", self.source, run.policy.queue),
            "scenario": self.scenario,
            "choices": json.choices(run.choices),
            "verdict": None,
            "expectations": [],
            **runs.data(run),
            **json.basis(run.choices, run.workload.timing, self.source),
        }

    def suites(self) -> list[Suite]:
        """A suite without test cases: nothing was tested."""
        return [
            Suite(
                self.scenario,
                [],
                [
                    ("policy", self.source.description),
                    *rests_on(self.run.choices, self.run.workload.timing, self.source),
                ],
            )
        ]

    def findings(self) -> list[Result]:
        """None: nothing was judged."""
        return []
