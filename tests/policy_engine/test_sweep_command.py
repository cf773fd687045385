"""The command ``sweep``: what it takes, where things go, and what it exits with."""

import csv
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import jsonschema
import pytest
from click.testing import Result

from policy_engine.commands import sweep as command
from policy_engine.schema import result_schema
from tests.policy_engine.command import folder, run, write
from tests.policy_engine.test_replay_command import HISTORY, MAP, POLICY

__all__ = ["folder"]
pytestmark = [pytest.mark.unwatched, pytest.mark.usefixtures("there")]


@pytest.fixture
def there(folder: Path) -> Path:
    """The folder, with two policies and two histories in it."""
    write(folder, "lending.yaml", POLICY)
    write(folder, "reserving.yaml", POLICY.replace("LEND_AND_BORROW", "RESERVE").replace("LEND,", "RESERVE,"))
    write(folder, "may.csv", HISTORY.lstrip("\n").replace("ml.g5.xlarge,4", "ml.g5.xlarge,2"))
    write(folder, "june.csv", HISTORY.lstrip("\n").replace("100,b0", "900,b0").replace("xlarge,4", "xlarge,2"))
    write(folder, "map.yaml", MAP)
    return folder


def sweep(*options: str) -> Result:
    both = ("--history", "may.csv", "--history", "june.csv")
    return run("sweep", "lending.yaml", "reserving.yaml", *both, "--workers", "1", *options)


def test_every_policy_stands_beside_the_others_for_each_history() -> None:
    result = sweep("--map", "map.yaml")
    assert result.exit_code == 0
    assert result.stderr.splitlines() == ["left out: 1 x no duration (line 5)"] * 2
    told = result.stdout
    assert told.index("\nmay.csv\n") < told.index("\njune.csv\n")
    assert told.count("\nlending.yaml ") == told.count("\nreserving.yaml ") == 2
    assert "4 replays; nothing was judged" in told


def test_the_json_holds_every_replay_and_is_as_its_schema_says() -> None:
    data = json.loads(sweep("--shake", "1", "--seed", "7", "--warm-up", "1m", "--format", "json").stdout)
    jsonschema.validate(data, result_schema())
    assert [(one["policy"], one["history"], one["copy"]) for one in data["runs"]] == [
        (policy, history, copy)
        for policy in ("lending.yaml", "reserving.yaml")
        for history in ("may.csv", "june.csv")
        for copy in (0, 1)
    ]
    assert (data["seed"], data["copies"], data["warm_up"], data["rests_on"]["stop_seconds"]) == (7, 1, 60, 20)
    assert data["histories"][0]["remarks"][0]["reason"] == "no duration"
    assert {one["left_out"] for one in data["runs"]} == {1}  # nobody's, without the map


def test_the_rows_hold_every_share_of_every_replay(there: Path) -> None:
    assert sweep("--shake", "1", "--rows", "rows.csv").exit_code == 0
    with (there / "rows.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2 * 2 * 2 * 2
    assert rows[0]["policy"] == "lending.yaml"
    assert [row["wait_max_s"] for row in rows if row["history"] == "may.csv" and row["copy"] == "0"] == ["0"] * 4
    assert {row["jobs"] for row in rows} == {"1"}


def test_of_many_policies_each_has_a_row(there: Path) -> None:
    names = [f"policy-{n}.yaml" for n in range(7)]
    for name in names:
        write(there, name, POLICY)
    result = run("sweep", *names, "--history", "may.csv", "--workers", "1", "--format", "markdown")
    assert result.exit_code == 0
    assert "<summary>95th percentile of the waits, by share</summary>" in result.stdout
    assert result.stdout.count("policy-6") == 1 + 1 + 2  # what was read, its row, its two shares


def test_every_format_can_be_written(there: Path) -> None:
    kinds = ("json", "markdown", "html", "junit", "sarif")
    result = sweep(*(word for kind in kinds for word in (f"--{kind}", f"out.{kind}")))
    assert result.exit_code == 0, result.stderr
    assert all((there / f"out.{kind}").stat().st_size > 100 for kind in kinds)
    assert "june.csv" in (there / "out.html").read_text(encoding="utf-8")


def test_names_are_replaced_everywhere_and_alike() -> None:
    result = sweep("--anonymise", "--format", "json")
    data = json.loads(result.stdout)
    assert [policy["name"] for policy in data["policies"]] == ["policy-1", "policy-2"]
    assert [history["source"] for history in data["histories"]] == ["history-1", "history-2"]
    assert {share["name"] for one in data["runs"] for share in one["share_totals"]} == {"share-1", "share-2"}
    assert not any(
        name in result.stdout + result.stderr for name in ("may.csv", "lending", "training", "nobody", "y (", "a0")
    )
    plain = json.loads(sweep("--format", "json").stdout)
    assert [one["queue"] for one in data["runs"]] == [one["queue"] for one in plain["runs"]]


def test_an_interrupt_says_where_it_goes_on(there: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[float] = []

    def interrupting() -> Iterator[object]:
        def show(_: str, done: float) -> None:
            told.append(done)
            if done == 0.5:
                raise KeyboardInterrupt

        yield show

    with monkeypatch.context() as patched:
        patched.setattr(command, "progress_bar", contextmanager(interrupting))
        result = sweep("--results", "kept.jsonl")
    assert result.exit_code == 130
    assert "interrupted; what is done is kept in kept.jsonl, and the same command goes on from there\n" in result.stderr
    assert told == [0, 0.25, 0.5]
    kept = there / "kept.jsonl"
    assert len(kept.read_text(encoding="utf-8").splitlines()) == 2
    assert sweep("--results", "kept.jsonl").stdout == sweep().stdout
    assert len(kept.read_text(encoding="utf-8").splitlines()) == 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["lending.yaml"], "policy-engine: missing option '--history'"),
        (
            ["lending.yaml", "lending.yaml", "--history", "may.csv"],
            "policy-engine: policy 'lending.yaml' is given twice",
        ),
        (
            ["lending.yaml", "--history", "may.csv", "--history", "may.csv"],
            "policy-engine: history 'may.csv' is given twice",
        ),
        (["none.yaml", "--history", "may.csv"], "none.yaml: no such file"),
        (
            ["lending.yaml", "--history", "may.csv", "--strict"],
            "may.csv: 1 job is left out with --strict: 1 x no duration (line 5)",
        ),
        (["lending.yaml", "--history", "june.csv", "--results", "map.yaml"], "map.yaml: not a file of results"),
    ],
)
def test_what_is_wrong_is_one_line_and_exits_with_2(there: Path, arguments: list[str], message: str) -> None:
    (there / "map.yaml").write_text(MAP, encoding="utf-8")
    result = run("sweep", *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.splitlines()[-1] == message
