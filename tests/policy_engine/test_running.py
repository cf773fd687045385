"""The engine from Python: what a user's own tests call."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import policy_engine
from policy_engine import InputError, Policy, load_policy, load_scenario, simulate, verify

EXAMPLES = Path(__file__).parents[2] / "examples"
POLICY = EXAMPLES / "policy.yaml"
WALKTHROUGH = EXAMPLES / "walkthrough.yaml"


def test_every_public_name_is_there() -> None:
    for name in policy_engine.__all__:
        assert getattr(policy_engine, name) is not None
    assert set(policy_engine.__all__) <= set(dir(policy_engine))


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'policy_engine' has no attribute 'verfy'"):
        policy_engine.verfy  # noqa: B018


def test_importing_the_package_loads_nothing_slow() -> None:
    code = "import sys, policy_engine; print(*sorted({name.split('.')[0] for name in sys.modules}))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert set(loaded).isdisjoint({"pydantic", "yaml", "rich", "click", "altair", "jinja2"})


@pytest.mark.parametrize("policy", [POLICY, str(POLICY), load_policy(POLICY)], ids=["path", "text", "policy"])
def test_the_walkthrough_from_python(policy: str | Path | Policy) -> None:
    result = verify(policy, WALKTHROUGH)
    assert result.verdict == "holds"
    assert result.failed == ()
    assert [verdict.verdict for verdict in result.expectations] == ["holds"] * 12
    assert {job.name: job.state for job in result.jobs} == {
        "qs1_job_high": "RUNNABLE",
        "qs1_job_med": "RUNNABLE",
        "qs1_job_low": "RUNNING",
        "qs2_job_1": "RUNNING",
    }


def test_a_failure_is_told_with_its_reason() -> None:
    policy = load_policy(POLICY)
    shares = {name: share for name, share in policy.shares.items() if name != "QS1"}
    weaker = policy.model_copy(
        update={"shares": {"QS1": policy.shares["QS1"].model_copy(update={"borrow_limit": 0}), **shares}}
    )
    result = verify(weaker, load_scenario(WALKTHROUGH))
    assert result.verdict == "fails"
    assert result.failed[0].message == (
        "qs1_job_med was RUNNABLE, not running, at 30s: waiting since its submission at 0s"
    )


def test_a_result_is_the_json_of_the_interface() -> None:
    result = verify(POLICY, WALKTHROUGH)
    data = json.loads(result.to_json())
    assert data["schema"] == "policy-engine/1"
    assert data["command"] == "verify"
    assert data["policy"]["source"] == str(POLICY)
    assert data["choices"]["victims"] == "borrowed_first"
    assert data["verdict"] == "holds"
    assert {"name", "verdict", "depends_on", "message", "counterexample"} <= set(data["expectations"][0])
    [med] = [job for job in data["jobs"] if job["name"] == "qs1_job_med"]
    assert med == {
        "name": "qs1_job_med",
        "share": "QS1",
        "state": "RUNNABLE",
        "reason": None,
        "submitted": 0,
        "first_started": 0,
        "finished": None,
        "wait_seconds": 0,
        "requeued_seconds": 120,
        "attempts": [{"scheduled": 0, "stopped": 60, "ended_by": "cross_share", "by": "qs2_job_1", "lost_seconds": 60}],
        "preemptions": 1,
        "lost_instance_seconds": 60,
    }
    [event] = [event for event in data["events"] if event["kind"] == "preempted" and event["at"] == 60]
    assert (event["job"], event["by"], event["why"]) == ("qs1_job_med", "qs2_job_1", "cross_share")
    assert event["usage"] == {"QS1": {"ml.g5.xlarge": 2}}
    [qs1, qs2, _] = data["shares"]
    assert (qs1["name"], qs1["unit"], qs1["limit"], qs1["busy_instance_seconds"]) == ("QS1", "ml.g5.xlarge", 1, 240)
    assert (qs1["borrowed_instance_seconds"], qs2["lent_instance_seconds"]) == (60, 60)
    assert qs1["wait_seconds"] == {"mean": 40, "p50": 0, "p95": 120, "max": 120}
    assert (qs1["preemptions_suffered"], qs1["preemptions_caused"], qs2["preemptions_caused"]) == (2, 1, 1)
    assert (qs1["lost_instance_seconds"], qs1["never_started"]) == (180, 0)


def test_simulate_judges_nothing() -> None:
    result = simulate(POLICY, WALKTHROUGH)
    assert [event.kind for event in result.run.log][:3] == ["submitted", "submitted", "submitted"]
    assert sum(share.busy_instance_seconds for share in result.shares) == result.queue.busy_instance_seconds == 360
    data = result.to_dict()
    assert (data["command"], data["verdict"], data["expectations"]) == ("simulate", None, [])


def test_a_scenario_may_name_its_policy(tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_text(POLICY.read_text(encoding="utf-8"), encoding="utf-8")
    scenario = tmp_path / "s.yaml"
    scenario.write_text(f"policy: p.yaml\n{WALKTHROUGH.read_text(encoding='utf-8')}", encoding="utf-8")
    result = verify(None, scenario)
    assert (result.verdict, result.source.name) == ("holds", str(tmp_path / "p.yaml"))
    # a policy that is given wins
    assert verify(POLICY, scenario).source.name == str(POLICY)


def test_without_any_policy_there_is_nothing_to_run() -> None:
    with pytest.raises(InputError, match="no policy: give one, or name it under 'policy'"):
        simulate(None, WALKTHROUGH)


TWO_QUEUES = """
Resources:
  Policy: {Type: AWS::Batch::SchedulingPolicy, Properties: {QuotaSharePolicy: {IdleResourceAssignmentStrategy: FIFO}}}
%s
"""
QUEUE = """
  {0}Environment:
    Type: AWS::Batch::ServiceEnvironment
    Properties:
      ServiceEnvironmentType: SAGEMAKER_TRAINING
      CapacityLimits: [{{CapacityUnit: ml.g5.xlarge, MaxCapacity: {1}}}]
  {0}:
    Type: AWS::Batch::JobQueue
    Properties:
      JobQueueName: {0}-queue
      JobQueueType: SAGEMAKER_TRAINING
      Priority: 1
      SchedulingPolicyArn: !Ref Policy
      ServiceEnvironmentOrder: [{{Order: 1, ServiceEnvironment: !Ref {0}Environment}}]
  {0}Share:
    Type: AWS::Batch::QuotaShare
    Properties:
      QuotaShareName: s
      JobQueue: !Ref {0}
      CapacityLimits: [{{CapacityUnit: ml.g5.xlarge, MaxCapacity: {1}}}]
      ResourceSharingConfiguration: {{Strategy: RESERVE}}
      PreemptionConfiguration: {{InSharePreemption: DISABLED}}
"""


def test_of_several_queues_one_is_named(tmp_path: Path) -> None:
    template, scenario, named = tmp_path / "t.yaml", tmp_path / "s.yaml", tmp_path / "n.yaml"
    template.write_text(TWO_QUEUES % (QUEUE.format("Small", 1) + QUEUE.format("Large", 9)), encoding="utf-8")
    text = "jobs: [{name: x, share: s, instance_count: 9}]\n"
    scenario.write_text(text, encoding="utf-8")
    named.write_text(f"queue: Large-queue\n{text}", encoding="utf-8")
    with pytest.raises(InputError, match="2 queues, name one with --queue"):
        simulate(template, scenario)
    states = [simulate(template, scenario, queue="Small").jobs[0].state, simulate(template, named).jobs[0].state]
    assert states == ["RUNNABLE", "RUNNING"]
    # one that is given wins
    assert simulate(template, named, queue="Small").jobs[0].state == "RUNNABLE"
