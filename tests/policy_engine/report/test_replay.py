"""Reports of replays: every number once more from what it was made of, and no harm from what users name."""

import csv
import io
import json
import re
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from rich.console import Console

from policy_engine.outcome import job_outcomes
from policy_engine.outcome.measures import PairMeasures
from policy_engine.replaying import Asked, Replayed, ReplayOptions, Spreading, ask
from policy_engine.report import markdown, publishing
from policy_engine.report import text as terminal
from policy_engine.report.json import text
from policy_engine.report.replay import ReplayReport, anonymous
from policy_engine.report.replay_rows import COLUMNS, csv_cell, job_texts, write_events, write_rows
from policy_engine.scheduler.jobs import Exit, Timing
from policy_engine.schema import result_schema
from policy_engine.simulation import Run, simulate
from policy_engine.sources import Source, load
from policy_engine.workload.history import History
from policy_engine.workload.history.remarks import Remark
from tests.oracle.generator import scenario
from tests.policy_engine.replaying.cases import (
    ROOT,
    UNIT,
    borrowed_and_taken_back,
    generated,
    history,
    job,
    policy,
    teams,
)

PRICES = {UNIT: 1.0, "ml.g5.12xlarge": 5.0, "ml.g5.48xlarge": 15.0}


@pytest.fixture(scope="module")
def source() -> Source:
    return load(ROOT / "examples" / "teams.yaml")


@pytest.fixture(scope="module")
def everything() -> Replayed:
    """All that can be asked, with a job that can never run and one that has no share."""
    found = generated(jobs=120, days=1)
    jobs = (*found.jobs, job("too-large", "tests", 9e5, 60, count=4), job("nobody's", "nobody", 9e5, 60))
    started = [j.submit + 30 for j in jobs]
    asked = Asked(ReplayOptions(warm_up=600), baselines=True, shakes=2, spreading=Spreading(1), prices=PRICES)
    return ask(
        teams().model_copy(update={"job_state_time_limits": ()}), replace(found, jobs=jobs, started=started), asked
    )


# --- JSON --------------------------------------------------------------------------------------------


def test_the_result_is_as_its_schema_says(source: Source, everything: Replayed) -> None:
    schema = result_schema()
    for replayed in (everything, ask(policy(), borrowed_and_taken_back(), Asked())):
        data = json.loads(text(ReplayReport(source, replayed).data()))
        jsonschema.validate(data, schema)
        assert (data["command"], data["verdict"], "events" in data) == ("replay", None, False)


def test_what_was_asked_is_in_the_result(source: Source, everything: Replayed) -> None:
    data = json.loads(text(ReplayReport(source, everything).data()))
    assert [never["name"] for never in data["never_run"]] == ["too-large"]
    assert [(remark["subject"], remark["jobs"], remark["left_out"]) for remark in data["remarks"]] == [
        ("nobody", 1, True)
    ]
    assert [row["name"] for row in data["baselines"]] == ["hard partitions", "as it is", "open queue"]
    assert data["baselines"][1]["costs"] == data["costs"]
    assert data["baselines"][2]["costs"]["queue"]["lost"] == 0  # nothing is preempted in an open queue
    assert data["shaken"]["replays"] == 2
    assert data["costs"]["queue"]["busy"] == pytest.approx(sum(share["busy"] for share in data["costs"]["shares"]))
    assert data["fidelity"]["jobs"] > 0
    assert data["measured"]["from"] == 600
    assert len(data["jobs"]) == data["history"]["replayed"] == data["history"]["jobs"] - 2


@pytest.fixture(scope="module")
def runs() -> list[Run]:
    made = [scenario(seed) for seed in range(150)]
    return [simulate(one.declared(), one.workload, one.choices) for one in made]


def test_a_job_written_at_once_is_as_one_written_field_by_field(runs: list[Run]) -> None:
    from policy_engine.outcome.lives import Lives

    ends = set()
    for run in runs:
        plain = json.loads(text({"jobs": [asdict(outcome) for outcome in job_outcomes(run)]}))["jobs"]
        assert [json.loads(written) for written in job_texts(run, Lives(run))] == plain
        ends |= {attempt["ended_by"] for found in plain for attempt in found["attempts"]}
    assert ends >= {None, "finished", "cross_share", "in_share", "timeout", "failed", "terminated"}


def test_fractions_of_a_second_are_written_to_the_microsecond() -> None:
    replayed = ask(policy(), history([job("x", "a", 0.1, 0.2), job("y", "a", 0.30000000004, 1 / 3)]), Asked())
    found = [json.loads(written) for written in job_texts(replayed.result.run, replayed.result.lives)]
    assert [(one["submitted"], one["finished"]) for one in found] == [(0.1, 0.3), (0.3, 0.633333)]


# --- files beside the result -----------------------------------------------------------------------------


def test_the_log_is_a_json_array_with_an_event_a_line(tmp_path: Path) -> None:
    replayed = ask(policy(), borrowed_and_taken_back(), Asked())
    write_events(tmp_path / "events.json", replayed)
    written = (tmp_path / "events.json").read_text(encoding="utf-8")
    events = json.loads(written)
    log = replayed.result.run.log
    assert len(events) == written.count("\n") - 2 == len(log)
    [preempted] = [event for event in events if event["kind"] == "preempted"]
    assert (preempted["job"], preempted["by"], preempted["why"], preempted["at"]) == ("a3", "b0", "cross_share", 100)
    assert [event["usage"] for event in events] == [event.usage for event in log]


def rows(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_bytes().decode(), newline="")))


def test_rows_hold_every_job_of_every_run(tmp_path: Path) -> None:
    replayed = ask(policy(), borrowed_and_taken_back(), Asked(baselines=True))
    write_rows(tmp_path / "rows.csv", replayed)
    found = rows(tmp_path / "rows.csv")
    assert list(found[0]) == list(COLUMNS)
    assert [(row["run"], row["job"]) for row in found] == [
        (run, name) for run in ("hard partitions", "as it is", "open queue") for name in ("a0", "a1", "a2", "a3", "b0")
    ]
    assert found[8] == {
        "run": "as it is",
        "job": "a3",
        "share": "a",
        "instance_type": UNIT,
        "instance_count": "1",
        "priority": "",
        "submit_time_s": "3",
        "start_time_s": "3",
        "end_time_s": "1417",
        "state": "SUCCEEDED",
        "wait_s": "0",
        "requeued_s": "300",
        "preemptions": "1",
        "lost_instance_s": "117",
    }


@pytest.mark.parametrize(
    ("name", "cell"),
    [
        ("=1+1", "'=1+1"),
        ("+1", "'+1"),
        ("-1", "'-1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "'\t=1"),
        ("=a,b", '"\'=a,b"'),
        ('say "x"', '"say ""x"""'),
        ("a\nb", '"a\nb"'),
        ("plain-1", "plain-1"),
    ],
)
def test_cells_that_a_spreadsheet_would_run_are_text(name: str, cell: str) -> None:
    assert csv_cell(name) == cell


def test_rows_of_harmful_names_are_read_back_as_text(tmp_path: Path) -> None:
    names = ["=cmd|' /C calc'!A0", "+1", "@x", '"q", x', "a\r\nb"]
    replayed = ask(policy(), history([job(name, "a", n, 5) for n, name in enumerate(names)]), Asked())
    write_rows(tmp_path / "rows.csv", replayed)
    found = [row["job"] for row in rows(tmp_path / "rows.csv")]
    assert found == ["'=cmd|' /C calc'!A0", "'+1", "'@x", '"q", x', "a\r\nb"]
    assert not any(name.startswith(("=", "+", "-", "@")) for name in found)


# --- for people --------------------------------------------------------------------------------------


def test_the_baselines_are_in_money_too_where_there_are_prices(source: Source, everything: Replayed) -> None:
    told = shown(source, everything)
    assert re.search(r"^Work lost, in money +[\d,.]+ +[\d,.]+ +0\.00$", told, re.MULTILINE)
    unpriced = replace(everything, baselines=tuple(replace(one, costs=None) for one in everything.baselines))
    assert "in money" not in shown(source, replace(unpriced, costs=None))


def test_the_most_frequent_pairs_are_shown_and_the_rest_is_folded_away(source: Source, everything: Replayed) -> None:
    pairs = tuple(PairMeasures(f"by-{n}", "of", "cross_share", 99 - n, 1, 3600.0) for n in range(13))
    result = replace(everything.result)
    vars(result)["measures"] = replace(everything.result.measures, pairs=pairs)
    replayed = replace(everything, result=result)
    told, page = shown(source, replayed), markdown.render(ReplayReport(source, replayed).page())
    assert "Who stopped whom: the 10 most frequent of 13 pairs" in told
    assert ("by-9 " in told, "by-10" in told) == (True, False)
    assert "<summary>The other 3 pairs</summary>" in page
    assert page.index("by-9") < page.index("The other 3 pairs") < page.index("by-10")


def shown(source: Source, replayed: Replayed) -> str:
    console = Console(width=100, no_color=True, force_terminal=False, file=io.StringIO())
    return terminal.render(ReplayReport(source, replayed).summary(), console)


def test_the_terminal_says_what_matters(source: Source, everything: Replayed) -> None:
    told = shown(source, everything)
    for heading in (
        "In short",
        "How the history was read",
        "What sharing buys and costs",
        "Waits to the first start",
        "Capacity by share",
        "Preemptions",
        "In money, at the prices given",
        "Jobs that can never run",
        "The longest waits",
        "How much is accident",
        "Against the recorded starts",
        "What this rests on",
    ):
        assert f"\n{heading}" in told
    assert "1 x a team without a quota share of its name: map it with --map: nobody (nobody's)" in told
    assert "1 job set aside: on AWS each would hold its share until somebody ends it" in told
    assert "measured" in told
    assert max(len(line) for line in told.split("\n")) <= 100


def test_what_was_not_asked_is_not_told(source: Source) -> None:
    told = shown(source, ask(policy(), borrowed_and_taken_back(), Asked()))
    for heading in ("sharing buys", "In money", "never run", "accident", "recorded starts", "was read"):
        assert heading not in told


def test_jobs_that_a_time_limit_ends_are_told_apart(source: Source) -> None:
    limits = [{"reason": "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED", "max_seconds": 600}]
    jobs = [job("huge", "b", 0, 60, count=3), job("next", "b", 1, 60)]
    told = shown(source, ask(policy(job_state_time_limits=limits), history(jobs), Asked()))
    assert "1 job held the share until a job state time limit ended it." in told
    assert "set aside" not in told


def test_markdown_holds_the_same_tables(source: Source, everything: Replayed) -> None:
    told = markdown.render(ReplayReport(source, everything).page())
    assert "| Share | Size | Jobs |" in told
    assert "| Mean wait |" in told


def test_junit_and_sarif_judge_nothing(source: Source, everything: Replayed) -> None:
    report = ReplayReport(source, everything)
    assert 'tests="0"' in publishing.junit(report)
    assert json.loads(publishing.sarif(report))["runs"][0]["results"] == []


# --- without names ------------------------------------------------------------------------------------


NAMED = "acme"


def secret_history() -> History:
    """Teams, jobs and a file that nobody outside may know."""
    jobs = [job(f"{NAMED}-b{n}", f"{NAMED}-team-{n % 2}", n, 500, count=1 + n % 2) for n in range(12)] + [
        job(f"{NAMED}-large", f"{NAMED}-team-0", 20, 5, count=9),
        job(f"{NAMED}-lost", f"{NAMED}-nobody", 30, 5),
    ]
    remark = Remark("the map leaves the team out", f"{NAMED}-left", 2, (f"{NAMED}-job",), is_loss=False)
    return replace(history(jobs, remarks=[remark]), source=f"/home/{NAMED}/jobs.csv")


def secret_policy(folder: Path) -> Path:
    path = folder / f"{NAMED}.yaml"
    share = f"{{capacity_limits: {{{UNIT}: 2}}, strategy: LEND_AND_BORROW, in_share_preemption: true}}"
    path.write_text(
        f"queue: {NAMED}-queue\nservice_environment: {{capacity_limits: {{{UNIT}: 4}}}}\n"
        f"shares: {{{NAMED}-team-1: {share}, {NAMED}-team-0: {share}}}\n"
        f"ignore: [{{finding: QM107, share: {NAMED}-team-1, because: {NAMED} said so}}]\n",
        encoding="utf-8",
    )
    return path


def every_report(source: Source, replayed: Replayed, folder: Path) -> Iterator[str]:
    report = ReplayReport(source, replayed)
    yield text(report.data())
    yield shown(source, replayed)
    yield markdown.render(report.page())
    yield publishing.junit(report)
    yield publishing.sarif(report)
    write_events(folder / "events", replayed)
    write_rows(folder / "rows", replayed)
    yield (folder / "events").read_text(encoding="utf-8")
    yield (folder / "rows").read_text(encoding="utf-8")


def test_anonymised_reports_hold_no_name(tmp_path: Path) -> None:
    read = load(secret_policy(tmp_path))
    asked = Asked(baselines=True, shakes=1, spreading=Spreading(1))
    named = ask(read.queue().policy(), secret_history(), asked)
    assert all(NAMED in report for report in every_report(read, named, tmp_path))
    source, ready, found = anonymous(read, read.queue().policy(), secret_history())
    replayed = ask(ready, found, asked)
    for report in every_report(source, replayed, tmp_path):
        assert NAMED not in report
    assert list(ready.shares) == ["share-4", "share-3"]  # sorted like the names, in the order of the policy
    assert replayed.result.fitted.jobs[0].name == "job-01"
    before, after = named.result.measures, replayed.result.measures
    assert after.all == before.all
    assert [share.jobs for share in after.shares] == [share.jobs for share in before.shares]


def test_a_checkpoint_and_a_failure_change_what_is_told(source: Source) -> None:
    options = ReplayOptions(Timing(stop_seconds=20, checkpoint_every=60))
    failed = replace(job("b0", "b", 100, 300), exit=Exit.FAILED)
    found: Any = ReplayReport(
        source,
        ask(
            policy(),
            replace(borrowed_and_taken_back(), jobs=(*borrowed_and_taken_back().jobs[:4], failed)),
            Asked(options),
        ),
    ).data()
    assert found["queue"]["lost_instance_seconds"] == {
        "instance_seconds": 57,
        "without_checkpoints": 117,
        "with_checkpoints": 57,
        "checkpoint_seconds": 60,
    }
    assert found["rests_on"]["checkpoint_every"] == 60
    assert json.loads(list(found["jobs"].texts)[4])["state"] == "FAILED"
