"""``check`` as a whole: what it takes, what it says of a queue, and what counts."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from policy_engine.checking import CheckResult, check
from policy_engine.errors import InputError
from policy_engine.findings import Severity
from policy_engine.policy import Policy
from policy_engine.scheduler.choices import Choices
from policy_engine.sources import load

FIXTURES = Path(__file__).parents[1] / "fixtures" / "findings"
GOOD = FIXTURES / "QM009" / "good.yaml"
TWO_QUEUES = FIXTURES / "QM007" / "good-two-queues.yaml"
U = "ml.g5.xlarge"

WALKTHROUGH = """\
queue: gpu-training
service_environment:
  capacity_limits: {ml.g5.xlarge: 3}
shares:
  QS1: {capacity_limits: {ml.g5.xlarge: 1}, strategy: LEND_AND_BORROW, borrow_limit: 200, in_share_preemption: true}
  QS2: {capacity_limits: {ml.g5.xlarge: 1}, strategy: LEND, in_share_preemption: false}
  QS3: {capacity_limits: {ml.g5.xlarge: 1}, strategy: RESERVE, in_share_preemption: false}
"""


def written(folder: Path, text: str, name: str = "policy.yaml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def ids(result: CheckResult) -> list[str]:
    return [finding.id for finding in result.findings]


def of_id(result: CheckResult, finding_id: str) -> Any:
    (finding,) = [finding for finding in result.findings if finding.id == finding_id]
    return finding


# --- the walkthrough -----------------------------------------------------------------------------


def test_the_walkthrough(tmp_path: Path) -> None:
    result = check(written(tmp_path, WALKTHROUGH))
    (queue,) = result.queues
    assert (queue.name, queue.not_reckoned) == ("gpu-training", None)
    assert [(g.share, g.reachable) for g in queue.guarantees] == [("QS1", 2), ("QS2", 1), ("QS3", 1)]
    assert [(p.share, p.takes_from, p.kind) for p in queue.preemptions] == [
        ("QS1", "QS1", "in_share"),
        ("QS2", "QS1", "cross_share"),
    ]
    assert ids(result) == ["QM108", "QM104", "QM106"], "the worst first, then by id"
    assert (result.worst, result.failed(), result.failed(Severity.WARNING)) == (Severity.WARNING, False, True)
    assert (result.verdict(), result.verdict(Severity.WARNING)) == ("holds", "fails")


def test_the_same_from_a_path_a_source_and_a_policy(tmp_path: Path) -> None:
    path = written(tmp_path, WALKTHROUGH)
    source = load(path)
    by_path, by_source, by_policy = check(path), check(source), check(source.queue().policy())
    assert by_path.queues[0].guarantees == by_source.queues[0].guarantees == by_policy.queues[0].guarantees
    assert ids(by_path) == ids(by_source) == ids(by_policy)
    assert by_policy.findings[0].place.position is None


def test_choices_change_what_is_promised() -> None:
    policy = Policy.of(
        {
            "service_environment": {"capacity_limits": {U: 4}},
            "shares": {
                "b": {"capacity_limits": {U: 1}, "strategy": "LEND_AND_BORROW", "borrow_limit": 50,
                      "in_share_preemption": False},
                "l": {"capacity_limits": {U: 3}, "strategy": "LEND", "in_share_preemption": False},
            },
        }
    )  # fmt: skip
    down, up = check(policy), check(policy, choices=Choices(borrow_rounding="up"))
    assert (down.queues[0].guarantees[0].reachable, up.queues[0].guarantees[0].reachable) == (1, 2)
    assert ("QM105" in ids(down), "QM105" in ids(up)) == (True, False)


# --- places --------------------------------------------------------------------------------------


def test_a_finding_says_where_and_what_to_change(tmp_path: Path) -> None:
    path = written(tmp_path, WALKTHROUGH)
    finding = of_id(check(path), "QM106").to_dict()
    assert finding == {
        "id": "QM106",
        "severity": "info",
        "message": "QS1 may borrow 2 ml.g5.xlarge (200 % of its limit), and the others lend 1",
        "why": "A share never borrows more than the other lenders have configured; the rest of its borrow limit never"
        " counts.",
        "remedy": "lower the borrow limit to what the others lend, or set it to -1 to say that it does not limit",
        "source": "https://docs.aws.amazon.com/batch/latest/userguide/sm_job_stuck_in_runnable_misconfiguration.html",
        "queue": "gpu-training",
        "share": "QS1",
        "unit": U,
        "resource": None,
        "construct": None,
        "file": str(path),
        "line": 5,
        "column": 72,
        "key": "shares.QS1.borrow_limit",
        "ignored_because": None,
    }


def test_a_finding_of_a_template_names_logical_id_and_property() -> None:
    finding = of_id(check(FIXTURES / "QM106" / "bad.yaml"), "QM106").to_dict()
    assert (finding["resource"], finding["share"], finding["queue"]) == ("Borrower", "borrower", "Queue")
    assert finding["key"] == "Borrower.ResourceSharingConfiguration.BorrowLimit"


# --- ignoring ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ("{finding: QM106, share: QS1, because: it is enough}", "it is enough"),
        ("{finding: QM106, because: it is enough}", "it is enough"),
        ("{finding: QM106, share: QS2, because: another share's}", None),
        ("{finding: QM104, share: QS1, because: another finding's}", None),
    ],
)
def test_ignoring_in_a_document(tmp_path: Path, entry: str, reason: str | None) -> None:
    result = check(written(tmp_path, f"{WALKTHROUGH}ignore: [{entry}]\n"))
    assert of_id(result, "QM106").ignored_because == reason


def test_an_ignored_finding_stays_and_does_not_count(tmp_path: Path) -> None:
    result = check(written(tmp_path, WALKTHROUGH + "ignore: [{finding: QM108, because: we watch the queue}]\n"))
    assert of_id(result, "QM108").is_ignored
    assert (result.worst, result.failed(Severity.WARNING)) == (Severity.INFO, False)
    (told,) = [f for f in result.to_dict()["findings"] if f["id"] == "QM108"]
    assert (told["severity"], told["ignored_because"]) == ("warning", "we watch the queue")


IGNORE = "    Metadata: {{PolicyEngine: {{Ignore: [{{Finding: {id}, Because: agreed}}]}}}}\n"


@pytest.mark.parametrize(
    ("finding_id", "holder", "is_ignored"),
    [
        ("QM106", "Borrower", True),
        ("QM106", "Queue", True),
        ("QM106", "Lender", False),
        ("QM106", "Environment", False),
        ("QM101", "Environment", True),
        ("QM101", "Queue", True),
        ("QM101", "Borrower", False),
    ],
)
def test_ignoring_on_a_resource(tmp_path: Path, finding_id: str, holder: str, is_ignored: bool) -> None:
    lines = (FIXTURES / finding_id / "bad.yaml").read_text(encoding="utf-8").splitlines(keepends=True)
    lines.insert(lines.index(f"  {holder}:\n") + 1, IGNORE.format(id=finding_id))
    result = check(written(tmp_path, "".join(lines)))
    assert of_id(result, finding_id).ignored_because == ("agreed" if is_ignored else None)


# --- severities ----------------------------------------------------------------------------------


def test_a_user_s_severity_counts(tmp_path: Path) -> None:
    path = written(tmp_path, WALKTHROUGH)
    raised = check(path, severities={"QM106": "error"})
    assert ids(raised)[0] == "QM106"
    assert raised.failed()
    lowered = check(path, severities={"QM108": Severity.INFO})
    assert lowered.worst is Severity.INFO


@pytest.mark.parametrize(
    ("severities", "message"),
    [
        ({"QM999": "error"}, "severity: no finding 'QM999'; there is QM000, QM001"),
        ({"QM101": "fatal"}, "severity QM101: 'fatal' is not one of error, warning, info"),
    ],
)
def test_a_severity_that_cannot_be(severities: dict[str, str], message: str) -> None:
    with pytest.raises(InputError) as raised:
        check(GOOD, severities=severities)
    assert str(raised.value).startswith(message)


# --- with a scenario -----------------------------------------------------------------------------


def test_a_scenario_brings_its_choices_and_its_queue(tmp_path: Path) -> None:
    scenario = written(
        tmp_path,
        "queue: Queue\nchoices: {borrow_rounding: up}\n"
        "jobs: [{name: large, share: borrower, instance_count: 5, checkpoint_every: 1m}]\n",
        "scenario.yaml",
    )
    result = check(TWO_QUEUES, scenario=scenario)
    assert (result.queue, result.choices.borrow_rounding) == ("Queue", "up")
    assert of_id(result, "QM201").place.position == (3, 8)
    with_own = check(TWO_QUEUES, scenario=scenario, choices=Choices(borrow_rounding="nearest"))
    assert with_own.choices.borrow_rounding == "nearest"


def test_a_scenario_that_does_not_fit_the_policy(tmp_path: Path) -> None:
    scenario = written(tmp_path, "jobs: [{name: one, share: nobody}]\n", "scenario.yaml")
    with pytest.raises(InputError, match=r"jobs\[0\].share: no share 'nobody'"):
        check(GOOD, scenario=scenario)


# --- several queues, and none --------------------------------------------------------------------


def test_every_queue_is_checked() -> None:
    result = check(TWO_QUEUES)
    assert [queue.name for queue in result.queues] == ["Queue", "OtherQueue"]
    assert [(f.queue, f.id, f.share) for f in result.findings] == [
        ("OtherQueue", "QM102", None),
        ("Queue", "QM104", "borrower"),
        ("OtherQueue", "QM104", "lender"),
    ]
    assert result.queue is None
    assert {row["queue"] for row in result.to_dict()["guarantees"]} == {"Queue", "OtherQueue"}


def test_one_queue_of_several() -> None:
    result = check(TWO_QUEUES, queue="Queue")
    assert (result.queue, [(f.queue, f.id) for f in result.findings]) == ("Queue", [("Queue", "QM104")])


def test_what_two_queues_share_is_found_once(tmp_path: Path) -> None:
    text = TWO_QUEUES.read_text(encoding="utf-8").replace("{IdleResourceAssignmentStrategy: FIFO}", "{}")
    result = check(written(tmp_path, text))
    assert [[f.id for f in queue.findings if f.severity is Severity.ERROR] for queue in result.queues] == [
        ["QM011"]
    ] * 2
    assert of_id(result, "QM011").place.key == "Policy.QuotaSharePolicy.IdleResourceAssignmentStrategy"


def test_no_queue_at_all(tmp_path: Path) -> None:
    path = written(tmp_path, "Resources: {Topic: {Type: AWS::SNS::Topic}}\n")
    with pytest.raises(InputError, match="no quota-managed job queue in this CloudFormation template"):
        check(path)


STRAY = """\
  Stray:
    Type: AWS::Batch::QuotaShare
    Properties:
      QuotaShareName: stray
      JobQueue: elsewhere
      CapacityLimits: [{CapacityUnit: ml.g5.bogus, MaxCapacity: 0}]
      ResourceSharingConfiguration: {Strategy: LEND}
      PreemptionConfiguration: {InSharePreemption: DISABLED}
"""


def test_shares_alone_are_checked_where_they_go_to_a_queue_that_exists_already(tmp_path: Path) -> None:
    result = check(written(tmp_path, f"Resources:\n{STRAY}"))
    assert (result.queues, result.queue) == ((), None)
    assert [(f.id, f.place.logical_id) for f in result.findings] == [("QM008", "Stray"), ("QM011", "Stray")]
    assert result.to_dict()["verdict"] == "fails"


def test_shares_of_a_queue_that_is_declared_elsewhere_are_checked_too(tmp_path: Path) -> None:
    result = check(written(tmp_path, GOOD.read_text(encoding="utf-8") + STRAY + STRAY.replace("Stray:", "Second:")))
    assert sorted({(f.id, f.queue, f.place.logical_id) for f in result.findings if f.queue is None}, key=str) == [
        ("QM007", None, "Second"),
        ("QM008", None, "Second"),
        ("QM008", None, "Stray"),
        ("QM011", None, "Second"),
        ("QM011", None, "Stray"),
    ]


# --- what is wrong or unknown --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fixture", "reason"),
    [
        ("QM002/bad.yaml", "Lender.CapacityLimits: 0 capacity limits; 1 to 5 are allowed"),
        ("QM000/bad.yaml", "Borrower.CapacityLimits[0].MaxCapacity: unknown until deployment: Limit has no default"),
    ],
)
def test_why_there_are_no_guarantees(fixture: str, reason: str) -> None:
    (queue,) = check(FIXTURES / fixture).queues
    assert (queue.policy, queue.guarantees, queue.preemptions) == (None, (), ())
    assert reason in str(queue.not_reckoned)


def test_an_unknown_limit_is_a_warning_and_the_rest_is_checked(tmp_path: Path) -> None:
    text = (FIXTURES / "QM000" / "bad.yaml").read_text(encoding="utf-8")
    result = check(written(tmp_path, text.replace("BorrowLimit: 100", "BorrowLimit: -5")))
    assert ids(result) == ["QM011", "QM000"]
    unknown = of_id(result, "QM000").to_dict()
    assert (unknown["resource"], unknown["key"]) == ("Borrower", "Borrower.CapacityLimits[0].MaxCapacity")


def test_a_parameter_makes_it_known() -> None:
    result = check(FIXTURES / "QM000" / "bad.yaml", parameters={"Limit": "2"})
    assert (ids(result), result.queues[0].not_reckoned) == (["QM104"], None)


# --- the result ----------------------------------------------------------------------------------


def test_the_result_is_json(tmp_path: Path) -> None:
    data = check(written(tmp_path, WALKTHROUGH)).to_dict(fail_on=Severity.WARNING)
    assert json.loads(json.dumps(data)) == data
    assert data["schema"] == "policy-engine/1"
    assert data["policy"]["queue"] == "gpu-training"
    assert data["rests_on"]["live_service_consulted"] is False
    assert (data["command"], data["verdict"]) == ("check", "fails")
    assert data["choices"]["borrow_rounding"] == "down"
    assert data["guarantees"][1] == {
        "queue": "gpu-training",
        "share": "QS2",
        "unit": U,
        "limit": 1,
        "guaranteed": 1,
        "reachable": 1,
        "lendable": 1,
        "at_risk": 0,
        "largest_job": 1,
        "larger_jobs": {
            "rule": "R12.2",
            "reason": "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED - Job requirements exceed quota share capacity"
            " limits.",
        },
        "most_evicted": {"across_shares": 2, "within_share": 0},
        "reclaimed_after": "stop_seconds",
    }
    assert data["preemption"][1] == {
        "queue": "gpu-training",
        "share": "QS2",
        "takes_from": "QS1",
        "unit": U,
        "kind": "cross_share",
        "why": "QS2 lends ml.g5.xlarge, and QS1 can reach 2 with a limit of 1",
    }


def test_check_loads_neither_the_scheduler_s_loop_nor_anything_slow() -> None:
    code = (
        "import sys\n"
        "from policy_engine.checking import check\n"
        f"check({str(GOOD)!r})\n"
        "print(*(name for name in sys.modules if name.split('.')[0] in"
        " ('boto3', 'botocore', 'aws_cdk', 'altair', 'rich', 'click')), *(name for name in sys.modules if name in"
        " ('policy_engine.simulation', 'policy_engine.workload')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
