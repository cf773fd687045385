"""The tables that every report for people shares."""

from collections.abc import Sequence

from policy_engine.policy import Policy
from policy_engine.report import tables
from policy_engine.report.blocks import Block, Cell, Details, Facts, Table, Text
from policy_engine.report.runs import story
from policy_engine.report.story import Story
from policy_engine.scheduler.jobs import Job, Terminate, UpdatePriority, Workload
from policy_engine.simulation import simulate
from tests.policy_engine.logs import UNIT, policy_of, run_of

ONE = {UNIT: 1}


def text(cell: Cell) -> str:
    """The cell on one line."""
    if isinstance(cell, str):
        return cell
    return " | ".join(getattr(cell, "texts", ())) or getattr(cell, "text", "")


def rows(block: Block | Sequence[Block]) -> list[list[str]]:
    """The rows of the only table in it."""
    if isinstance(block, Details):
        return rows(block.blocks)
    if not isinstance(block, Table):
        (block,) = block  # type: ignore[misc]
        return rows(block)
    assert all(len(row) == len(block.columns) for row in block.rows)
    return [[text(cell) for cell in row] for row in block.rows]


def lending() -> Story:
    """A borrower is stopped for an owner, comes back, and is terminated; another job never starts."""
    policy = policy_of({"a": "1 LEND_AND_BORROW 100", "b": "1 LEND"})
    jobs = (
        Job("own", "a", ONE, duration=7_200),
        Job("borrower", "a", ONE, duration=7_200),
        Job("owner", "b", ONE, submit=60, duration=3_600),
        Job("waits", "a", ONE, submit=100),
    )
    updates = (UpdatePriority(120, "waits", 7), Terminate(4_000, "borrower"))
    return story("run", simulate(policy, Workload(jobs, updates, until=4_100)))


def test_jobs_are_told_attempt_by_attempt() -> None:
    assert rows(list(tables.jobs(lending()))) == [
        ["own", "a", "1", "RUNNING", "0s", "submitted at 0s | 0s to the end: running", ""],
        ["borrower", "a", "1", "FAILED", "0s", "submitted at 0s | 0s to 1m: preempted (cross-share) for owner"
         " | ended at 1h6m40s while it waited", "1 instance-minute"],
        ["owner", "b", "1", "SUCCEEDED", "0s", "submitted at 1m | 1m to 1h1m: finished", ""],
        ["waits", "a", "1", "RUNNING", "59m20s", "submitted at 1m40s | 1h1m to the end: running", ""],
    ]  # fmt: skip


def test_of_a_job_with_many_attempts_some_are_told() -> None:
    log = "0 submitted a\n0 submitted b\n" + "\n".join(
        f"{at} started a\n{at + 5} preempted a by b cross_share\n{at + 5} stopped a lost 5\n{at + 5} requeued a"
        for at in range(0, 100, 10)
    )
    run = run_of(policy_of({"s": "1 LEND", "t": "1 LEND"}), [Job("a", "s", ONE), Job("b", "t", ONE)], log, end=100)
    (history,) = (row[5] for row in rows(list(tables.jobs(story("run", run)))) if row[0] == "a")
    assert history.count("preempted (cross-share) for b") == tables.MOST_ATTEMPTS == 8
    assert history.endswith(" | and 2 attempts more")


def test_who_stopped_whom_is_counted_by_share_and_kind() -> None:
    assert rows(list(tables.preemptions(lending()))) == [
        ["b", "a", "preempted (cross-share)", "1", "1 instance-minute"]
    ]


def test_a_run_without_preemptions_says_so() -> None:
    run = simulate(policy_of({"a": "1 LEND"}), Workload((Job("job", "a", ONE, duration=5),)))
    assert list(tables.preemptions(story("run", run))) == [Text("No job was preempted.")]


def test_the_log_says_why_and_what_the_share_uses_then() -> None:
    (log,) = tables.log(lending())
    assert isinstance(log, Details)
    told = rows(log)
    assert ["1m", "preempted", "borrower", "a", "cross-share, for owner", f"2 {UNIT}"] in told
    assert ["1m", "stopped", "borrower", "a", "", f"1 {UNIT}"] in told
    assert ["2m", "priority updated", "waits", "a", "to 7", ""] in told
    (table,) = log.blocks
    assert isinstance(table, Table)
    assert {row[1]: kinds for row, kinds in zip(told, table.classes, strict=True)} == {
        "submitted": "submissions",
        "started": "moves",
        "preempted": "preemptions",
        "stopped": "preemptions moves",
        "requeued": "preemptions",
        "priority updated": "updates",
        "finished": "moves",
        "terminated": "moves updates",
    }


def test_a_long_log_is_counted_and_begun() -> None:
    jobs = tuple(Job(f"job-{n}", "a", ONE, submit=n, duration=1) for n in range(100))
    facts, log = tables.log(story("run", simulate(policy_of({"a": "1 LEND"}), Workload(jobs))))
    assert isinstance(facts, Facts)
    assert dict(facts.pairs) == {"submitted": "100", "started": "100", "finished": "100"}
    assert len(rows(log)) == tables.MOST_ROWS == 200
    assert isinstance(log, Details)
    (table,) = log.blocks
    assert isinstance(table, Table)
    assert table.caption == "300 events, the first 200 here"


def test_a_blocked_job_is_told_with_its_reason() -> None:
    run = simulate(policy_of({"a": "1 LEND"}), Workload((Job("big", "a", {UNIT: 2}),), until=10))
    ((*_, what, _),) = rows(list(tables.jobs(story("run", run))))
    ((*_, state, waited, _, _),) = rows(list(tables.jobs(story("run", run))))
    assert state.startswith("RUNNABLE | MISCONFIGURATION:SERVICE_ENVIRONMENT_MAX_RESOURCE - ")
    assert waited == "never started"
    assert what == "submitted at 0s"


def test_shares_are_told_by_capacity_and_by_waits() -> None:
    capacity, waits = tables.shares(lending())
    assert isinstance(capacity, Table)
    assert capacity.caption == "Capacity by share; in use, borrowed and lent in instance-hours"
    assert rows(capacity) == [
        ["a", UNIT, "1", "1.3", "0.1", "0.0", "2", "1"],
        ["b", UNIT, "1", "1.0", "0.0", "0.1", "1", "0"],
    ]
    assert rows(waits) == [
        ["a", "19m47s", "59m20s", "59m20s", "0", "1", "0", "1 instance-minute"],
        ["b", "0s", "0s", "0s", "0", "0", "1", ""],
    ]


def test_what_the_charts_show_is_a_table_too() -> None:
    assert rows(list(tables.steps(lending())))[:3] == [
        ["0s to 1m", "a", UNIT, "1", "1", "0", "0", "0"],
        ["1m to 1h1m", "a", UNIT, "1", "0", "0", "0", "0"],
        ["1h1m to 1h8m20s", "a", UNIT, "1", "1", "0", "0", "0"],
    ]


def test_a_table_too_long_to_read_is_left_out() -> None:
    jobs = tuple(Job(f"job-{n}", f"s{n % 2}", ONE, submit=2 * n, duration=1) for n in range(300))
    run = simulate(policy_of({"s0": "1 LEND", "s1": "1 RESERVE"}), Workload(jobs))
    assert list(tables.steps(story("run", run))) == []


def test_a_policy_is_told_as_it_was_declared() -> None:
    policy = Policy.of(
        {
            "service_environment": {"capacity_limits": {UNIT: 1_500}, "state": "DISABLED"},
            "shares": {
                "a": {"capacity_limits": {UNIT: 1_000}, "strategy": "LEND_AND_BORROW", "in_share_preemption": True},
                "b": {"capacity_limits": {UNIT: 1}, "strategy": "LEND_AND_BORROW", "borrow_limit": -1,
                      "in_share_preemption": False},
                "c": {"capacity_limits": {UNIT: 1}, "strategy": "LEND_AND_BORROW", "borrow_limit": 0,
                      "in_share_preemption": False},
                "d": {"capacity_limits": {UNIT: 1}, "strategy": "RESERVE", "in_share_preemption": False,
                      "state": "DISABLED"},
            },
        }
    )  # fmt: skip
    facts, shares = tables.declared(policy)
    assert isinstance(facts, Facts)
    assert list(facts.pairs) == [
        (f"Capacity of {UNIT}", "1,500"),
        ("Queue", "enabled"),
        ("Service environment", "disabled"),
    ]
    assert rows(shares) == [
        ["a", f"1,000 {UNIT}", "LEND_AND_BORROW", "unlimited (by omission)", "on", "enabled"],
        ["b", f"1 {UNIT}", "LEND_AND_BORROW", "unlimited", "off", "enabled"],
        ["c", f"1 {UNIT}", "LEND_AND_BORROW", "0 % of its limit", "off", "enabled"],
        ["d", f"1 {UNIT}", "RESERVE", "none", "off", "disabled"],
    ]
