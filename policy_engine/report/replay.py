"""The report of ``replay``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from policy_engine.policy import Policy
from policy_engine.replaying import anonymised
from policy_engine.replaying.replayed import Replayed
from policy_engine.report.replay_data import data
from policy_engine.sources import Source
from policy_engine.workload.history import History

# What one of the formats needs is imported where it is asked for.
if TYPE_CHECKING:
    from policy_engine.report.blocks import Page
    from policy_engine.report.junit import Suite
    from policy_engine.report.sarif import Result
    from policy_engine.report.story import Story


@dataclass(frozen=True, slots=True)
class ReplayReport:
    """A replay, and what was asked about it."""

    source: Source
    """Where the policy was read from."""
    replayed: Replayed

    # --- for people ------------------------------------------------------------------------------

    def summary(self) -> Page:
        """In few columns."""
        from policy_engine.report import replay_page

        return replay_page.summary(self.source, self.replayed)

    def page(self) -> Page:
        """All of it."""
        from policy_engine.report import replay_page

        return replay_page.page(self.source, self.replayed)

    def head(self) -> Page:
        """The same: the story of a long run adds pictures to it."""
        return self.page()

    def stories(self) -> list[tuple[str, Story]]:
        """The run."""
        from policy_engine.report import runs

        return [("Over time", runs.story("run", self.replayed.result.run, is_measured=True))]

    # --- for machines ----------------------------------------------------------------------------

    def data(self) -> dict[str, Any]:
        """What the JSON holds; there is no verdict, and no log."""
        return data(self.source, self.replayed.result.policy.queue, self.replayed)

    def suites(self) -> list[Suite]:
        """A suite without test cases: nothing was tested."""
        from policy_engine.report.junit import Suite

        return [Suite(self.replayed.result.history.source, [], [("policy", self.source.description)])]

    def findings(self) -> list[Result]:
        """None: nothing was judged."""
        return []


def anonymous(source: Source, policy: Policy, history: History) -> tuple[Source, Policy, History]:
    """All three without the names of teams, jobs and files."""
    policy, history = anonymised(policy, history)
    return replace(source, name="policy", description=f"a {source.kind}"), policy, history
