"""Scenario files as tests: names, failures, where the policy comes from, JUnit, and what it costs who has none."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import yaml  # noqa: F401 - see below

# pytester forgets what a run inside it was the first to import, and a second import would make second classes.
import policy_engine.report.verification
import policy_engine.running
import policy_engine.sources
from tests.policy_engine.command import FAILING, POLICY, SCENARIO, write

pytest_plugins = ["pytester"]

PLUGIN = "policy_engine.pytest_plugin"


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    """A folder with a policy, a scenario that holds and one that fails."""
    write(pytester.path, "policy.yaml", POLICY)
    write(pytester.path, "holds.scenario.yaml", f"    policy: policy.yaml{SCENARIO}")
    write(pytester.path, "fails.scenario.yaml", f"    policy: policy.yaml{FAILING}")
    return pytester


def run(project: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    """pytest in the folder, without the plugins that only slow it down."""
    others = [
        part for name in ("cacheprovider", "hypothesispytest", "syrupy", "typeguard") for part in ("-p", f"no:{name}")
    ]
    return project.runpytest(*others, *arguments)


def test_it_is_an_entry_point_of_pytest() -> None:
    assert [entry.value for entry in entry_points(group="pytest11", name="policy-engine")] == [PLUGIN]


# --- what is collected -------------------------------------------------------------------------------


def test_every_expectation_is_a_test(project: pytest.Pytester) -> None:
    result = run(project, "-v")
    result.assert_outcomes(passed=2, failed=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        [
            "fails.scenario.yaml::nobody is stopped FAILED*",
            "holds.scenario.yaml::owner starts within 0s PASSED*",
            "holds.scenario.yaml::med is preempted once by owner PASSED*",
        ]
    )


def test_only_scenario_files_are_collected(pytester: pytest.Pytester) -> None:
    write(pytester.path, "p.yaml", POLICY)
    data = {"policy": "p.yaml", "jobs": [{"name": "a", "share": "QS1"}], "expect": [{"job": "a", "preempted": 0}]}
    collected = ["a.scenario.json", "b.scenario.yaml", "c.scenario.yml"]
    for name in (*collected, "scenario.yaml", "d.scenario.yaml.bak", "e.scenario.toml", "f_scenario.yaml"):
        (pytester.path / name).write_text(json.dumps(data), encoding="utf-8")
    result = run(pytester, "--collect-only", "-q")
    assert [line.partition("::")[0] for line in result.stdout.lines if "::" in line] == collected


def test_one_test_is_chosen_by_its_name(project: pytest.Pytester) -> None:
    result = run(project, "holds.scenario.yaml::med is preempted once by owner")
    result.assert_outcomes(passed=1)
    run(project, "-k", "owner and starts").assert_outcomes(passed=1, deselected=2)


def test_names_are_unique_and_can_be_taken_apart(project: pytest.Pytester) -> None:
    write(
        project.path,
        "names.scenario.yaml",
        """
        policy: policy.yaml
        jobs: [{name: a, share: QS1}]
        until: 1m
        expect:
          - {name: "first::of all", job: a, preempted: 0}
          - {name: same, job: a, preempted: 0}
          - {name: same, job: a, preempted: 0}
          - {name: "two\\nlines", job: a, preempted: 0}
          - {always: owner_reclaims}
        """,
    )
    result = run(project, "names.scenario.yaml", "--collect-only", "-q")
    assert [line for line in result.stdout.lines if "::" in line] == [
        "names.scenario.yaml::first: :of all",
        "names.scenario.yaml::same",
        "names.scenario.yaml::same (2)",
        "names.scenario.yaml::two\\nlines",
        "names.scenario.yaml::a job first in line inside its share's own limit always starts within 0s",
    ]
    run(project, "names.scenario.yaml").assert_outcomes(passed=5)


# --- failures ----------------------------------------------------------------------------------------


def test_a_failure_shows_message_reason_place_and_what_it_rests_on(project: pytest.Pytester) -> None:
    result = run(project, "fails.scenario.yaml")
    result.stdout.fnmatch_lines(
        [
            "*nobody is stopped*",
            "med was preempted at 1m by owner (cross_share); expected exactly 0",
            "because it hurts",
            "fails.scenario.yaml:4",
            "rests on: *",
            "FAILED fails.scenario.yaml::nobody is stopped - *med was preempted at *",
        ]
    )
    assert "pytest_plugin.py" not in result.stdout.str()


def test_what_a_failure_rests_on_is_named(project: pytest.Pytester) -> None:
    write(
        project.path,
        "rests.scenario.yaml",
        """
        policy: policy.yaml
        jobs:
          - {name: high, share: QS1, priority: 3}
          - {name: med, share: QS1, priority: 2, submit: 1s}
          - {name: owner, share: QS2, submit: 1m}
        until: 2m
        expect: [{job: med, preempted: 0, by: owner}]
        """,
    )
    run(project, "rests.scenario.yaml").stdout.fnmatch_lines(["rests on: victims: another answer changes it"])


def test_the_scenario_is_run_once_for_all_its_tests(project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[str] = []
    verify = policy_engine.running.verify

    def counted(source: object, scenario: object, **more: object) -> object:
        ran.append(scenario.source)  # type: ignore[attr-defined]
        return verify(source, scenario, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(policy_engine.running, "verify", counted)
    run(project).assert_outcomes(passed=2, failed=1)
    assert sorted(ran) == ["fails.scenario.yaml", "holds.scenario.yaml"]
    ran.clear()
    run(project, "--collect-only")
    assert ran == []


def test_a_terminal_shows_text_of_the_users_as_text(project: pytest.Pytester) -> None:
    expectation = {"name": "x", "because": "\x1b[31mred\u202e\nsecond", "job": "a", "preempted": 1}
    data = {"policy": "policy.yaml", "jobs": [{"name": "a", "share": "QS1"}], "until": 9, "expect": [expectation]}
    (project.path / "x.scenario.json").write_text(json.dumps(data), encoding="utf-8")
    said = run(project, "x.scenario.json", "--color=no").stdout.str()
    assert "because \\x1b[31mred\\u202e" in said
    assert "\x1b" not in said


# --- JUnit -------------------------------------------------------------------------------------------


def test_junit_has_the_names_the_messages_and_what_they_rest_on(project: pytest.Pytester) -> None:
    (project.path / "tests").mkdir()
    (project.path / "fails.scenario.yaml").rename(project.path / "tests" / "fails.scenario.yaml")
    write(project.path / "tests", "policy.yaml", POLICY)
    run(project, "--junit-xml=junit.xml")
    root = ET.parse(project.path / "junit.xml").getroot()  # noqa: S314
    cases = {case.get("name"): case for case in root.iter("testcase")}
    assert list(cases) == ["owner starts within 0s", "med is preempted once by owner", "nobody is stopped"]
    failed = cases["nobody is stopped"]
    assert failed.get("classname") == "tests.fails.scenario.yaml"
    [failure] = failed.iter("failure")
    assert "med was preempted at 1m by owner (cross_share); expected exactly 0" in (failure.get("message") or "")
    assert "tests/fails.scenario.yaml:4" in (failure.text or "")
    held = {p.get("name"): p.get("value") for p in cases["med is preempted once by owner"].iter("property")}
    assert held["policy"] == "policy document policy.yaml"
    assert set(held) == {"policy", "rests_on", "engine"}


@pytest.mark.nightly
def test_it_works_in_several_processes(project: pytest.Pytester) -> None:
    run(project, "--numprocesses", "2").assert_outcomes(passed=2, failed=1)


# --- where the policy comes from ---------------------------------------------------------------------

STINGY = POLICY.replace("borrow_limit: 200", "borrow_limit: 0")


def test_a_policy_on_the_command_line_wins(project: pytest.Pytester) -> None:
    write(project.path, "stingy.yaml", STINGY)
    run(project, "holds.scenario.yaml").assert_outcomes(passed=2)
    # without borrowing, the job of two never starts and nobody is stopped
    run(project, "holds.scenario.yaml", "--policy", "stingy.yaml").assert_outcomes(passed=1, failed=1)


@pytest.mark.parametrize("configuration", ["pyproject.toml", "pytest.ini"])
def test_a_policy_in_the_configuration_is_for_scenarios_that_name_none(
    project: pytest.Pytester, configuration: str
) -> None:
    text = {
        "pyproject.toml": "[tool.pytest.ini_options]\npolicy_engine_policy = 'policies/stingy.yaml'\n",
        "pytest.ini": "[pytest]\npolicy_engine_policy = policies/stingy.yaml\n",
    }
    (project.path / "policies").mkdir()
    write(project.path / "policies", "stingy.yaml", STINGY)
    (project.path / configuration).write_text(text[configuration], encoding="utf-8")
    # it is relative to the configuration file, wherever the scenario is and pytest is started
    (project.path / "deep").mkdir()
    write(project.path / "deep", "none.scenario.yaml", SCENARIO)
    project.chdir()
    run(project, "deep").assert_outcomes(passed=1, failed=1)
    run(project, "holds.scenario.yaml").assert_outcomes(passed=2)


TEMPLATE = {
    "Parameters": {"Limit": {"Type": "Number"}},
    "Resources": {
        "Policy": {
            "Type": "AWS::Batch::SchedulingPolicy",
            "Properties": {"QuotaSharePolicy": {"IdleResourceAssignmentStrategy": "FIFO"}},
        },
        "Environment": {
            "Type": "AWS::Batch::ServiceEnvironment",
            "Properties": {
                "ServiceEnvironmentType": "SAGEMAKER_TRAINING",
                "CapacityLimits": [{"CapacityUnit": "ml.g5.xlarge", "MaxCapacity": 3}],
            },
        },
        "Queue": {
            "Type": "AWS::Batch::JobQueue",
            "Properties": {
                "JobQueueType": "SAGEMAKER_TRAINING",
                "Priority": 1,
                "SchedulingPolicyArn": {"Ref": "Policy"},
                "ServiceEnvironmentOrder": [{"Order": 1, "ServiceEnvironment": {"Ref": "Environment"}}],
            },
        },
        "Share": {
            "Type": "AWS::Batch::QuotaShare",
            "Properties": {
                "QuotaShareName": "QS1",
                "JobQueue": {"Ref": "Queue"},
                "CapacityLimits": [{"CapacityUnit": "ml.g5.xlarge", "MaxCapacity": {"Ref": "Limit"}}],
                "ResourceSharingConfiguration": {"Strategy": "RESERVE"},
                "PreemptionConfiguration": {"InSharePreemption": "DISABLED"},
            },
        },
    },
}


def test_parameters_of_a_template(pytester: pytest.Pytester) -> None:
    (pytester.path / "template.json").write_text(json.dumps(TEMPLATE), encoding="utf-8")
    write(
        pytester.path,
        "two.scenario.yaml",
        """
        policy: template.json
        jobs: [{name: a, share: QS1, instance_count: 2}]
        expect: [{job: a, starts_within: 0s}]
        """,
    )
    (pytester.path / "pytest.ini").write_text("[pytest]\npolicy_engine_parameters =\n  Limit = 1\n", encoding="utf-8")
    run(pytester).assert_outcomes(failed=1)
    run(pytester, "--policy-parameter", "Limit=2").assert_outcomes(passed=1)
    result = run(pytester, "--policy-parameter", "Limit")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["policy parameter: 'Limit' is not KEY=VALUE"])


def test_a_policy_is_read_once_for_all_scenarios(project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    load = policy_engine.sources.load

    def counted(source: str, **more: object) -> object:
        read.append(source)
        return load(source, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(policy_engine.sources, "load", counted)
    run(project).assert_outcomes(passed=2, failed=1)
    assert read == ["policy.yaml"]


# --- what is wrong with the files --------------------------------------------------------------------

WRONG = {
    "none": (
        SCENARIO,
        ": no policy: name it under 'policy', in the option 'policy_engine_policy' of pytest, or with *",
    ),
    "key": ("policy: policy.yaml\nruns: 1\n", ":2:1: runs: unknown key 'runs'*"),
    "share": (
        "policy: policy.yaml\njobs: [{name: a, share: QS9}]\nexpect: [{job: a, preempted: 0}]\n",
        ":2:18: jobs[[]0[]].share: no share 'QS9'*",
    ),
    "empty": ("policy: policy.yaml\njobs: [{name: a, share: QS1}]\n", ": expects nothing*"),
    "yaml": ("jobs: [\n  - }\n", ":2:3: not valid YAML*"),
}
"""Name to contents, and what is said after the file's name."""


def test_a_wrong_file_is_one_error_in_one_line(project: pytest.Pytester) -> None:
    write(project.path, "gone.scenario.yaml", f"    policy: gone.yaml{SCENARIO}")
    for name, (content, _) in WRONG.items():
        write(project.path, f"{name}.scenario.yaml", content)
    result = run(project)
    result.assert_outcomes(errors=6)
    assert result.ret == pytest.ExitCode.INTERRUPTED
    for name, (_, said) in WRONG.items():
        result.stdout.fnmatch_lines([f"{name}.scenario.yaml{said}"])
    result.stdout.fnmatch_lines(["gone.yaml: no such file*"])
    assert "Traceback" not in result.stdout.str()


def test_a_run_without_end_fails_its_tests(project: pytest.Pytester) -> None:
    # each of the two is larger than its share's limit and, under C10 yes, takes its own part back from the other
    write(
        project.path,
        "endless.scenario.yaml",
        """
        policy: endless.yaml
        choices: {partly_borrowed: "yes"}
        jobs:
          - {name: a, share: A, instance_count: 3}
          - {name: b, share: B, instance_count: 3, submit: 1m}
        until: 2m
        expect: [{job: a, preempted: 0}, {job: b, preempted: 0}]
        """,
    )
    share = "{capacity_limits: {ml.g5.xlarge: 2}, strategy: LEND_AND_BORROW, in_share_preemption: false}"
    write(
        project.path,
        "endless.yaml",
        f"service_environment: {{capacity_limits: {{ml.g5.xlarge: 4}}}}\nshares:\n  A: {share}\n  B: {share}\n",
    )
    result = run(project, "endless.scenario.yaml")
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["*over and over*"])


# --- what it costs -----------------------------------------------------------------------------------


def test_who_has_no_scenarios_pays_nothing() -> None:
    code = f"import sys, {PLUGIN}; print(*sorted(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    engine = {name for name in loaded if name.startswith("policy_engine")}
    assert engine == {"policy_engine", "policy_engine._version", PLUGIN}
    assert set(loaded).isdisjoint({"pydantic", "yaml", "rich", "click"})


# --- the documentation -------------------------------------------------------------------------------


def test_what_the_documentation_shows_works(pytester: pytest.Pytester) -> None:
    page = (Path(__file__).parents[2] / "docs" / "testing.md").read_text(encoding="utf-8")
    for block in page.split("```")[1::2]:
        _, _, content = block.partition("\n")
        first, _, rest = content.partition("\n")
        if first.startswith("# file: "):
            (pytester.path / first.removeprefix("# file: ")).write_text(rest, encoding="utf-8")
    shown = [block for block in page.split("```")[1::2] if block.startswith("console\n$ pytest")]
    for block in shown:
        command, _, expected = block.removeprefix("console\n$ pytest").partition("\n")
        result = run(pytester, *command.split())
        for line in expected.strip().splitlines():
            result.stdout.fnmatch_lines([line.replace("[", "[[]") if line != "..." else "*"])
    assert len(shown) == 2
