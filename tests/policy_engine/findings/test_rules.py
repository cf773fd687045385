"""Every rule on its fixtures: ``tests/fixtures/findings/QMxxx/good*.yaml`` and ``bad*.yaml``.

A line of a bad fixture that a finding must stand on is marked with the id and a part of the message:
``# QM003: 2 capacity limits``. Errors must be marked in every fixture, whatever their id. From QM201 on the fixtures
are scenarios, and what they say of a policy is marked in the policy. From QM301 on they are policies that take the
place of the one that their first line names, and from QM401 on policies in the account of their first line.
"""

import re
from pathlib import Path

import pytest
import yaml

from policy_engine.checking import check
from policy_engine.comparison import Asked, compare_sources
from policy_engine.findings import RULES, Finding, Severity
from policy_engine.sources import load
from policy_engine.sources.live import Account, Environment
from policy_engine.workload.scenario import load_scenario

FIXTURES = Path(__file__).parents[2] / "fixtures" / "findings"
FILES = sorted(FIXTURES.glob("*/*.yaml"))
MARK = re.compile(r"# (QM[0-9]{3}): (.*)$")
BEFORE = "# before: "
ACCOUNT = "# account: "


def marks(path: str | Path, rule_id: str) -> list[tuple[int, str]]:
    """Line and message of everything that is marked with the id."""
    lines = enumerate(Path(path).read_text(encoding="utf-8").splitlines(), start=1)
    return [(line, mark[2]) for line, text in lines if (mark := MARK.search(text)) and mark[1] == rule_id]


def checked(path: Path) -> tuple[list[str | Path], tuple[Finding, ...]]:
    """The files in which things are marked, and what was found in them."""
    if path.parent.name < "QM201":
        return [path], check(path).findings
    if path.parent.name > "QM400":
        return [path], check(path, account=account(path.read_text(encoding="utf-8").splitlines()[0])).findings
    if path.parent.name > "QM300":
        before = path.parent / path.read_text(encoding="utf-8").splitlines()[0].removeprefix(BEFORE)
        return [path, before], compare_sources(load(before), load(path), Asked()).findings
    policy = load_scenario(path).policy_path
    assert policy is not None
    return [path, policy], check(policy, scenario=path).findings


def account(line: str) -> Account:
    """``# account: {quotas: {...}, environments: {NAME: {...}}, disabled: [NAME]}``."""
    data = yaml.safe_load(line.removeprefix(ACCOUNT))
    disabled = data.get("disabled", [])
    environments = [Environment(name, name not in disabled, limits) for name, limits in data["environments"].items()]
    return Account(tuple(environments), data["quotas"])


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_rule_on_fixture(path: Path) -> None:
    rule_id = path.parent.name
    files, findings = checked(path)
    expected = [mark for file in files for mark in marks(file, rule_id)]
    assert bool(expected) == path.stem.startswith("bad"), "a bad fixture is marked, a good one is not"

    found = [f for f in findings if f.id == rule_id]
    lines = sorted({f.place.position[0] for f in found if f.place.position})
    assert lines == sorted({line for line, _ in expected}), [f.message for f in found]
    for finding in found:
        parts = [part for line, part in expected if finding.place.position and finding.place.position[0] == line]
        assert any(part in finding.message for part in parts), finding.message
    others = [f"{f.id} {f.place.key}: {f.message}" for f in findings if f.severity is Severity.ERROR]
    assert [text for text in others if not text.startswith(rule_id)] == []


@pytest.mark.parametrize("rule_id", [rule.id for rule in RULES])
def test_rule_has_good_and_bad_fixtures(rule_id: str) -> None:
    assert {path.stem.split("-")[0] for path in (FIXTURES / rule_id).glob("*.yaml")} == {"good", "bad"}
