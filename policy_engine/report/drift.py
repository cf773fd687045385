"""The report of ``drift``: what AWS has otherwise than it is declared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from policy_engine._version import __version__
from policy_engine.observing import Difference, Drift
from policy_engine.report import json
from policy_engine.report.blocks import Badge, Block, Cell, Column, Lines, Name, Page, Section, Table, Text, Tone
from policy_engine.report.junit import Case, Outcome, Suite
from policy_engine.report.sarif import Result, Rule
from policy_engine.report.story import Story
from policy_engine.report.wording import plural
from policy_engine.sources import Source

_RULE: Final = Rule(
    "drift",
    "a value that AWS has otherwise than it is declared",
    "What was checked and verified is the declaration; the queue does what AWS has.",
    "deploy the declaration, or change it to what AWS has",
    "https://docs.aws.amazon.com/batch/latest/userguide/quota-management.html",
    "error",
)


@dataclass(frozen=True, slots=True)
class DriftReport:
    """A declared queue and the live one."""

    source: Source
    """What is declared."""
    live: Source
    queue: str
    """The live queue's name."""
    drift: Drift

    @property
    def verdict(self) -> str:
        """``holds`` or ``fails``."""
        return "fails" if self.drift.differences else "holds"

    # --- for people ------------------------------------------------------------------------------

    def summary(self) -> Page:
        """Each difference."""
        rows = [(Lines([self._where(found), found.message]),) for found in self.drift.differences]
        return self._page(Table("", [Column("Where it is declared, and what differs")], rows))

    def page(self) -> Page:
        """The same in columns."""
        columns = [Column(title) for title in ("Resource", "What", "Declared", "At AWS", "Where it is declared")]
        rows: list[tuple[Cell, ...]] = [
            (Name(found.resource), found.field, found.declared, found.live, self._where(found))
            for found in self.drift.differences
        ]
        return self._page(Table("", columns, rows))

    def head(self) -> Page:
        """The same: nothing was run."""
        return self.page()

    def stories(self) -> list[tuple[str, Story]]:
        """None."""
        return []

    def _where(self, found: Difference) -> str:
        place = found.place
        if place is None:
            return self.source.name
        line, column = place.position or (None, None)
        parts = [place.file or self.source.name, *(str(part) for part in (line, column) if part is not None)]
        return f"{':'.join(parts)}: {place.key}" if place.key else ":".join(parts)

    def _page(self, table: Table) -> Page:
        found = self.drift
        blocks: list[Block] = [table] if found.differences else [Text("None.")]
        sections = [Section("drift", "Differences", blocks)]
        if found.unknown:
            sections.append(Section("unknown", "Not compared", [Text(text) for text in found.unknown]))
        compared = f"{plural(found.compared, 'value')} compared"
        return Page(
            command="drift",
            title=f"{plural(len(found.differences), 'difference')}; {compared}",
            verdict=Badge(self.verdict, Tone.BAD if found.differences else Tone.GOOD),
            sources=[("declared", self.source.description), ("live", self.live.description)],
            sections=sections,
            rests_on=_rests_on(),
        )

    # --- for machines ----------------------------------------------------------------------------

    def data(self) -> dict[str, Any]:
        """What the JSON holds."""
        return {
            **json.head("drift", self.source, self.queue),
            "live": {"source": self.live.name, "read_as": self.live.description},
            "verdict": self.verdict,
            "differences": [
                {
                    "resource": found.resource,
                    "field": found.field,
                    "declared": found.declared,
                    "live": found.live,
                    "where": self._where(found),
                }
                for found in self.drift.differences
            ],
            "not_compared": list(self.drift.unknown),
            "compared": self.drift.compared,
            "rests_on": {"engine": __version__, "live_service_consulted": True},
        }

    def suites(self) -> list[Suite]:
        """A test case for each difference; one that passes where there is none."""
        cases = [
            Case(f"{found.resource} {found.field}", Outcome.FAILED, found.message, self._where(found))
            for found in self.drift.differences
        ]
        none = Case("no difference", Outcome.PASSED, f"{self.drift.compared} values compared", "")
        return [Suite(self.source.name, cases or [none], [("live", self.live.description), *_rests_on()])]

    def findings(self) -> list[Result]:
        """Every difference at its place."""
        return [self._result(found) for found in self.drift.differences]

    def _result(self, found: Difference) -> Result:
        place = found.place
        line, column = (None, None) if place is None or place.position is None else place.position
        return Result(
            rule=_RULE,
            level="error",
            message=found.message,
            file=(None if place is None else place.file) or self.source.name,
            line=line,
            column=column,
            logical=None if place is None else place.construct_path or place.key or None,
            suppressed_because=None,
        )


def _rests_on() -> Sequence[tuple[str, str]]:
    return [
        ("engine", f"policy-engine {__version__}"),
        ("AWS", "the live service was asked what it has; nothing was changed"),
    ]
