"""Every value that AWS has otherwise is named, and nothing else."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from policy_engine.observing import Drift, drift
from policy_engine.sources import load
from policy_engine.sources.live import open_queue
from tests.policy_engine.sources.live.account import Account, limits, share

TEMPLATE = """
Parameters: {Size: {Type: Number}}
Resources:
  Env:
    Type: AWS::Batch::ServiceEnvironment
    Properties:
      ServiceEnvironmentName: gpus
      ServiceEnvironmentType: SAGEMAKER_TRAINING
      CapacityLimits: [{CapacityUnit: ml.g5.xlarge, MaxCapacity: 3}]
      Tags: {team: ml}
  Policy:
    Type: AWS::Batch::SchedulingPolicy
    Properties: {QuotaSharePolicy: {IdleResourceAssignmentStrategy: fifo}}
  Queue:
    Type: AWS::Batch::JobQueue
    Properties:
      JobQueueType: SAGEMAKER_TRAINING
      Priority: 1
      SchedulingPolicyArn: !Ref Policy
      ServiceEnvironmentOrder: [{Order: 1, ServiceEnvironment: !Ref Env}]
      JobStateTimeLimitActions:
        - {Action: TERMINATE, State: RUNNABLE, Reason: "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED",
           MaxTimeSeconds: "3600"}
  QS1:
    Type: AWS::Batch::QuotaShare
    Properties:
      QuotaShareName: QS1
      JobQueue: !Ref Queue
      CapacityLimits: [{CapacityUnit: ml.g5.xlarge, MaxCapacity: 1}]
      ResourceSharingConfiguration: {Strategy: lend_and_borrow, BorrowLimit: 200}
      PreemptionConfiguration: {InSharePreemption: ENABLED}
      Tags: {owner: a}
  QS2:
    Type: AWS::Batch::QuotaShare
    Properties:
      QuotaShareName: QS2
      JobQueue: !Ref Queue
      CapacityLimits: [{CapacityUnit: ml.g5.xlarge, MaxCapacity: 1}]
      ResourceSharingConfiguration: {Strategy: LEND}
      PreemptionConfiguration: {InSharePreemption: DISABLED}
  QS3:
    Type: AWS::Batch::QuotaShare
    Properties:
      QuotaShareName: QS3
      JobQueue: !Ref Queue
      CapacityLimits: [{CapacityUnit: ml.g5.xlarge, MaxCapacity: 1}]
      ResourceSharingConfiguration: {Strategy: RESERVE}
      PreemptionConfiguration: {InSharePreemption: DISABLED}
"""


@pytest.fixture
def same(account: Account) -> Account:
    """The account as the template declares it."""
    account.environments[0]["tags"] = {"team": "ml", "aws:cloudformation:stack-name": "s"}
    account.share_tags = {"owner": "a"}
    return account


def compared(folder: Path, text: str) -> Drift:
    path = folder / "declared.yaml"
    path.write_text(text, encoding="utf-8")
    live = open_queue("queue:training")
    return drift(load(path).queue(), live.declaration.queues[0], live.tags_of)


def told(found: Drift) -> list[str]:
    return [difference.message for difference in found.differences]


def test_what_is_the_same_is_no_difference(same: Account, tmp_path: Path) -> None:
    """Also words in another case, numbers as text, states and borrow limits that are left out."""
    found = compared(tmp_path, TEMPLATE)
    assert (told(found), found.unknown) == ([], ())
    assert found.compared == 22
    assert same.asked["batch:DescribeQuotaShare"] == 1, "tags are asked for where some are declared"


REASON = "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED"


def queue(**values: Any) -> Callable[[Account], object]:
    return lambda account: account.queue.update(values)


def environment(**values: Any) -> Callable[[Account], object]:
    return lambda account: account.environments[0].update(values)


def first_share(**values: Any) -> Callable[[Account], object]:
    return lambda account: account.shares[0].update(values)


def second_share(**values: Any) -> Callable[[Account], object]:
    return lambda account: account.shares[1].update(values)


def both(*changes: Callable[[Account], object]) -> Callable[[Account], None]:
    def change(account: Account) -> None:
        for one in changes:
            one(account)

    return change


CHANGES: dict[str, tuple[Callable[[Account], object], list[str]]] = {
    "queue state": (queue(state="DISABLED"), ["job queue training: state is declared as ENABLED, and is DISABLED"]),
    "queue priority": (queue(priority=5), ["job queue training: priority is declared as 1, and is 5"]),
    "time limit": (
        queue(jobStateTimeLimitActions=[]),
        [f"job queue training: time_limits.{REASON} is declared as 3600 s, and is none"],
    ),
    "environment capacity": (
        environment(capacityLimits=limits(g5_xlarge=4)),
        ["service environment gpus: capacity_limits.ml.g5.xlarge is declared as 3, and is 4"],
    ),
    "environment unit": (
        environment(capacityLimits=limits(g5_xlarge=3, p5_48xlarge=1)),
        ["service environment gpus: capacity_limits.ml.p5.48xlarge is declared as none, and is 1"],
    ),
    "environment state": (
        environment(state="DISABLED"),
        ["service environment gpus: state is declared as ENABLED, and is DISABLED"],
    ),
    "environment tag": (
        environment(tags={"team": "other"}),
        ["service environment gpus: tags.team is declared as ml, and is other"],
    ),
    "share state": (
        first_share(state="DISABLED"),
        ["quota share QS1: state is declared as ENABLED, and is DISABLED"],
    ),
    "share limit": (
        first_share(capacityLimits=limits(g5_xlarge=2)),
        ["quota share QS1: capacity_limits.ml.g5.xlarge is declared as 1, and is 2"],
    ),
    "strategy": (
        first_share(resourceSharingConfiguration={"strategy": "LEND"}),
        ["quota share QS1: strategy is declared as LEND_AND_BORROW, and is LEND"],
    ),
    "borrow limit": (
        first_share(resourceSharingConfiguration={"strategy": "LEND_AND_BORROW", "borrowLimit": 100}),
        ["quota share QS1: borrow_limit is declared as 200, and is 100"],
    ),
    "no borrow limit is unlimited": (
        first_share(resourceSharingConfiguration={"strategy": "LEND_AND_BORROW"}),
        ["quota share QS1: borrow_limit is declared as 200, and is -1"],
    ),
    "in-share preemption": (
        first_share(preemptionConfiguration={"inSharePreemption": "DISABLED"}),
        ["quota share QS1: in_share_preemption is declared as ENABLED, and is DISABLED"],
    ),
    "share tag": (
        lambda account: account.share_tags.clear(),
        ["quota share QS1: tags.owner is declared as a, and is none"],
    ),
    "share gone": (lambda account: account.shares.pop(), ["quota share QS3: not at AWS"]),
    "share more": (lambda account: account.shares.append(share("QS4", "LEND")), ["quota share QS4: not declared"]),
    "two at once": (
        both(queue(priority=2), second_share(state="DISABLED")),
        [
            "job queue training: priority is declared as 1, and is 2",
            "quota share QS2: state is declared as ENABLED, and is DISABLED",
        ],
    ),
}


@pytest.mark.parametrize(("change", "expected"), CHANGES.values(), ids=CHANGES)
def test_each_change_at_aws_is_named(
    same: Account, tmp_path: Path, change: Callable[[Account], object], expected: list[str]
) -> None:
    change(same)
    assert told(compared(tmp_path, TEMPLATE)) == expected


@pytest.mark.usefixtures("same")
def test_a_difference_says_where_it_is_declared(tmp_path: Path) -> None:
    [difference] = compared(tmp_path, TEMPLATE.replace("BorrowLimit: 200", "BorrowLimit: 50")).differences
    assert difference.place is not None
    line, _ = difference.place.position or (0, 0)
    assert "BorrowLimit: 50" in TEMPLATE.replace("BorrowLimit: 200", "BorrowLimit: 50").splitlines()[line - 1]
    assert difference.place.logical_id == "QS1"


@pytest.mark.usefixtures("same")
def test_what_is_known_at_deployment_only_is_not_compared(tmp_path: Path) -> None:
    text = TEMPLATE.replace("ml.g5.xlarge, MaxCapacity: 3", "ml.g5.xlarge, MaxCapacity: !Ref Size")
    found = compared(tmp_path, text)
    assert told(found) == []
    assert found.unknown == (
        "service environment gpus: capacity_limits.ml.g5.xlarge (Env.CapacityLimits[0]): unknown until deployment: Size"
        " has no default; give it with --parameter Size=VALUE",
    )


def test_a_document_is_compared_in_what_it_can_say(account: Account, tmp_path: Path) -> None:
    account.queue["priority"] = 7
    live = open_queue("queue:training")
    text = yaml.safe_dump(live.declaration.queues[0].policy().document())
    assert told(compared(tmp_path, text)) == []
    changed = text.replace("queue: training", "queue: other").replace("ml.g5.xlarge: 3", "ml.g5.xlarge: 2")
    assert told(compared(tmp_path, changed)) == [
        "job queue training: name is declared as other, and is training",
        "service environment gpus: capacity_limits.ml.g5.xlarge is declared as 2, and is 3",
    ]
