"""What a command hands to the formats: one result, as each of them wants it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from policy_engine.report.blocks import Page
    from policy_engine.report.both import Both
    from policy_engine.report.junit import Suite
    from policy_engine.report.sarif import Result
    from policy_engine.report.story import Story


class Report(Protocol):
    """The result of a command, ready to be shown."""

    def summary(self) -> Page:
        """What a terminal shows: tables of few columns, details left out."""
        ...

    def page(self) -> Page:
        """All of it, details folded, for a comment on a pull request."""
        ...

    def head(self) -> Page:
        """The answer alone; ``stories`` tell the rest, with charts where the format has them."""
        ...

    def stories(self) -> Sequence[tuple[str, Story | Both]]:
        """A title and a run for each that was made, or two to be shown beside each other."""
        ...

    def data(self) -> dict[str, Any]:
        """What the JSON holds."""
        ...

    def suites(self) -> Sequence[Suite]:
        """The test cases of JUnit."""
        ...

    def findings(self) -> Sequence[Result]:
        """The results of SARIF."""
        ...
