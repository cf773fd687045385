"""SARIF, as code scanning reads it."""

import json
from typing import Any

from policy_engine.report.sarif import Result, Rule, render

RULE = Rule("QM001", "more than 20 shares", "The service refuses it. Take some away.", "https://docs.aws.amazon.com/x")
OTHER = Rule("QM002", "no limits")


def run(*results: Result) -> Any:
    log = json.loads(render(results, [("engine", "1")]))
    assert (log["version"], log["$schema"]) == ("2.1.0", "https://json.schemastore.org/sarif-2.1.0.json")
    [only] = log["runs"]
    return only


def test_each_rule_stands_once_and_results_point_to_it() -> None:
    only = run(Result(RULE, "error", "a"), Result(OTHER, "note", "b"), Result(RULE, "error", "c"))
    rules = only["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["QM001", "QM002"]
    assert [rules[result["ruleIndex"]]["id"] for result in only["results"]] == ["QM001", "QM002", "QM001"]
    assert [result["level"] for result in only["results"]] == ["error", "note", "error"]
    assert rules[0]["helpUri"] == "https://docs.aws.amazon.com/x"
    assert "help" not in rules[1]
    assert only["properties"] == {"restsOn": {"engine": "1"}}


def test_a_place_is_a_region_of_a_file() -> None:
    only = run(Result(RULE, "error", "a", "a folder/t.json", 3, 7, "Share1.Strategy"))
    [location] = only["results"][0]["locations"]
    physical = location["physicalLocation"]
    assert physical["artifactLocation"] == {"uri": "a%20folder/t.json"}
    assert physical["region"] == {"startLine": 3, "startColumn": 7}
    assert location["logicalLocations"] == [{"fullyQualifiedName": "Share1.Strategy"}]


def test_an_ignored_finding_is_suppressed_with_its_reason() -> None:
    only = run(Result(RULE, "error", "a", suppressed_because="we \x1b know"), Result(RULE, "error", "b"))
    assert only["results"][0]["suppressions"] == [{"kind": "inSource", "justification": "we \\x1b know"}]
    assert "suppressions" not in only["results"][1]


def test_nothing_found_is_a_run_without_results() -> None:
    assert run()["results"] == []
