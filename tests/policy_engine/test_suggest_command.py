"""The command ``suggest``: what it takes, what it says, and what it exits with."""

import json
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import pytest
import yaml
from click.testing import Result

from policy_engine import load_policy
from policy_engine.schema import result_schema
from policy_engine.workload.generator import SMALL, Shape, Size, Team, generate, history_csv
from tests.policy_engine.command import folder, run, write

__all__ = ["folder"]
pytestmark = [pytest.mark.unwatched, pytest.mark.usefixtures("there")]
TEAMS = (Team("6214e9", 5, (Size(SMALL, 1, 1),), 2000), Team("103959", 3, (Size(SMALL, 1, 4), Size(SMALL, 2, 1)), 4000))
ENVIRONMENT = ("--environment", "ml.g5.xlarge=24")


@pytest.fixture
def there(folder: Path) -> Path:
    """The folder, with the jobs of two teams whose names look like numbers, and one that cannot be used."""
    jobs = generate(Shape(jobs=40, days=1, teams=TEAMS), 5)
    write(folder, "jobs.csv", history_csv(jobs) + "900,lost,103959,ml.g5.xlarge,1,-1,0\n")
    write(folder, "prices.yaml", "ml.g5.xlarge: 1.5")
    return folder


def suggest(*options: str, environment: tuple[str, ...] = ENVIRONMENT) -> Result:
    return run("suggest", "jobs.csv", *environment, "--workers", "1", *options)


def test_goals_that_are_met_exit_with_0_and_the_answer_is_a_policy(there: Path) -> None:
    result = suggest("--wait-p95", "1h", "--output", "new/policy.yaml", "--prices", "prices.yaml", "--shake", "2")
    assert result.exit_code == 0, result.stderr
    assert result.stderr == "left out: 1 x no duration (line 52)\n"
    assert "met: all goals with " in result.stdout
    assert "every team: 95 % of its jobs start within 1h" in result.stdout
    assert "perturbed copies" in result.stdout
    text = (there / "new/policy.yaml").read_text(encoding="utf-8")
    policy = load_policy("new/policy.yaml")
    assert list(policy.shares) == ["103959", "6214e9"]
    assert text.startswith("# suggested by policy-engine ")
    assert f"# all goals with {policy.sum_of_limits(SMALL)} of 24 instances" in text
    replayed = json.loads(run("replay", "new/policy.yaml", "jobs.csv", "--format", "json").stdout)
    assert all(share["wait_seconds"]["p95"] <= 3600 for share in replayed["share_totals"])


def test_goals_that_cannot_be_met_exit_with_1_and_the_nearest_is_shown(there: Path) -> None:
    result = suggest(
        "--wait-p95", "6214e9=0s", "--output", "policy.yaml", environment=("--environment", "ml.g5.xlarge=3")
    )
    assert result.exit_code == 1
    assert "not met: 1 of 1 goal; " in result.stdout
    assert "cannot be met: alone in the whole" in " ".join(result.stdout.split())
    assert "# misses: 6214e9 (" in (there / "policy.yaml").read_text(encoding="utf-8")


def test_the_json_is_as_its_schema_says_and_holds_the_frontier() -> None:
    options = (
        "--wait-p95",
        "103959=10m",
        "--wait-p95",
        "2h",
        "--lost-hours",
        "1",
        "--shake",
        "1",
        "--prices",
        "prices.yaml",
    )
    result = suggest(*options, "--format", "json")
    data = json.loads(result.stdout)
    jsonschema.validate(data, result_schema())
    assert data["goals"] == {"wait_p95": {"103959": 600, "*": 7200}, "lost_hours": 1}
    assert data["answer"] in data["frontier"]
    assert data["answer"]["price_per_hour"] == 1.5 * data["answer"]["instances"]
    assert data["verdict"] == ("holds" if result.exit_code == 0 else "fails")
    assert len(data["copies"]) == 1
    assert [share["name"] for share in data["answer"]["shares"]] == ["103959", "6214e9"]


def test_an_hour_is_asked_of_everybody_where_no_goal_is_given() -> None:
    data = json.loads(suggest("--format", "json").stdout)
    assert data["goals"] == {"wait_p95": {"*": 3600}, "lost_hours": None}
    data = json.loads(suggest("--lost-hours", "0", "--format", "json").stdout)
    assert data["goals"] == {"wait_p95": {}, "lost_hours": 0}


def test_every_format_can_be_written(there: Path) -> None:
    kinds = ("json", "markdown", "html", "junit", "sarif")
    assert suggest(*(word for kind in kinds for word in (f"--{kind}", f"out.{kind}"))).exit_code == 0
    assert "What fewer and more instances come to" in (there / "out.html").read_text(encoding="utf-8")
    cases = ElementTree.parse(there / "out.junit").findall(".//testcase")  # noqa: S314 - our own
    assert [case.attrib["name"] for case in cases] == ["p95 wait of 103959: 1h", "p95 wait of 6214e9: 1h"]
    assert "By instance type" in (there / "out.markdown").read_text(encoding="utf-8")


def test_a_search_goes_on_from_what_is_kept(there: Path) -> None:
    first = suggest("--results", "kept.jsonl", "--replays", "15")
    kept = (there / "kept.jsonl").read_text(encoding="utf-8")
    assert len(kept.splitlines()) == 15
    assert "--replays N allows them" in " ".join(first.stdout.split())
    whole = suggest("--results", "kept.jsonl")
    assert (there / "kept.jsonl").read_text(encoding="utf-8").startswith(kept)
    assert whole.stdout == suggest().stdout


def test_the_document_says_names_and_numbers_as_they_are(there: Path) -> None:
    suggest("--output", "policy.yaml")
    document = yaml.safe_load((there / "policy.yaml").read_text(encoding="utf-8"))
    assert document["service_environment"] == {"capacity_limits": {"ml.g5.xlarge": 24}}
    assert {type(share["in_share_preemption"]) for share in document["shares"].values()} == {bool}


def test_names_are_replaced_and_goals_still_meant() -> None:
    goals = ("--wait-p95", "103959=10m", "--wait-p95", "2h")
    result, plain = suggest("--anonymise", *goals, "--format", "json"), suggest(*goals, "--format", "json")
    assert not any(name in result.stdout + result.stderr for name in ("103959", "6214e9", "jobs.csv"))
    data = json.loads(result.stdout)
    assert data["goals"]["wait_p95"] == {"share-1": 600, "*": 7200}
    assert data["answer"]["by_unit"] == json.loads(plain.stdout)["answer"]["by_unit"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--environment", "p5=3"], "'--environment': 'p5' is not a SageMaker instance type such as 'ml.g5.xlarge'"),
        (["--environment", "ml.g5.2xlarge=0"], "'--environment': 0 is out of range: 1 or more is allowed"),
        (["--environment", "ml.g5.2xlarge=many"], "'--environment': 'many' is not"),
        (["--environment", "ml.g5.xlarge=3"], "'--environment': 'ml.g5.xlarge' is given twice"),
        (["--wait-p95", "soon"], "'--wait-p95': 'soon' is not a duration"),
        (["--wait-p95", "a=-1h"], "'--wait-p95': 'a=-1h' is below zero"),
        (["--wait-p95", "1h", "--wait-p95", "*=2h"], "'--wait-p95': '*' is given twice"),
        (
            ["--wait-p95", "nobody=1h"],
            "jobs.csv: no team 'nobody' has jobs for the environment; there are 103959, 6214e9",
        ),
        (["--lost-hours", "-1"], "'--lost-hours': -1.0 is not in the range x>=0"),
        (["--strict"], "jobs.csv: 1 job is left out with --strict: 1 x no duration (line 52)"),
    ],
)
def test_what_is_wrong_is_one_line_and_exits_with_2(options: list[str], message: str) -> None:
    result = suggest(*options)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr.splitlines()[-1]
