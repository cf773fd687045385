"""The report of ``explain``: text, Markdown, JSON, and what the command line refuses."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from syrupy.assertion import SnapshotAssertion

from policy_engine import InputError, explain
from policy_engine._version import __version__
from policy_engine.schema import SCHEMAS
from tests.policy_engine.command import folder, run, write

__all__ = ["folder"]

EXAMPLES = Path(__file__).parents[3] / "examples"
VALIDATOR = jsonschema.Draft202012Validator(SCHEMAS["result"]())
LIFE = ["explain", "policy.yaml", "walkthrough.yaml", "--job", "qs1_job_med"]


@pytest.fixture
def examples(folder: Path) -> Path:
    for name in ("policy.yaml", "walkthrough.yaml"):
        (folder / name).write_text((EXAMPLES / name).read_text(encoding="utf-8"), encoding="utf-8")
    return folder


def shown(text: str) -> str:
    return text.replace(f"policy-engine {__version__}", "policy-engine VERSION")


@pytest.mark.parametrize("form", ["text", "markdown"])
@pytest.mark.parametrize("more", [[], ["--at", "1m"]], ids=["life", "at"])
@pytest.mark.usefixtures("examples")
def test_the_report(form: str, more: list[str], snapshot: SnapshotAssertion) -> None:
    result = run(*LIFE, *more, "--format", form)
    assert (result.exit_code, result.stderr) == (0, "")
    assert shown(result.stdout) == snapshot


@pytest.mark.usefixtures("examples")
def test_it_fits_into_80_characters_and_says_the_answer_last() -> None:
    text = run(*LIFE).stdout
    assert max(map(len, text.splitlines())) <= 80
    end = " ".join(text.splitlines()[-2:])
    assert end == (
        "RUNNABLE: qs1_job_med at the end (3m): 1 job of QS1 is before it in line; qs1_job_high, which is first, has"
        " the higher priority, 3 to 2"
    )


@pytest.mark.usefixtures("examples")
def test_every_answer_names_its_rule_what_the_rule_says_and_what_it_rests_on() -> None:
    said = " ".join(run(*LIFE, "--at", "1m").stdout.split())
    assert "0 are left and it needs 1 (R4)" in said
    assert "R4 a RESERVE share lends nothing (UG quota-shares)" in said
    assert "another answer to victims (C8) could change this" in said
    assert "of these the answer rests on victims (C8)" in said


def data(*arguments: str) -> Any:
    found = json.loads(run(*arguments, "--format", "json").stdout)
    VALIDATOR.validate(found)
    return found


@pytest.mark.usefixtures("examples")
def test_the_json_keeps_to_its_schema_and_holds_the_numbers() -> None:
    life = data(*LIFE)
    assert (life["schema"], life["command"], life["verdict"]) == ("policy-engine/1", "explain", None)
    assert (life["job"], life["at"], life["state"]) == ("qs1_job_med", None, "RUNNABLE")
    assert life["depends_on"] == ["head_of_line", "victims"]
    assert [chapter["what"] for chapter in life["chapters"]] == [
        "submitted",
        "runs",
        "preempted",
        "requeued",
        "waits",
        "waits",
    ]
    preempted, waits = life["chapters"][2], life["chapters"][4]
    assert (preempted["at"], preempted["until"], preempted["state"]) == (60, 60, None)
    victims = preempted["victims"]
    assert (victims["by"], victims["why"], victims["order"]) == ("qs2_job_1", "cross_share", "borrowed_first")
    assert [(one["job"], one["excess"], one["fate"]) for one in victims["candidates"]] == [
        ("qs1_job_med", {"ml.g5.xlarge": 1}, "stopped"),
        ("qs1_job_high", {"ml.g5.xlarge": 0}, "within_limit"),
    ]
    reason = waits["diagnosis"]["waits"]
    assert (reason["because"], reason["rule"], reason["source"]) == ("reserved", "R4", "UG quota-shares")
    assert reason["numbers"] == {
        "count": 1,
        "capacity": 3,
        "limits": 3,
        "usable": 3,
        "used": 2,
        "reserved": 1,
        "room": 0,
    }
    assert life["chapters"][5]["diagnosis"]["ahead"]["job"] == "qs1_job_high"


@pytest.mark.usefixtures("examples")
def test_at_a_time_the_json_holds_that_time() -> None:
    found = data(*LIFE, "--at", "90s")
    assert (found["at"], found["state"]) == (90, "RUNNABLE")
    assert found["answer"].startswith("1 of 3 ml.g5.xlarge is idle")


@pytest.mark.usefixtures("examples")
def test_the_other_files_are_written_too() -> None:
    files = ["--html", "r.html", "--junit", "j.xml", "--sarif", "s.json", "--markdown", "r.md", "--json", "r.json"]
    assert run(*LIFE, *files).exit_code == 0
    assert "What became of qs1_job_med" in Path("r.html").read_text(encoding="utf-8")
    assert json.loads(Path("s.json").read_text(encoding="utf-8"))["runs"][0]["results"] == []
    assert json.loads(Path("r.json").read_text(encoding="utf-8"))["command"] == "explain"


def test_a_reason_of_aws_is_told_in_its_words(folder: Path) -> None:
    write(folder, "s.yaml", "jobs: [{name: x, share: QS2, instance_count: 2}]\nuntil: 1m\n")
    said = " ".join(run("explain", "policy.yaml", "s.yaml", "--job", "x").stdout.split())
    assert (
        "AWS: MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED - Job requirements exceed quota share capacity" in said
    )
    assert "R12.2 allows 1, and the largest job of QS2 that can run has 1 (R12.2)" in said


def test_moves_that_the_scenario_fixes_are_told_as_such(folder: Path) -> None:
    write(
        folder,
        "s.yaml",
        """
        jobs:
          - {name: a, share: QS1}
          - {name: b, share: QS1}
          - {name: owner, share: QS2, submit: 1m}
        until: 2m
        decisions: [{at: 1m, job: owner, victims: [a]}]
        """,
    )
    said = " ".join(run("explain", "policy.yaml", "s.yaml", "--job", "a").stdout.split())
    assert "the scenario fixes this move under 'decisions'" in said
    assert "a is stopped for owner" in said


# --- what is refused -------------------------------------------------------------------------------

REFUSED = {
    "a job like another": (
        ["--job", "qs1_job_lw"],
        "walkthrough.yaml: job: no job 'qs1_job_lw'; did you mean 'qs1_job_low'?",
    ),
    "a job like none": (
        ["--job", "?"],
        "walkthrough.yaml: job: no job '?'; there is qs1_job_high, qs1_job_med, qs1_job_low, qs2_job_1",
    ),
    "a time after the run": (
        ["--job", "qs1_job_low", "--at", "1h"],
        "walkthrough.yaml: at: 1h is outside the run; 0s to 3m is allowed",
    ),
    "a time before the run": (
        ["--job", "qs1_job_low", "--at", "-1s"],
        "walkthrough.yaml: at: -1s is outside the run; 0s to 3m is allowed",
    ),
    "no time": (
        ["--job", "qs1_job_low", "--at", "soon"],
        "policy-engine: invalid value for '--at': 'soon' is not a duration such as 90, 90s, 5m, 2h, 1d or 1h30m",
    ),
    "no job": ([], "policy-engine: missing option '--job'"),
    "two scenarios": (
        ["walkthrough.yaml", "--job", "qs1_job_low"],
        "policy-engine: 2 scenarios; explain takes one",
    ),
}


@pytest.mark.parametrize(("arguments", "line"), REFUSED.values(), ids=REFUSED)
@pytest.mark.usefixtures("examples")
def test_what_is_refused_is_one_line(arguments: list[str], line: str) -> None:
    result = run("explain", "policy.yaml", "walkthrough.yaml", *arguments)
    assert (result.exit_code, result.stdout, result.stderr) == (2, "", f"{line}\n")


def test_from_python() -> None:
    result = explain(EXAMPLES / "policy.yaml", EXAMPLES / "walkthrough.yaml", job="qs1_job_low", at=30)
    assert result.explanation.last.state == "RUNNABLE"
    VALIDATOR.validate(json.loads(result.to_json()))
    with pytest.raises(InputError, match="no job 'low'"):
        explain(EXAMPLES / "policy.yaml", EXAMPLES / "walkthrough.yaml", job="low")


def test_names_are_shown_and_never_obeyed(folder: Path) -> None:
    jobs = [{"name": name, "share": "QS3"} for name in ("r", "*a* | [b](c)", "<img src=x>\u202e")]
    (folder / "s.json").write_text(json.dumps({"jobs": jobs, "until": 60}), encoding="utf-8")
    text = run("explain", "policy.yaml", "s.json", "--job", jobs[2]["name"], COLUMNS="200").stdout
    assert "<img src=x>\\u202e" in text
    markdown = run("explain", "policy.yaml", "s.json", "--job", jobs[2]["name"], "--format", "markdown").stdout
    assert "<img" not in markdown
    assert "\\*a\\* \\| \\[b\\](c)" in markdown
