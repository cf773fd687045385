"""The report of ``check``: what each share is guaranteed, who can stop whose jobs, and what was found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from policy_engine.checking import CheckedQueue, CheckResult
from policy_engine.findings import Finding, Severity
from policy_engine.guarantees import Guarantee, Preemption
from policy_engine.policy import Policy
from policy_engine.report.basis import rests_on
from policy_engine.report.blocks import (
    Badge,
    Block,
    Cell,
    Column,
    Details,
    Lines,
    Name,
    Page,
    Section,
    Table,
    Text,
    Tone,
)
from policy_engine.report.junit import Case, Outcome, Suite
from policy_engine.report.sarif import Result, Rule
from policy_engine.report.wording import plural
from policy_engine.scheduler.choices import Choices
from policy_engine.sources import Source
from policy_engine.sources.document import declaration_of

if TYPE_CHECKING:
    # what a run is made of takes longer to load than a check takes
    from policy_engine.report.story import Story

_TONES: Final = {Severity.ERROR: Tone.BAD, Severity.WARNING: Tone.UNSURE, Severity.INFO: Tone.PLAIN}
_LEVELS: Final = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_MEANING: Final = (
    "Guaranteed: what a share can always have back, once victims have stopped, for jobs no larger than that."
    " Reachable: the most that it can ever hold; what is above the guarantee can be taken back at any time."
    " Largest job: a larger one never runs."
)
_MEANING_OF_ARRIVALS: Final = (
    "Back after: until a job that is first in line has what its share is guaranteed; stop_seconds is how long a stop"
    " takes. Stopped: the most instances that one arrival can evict, of other shares (together with some of its own,"
    " where in-share preemption is on) and of its own share alone."
)


_PROMISES: Final = "Guarantees, and who can stop whose jobs"


@dataclass(frozen=True, slots=True)
class CheckReport:
    """What was found, and from which severity on it fails."""

    source: Source
    result: CheckResult
    fail_on: Severity = Severity.ERROR

    # --- for people ------------------------------------------------------------------------------

    def summary(self) -> Page:
        """Guarantees, preemption and findings, in few columns."""
        return self._page(_narrow_findings)

    def page(self) -> Page:
        """Findings first; guarantees and preemption folded away."""
        page = self._page(_findings)
        *promises, findings = page.sections
        folded = [replace(section, blocks=[Details(_PROMISES, section.blocks)]) for section in promises]
        return replace(page, sections=[findings, *folded])

    def head(self) -> Page:
        """The same and the policies as they are declared: nothing was run."""
        return self._page(_findings, declared=True)

    def stories(self) -> list[tuple[str, Story]]:
        """None."""
        return []

    def _page(
        self,
        findings: Callable[[CheckResult], Table],
        *,
        declared: bool = False,
    ) -> Page:
        sections = [
            Section(f"queue-{number}", self._title(queue), list(_promises(queue, declared=declared)))
            for number, queue in enumerate(self.result.queues)
        ]
        found: Block = findings(self.result) if self.result.findings else Text("None.")
        failed = self.result.failed(self.fail_on)
        return Page(
            command="check",
            title=_counted(self.result.findings),
            verdict=Badge(self.result.verdict(self.fail_on), Tone.BAD if failed else Tone.GOOD),
            sources=[("policy", self.source.description)],
            sections=[*sections, Section("findings", "Findings", [found])],
            rests_on=rests_on(self.result.choices, None, self.source),
        )

    def _title(self, queue: CheckedQueue) -> str:
        return f"What the shares of {queue.name} can count on"

    # --- for machines ----------------------------------------------------------------------------

    def data(self) -> dict[str, Any]:
        """What the JSON holds."""
        return self.result.to_dict(self.fail_on)

    def suites(self) -> list[Suite]:
        """A test case for each finding; one that passes where there is none."""
        cases = [self._case(finding) for finding in self.result.findings]
        none = Case("no findings", Outcome.PASSED, f"checked {', '.join(queue.name for queue in self.result.queues)}")
        properties = [("policy", self.source.description), *rests_on(self.result.choices, None, self.source)]
        return [Suite(self.source.name, cases or [none], properties)]

    def _case(self, finding: Finding) -> Case:
        outcome = Outcome.FAILED if finding.severity.reaches(self.fail_on) else Outcome.PASSED
        message = f"{finding.severity}: {finding.message}"
        if finding.is_ignored:
            outcome, message = Outcome.SKIPPED, f"ignored because {finding.ignored_because}: {message}"
        text = "\n".join([*_told(finding)[1:], finding.rule.source.url])
        name = f"{finding.id} {finding.place.key}".strip()
        return Case(name, outcome, message, text)

    def findings(self) -> list[Result]:
        """Every finding at its place, ignored ones as suppressed."""
        return [result(finding, self.source.name) for finding in self.result.findings]


def _counted(findings: Iterable[Finding]) -> str:
    """``1 error, 2 warnings; 1 ignored``."""
    counts = Counter(finding.severity for finding in findings if not finding.is_ignored)
    ignored = sum(finding.is_ignored for finding in findings)
    told = [plural(counts[severity], severity.value) for severity in Severity if severity is not Severity.INFO]
    told.append(f"{counts[Severity.INFO]} for information")
    return ", ".join(told) + (f"; {ignored} ignored" if ignored else "")


def promises(policy: Policy, choices: Choices) -> Iterator[Block]:
    """The policy as it is declared, what each share is guaranteed, and who can stop whose jobs."""
    queue = CheckedQueue(declaration_of(policy).queues[0], choices, ())
    yield from _promises(queue, declared=True)


def _promises(queue: CheckedQueue, *, declared: bool = False) -> Iterator[Block]:
    if declared and queue.policy is not None:
        # loads all that a run is made of, as its other tables tell runs
        from policy_engine.report import tables

        yield from tables.declared(queue.policy)
    if queue.not_reckoned is not None:
        yield Text(f"Not reckoned: {queue.not_reckoned}")
        return
    yield _guarantees(queue)
    yield Text(_MEANING)
    yield _arrivals(queue)
    yield Text(_MEANING_OF_ARRIVALS)
    if queue.preemptions:
        columns = [Column(title) for title in ("Jobs of", "can stop jobs of", "Instance type", "Why")]
        yield Table("Who can stop whose jobs", columns, list(_takers(queue.preemptions)))
    else:
        yield Text("No job can ever be stopped for another.")


_TOO_MANY: Final = 20
"""More pairs of shares than this are told in groups."""


def _takers(preemptions: Sequence[Preemption]) -> Iterator[tuple[Cell, ...]]:
    """A row for each pair of shares; of many, one for all that can stop the same share's jobs for the same reason."""
    if len(preemptions) <= _TOO_MANY:
        for row in preemptions:
            yield Name(row.share), Name(row.takes_from), row.unit, _why(row.kind, row.why)
        return
    groups: dict[tuple[str, str, str, str], list[str]] = {}
    for row in preemptions:
        of = "itself" if row.share == row.takes_from else row.takes_from
        groups.setdefault((of, row.unit, row.kind, row.why.replace(row.share, "each", 1)), []).append(row.share)
    for (of, unit, kind, why), shares in groups.items():
        yield Name(", ".join(shares)), of if of == "itself" else Name(of), unit, _why(kind, why)


def _why(kind: str, why: str) -> str:
    return f"{kind.replace('_', '-')}: {why}"


_Figure = tuple[str, Callable[[Guarantee], int]]
_FIGURES: Final[tuple[_Figure, ...]] = (
    ("Limit", lambda row: row.limit),
    ("Guaranteed", lambda row: row.guaranteed),
    ("Reachable", lambda row: row.reachable),
    ("Lendable", lambda row: row.lendable),
    ("At risk", lambda row: row.at_risk),
    ("Largest job", lambda row: row.largest_job),
)


def _guarantees(queue: CheckedQueue) -> Table:
    columns = [Column("Share"), Column("Instance type"), *(Column(title, is_number=True) for title, _ in _FIGURES)]
    rows: list[tuple[Cell, ...]] = [
        (Name(row.share), row.unit, *(f"{figure(row):,}" for _, figure in _FIGURES)) for row in queue.guarantees
    ]
    return Table("Instances of each share", columns, rows)


def _arrivals(queue: CheckedQueue) -> Table:
    columns = [
        *(Column(title) for title in ("Share", "Instance type", "Back after")),
        *(Column(f"Stopped of {whose}", is_number=True) for whose in ("others", "its own")),
    ]
    rows: list[tuple[Cell, ...]] = [
        (
            Name(row.share),
            row.unit,
            _back_after(row),
            f"{row.most_evicted.across_shares:,}",
            f"{row.most_evicted.within_share:,}",
        )
        for row in queue.guarantees
    ]
    return Table("What an arrival takes back, and the most instances that it stops", columns, rows)


def _back_after(row: Guarantee) -> str:
    if not row.guaranteed:
        return "nothing guaranteed"
    return "stop_seconds" if row.is_contested else "at once"


# --- findings ------------------------------------------------------------------------------------


def _findings(result: CheckResult) -> Table:
    columns = [Column(title) for title in ("Finding", "Severity", "Where and what", "What to change")]
    rows: list[tuple[Cell, ...]] = [
        (
            Lines([finding.id, finding.rule.title]),
            _severity(finding),
            Lines([*_placed(finding), *_ignored(finding)]),
            finding.rule.remedy,
        )
        for finding in result.findings
    ]
    return Table("", columns, rows)


def _narrow_findings(result: CheckResult) -> Table:
    rows = [(_severity(finding), Lines(_told(finding))) for finding in result.findings]
    return Table("", [Column("Severity"), Column("Finding")], rows)


def _severity(finding: Finding) -> Badge:
    return Badge("ignored") if finding.is_ignored else Badge(finding.severity.value, _TONES[finding.severity])


def _told(finding: Finding) -> list[str]:
    remedy = f"to change: {finding.rule.remedy}"
    return [f"{finding.id} {finding.rule.title}", *_placed(finding), remedy, *_ignored(finding)]


def _placed(finding: Finding) -> list[str]:
    """``FILE:LINE:COLUMN: KEY: message``, as an error would say it, and the construct that it came from."""
    construct = finding.place.construct_path
    return [str(finding.place.error(finding.message)), *([f"construct {construct}"] if construct else [])]


def _ignored(finding: Finding) -> list[str]:
    return [f"ignored because {finding.ignored_because}"] if finding.is_ignored else []


def result(finding: Finding, source: str) -> Result:
    """A finding as SARIF has it; ``source`` is the file of one that has none."""
    rule = finding.rule
    line, column = finding.place.position or (None, None)
    return Result(
        rule=Rule(rule.id, rule.title, rule.why, rule.remedy, rule.source.url, _LEVELS[rule.severity]),
        level=_LEVELS[finding.severity],
        message=finding.message,
        file=finding.place.file or source,
        line=line,
        column=column,
        logical=finding.place.construct_path or finding.place.key or None,
        suppressed_because=finding.ignored_because,
    )
