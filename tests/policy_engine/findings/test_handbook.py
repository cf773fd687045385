"""``docs/findings.md`` is what the rules say, and every id of the specification has a rule."""

from pathlib import Path

import pytest

from policy_engine.findings import RULES, Rule, Severity
from policy_engine.findings.handbook import markdown

PAGE = Path(__file__).parents[3] / "docs" / "findings.md"

ERRORS = [f"QM{number:03}" for number in range(1, 13)]
SPECIFIED = {
    "QM000": Severity.WARNING,
    **dict.fromkeys(ERRORS, Severity.ERROR),
    **dict.fromkeys(("QM101", "QM102", "QM103", "QM105", "QM107", "QM108", "QM110", "QM111"), Severity.WARNING),
    **dict.fromkeys(("QM104", "QM106", "QM109", "QM112"), Severity.INFO),
    "QM201": Severity.ERROR,
    "QM202": Severity.WARNING,
    "QM203": Severity.WARNING,
    "QM301": Severity.ERROR,
    "QM302": Severity.ERROR,
    "QM303": Severity.WARNING,
    "QM401": Severity.WARNING,
}


def test_every_specified_finding_has_a_rule_of_its_severity() -> None:
    assert {rule.id: rule.severity for rule in RULES} == SPECIFIED
    assert len(RULES) == len(SPECIFIED), "two rules of one id"


def test_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == markdown(RULES) + "\n", (
        "run: python -m policy_engine.findings > docs/findings.md"
    )


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_rule_is_told_in_full(rule: Rule) -> None:
    page = PAGE.read_text(encoding="utf-8")
    section = page.split(f"\n## {rule.id}\n")[1].split("\n## ")[0]
    for part in (rule.title, rule.why, rule.remedy, rule.source.url, rule.severity):
        assert part in section
    assert rule.why.endswith(".")
    assert not rule.title.endswith(".")
    assert not rule.remedy.endswith(".")
    assert rule.source.url.startswith("https://docs.aws.amazon.com/")
