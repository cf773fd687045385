"""SARIF, as GitHub's code scanning reads it."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from policy_engine.report.blocks import Badge, Page
from policy_engine.report.sarif import Result, Rule, render
from policy_engine.report.sarif import Result as Found
from tests.policy_engine.command import POLICY, folder, run, write
from tests.policy_engine.sources.templates import template_of, write_assembly

__all__ = ["folder"]

RULE = Rule(
    "QM001",
    "more than 20 shares",
    "The service refuses it.",
    "take some away",
    "https://docs.aws.amazon.com/x",
    "error",
)
OTHER = Rule("QM102", "no limits", level="warning")

# --- what GitHub requires ------------------------------------------------------------------------------

TEXT = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string", "minLength": 1}}}
RELATIVE = {
    "required": ["uri", "uriBaseId"],
    "properties": {
        "uri": {"type": "string", "pattern": r"^(?!/|\.\.|\./)[^\\ :]+$"},
        "uriBaseId": {"const": "%SRCROOT%"},
    },
}
ABSOLUTE = {"required": ["uri"], "properties": {"uri": {"type": "string", "pattern": "^file:///"}}}
LEVEL = {"enum": ["error", "warning", "note"]}
REGION = {
    "type": "object",
    "required": ["startLine", "startColumn", "endLine"],
    "additionalProperties": False,
    "properties": {key: {"type": "integer", "minimum": 1} for key in ("startLine", "startColumn", "endLine")},
}
GITHUB: dict[str, Any] = {
    "type": "object",
    "required": ["$schema", "version", "runs"],
    "additionalProperties": False,
    "properties": {
        "$schema": {"const": "https://json.schemastore.org/sarif-2.1.0.json"},
        "version": {"const": "2.1.0"},
        "runs": {"type": "array", "minItems": 1, "maxItems": 1, "items": {"$ref": "#/$defs/run"}},
    },
    "$defs": {
        "run": {
            "type": "object",
            "required": ["tool", "results", "automationDetails"],
            "properties": {
                "tool": {
                    "type": "object",
                    "required": ["driver"],
                    "properties": {
                        "driver": {
                            "type": "object",
                            "required": ["name", "semanticVersion", "rules"],
                            "properties": {
                                "name": {"const": "policy-engine"},
                                "semanticVersion": {"type": "string", "pattern": r"^\d+\.\d+\.\d+"},
                                "rules": {"type": "array", "uniqueItems": True, "items": {"$ref": "#/$defs/rule"}},
                            },
                        }
                    },
                },
                # a category ends with a slash
                "automationDetails": {"properties": {"id": {"type": "string", "pattern": "^policy-engine .*/$"}}},
                "results": {"type": "array", "maxItems": 25_000, "items": {"$ref": "#/$defs/result"}},
            },
        },
        "rule": {
            "type": "object",
            "required": ["id", "shortDescription", "fullDescription", "help", "defaultConfiguration", "properties"],
            "properties": {
                "id": {"type": "string", "minLength": 1},
                "shortDescription": {**TEXT, "properties": {"text": {"type": "string", "maxLength": 1024}}},
                "fullDescription": {**TEXT, "properties": {"text": {"type": "string", "maxLength": 1024}}},
                "help": {"required": ["text", "markdown"]},
                "helpUri": {"type": "string", "pattern": "^https://"},
                "defaultConfiguration": {"required": ["level"], "properties": {"level": LEVEL}},
                "properties": {
                    "required": ["tags", "precision", "problem.severity"],
                    "properties": {
                        "tags": {"type": "array", "maxItems": 20},
                        "precision": {"enum": ["very-high", "high", "medium", "low"]},
                        "problem.severity": {"enum": ["error", "warning", "recommendation"]},
                    },
                },
            },
        },
        "result": {
            "type": "object",
            "required": ["ruleId", "ruleIndex", "level", "message", "locations", "partialFingerprints"],
            "properties": {
                "ruleIndex": {"type": "integer", "minimum": 0},
                "level": LEVEL,
                "message": TEXT,
                "locations": {"type": "array", "minItems": 1, "maxItems": 1, "items": {"$ref": "#/$defs/location"}},
                "partialFingerprints": {
                    "required": ["primaryLocationLineHash"],
                    "properties": {"primaryLocationLineHash": {"type": "string", "pattern": "^[0-9a-f]{16}:[1-9]"}},
                },
                "suppressions": {
                    "type": "array",
                    "minItems": 1,
                    "items": {
                        "required": ["kind", "status", "justification"],
                        "properties": {"kind": {"enum": ["inSource", "external"]}, "status": {"const": "accepted"}},
                    },
                },
            },
        },
        "location": {
            "type": "object",
            "required": ["physicalLocation"],
            "properties": {
                "physicalLocation": {
                    "required": ["artifactLocation", "region"],
                    "properties": {"artifactLocation": {"oneOf": [RELATIVE, ABSOLUTE]}, "region": REGION},
                }
            },
        },
    },
}
"""The part of SARIF 2.1.0 that GitHub reads, with what it requires."""
VALIDATOR = jsonschema.Draft202012Validator(GITHUB)


def page(command: str = "check", *policies: str) -> Page:
    sources = [("policy", policy) for policy in policies or ("policy document p.yaml",)]
    return Page(command, "", Badge("holds"), sources, rests_on=[("engine", "1")])


def made(*results: Result, of: Page | None = None) -> Any:
    [only] = json.loads(render(results, of or page()))["runs"]
    return only


def places(results: Sequence[Any]) -> list[tuple[str, int, int]]:
    found = [result["locations"][0]["physicalLocation"] for result in results]
    return [(p["artifactLocation"]["uri"], p["region"]["startLine"], p["region"]["startColumn"]) for p in found]


# --- rules -------------------------------------------------------------------------------------------


def test_each_rule_stands_once_and_results_point_to_it() -> None:
    only = made(Result(RULE, "error", "a"), Result(OTHER, "note", "b"), Result(RULE, "error", "c"))
    rules = only["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["QM001", "QM102"]
    assert [rules[result["ruleIndex"]]["id"] for result in only["results"]] == ["QM001", "QM102", "QM001"]
    assert [result["level"] for result in only["results"]] == ["error", "note", "error"]
    assert only["properties"] == {"restsOn": {"engine": "1"}}


def test_a_rule_says_why_what_to_change_and_where_it_comes_from() -> None:
    rules = made(Result(RULE, "error", "a"), Result(OTHER, "warning", "b"))["tool"]["driver"]["rules"]
    assert rules[0]["fullDescription"] == {"text": "The service refuses it."}
    assert rules[0]["help"] == {
        "text": "The service refuses it.\n\nTo change: take some away.\n\nSource: https://docs.aws.amazon.com/x",
        "markdown": "The service refuses it.\n\nTo change: take some away.\n\nSource: <https://docs.aws.amazon.com/x>",
    }
    assert rules[0]["helpUri"] == "https://docs.aws.amazon.com/x"
    assert "helpUri" not in rules[1]
    levels = [(rule["defaultConfiguration"]["level"], rule["properties"]["problem.severity"]) for rule in rules]
    assert levels == [("error", "error"), ("warning", "warning")]


# --- places ------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("file", "uri"),
    [
        ("t.json", "t.json"),
        ("a folder/t.json", "a%20folder/t.json"),
        ("./t.json", "t.json"),
        ("a/../t.json", "t.json"),
        ("größe/a:b#c?.yaml", "gr%C3%B6%C3%9Fe/a%3Ab%23c%3F.yaml"),
    ],
)
def test_a_path_below_the_current_folder_is_relative_to_it(file: str, uri: str) -> None:
    only = made(Result(RULE, "error", "a", file, 3, 7))
    [location] = only["results"][0]["locations"]
    assert location["physicalLocation"]["artifactLocation"] == {"uri": uri, "uriBaseId": "%SRCROOT%"}
    absolute = made(Result(RULE, "error", "a", str(Path.cwd() / file), 3, 7))
    assert absolute["results"][0]["locations"][0] == location


def test_a_path_elsewhere_is_a_uri(folder: Path) -> None:
    [result] = made(Result(RULE, "error", "a", "../else where/t.json", 3, 7))["results"]
    artifact = result["locations"][0]["physicalLocation"]["artifactLocation"]
    assert artifact == {"uri": f"file://{folder.parent.as_posix()}/else%20where/t.json"}


def test_a_place_has_a_region_and_a_name() -> None:
    only = made(Result(RULE, "error", "a", "t.json", 3, 7, "Share1.Strategy"), Result(RULE, "error", "a", "t.json"))
    first, whole = (result["locations"][0] for result in only["results"])
    assert first["physicalLocation"]["region"] == {"startLine": 3, "startColumn": 7, "endLine": 3}
    assert first["logicalLocations"] == [{"fullyQualifiedName": "Share1.Strategy"}]
    # a finding about the whole file stands on its first line: GitHub takes none without a region
    assert whole["physicalLocation"]["region"] == {"startLine": 1, "startColumn": 1, "endLine": 1}


# --- across runs -------------------------------------------------------------------------------------


def prints(*results: Result) -> list[str]:
    return [result["partialFingerprints"]["primaryLocationLineHash"] for result in made(*results)["results"]]


def test_a_finding_keeps_its_fingerprint_when_it_moves_or_its_numbers_change() -> None:
    [before] = prints(Result(RULE, "error", "21 shares", "t.json", 3, 7, "Share1"))
    [after] = prints(Result(RULE, "warning", "22 shares", "t.json", 9, 1, "Share1"))
    assert before == after


def test_findings_that_differ_have_fingerprints_that_differ() -> None:
    results = [
        Result(RULE, "error", "a", "t.json", 3, 7, "Share1"),
        Result(OTHER, "error", "a", "t.json", 3, 7, "Share1"),
        Result(RULE, "error", "a", "u.json", 3, 7, "Share1"),
        Result(RULE, "error", "a", "t.json", 3, 7, "Share2"),
        Result(RULE, "error", "a second of its kind", "t.json", 4, 7, "Share1"),
    ]
    found = prints(*results)
    assert len(set(found)) == len(results)
    assert [found[-1].partition(":")[0], found[-1].partition(":")[2]] == [found[0].partition(":")[0], "2"]


def test_commands_and_policies_are_categories_of_their_own() -> None:
    ids = [
        made(of=of)["automationDetails"]["id"]
        for of in (page("check"), page("verify"), page("check", "template a/b.json"), page("verify", "p", "q", "p"))
    ]
    assert ids == [
        "policy-engine check: policy document p.yaml/",
        "policy-engine verify: policy document p.yaml/",
        "policy-engine check: template a/b.json/",
        "policy-engine verify: p, q/",
    ]


# --- ignored findings --------------------------------------------------------------------------------


def test_an_ignored_finding_is_suppressed_with_its_reason() -> None:
    only = made(Found(RULE, "error", "a", suppressed_because="we \x1b know"), Found(RULE, "error", "b"))
    suppression = {"kind": "inSource", "status": "accepted", "justification": "we \\x1b know"}
    assert only["results"][0]["suppressions"] == [suppression]
    assert "suppressions" not in only["results"][1]


def test_nothing_found_is_a_run_without_results() -> None:
    assert made()["results"] == []


# --- what the commands write -------------------------------------------------------------------------


def written(*arguments: str) -> Any:
    """The run that a command writes; it keeps to what GitHub requires."""
    run(*arguments, "--sarif", "out.sarif")
    log = json.loads(Path("out.sarif").read_text(encoding="utf-8"))
    VALIDATOR.validate(log)
    return log["runs"][0]


def test_the_findings_of_a_document(folder: Path) -> None:
    write(folder, "p.yaml", f"{POLICY}    ignore: [{{finding: QM108, because: the team watches the queue}}]\n")
    only = written("check", "p.yaml")
    found = {result["ruleId"]: result for result in only["results"]}
    assert found["QM108"]["suppressions"][0]["justification"] == "the team watches the queue"
    assert [key for key, result in found.items() if "suppressions" in result] == ["QM108"]
    assert {uri for uri, _, _ in places(only["results"])} == {"p.yaml"}
    lines = (folder / "p.yaml").read_text(encoding="utf-8").splitlines()
    for result, (_, line, column) in zip(only["results"], places(only["results"]), strict=True):
        key = result["locations"][0]["logicalLocations"][0]["fullyQualifiedName"].rpartition(".")[2]
        assert result["ruleId"] == "QM108" or lines[line - 1][column - 1 :].startswith(("xlarge", key, "ml."))


@pytest.mark.usefixtures("folder")
def test_a_users_severity_is_the_results_and_not_the_rules() -> None:
    only = written("check", "policy.yaml", "--severity", "QM108=error")
    [result] = [result for result in only["results"] if result["ruleId"] == "QM108"]
    rule = only["tool"]["driver"]["rules"][result["ruleIndex"]]
    assert (result["level"], rule["defaultConfiguration"]["level"]) == ("error", "warning")


def test_the_findings_of_a_template_and_of_an_assembly(folder: Path) -> None:
    from policy_engine import load_policy

    template = template_of(load_policy(folder / "policy.yaml"))
    (folder / "template.json").write_text(json.dumps(template, indent=2), encoding="utf-8")
    only = written("check", "template.json")
    assert len(only["results"]) > 1
    assert {uri for uri, _, _ in places(only["results"])} == {"template.json"}
    assert all(line > 1 for _, line, _ in places(only["results"]))
    write_assembly(folder / "cdk.out", {"Stack": template})
    only = written("check", "cdk.out")
    assert {uri for uri, _, _ in places(only["results"])} == {"cdk.out/Stack.template.json"}
    assert only["automationDetails"]["id"].startswith("policy-engine check: ")


def test_expectations_that_do_not_hold(folder: Path) -> None:
    only = written("verify", "policy.yaml", "scenario.yaml", "failing.yaml")
    [result] = only["results"]
    assert (result["ruleId"], result["level"]) == ("expectation", "error")
    assert places([result]) == [("failing.yaml", 4, 1)]
    assert result["locations"][0]["logicalLocations"] == [{"fullyQualifiedName": "nobody is stopped"}]
    # lines that come before it do not make it another
    write(folder, "failing.yaml", "# a comment\n" + (folder / "failing.yaml").read_text(encoding="utf-8"))
    [moved] = written("verify", "policy.yaml", "scenario.yaml", "failing.yaml")["results"]
    assert places([moved]) == [("failing.yaml", 5, 1)]
    assert moved["partialFingerprints"] == result["partialFingerprints"]


@pytest.mark.usefixtures("folder")
def test_a_property_that_does_not_hold_stands_on_the_policy() -> None:
    asked = ["--all-choices", "--property", "disruption_ratio=1", "--jobs", "2", "--sizes", "1,2", "--open", "victims"]
    [result] = written("verify", "policy.yaml", *asked)["results"]
    assert places([result]) == [("policy.yaml", 1, 1)]


@pytest.mark.usefixtures("folder")
def test_commands_that_judge_nothing_write_a_run_without_results() -> None:
    assert written("simulate", "policy.yaml", "scenario.yaml")["results"] == []
    assert written("explain", "policy.yaml", "scenario.yaml", "--job", "med")["results"] == []
