"""Reports of comparisons: whole, in the parts that matter, and with everything that can be asked at once."""

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import jsonschema
import pytest
from syrupy.assertion import SnapshotAssertion

from policy_engine._version import __version__
from policy_engine.comparison import Asked, Comparison, FailOn, compare_sources
from policy_engine.report import markdown, publishing
from policy_engine.report.comparison import ComparisonReport
from policy_engine.report.json import text
from policy_engine.running import compare
from policy_engine.schema import SCHEMAS
from policy_engine.sources import Source, load
from policy_engine.workload.scenario import load_scenario
from tests.policy_engine.changes.sides import UNIT, policy, set_to, share, templates, without
from tests.policy_engine.command import folder, run, write
from tests.policy_engine.replaying.cases import history, job

__all__ = ["folder"]

BORROWER = share(strategy="LEND_AND_BORROW", borrow_limit=100)
SCHEMA = SCHEMAS["result"]()
VALIDATOR = jsonschema.Draft202012Validator({"$defs": SCHEMA["$defs"], "$ref": "#/$defs/comparison"})
LESS = policy(a=BORROWER, b=share(1), c=BORROWER)
SCENARIO = f"""
jobs: [{{name: own, share: b, instance_type: {UNIT}, instance_count: 2}}, {{name: other, share: a}}]
until: 1h
expect:
  - {{job: own, starts_within: 0s, because: b is owed two}}
  - {{job: other, starts_within: 0s}}
"""


def source(given: Any, folder: Path, name: str) -> Source:
    path = folder / name
    path.write_text(json.dumps(given.document()), encoding="utf-8")
    return load(path)


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    """All that can be asked: a scenario, a history, jobs that are held; a share is renamed and others lose."""
    tmp_path = tmp_path_factory.mktemp("everything")
    (tmp_path / "jobs.yaml").write_text(SCENARIO, encoding="utf-8")
    scenario = load_scenario(tmp_path / "jobs.yaml")
    renamed = policy(a=BORROWER, b=share(1), sea=BORROWER)
    jobs = history(
        [job("a0", "a", 0, 100, 4), job("c0", "c", 10, 100, 2), job("b0", "b", 20, 100, 2), job("x", "x", 30, 1)]
    )
    asked = Asked(intends=("b",), scenario=scenario, history=jobs, held=scenario)
    return compare_sources(source(policy(), tmp_path, "old.json"), source(renamed, tmp_path, "new.json"), asked)


# --- for people --------------------------------------------------------------------------------------


DRAWING = re.compile(r"\n```text\n(?=\d+[smhd]).*?\n```\n", re.DOTALL)


def shown(found: str) -> str:
    """Without what changes with every release, and without drawings, which are looked at elsewhere."""
    return DRAWING.sub("\n(a drawing)\n", found).replace(f"policy-engine {__version__}", "policy-engine VERSION")


OLD = """
    queue: training
    service_environment: {capacity_limits: {ml.g5.xlarge: 6}}
    shares:
      a: {capacity_limits: {ml.g5.xlarge: 2}, strategy: LEND_AND_BORROW, borrow_limit: 100, in_share_preemption: false}
      b: {capacity_limits: {ml.g5.xlarge: 2}, strategy: LEND, in_share_preemption: false}
      c: {capacity_limits: {ml.g5.xlarge: 2}, strategy: LEND, in_share_preemption: false}
"""
NEW = OLD.replace("b: {capacity_limits: {ml.g5.xlarge: 2}", "b: {capacity_limits: {ml.g5.xlarge: 1}").replace(
    " c:", " sea:"
)


@pytest.fixture
def there(folder: Path) -> Path:
    write(folder, "old.yaml", OLD)
    write(folder, "new.yaml", NEW)
    write(folder, "jobs.yaml", SCENARIO)
    return folder


@pytest.mark.parametrize("form", ["text", "markdown"])
@pytest.mark.usefixtures("there")
def test_report_for_people(form: str, snapshot: SnapshotAssertion) -> None:
    result = run("compare", "old.yaml", "new.yaml", "jobs.yaml", "--intends", "b", "--format", form)
    assert shown(result.stdout) == snapshot


@pytest.mark.usefixtures("there")
def test_a_terminal_is_80_wide_but_for_drawings() -> None:
    lines = run("compare", "old.yaml", "new.yaml", "jobs.yaml").stdout.splitlines()
    assert [line for line in lines if len(line) > 80] == []


def test_a_comment_says_first_what_fails(everything: Comparison) -> None:
    page = markdown.render(ComparisonReport(everything, FailOn.WORSE).page())
    titles = re.findall(r"^### (.*)$", page, re.MULTILINE)
    assert titles == [
        "What ends jobs or cannot be done",
        "Guarantees by share",
        "Who is hit outside the intent",
        "What changes in the declaration",
        "The scenario under both",
        "The jobs that the queue holds",
        "The history under both",
        "Witnesses",
        "New findings",
    ]
    assert page.startswith(
        "## ❌ **destructive**: 3 shares worse; 1 change that ends jobs or cannot be done; hit outside"
    )
    assert page.count("<details>") == page.count("</details>")
    assert "<details><summary>b: worse</summary>" in page


def test_the_share_that_is_renamed_has_both_its_names(everything: Comparison) -> None:
    assert "| c (now sea) |" in markdown.render(ComparisonReport(everything).page())


def test_numbers_of_the_history_stand_beside_their_difference(everything: Comparison) -> None:
    page = markdown.render(ComparisonReport(everything).page())
    assert "*Jobs that could not run: too large, or no such share or instance type*" in page
    row = next(line for line in page.splitlines() if re.match(r"\| b \| 0 \| 1 \|", line))
    assert row == r"| b | 0 | 1 | \+1 |"


def test_a_share_without_a_witness_says_that_it_proves_nothing() -> None:
    disabled = {**share(), "state": "DISABLED"}
    found = compare(policy(a=disabled), policy(a={**disabled, "capacity_limits": {UNIT: 1}})).comparison
    assert "None was found among small workloads: that proves nothing." in markdown.render(
        ComparisonReport(found).page()
    )


# --- for machines --------------------------------------------------------------------------------------


@pytest.mark.parametrize("fail_on", [None, *FailOn])
def test_the_result_is_as_its_schema_says(everything: Comparison, fail_on: FailOn | None, tmp_path: Path) -> None:
    limits = [{"CapacityUnit": UNIT, "MaxCapacity": {"Fn::ImportValue": "limit"}}]
    unknown = templates(tmp_path, set_to("TrainingShares00000000", limits, "CapacityLimits"))
    for found in (everything, compare(policy(), policy()).comparison, compare_sources(*unknown, Asked())):
        data = json.loads(text(ComparisonReport(found, fail_on).data()))
        VALIDATOR.validate(data)


def test_what_was_asked_is_in_the_result(everything: Comparison) -> None:
    data = json.loads(text(ComparisonReport(everything, FailOn.DESTRUCTIVE).data()))
    assert (data["verdict"], data["fail_on"], data["guarantees"], data["destructive"]) == (
        "fails",
        "destructive",
        "worse",
        True,
    )
    assert data["hit"] == [
        {"share": "a", "how": ["worse guarantees", "its jobs fare worse in the replay"]},
        {"share": "c", "how": ["worse guarantees", "its jobs end", "its jobs fare worse in the replay"]},
    ]
    assert [(danger["hazard"], danger["ends_jobs_of"]) for danger in data["dangers"]] == [("share renamed", ["c"])]
    assert {share["name"]: share["new_name"] for share in data["shares"]} == {"a": "a", "b": "b", "c": "sea"}
    assert all(share["witness"]["jobs"] for share in data["shares"])
    assert [one["lost"] for one in data["scenario"]["expectations"]] == [True, False]
    assert data["held"]["transition"]
    assert data["replay"]["hit"] == ["a", "b", "c"]


def test_what_cannot_be_said_has_no_verdict(tmp_path: Path) -> None:
    limits = [{"CapacityUnit": UNIT, "MaxCapacity": {"Fn::ImportValue": "limit"}}]
    edit = set_to("TrainingShares00000000", limits, "CapacityLimits")
    unknown = compare_sources(*templates(tmp_path, edit), Asked())
    assert (ComparisonReport(unknown, FailOn.WORSE).verdict, ComparisonReport(unknown, FailOn.DESTRUCTIVE).verdict) == (
        None,
        "holds",
    )
    removed = compare_sources(*templates(tmp_path, edit, without("TrainingShares00000001")), Asked())
    assert ComparisonReport(removed, FailOn.WORSE).verdict == "fails"


@pytest.mark.parametrize(
    ("fail_on", "failed"),
    [
        (None, []),
        (FailOn.DESTRUCTIVE, ["QM301 shares.sea"]),
        (FailOn.WORSE, ["QM301 shares.sea", "share a", "share c", "own starts within 0s", "own starts within 0s"]),
    ],
)
def test_a_test_case_for_each_share_finding_and_expectation(
    everything: Comparison, fail_on: FailOn | None, failed: list[str]
) -> None:
    root = ET.fromstring(publishing.junit(ComparisonReport(everything, fail_on)))  # noqa: S314 - our own
    cases = {case.get("name"): case for case in root.iter("testcase")}
    assert set(cases) >= {"share a", "share b", "share c", "other starts within 0s"}
    found = [case.get("name") for case in root.iter("testcase") if case.find("failure") is not None]
    assert found == failed
    assert len(root.findall(".//property[@name='old']")) == 1


def test_code_scanning_gets_each_loss_at_its_share(everything: Comparison) -> None:
    log = json.loads(publishing.sarif(ComparisonReport(everything)))
    results = {
        (result["ruleId"], result["locations"][0].get("logicalLocations", [{}])[0].get("fullyQualifiedName"))
        for result in log["runs"][0]["results"]
    }
    assert results >= {("QM301", "shares.sea"), ("worse", "a"), ("worse", "c")}
    assert ("worse", "b") not in results, "it is meant"
    assert "new.json" in log["runs"][0]["automationDetails"]["id"]


def test_nothing_that_changes_is_one_test_that_passes() -> None:
    found = compare(policy(), policy()).comparison
    root = ET.fromstring(publishing.junit(ComparisonReport(found, FailOn.WORSE)))  # noqa: S314 - our own
    assert (root.get("tests"), root.get("failures")) == ("3", "0")


# --- the page ------------------------------------------------------------------------------------------


def test_the_page_has_old_beside_new(tmp_path: Path) -> None:
    (tmp_path / "jobs.yaml").write_text("jobs: [{name: x, share: b, instance_count: 2}]", encoding="utf-8")
    scenario = load_scenario(tmp_path / "jobs.yaml")
    sources = source(policy(a=share(), b=share()), tmp_path, "a.json"), source(policy(b=share(1)), tmp_path, "b.json")
    page = publishing.html(ComparisonReport(compare_sources(*sources, Asked(scenario=scenario, held=scenario))))
    columns = re.findall(r'<div class="columns">\s*<div>\s*<h4>(.*?)</h4>', page)
    assert columns.count("Old") == 2 * 3, "the scenario and what is held: the queue and two shares each"
    assert page.count("There is no such share.") == 1, "a is gone; what is held is run under what was"
    assert sum(title == "Old policy" for title in columns) == 2, "the witnesses"
    assert 'id="policies"' in page
    idents = re.findall(r'id="([^"]+)"', page)
    assert len(idents) == len(set(idents))
