"""The report of ``verify`` without a scenario: a property over every workload of so many jobs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from policy_engine.expectations import Answer, Verdict
from policy_engine.policy import Policy
from policy_engine.report import counterexamples, json, runs
from policy_engine.report.basis import rests_on_every_schedule
from policy_engine.report.blocks import Page, Section
from policy_engine.report.junit import Suite
from policy_engine.report.sarif import Result
from policy_engine.report.story import Story
from policy_engine.report.verification import (
    badge,
    case,
    expectation_data,
    narrow_verdict_table,
    results,
    verdict_table,
)
from policy_engine.report.wording import plural
from policy_engine.scheduler.choices import Choices
from policy_engine.scheduler.jobs import Timing
from policy_engine.simulation import Run
from policy_engine.sources import Source


@dataclass(frozen=True, slots=True)
class Workloads:
    """Every workload of up to so many jobs, of these sizes (instances) and priorities."""

    jobs: int
    sizes: tuple[int, ...] = (1,)
    priorities: tuple[int, ...] = (0,)

    def __str__(self) -> str:
        sizes, priorities = (", ".join(map(str, numbers)) for numbers in (self.sizes, self.priorities))
        return (
            f"every workload of up to {plural(self.jobs, 'job')} of {sizes} instances and priority {priorities}, which"
            " come to any share at any time and end at any time"
        )


@dataclass(frozen=True, slots=True)
class ProofReport:
    """One property of one policy."""

    source: Source
    """Where the policy was read from."""
    policy: Policy
    workloads: Workloads
    judged: Verdict
    open_choices: tuple[str, ...]
    choices: Choices
    """The answers to the others."""
    timing: Timing
    run: Run | None
    """Of the counterexample."""

    @property
    def verdict(self) -> Answer:
        """Of the property."""
        return self.judged.verdict

    # --- for people ------------------------------------------------------------------------------

    def summary(self) -> Page:
        """The verdict, and what breaks the property."""
        table = narrow_verdict_table([(self.judged, False)])
        return self._page([Section("verdicts", "Property", [table]), *self._counterexample(folded=False)])

    def head(self) -> Page:
        """The same with the name beside the verdict."""
        return self._page([self._verdict_section(), *self._counterexample(folded=False)])

    def page(self) -> Page:
        """The same with the counterexample folded away."""
        return self._page([self._verdict_section(), *self._counterexample(folded=True)])

    def stories(self) -> list[tuple[str, Story]]:
        """The run of the counterexample."""
        return [] if self.run is None else [("What happens in the counterexample", runs.story("run", self.run))]

    def _verdict_section(self) -> Section:
        return Section("verdicts", "Property", [verdict_table([(self.judged, False)])])

    def _counterexample(self, *, folded: bool) -> list[Section]:
        return counterexamples.sections("counterexamples", "Counterexample", [self.judged], folded=folded)

    def _page(self, sections: Sequence[Section]) -> Page:
        queue = f", queue {self.policy.queue}" if self.policy.queue else ""
        return Page(
            command="verify",
            title=self.judged.name,
            verdict=badge(self.judged.verdict),
            sources=[("policy", self.source.description + queue), ("workloads", str(self.workloads))],
            sections=sections,
            rests_on=self._basis(),
        )

    def _basis(self) -> list[tuple[str, str]]:
        priority = self.choices.default_priority
        return rests_on_every_schedule(
            self.choices, self.open_choices, [self.timing], (priority, priority), self.source
        )

    # --- for machines ----------------------------------------------------------------------------

    def data(self) -> dict[str, Any]:
        """What the JSON holds."""
        return {
            **json.head("verify", self.source, self.policy.queue),
            "choices": json.choices(self.choices),
            "open_choices": self.open_choices,
            "verdict": self.judged.verdict,
            "workloads": {
                "jobs": self.workloads.jobs,
                "sizes": self.workloads.sizes,
                "priorities": self.workloads.priorities,
            },
            "expectations": [expectation_data(self.judged, instant=False)],
            **json.basis(self.choices, self.timing, self.source),
        }

    def suites(self) -> list[Suite]:
        """A suite of one test case."""
        properties = [
            ("policy", self.source.description),
            ("workloads", str(self.workloads)),
            *self._basis(),
        ]
        return [Suite(self.source.name, [case(self.judged, instant=False)], properties)]

    def findings(self) -> list[Result]:
        """The property, where it does not hold; it is about the policy as a whole."""
        return [replace(result, file=self.source.name) for result in results([(self.judged, False)])]
