"""The reports of the commands, whole and in the parts that matter."""

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import jsonschema
import pytest
from syrupy.assertion import SnapshotAssertion

from policy_engine._version import __version__
from policy_engine.running import simulate
from policy_engine.schema import SCHEMAS
from tests.policy_engine.command import folder, run, write

__all__ = ["folder"]

VALIDATOR = jsonschema.Draft202012Validator(SCHEMAS["result"]())
EXAMPLES = Path(__file__).parents[3] / "examples"
COMMANDS = {
    "check": ["check", "policy.yaml"],
    "simulate": ["simulate", "policy.yaml", "walkthrough.yaml"],
    "verify": ["verify", "policy.yaml", "walkthrough.yaml"],
    "verify-failing": ["verify", "policy.yaml", "failing.yaml"],
    "verify-several": ["verify", "policy.yaml", "scenario.yaml", "failing.yaml"],
}


@pytest.fixture
def examples(folder: Path) -> Path:
    """The project's examples, and scenarios that fail."""
    for name in ("policy.yaml", "walkthrough.yaml"):
        (folder / name).write_text((EXAMPLES / name).read_text(encoding="utf-8"), encoding="utf-8")
    return folder


def shown(text: str) -> str:
    """Without what changes with every release."""
    return text.replace(f"policy-engine {__version__}", "policy-engine VERSION")


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
@pytest.mark.parametrize("form", ["text", "markdown"])
@pytest.mark.usefixtures("examples")
def test_report_for_people(command: list[str], form: str, snapshot: SnapshotAssertion) -> None:
    assert shown(run(*command, "--format", form).stdout) == snapshot


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
@pytest.mark.usefixtures("examples")
def test_report_for_ci_servers(command: list[str], snapshot: SnapshotAssertion) -> None:
    run(*command, "--junit", "junit.xml")
    assert shown(Path("junit.xml").read_text(encoding="utf-8")) == snapshot


# --- what every report says ------------------------------------------------------------------------


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
@pytest.mark.parametrize("form", ["text", "markdown", "json"])
@pytest.mark.usefixtures("examples")
def test_every_report_ends_with_what_it_rests_on(command: list[str], form: str) -> None:
    end = run(*command, "--format", form).stdout.replace("\\_", "_")
    if form == "json":
        rests_on = json.loads(end)
        # of several scenarios, each says so
        rests_on = rests_on.get("scenarios", [rests_on])[-1]["rests_on"]
        assert (rests_on["engine"], rests_on["live_service_consulted"]) == (__version__, False)
        assert rests_on["choices"]["victims"] == "borrowed_first"
        assert ("stop_seconds" in rests_on) is (command[0] != "check")
        return
    end = end[end.index("What this rests on") :]
    said = " ".join(end.split())
    assert "all by default: share_order: oldest_head" in said
    assert f"policy-engine {__version__}" in said
    assert "the live service was not consulted" in said
    assert ("stop_seconds" in said) is (command[0] != "check")


def test_choices_that_a_scenario_sets_stand_apart(folder: Path) -> None:
    write(folder, "s.yaml", "choices: {victims: newest}\ntiming: {stop_seconds: 20}\njobs: [{name: a, share: QS1}]\n")
    said = run("simulate", "policy.yaml", "s.yaml").stdout
    assert re.search(r"choices +set by the scenario: victims: newest", said)
    assert re.search(r"stop_seconds +20s from a preemption", said)


@pytest.mark.parametrize(("stop_seconds", "mark"), [(0, " *"), (20, "")])
def test_without_timing_a_timed_verdict_says_that_stopping_is_instant(
    folder: Path, stop_seconds: int, mark: str
) -> None:
    write(
        folder,
        "s.yaml",
        f"""
        timing: {{stop_seconds: {stop_seconds}}}
        jobs: [{{name: a, share: QS1}}]
        until: 1m
        expect:
          - {{name: timed, job: a, starts_within: 0s}}
          - {{name: untimed, job: a, preempted: 0}}
          - {{name: timed too, always: owner_reclaims}}
          - {{name: untimed too, always: within_bounds}}
        """,
    )
    said = run("verify", "policy.yaml", "s.yaml", "--json", "r.json").stdout
    verdicts = re.findall(r"^(holds[ *]*?) +((?:un)?timed.*)$", said, re.MULTILINE)
    assert verdicts == [
        (f"holds{mark}", "timed"),
        ("holds", "untimed"),
        (f"holds{mark}", "timed too"),
        ("holds", "untimed too"),
    ]
    note = "without timing, stopping is instant"
    assert (f"* {note}" in said) is bool(mark)
    notes = [one["note"] for one in json.loads(Path("r.json").read_text(encoding="utf-8"))["expectations"]]
    assert notes == ([note, None] * 2 if mark else [None] * 4)


@pytest.mark.usefixtures("folder")
def test_a_failure_says_what_happened_where_it_stands_and_why_it_matters() -> None:
    said = run("verify", "policy.yaml", "failing.yaml", "--junit", "j.xml", "--sarif", "s.json").stdout
    [verdict] = re.findall(r"^fails +nobody is stopped\n((?: +.*\n)+)", said, re.MULTILINE)
    told = [line.strip() for line in verdict.splitlines()]
    assert told[0] == "med was preempted at 1m by owner (cross_share); expected exactly 0"
    assert told[-2:] == ["failing.yaml:4", "because it hurts"]
    [failure] = ET.parse("j.xml").getroot().iter("failure")  # noqa: S314
    assert failure.get("message") == told[0]
    assert failure.text == f"{told[0]}\nbecause it hurts\nfailing.yaml:4"
    [result] = json.loads(Path("s.json").read_text(encoding="utf-8"))["runs"][0]["results"]
    place = result["locations"][0]["physicalLocation"]
    assert (place["artifactLocation"]["uri"], place["region"]["startLine"]) == ("failing.yaml", 4)


def test_a_long_log_is_shown_in_part_and_counted(folder: Path) -> None:
    write(folder, "s.yaml", "jobs: [{name: job, share: QS1, duration: 1s, copies: 300, every: 2s}]\n")
    said = run("simulate", "policy.yaml", "s.yaml").stdout
    assert "900 events, the first 200 here" in said
    assert len(re.findall(r"^\S+ +(?:submitted|started|finished) ", said, re.MULTILINE)) == 200
    assert "the 200 of 300 that were preempted most or waited longest" in said
    data = json.loads(run("simulate", "policy.yaml", "s.yaml", "--format", "json").stdout)
    assert (len(data["events"]), len(data["jobs"])) == (900, 300)


# --- JSON ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
@pytest.mark.usefixtures("examples")
def test_the_json_keeps_to_its_schema(command: list[str]) -> None:
    data = json.loads(run(*command, "--format", "json").stdout)
    VALIDATOR.validate(data)
    assert (data["schema"], data["command"]) == ("policy-engine/1", command[0])


def test_the_schema_refuses_what_is_no_result() -> None:
    data = simulate(EXAMPLES / "policy.yaml", EXAMPLES / "walkthrough.yaml").to_dict()
    plain = json.loads(json.dumps(data))
    assert VALIDATOR.is_valid(plain)
    wrong = {"schema": "policy-engine/2", "command": "check", "jobs": {}, "more": 1, "verdict": "holds"}
    for key, value in wrong.items():
        assert not VALIDATOR.is_valid({**plain, key: value})
    assert not VALIDATOR.is_valid({key: value for key, value in plain.items() if key != "rests_on"})


TIMELINES = json.loads((EXAMPLES.parent / "tests/conformance/timelines.json").read_text(encoding="utf-8"))["timelines"]


@pytest.mark.parametrize("timeline", TIMELINES, ids=lambda timeline: timeline["id"])
def test_the_json_holds_the_golden_events(folder: Path, timeline: dict[str, Any]) -> None:
    for name in ("policy", "scenario"):
        (folder / f"{name}.json").write_text(json.dumps(timeline[name]), encoding="utf-8")
    data = json.loads(run("simulate", "policy.json", "scenario.json", "--format", "json").stdout)
    VALIDATOR.validate(data)
    events = [event for event in data["events"] if event["kind"] not in ("submitted", "priority_updated")]
    # of a status reason, the golden results have the code alone
    keys = ("at", "kind", "job", "by", "why")
    assert [{**{key: event[key] for key in keys}, "reason": code(event["reason"])} for event in events] == [
        {**dict.fromkeys((*keys, "reason")), **event} for event in timeline["events"]
    ]


def code(reason: str | None) -> str | None:
    return reason and reason.split(" ")[0]


def numbers(data: Any) -> list[float]:
    if isinstance(data, dict | list):
        return [number for part in (data.values() if isinstance(data, dict) else data) for number in numbers(part)]
    return [data] if isinstance(data, float) else []


def test_seconds_are_numbers_and_whole_ones_have_no_fraction(folder: Path) -> None:
    write(folder, "s.yaml", "jobs: [{name: a, share: QS1, submit: 0.25, duration: 10.0}]\n")
    data = json.loads(run("simulate", "policy.yaml", "s.yaml", "--format", "json").stdout)
    assert numbers(data["jobs"]) == [0.25, 0.25, 10.25, 0.25, 10.25]
    assert data["shares"][0]["busy_instance_seconds"] == 10
