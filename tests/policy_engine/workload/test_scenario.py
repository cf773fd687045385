"""Scenario files: what they say, and what is wrong with them in one line."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from policy_engine.errors import InputError
from policy_engine.policy import Policy
from policy_engine.scheduler.choices import CHOICES, Choices
from policy_engine.scheduler.jobs import (
    DeleteShare,
    Exit,
    Job,
    Terminate,
    Timing,
    UpdatePriority,
    UpdateQueue,
    UpdateServiceEnvironment,
    UpdateShare,
    Workload,
)
from policy_engine.schema import scenario_schema
from policy_engine.workload.scenario import Scenario, load_scenario

ONE = "ml.g5.xlarge"
TWO = "ml.g5.2xlarge"


def a_policy(*units: str, queue: str | None = "q") -> Policy:
    limits = dict.fromkeys(units or (ONE,), 1)
    share = {"capacity_limits": limits, "in_share_preemption": False}
    return Policy.of(
        {
            "queue": queue,
            "service_environment": {"capacity_limits": dict.fromkeys(limits, 3)},
            "shares": {
                "QS1": {**share, "strategy": "LEND_AND_BORROW", "borrow_limit": 200},
                "QS2": {**share, "strategy": "LEND"},
                "103959": {**share, "strategy": "RESERVE"},
            },
        }
    )


def load(folder: Path, text: str, policy: Policy | None = None, name: str = "s.yaml") -> Scenario:
    path = folder / name
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    return load_scenario(path, policy)


def workload_of(folder: Path, text: str, policy: Policy | None = None) -> Workload:
    policy = policy or a_policy()
    return load(folder, text, policy).workload(policy)


# --- what they say ---------------------------------------------------------------------------------


def test_every_field_reaches_the_simulator(tmp_path: Path) -> None:
    text = f"""
        policy: policy.yaml
        queue: q
        choices: {{victims: newest, default_priority: 5.0}}
        timing: {{stop_seconds: 20, start_seconds: 1m30s, queue_latency: 5, checkpoint_every: 10m, restart_seconds: 2m}}
        running:
          - {{name: low, share: QS2, priority: 1, instance_type: {ONE}, instance_count: 2.0, started: -60s}}
        jobs:
          - name: high
            share: QS1
            instance_type: {ONE}
            priority: 3
            submit: 5s
            duration: 1h
            attempts: 3
            preemption_retries: 0
            timeout: 1d
            checkpoint_every: 30s
            exit: failed
          - name: wide
            share: 103959
            instance_groups: [{{instance_type: {TWO}, instance_count: 2}}, {{instance_type: {ONE}}}]
        events:
          - {{at: 10m, update_priority: {{job: high, priority: 4}}}}
          - {{at: 20m, update_share: {{share: QS1, capacity_limits: {{{ONE}: 2}}, in_share_preemption: true}}}}
          - {{at: 30m, update_service_environment: {{capacity_limits: {{{ONE}: 2}}}}}}
          - {{at: 40m, terminate: {{job: low}}}}
          - {{at: 50m, update_queue: {{state: DISABLED}}}}
          - {{at: 1h, delete_share: {{share: QS2}}}}
        until: 2h
        """
    policy = a_policy(ONE, TWO)
    scenario = load(tmp_path, text, policy)
    assert scenario.choices() == Choices(victims="newest", default_priority=5)
    assert scenario.policy_path == str(tmp_path / "policy.yaml")
    assert scenario.queue == "q"
    assert scenario.workload(policy) == Workload(
        jobs=(
            Job("low", "QS2", {ONE: 2}, priority=1, submit=-60, started=-60),
            Job(
                "high",
                "QS1",
                {ONE: 1},
                priority=3,
                submit=5,
                duration=3600,
                attempts=3,
                preemption_retries=0,
                timeout=86400,
                checkpoint_every=30,
                exit=Exit.FAILED,
            ),
            Job("wide", "103959", {TWO: 2, ONE: 1}),
        ),
        updates=(
            UpdatePriority(600, "high", 4),
            UpdateShare(1200, "QS1", capacity_limits={ONE: 2}, in_share_preemption=True),
            UpdateServiceEnvironment(1800, capacity_limits={ONE: 2}),
            Terminate(2400, "low"),
            UpdateQueue(3000, state="DISABLED"),
            DeleteShare(3600, "QS2"),
        ),
        timing=Timing(stop_seconds=20, start_seconds=90, queue_latency=5, checkpoint_every=600, restart_seconds=120),
        until=7200,
    )


def test_running_jobs_come_first_and_copies_follow_each_other(tmp_path: Path) -> None:
    jobs = workload_of(
        tmp_path,
        """
        jobs:
          - {name: x, share: QS1, submit: 10, copies: 3, every: 1m}
          - {name: y, share: QS2, copies: 1}
        running:
          - {name: r, share: QS1, started: -10, copies: 2, every: 10s}
        """,
    ).jobs
    assert [(job.name, job.submit, job.started) for job in jobs] == [
        ("r-1", -10, -10),
        ("r-2", 0, 0),
        ("x-1", 10, None),
        ("x-2", 70, None),
        ("x-3", 130, None),
        ("y-1", 0, None),
    ]


def test_json_says_the_same_as_yaml(tmp_path: Path) -> None:
    jobs = [{"name": "a", "share": "QS1", "submit": 1.0, "instance_count": 5.0, "duration": "1m"}]
    from_json = load(tmp_path, json.dumps({"jobs": jobs}), a_policy(), "s.json").workload(a_policy())
    from_yaml = workload_of(
        tmp_path, "jobs: [{name: a, share: QS1, submit: 1s, instance_count: 5, duration: 60}]", a_policy()
    )
    assert from_json == from_yaml
    assert type(from_json.jobs[0].demand[ONE]) is int


def test_the_only_instance_type_is_the_default(tmp_path: Path) -> None:
    [job] = workload_of(tmp_path, "jobs: [{name: a, share: QS1}]", a_policy(TWO)).jobs
    assert job.demand == {TWO: 1}


def test_instance_groups_of_one_type_add_up(tmp_path: Path) -> None:
    groups = f"[{{instance_type: {ONE}, instance_count: 2}}, {{instance_type: {ONE}, instance_count: 3}}]"
    [job] = workload_of(tmp_path, f"jobs: [{{name: a, share: QS1, instance_groups: {groups}}}]").jobs
    assert job.demand == {ONE: 5}


def test_an_instance_type_that_an_event_brings_may_be_asked_for(tmp_path: Path) -> None:
    text = f"""
        jobs: [{{name: a, share: QS1, instance_type: {TWO}}}]
        events: [{{at: 5m, update_service_environment: {{capacity_limits: {{{ONE}: 3, {TWO}: 1}}}}}}]
        """
    [job] = workload_of(tmp_path, text).jobs
    assert job.demand == {TWO: 1}


@pytest.mark.parametrize("at", ["5s", "1m"])
def test_a_job_may_be_updated_from_the_instant_of_its_submission(tmp_path: Path, at: str) -> None:
    text = f"""
        jobs: [{{name: a, share: QS1, submit: 5s}}]
        events: [{{at: {at}, update_priority: {{job: a, priority: 1}}}}, {{at: {at}, terminate: {{job: a}}}}]
        """
    assert len(workload_of(tmp_path, text).updates) == 2


@pytest.mark.parametrize("limited", [True, False])
def test_a_job_without_capacity_is_ended_by_the_queue_or_the_run(tmp_path: Path, limited: bool) -> None:
    limit = {"reason": "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY", "max_seconds": 600}
    policy = a_policy()
    policy = Policy.of({**policy.document(), "job_state_time_limits": [limit]}) if limited else policy
    text = "jobs: [{name: a, share: QS1, duration: 1m, exit: capacity_failure}]\n" + ("" if limited else "until: 1h")
    [job] = workload_of(tmp_path, text, policy).jobs
    assert job.exit is Exit.CAPACITY_FAILURE


def test_names_are_text_that_nobody_obeys(tmp_path: Path) -> None:
    [job] = workload_of(tmp_path, "jobs: [{name: </script><b>x, share: QS1}]").jobs
    assert job.name == "</script><b>x"


@pytest.mark.parametrize(("policy", "path"), [("queue:gpu", "queue:gpu"), ("cdk.out", "{folder}/cdk.out")])
def test_a_policy_is_relative_to_the_file_unless_it_is_live(tmp_path: Path, policy: str, path: str) -> None:
    assert load(tmp_path, f"policy: {policy}").policy_path == path.format(folder=tmp_path)


def test_a_scenario_names_no_policy_unless_it_does(tmp_path: Path) -> None:
    assert load(tmp_path, "jobs: []").policy_path is None


# --- what is wrong ---------------------------------------------------------------------------------

JOB = "jobs: [{{name: a, share: QS1, {}}}]"

WRONG: list[tuple[str, str, str]] = [
    # the form
    ("job: []", "1:1: job", "unknown key 'job'; did you mean 'jobs'?"),
    ("- 1", "1:1", "a list is not a mapping"),
    ("jobs: {a: 1}", "1:1: jobs", "a mapping is not a list"),
    ("jobs:\n  - {share: QS1}", "2:5: jobs[0].name", "required, but missing"),
    ("jobs:\n  - {name: a}", "2:5: jobs[0].share", "required, but missing"),
    ("jobs:\n  - {name: '', share: QS1}", "2:6: jobs[0].name", "should have at least 1 character"),
    ("jobs:\n  - {name: a, share: QS1, priorty: 1}", "2:27: jobs[0].priorty", "did you mean 'priority'?"),
    ("jobs:\n  - {name: a, share: QS1}\n  - {name: a, share: QS1}", "3:6: jobs[1].name", "is taken by jobs[0]"),
    (
        "jobs: [{name: a, share: QS1}]\nrunning: [{name: a, share: QS1}]",
        "1:9: jobs[0].name",
        "the job name 'a' is taken by running[0]; names are unique",
    ),
    (
        "jobs:\n  - {name: a-2, share: QS1}\n  - {name: a, share: QS1, copies: 3}",
        "3:6: jobs[1].name",
        "the job name 'a-2' is taken by jobs[0]",
    ),
    # values of a job
    (JOB.format("duration: -5"), "1:30: jobs[0].duration", "-5 is below zero; a duration of 0 or more is allowed"),
    (JOB.format("duration: 5x"), "1:30: jobs[0].duration", "'5x' is not a duration such as 90, 90s, 5m"),
    (JOB.format("duration: [2h, 1h]"), "1:30: jobs[0].duration", "smaller end to its larger: [1h, 2h]"),
    (JOB.format("duration: [2h]"), "1:30: jobs[0].duration", "1 values; a range is two durations"),
    (JOB.format("submit: -5s"), "1:30: jobs[0].submit", "'-5s' is below zero"),
    (JOB.format("instance_count: 0"), "1:30: jobs[0].instance_count", "0 is out of range: 1 or more is allowed"),
    (JOB.format("instance_count: 1.5"), "1:30: jobs[0].instance_count", "1.5 is not a whole number"),
    (JOB.format("copies: 0"), "1:30: jobs[0].copies", "0 is out of range"),
    (JOB.format("copies: 2000000"), "1:30: jobs[0].copies", "more than 1,000,000 jobs"),
    (JOB.format("every: 1m"), "1:8: jobs[0]", "'every' needs 'copies'"),
    (JOB.format("priority: 10000"), "1:30: jobs[0].priority", "10000 is out of range: 0 to 9999 is allowed"),
    (JOB.format("priority: -1"), "1:30: jobs[0].priority", "-1 is out of range"),
    (JOB.format("attempts: 11"), "1:30: jobs[0].attempts", "11 is out of range: 1 to 10 is allowed"),
    (JOB.format("attempts: 0"), "1:30: jobs[0].attempts", "0 is out of range"),
    (JOB.format("preemption_retries: -1"), "1:30: jobs[0].preemption_retries", "-1 is out of range"),
    (JOB.format("checkpoint_every: 0"), "1:30: jobs[0].checkpoint_every", "0 is not above zero"),
    (JOB.format("timeout: 0"), "1:30: jobs[0].timeout", "0 is not above zero"),
    (JOB.format("exit: crashed"), "1:30: jobs[0].exit", "not one of succeeded, failed, capacity_failure"),
    (JOB.format("started: -5"), "1:30: jobs[0].started", "unknown key 'started'"),
    (JOB.format("instance_groups: []"), "1:8: jobs[0]", "instance_groups needs a group"),
    (
        JOB.format("instance_type: ml.g5.xlarge, instance_groups: [{instance_type: ml.g5.xlarge}]"),
        "1:8: jobs[0]",
        "instance_groups stands instead of instance_type and instance_count",
    ),
    ("running: [{name: a, share: QS1, started: 5}]", "1:33: running[0].started", "5 is after the start of the run"),
    (
        "running: [{name: a, share: QS1, started: -5, copies: 2, every: 10}]",
        "1:57: running[0].every",
        "'a-2' would start at 5s, after the run has begun",
    ),
    (
        "running: [{name: a, share: QS1, started: -5m, duration: 1m}]",
        "1:47: running[0].duration",
        "the job has ended at -4m, before the run begins",
    ),
    ("running: [{name: a, share: QS1, started: -5m, timeout: 1m}]", "1:47: running[0].timeout", "ended at -4m"),
    (
        JOB.format("exit: capacity_failure"),
        "1:30: jobs[0].exit",
        "capacity_failure is retried without end; give 'until', or a job_state_time_limit for CAPACITY:INSUFFICIENT",
    ),
    (JOB.format("exit: capacity_failure, duration: 0") + "\nuntil: 1", "1:54: jobs[0].duration", "give more than 0"),
    # what the policy has not got
    ("jobs: [{name: a, share: QS9}]", "1:18: jobs[0].share", "no share 'QS9'; did you mean 'QS"),
    ("jobs: [{name: a, share: zzz}]", "1:18: jobs[0].share", "no share 'zzz'; there is QS1, QS2, 103959"),
    (
        JOB.format("instance_type: ml.g5.xlarg"),
        "1:30: jobs[0].instance_type",
        "no instance type 'ml.g5.xlarg' in the service environment; did you mean 'ml.g5.xlarge'?",
    ),
    (
        JOB.format("instance_groups: [{instance_type: ml.p5.48xlarge}]"),
        "1:49: jobs[0].instance_groups[0].instance_type",
        "no instance type 'ml.p5.48xlarge' in the service environment",
    ),
    # choices and timing
    ("choices: {victim: newest}", "1:11: choices.victim", "did you mean 'victims'?"),
    ("choices: {victims: newst}", "1:11: choices.victims", "'newst' is not one of borrowed_first, lowest_priority"),
    ("choices: {victims: 5}", "1:11: choices.victims", "5 is not one of borrowed_first"),
    ("choices: {partly_borrowed: true}", "1:11: choices.partly_borrowed", "true is not one of no, yes"),
    ("choices: {stop_seconds: 5}", "1:11: choices.stop_seconds", "'stop_seconds' is set under 'timing'"),
    ("timing: {default_priority: 5}", "1:10: timing.default_priority", "'default_priority' is set under 'choices'"),
    ("choices: {default_priority: -1}", "1:11: choices.default_priority", "-1 is out of range: 0 to 9999"),
    ("choices: {default_priority: [5, 1]}", "1:11: choices.default_priority", "the smaller first"),
    ("choices: {default_priority: [1, 5]}", "1:11: choices.default_priority", "a range is for verify --all-choices"),
    ("timing: {stop_seconds: -1}", "1:10: timing.stop_seconds", "-1 is below zero"),
    ("timing: {start_seconds: soon}", "1:10: timing.start_seconds", "'soon' is not a duration"),
    ("timing: {stop_seconds: [0, 120]}", "1:10: timing.stop_seconds", "a range is for verify --all-choices"),
    (JOB.format("duration: [1h, 3h]"), "1:30: jobs[0].duration", "a range is for verify --all-choices"),
    # events
    ("events: [{at: 1m}]", "1:10: events[0]", "needs one verb, not 0: update_priority, terminate"),
    (
        JOB.format("submit: 0") + "\nevents: [{at: 1m, terminate: {job: a}, update_queue: {state: ENABLED}}]",
        "2:10: events[0]",
        "needs one verb, not 2",
    ),
    ("events: [{at: 1m, kill: {job: a}}]", "1:19: events[0].kill", "unknown key 'kill'"),
    ("events: [{at: -1m, terminate: {job: a}}]", "1:11: events[0].at", "'-1m' is below zero"),
    ("events: [{at: 1, terminate: {job: a}}]", "1:30: events[0].terminate.job", "no job 'a'; there is none"),
    (
        "jobs: [{name: abc, share: QS1, copies: 2}]\nevents: [{at: 1, update_priority: {job: abc, priority: 1}}]",
        "2:36: events[0].update_priority.job",
        "no job 'abc'; did you mean 'abc-",
    ),
    (
        JOB.format("submit: 5m") + "\nevents: [{at: 1m, update_priority: {job: a, priority: 1}}]",
        "2:37: events[0].update_priority.job",
        "'a' is not submitted before 5m, after 1m",
    ),
    (
        JOB.format("submit: 5m") + "\nevents: [{at: 1m, terminate: {job: a}}]",
        "2:31: events[0].terminate.job",
        "'a' is not submitted before 5m, after 1m",
    ),
    (
        JOB.format("submit: 0") + "\nevents: [{at: 1m, update_priority: {job: a, priority: 10000}}]",
        "2:45: events[0].update_priority.priority",
        "10000 is out of range",
    ),
    ("events: [{at: 1, update_share: {share: QS}}]", "1:18: events[0].update_share", "changes nothing; give capacity"),
    (
        "events: [{at: 1, update_service_environment: {}}]",
        "1:18: events[0].update_service_environment",
        "changes nothing",
    ),
    (
        "events: [{at: 1, update_share: {share: QS, state: ENABLED}}]",
        "1:33: events[0].update_share.share",
        "no share 'QS'; did you mean 'QS2'?",
    ),
    (
        "events: [{at: 1, update_share: {share: QS2, capacity_limits: {ml.g5.xlarge: 0}}}]",
        "1:63: events[0].update_share.capacity_limits.ml.g5.xlarge",
        "0 is out of range: 1 or more is allowed",
    ),
    (
        "events: [{at: 1, update_share: {share: QS2, capacity_limits: {ml.g5.4xlarge: 1}}}]",
        "1:63: events[0].update_share.capacity_limits.ml.g5.4xlarge",
        "no instance type 'ml.g5.4xlarge' in the service environment",
    ),
    (
        "events: [{at: 1, update_share: {share: QS2, borrow_limit: 5}}]",
        "1:45: events[0].update_share.borrow_limit",
        "a borrow limit is only valid with LEND_AND_BORROW, not with LEND",
    ),
    (
        "events:\n  - {at: 5, delete_share: {share: QS2}}\n  - {at: 1, delete_share: {share: QS2}}",
        "2:28: events[0].delete_share.share",
        "the share 'QS2' has been deleted by then",
    ),
    # expectations
    ("expect: [5]", "1:10: expect[0]", "an expectation has one of the keys at, job, share, queue, always, never"),
    ("expect: [{name: x}]", "1:10: expect[0]", "an expectation has one of the keys at, job, share"),
    ("expect: [{at: 1m}]", "1:10: expect[0]", "expects nothing; 'at' needs running, runnable"),
    ("expect: [{at: 1m, running: []}]", "1:10: expect[0]", "expects nothing: name a job, or add 'exactly: true'"),
    ("expect: [{at: 1m, runing: [a]}]", "1:19: expect[0].runing", "did you mean 'running'?"),
    ("expect: [{at: 1m, running: [a]}]", "1:29: expect[0].running[0]", "no job 'a'; there is none"),
    ("expect: [{at: -1m, running: [a]}]", "1:11: expect[0].at", "'-1m' is below zero"),
    ("expect: [{at: 1m, preempted: 1}]", "1:10: expect[0]", "'preempted' does not go with 'at', which takes"),
    ("expect: [{job: a, preempted: 1}]", "1:11: expect[0].job", "no job 'a'"),
    (JOB.format("submit: 0") + "\nexpect: [{job: a}]", "2:10: expect[0]", "expects nothing; 'job' needs starts_within"),
    (JOB.format("submit: 0") + "\nexpect: [{job: a, by: b}]", "2:19: expect[0].by", "no job 'b'; there is a"),
    (
        JOB.format("submit: 0") + "\nexpect: [{job: a, preempted: {at_mots: 1}}]",
        "2:31: expect[0].preempted.at_mots",
        "did you mean 'at_most'?",
    ),
    (JOB.format("submit: 0") + "\nexpect: [{job: a, preempted: {}}]", "2:19: expect[0].preempted", "needs at_least"),
    (JOB.format("submit: 0") + "\nexpect: [{job: a, preempted: -1}]", "2:19: expect[0].preempted", "out of range"),
    ("expect: [{share: QSX, borrowed: 1}]", "1:11: expect[0].share", "no share 'QSX'; did you mean"),
    ("expect: [{share: QS1}]", "1:10: expect[0]", "expects nothing; 'share' needs wait, usage"),
    ("expect: [{share: QS1, wait: {p99: 1h}}]", "1:30: expect[0].wait.p99", "unknown key 'p99'"),
    ("expect: [{queue: q}]", "1:10: expect[0]", "needs utilization, once"),
    ("expect: [{queue: qq, utilization: 1}]", "1:11: expect[0].queue", "no queue 'qq'; did you mean 'q'?"),
    (
        "expect: [{always: within_bound}]",
        "1:11: expect[0].always",
        "no property 'within_bound'; did you mean 'within_bounds'?",
    ),
    ("expect: [{always: fair}]", "1:11: expect[0].always", "no property 'fair'; there is owner_reclaims, reserve"),
    ("expect: [{always: starts_within}]", "1:11: expect[0].always", "'starts_within' needs a value: {starts_within"),
    ("expect: [{always: {preempted: any}}]", "1:11: expect[0].always", "'preempted' goes with 'never'"),
    ("expect: [{always: {}}]", "1:11: expect[0].always", "needs one property, not 0"),
    (
        "expect: [{always: {within_bounds: false}}]",
        "1:20: expect[0].always.within_bounds",
        "false would expect nothing; write true, or leave",
    ),
    ("expect: [{always: within_bounds, within: 1m}]", "1:10: expect[0]", "'within' does not go with 'within_bounds'"),
    (
        "expect: [{always: {owner_reclaims: {within: 1m}}, within: 1m}]",
        "1:10: expect[0]",
        "'within' is given twice",
    ),
    ("expect: [{always: {starts_within: 1m, share: X}}]", "1:39: expect[0].always.share", "no share 'X'"),
    ("expect: [{never: within_bounds}]", "1:11: expect[0].never", "'within_bounds' goes with 'always'"),
    ("expect: [{never: {share: QS1}}]", "1:11: expect[0].never.preempted", "required, but missing"),
    ("expect: [{never: {share: X, preempted: any}}]", "1:19: expect[0].never.share", "no share 'X'"),
    (
        "expect: [{never: {preempted: often}}]",
        "1:19: expect[0].never.preempted",
        "cross_share, in_share, limit_lowered",
    ),
    # the rest
    ("until: -1", "1:1: until", "-1 is below zero"),
    ("jobs: []\njobs: []", "2:1: jobs", "duplicate key 'jobs', first on line 1"),
]


@pytest.mark.parametrize(("text", "place", "message"), WRONG, ids=[f"{place} {text}" for text, place, _ in WRONG])
def test_what_is_wrong_is_one_line_with_its_place(tmp_path: Path, text: str, place: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        load(tmp_path, text, a_policy())
    line = str(caught.value)
    assert line.startswith(f"{tmp_path / 's.yaml'}:{place}: ")
    assert message in line
    assert "\n" not in line


def test_several_instance_types_and_none_given(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r":1:8: jobs\[0\]\.instance_type: is needed where there are several"
    ) as caught:
        load(tmp_path, "jobs: [{name: a, share: QS1}]", a_policy(ONE, TWO))
    assert f"{ONE}, {TWO}" in str(caught.value)


def test_a_share_that_changes_its_strategy_may_be_given_a_borrow_limit(tmp_path: Path) -> None:
    text = """
        events:
          - {at: 2, update_share: {share: QS2, borrow_limit: 5}}
          - {at: 1, update_share: {share: QS2, strategy: LEND_AND_BORROW}}
        """
    assert len(workload_of(tmp_path, text).updates) == 2


def test_a_queue_without_a_known_name_may_be_called_anything(tmp_path: Path) -> None:
    load(tmp_path, "expect: [{queue: mine, utilization: {at_least: 0.5}}]", a_policy(queue=None))


# --- the schema ------------------------------------------------------------------------------------

VALID: dict[str, Any] = {
    "choices": {"victims": "newest", "default_priority": 3},
    "timing": {"stop_seconds": "20s", "start_seconds": [0, "2m"]},
    "running": [{"name": "r", "share": "QS1", "started": "-1m"}],
    "jobs": [{"name": "a", "share": "QS1", "duration": ["1h", "3h"], "copies": 2, "every": "1m"}],
    "events": [{"at": "10m", "update_priority": {"job": "a-1", "priority": 4}}],
    "expect": [
        {"at": "1m", "running": ["a-1"], "exactly": True, "because": "it is first"},
        {"job": "a-1", "preempted": {"at_most": 1}, "lost_work": {"at_most": "2h"}},
        {"share": "QS1", "wait": {"p95": {"at_most": "1h"}}, "usage": {"at_least": 2}},
        {"queue": {"utilization": {"at_least": 0.8}}},
        {"always": "within_bounds"},
        {"always": {"owner_reclaims": {"within": "5m"}}},
        {"always": {"starts_within": "10m", "share": "QS1", "at_most_instances": 1}},
        {"never": {"share": "QS2", "preempted": "cross_share"}},
    ],
}


SCHEMA = jsonschema.Draft202012Validator(scenario_schema())


def test_the_schema_takes_what_the_reader_takes(tmp_path: Path) -> None:
    SCHEMA.check_schema(SCHEMA.schema)
    SCHEMA.validate(VALID)
    load(tmp_path, json.dumps(VALID), name="s.json")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("jobs", [{"name": "a", "share": "QS1", "duration": -1}]),
        ("jobs", [{"name": "a", "share": "QS1", "duration": "1h1d"}]),
        ("jobs", [{"name": "a"}]),
        ("choices", {"victims": "newst"}),
        ("timing", {"stop_second": 1}),
        ("events", [{"at": 1, "kill": {}}]),
        ("expect", [{"at": 1, "runing": []}]),
        ("expect", [{"always": "within_bound"}]),
    ],
)
def test_the_schema_refuses_what_the_reader_refuses(tmp_path: Path, key: str, value: object) -> None:
    with pytest.raises(jsonschema.ValidationError):
        SCHEMA.validate({key: value})
    with pytest.raises(InputError):
        load(tmp_path, json.dumps({key: value}), name="s.json")


def test_the_schema_names_every_open_choice() -> None:
    schema = scenario_schema()["$defs"]
    named = {*schema["ChoicesEntry"]["properties"], *schema["TimingEntry"]["properties"]}
    assert {choice.name for choice in CHOICES} <= named
    assert schema["ChoicesEntry"]["properties"]["victims"]["enum"][0] == "borrowed_first"
