"""A comparison for machines that count: the test cases of JUnit and the results of SARIF."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from policy_engine.comparison import ComparedShare, Comparison, FailOn, ScenarioComparison, told
from policy_engine.findings import Finding
from policy_engine.report.check import result as finding_result
from policy_engine.report.junit import Case, Outcome, Suite
from policy_engine.report.sarif import Result, Rule
from policy_engine.sources.declaration import Place

_WORSE: Final = Rule(
    "worse",
    "a quota share loses a guarantee",
    "By AWS's documented rules the share can count on less after the change than before.",
    "change what takes it away, or say with --intends that the change is meant for this share",
    level="warning",
)


def suites(found: Comparison, fail_on: FailOn | None, basis: Sequence[tuple[str, str]]) -> list[Suite]:
    """A test case for each share, each finding about the change, and each expectation.

    One fails where ``fail_on`` makes the change fail for it; what is only told passes.
    """
    cases = [
        *(_finding(finding, fail_on) for finding in found.findings),
        *(_share(share, found, fail_on) for share in found.shares),
        *(case for run in (found.scenario, found.held) if run is not None for case in _expectations(run, fail_on)),
    ]
    if found.not_reckoned is not None:
        cases.append(Case("guarantees", Outcome.UNDECIDED, f"not reckoned: {found.not_reckoned}"))
    properties = [("old", found.old_source.description), ("policy", found.new_source.description), *basis]
    return [Suite(found.new_source.name, cases or [Case("no change", Outcome.PASSED, "nothing changes")], properties)]


def _finding(finding: Finding, fail_on: FailOn | None) -> Case:
    message = f"{finding.severity}: {finding.message}"
    if finding.is_ignored:
        return Case(_title(finding), Outcome.SKIPPED, f"ignored because {finding.ignored_because}: {message}")
    fails = fail_on is not None and finding.severity.rank == 0
    text = f"{finding.place.error(finding.message)}\nto change: {finding.rule.remedy}\n{finding.rule.source.url}"
    return Case(_title(finding), Outcome.FAILED if fails else Outcome.PASSED, message, text)


def _title(finding: Finding) -> str:
    return f"{finding.id} {finding.place.key}".strip()


def _share(share: ComparedShare, found: Comparison, fail_on: FailOn | None) -> Case:
    fails = fail_on is FailOn.WORSE and share in found.losing
    message = f"{share.word}: {'; '.join(one.told for one in share.differences)}" if share.differences else share.word
    witness = [] if share.witness is None else [*map(told, share.witness.losses), *share.witness.text.splitlines()]
    lines = [*(one.told for one in share.differences), *witness]
    return Case(f"share {share.name}", Outcome.FAILED if fails else Outcome.PASSED, message, "\n".join(lines))


def _expectations(run: ScenarioComparison, fail_on: FailOn | None) -> Iterator[Case]:
    for judged in run.judged:
        fails = fail_on is FailOn.WORSE and judged.is_lost
        message = f"{judged.old.verdict} before, {judged.new.verdict} after: {judged.new.message}"
        place = f"{judged.new.file}:{judged.new.line}"
        yield Case(judged.new.name, Outcome.FAILED if fails else Outcome.PASSED, message, f"{message}\n{place}")


def results(found: Comparison) -> list[Result]:
    """The findings about the change, those that are new, and the shares that lose a guarantee."""
    told_of = [finding_result(finding, found.new_source.name) for finding in (*found.findings, *found.new_findings)]
    return [*told_of, *(_loss(share, found) for share in found.losing)]


def _loss(share: ComparedShare, found: Comparison) -> Result:
    place = _place(share, found)
    line, column = (None, None) if place is None else place.position or (None, None)
    return Result(
        rule=_WORSE,
        level="warning",
        message=f"{share.name}: {share.word}: {'; '.join(one.told for one in share.differences)}",
        file=found.new_source.name if place is None else place.file,
        line=line,
        column=column,
        logical=share.name,
    )


def _place(share: ComparedShare, found: Comparison) -> Place | None:
    """Where the share is declared now, or was."""
    for view, name in ((found.new, share.new_name), (found.old, share.name)):
        for declared in view.shares:
            if declared.label == name:
                return declared.place
    return None
