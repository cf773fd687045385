"""One declaration gives one policy, wherever it is read from."""

import json
from pathlib import Path

import pytest
import yaml
from hypothesis import given

from policy_engine.policy import Policy
from policy_engine.sources import Kind, load, load_policy
from tests.policy_engine.sources.conftest import Write
from tests.policy_engine.sources.templates import few, policies, template_of, write_assembly

DOCUMENT = """\
queue: gpu-training
service_environment:
  capacity_limits: {ml.g5.xlarge: 3, ml.g5.12xlarge: 2}
shares:
  QS1: {capacity_limits: {ml.g5.xlarge: 1, ml.g5.12xlarge: 2}, strategy: LEND_AND_BORROW, borrow_limit: 0,
        in_share_preemption: true}
  QS2: {capacity_limits: {ml.g5.xlarge: 1}, strategy: LEND, in_share_preemption: false}
  6214e9: {capacity_limits: {ml.g5.xlarge: 1}, strategy: RESERVE, in_share_preemption: false, state: DISABLED}
job_state_time_limits:
  - {reason: "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED", max_seconds: 3600}
ignore:
  - {finding: QM106, share: QS1, because: agreed with the team}
"""

TEMPLATE = """\
AWSTemplateFormatVersion: "2010-09-09"
Parameters:
  Name: {Type: String, Default: gpu}
  Large: {Type: Number}
  Seconds: {Type: String, Default: "3600"}
  Teams: {Type: CommaDelimitedList, Default: "QS1, QS2"}
Mappings:
  Limits:
    large: {QS1: 2}
Conditions:
  HasLarge: !Not [!Equals [!Ref Large, 0]]
  Never: !Equals [a, b]
Resources:
  Policy:
    Type: AWS::Batch::SchedulingPolicy
    Properties: {QuotaSharePolicy: {IdleResourceAssignmentStrategy: FIFO}}
  Environment:
    Type: AWS::Batch::ServiceEnvironment
    Properties:
      ServiceEnvironmentType: SAGEMAKER_TRAINING
      CapacityLimits:
        - {CapacityUnit: ml.g5.xlarge, MaxCapacity: "3"}
        - {CapacityUnit: ml.g5.12xlarge, MaxCapacity: !Ref Large}
  Queue:
    Type: AWS::Batch::JobQueue
    Properties:
      JobQueueName: !Sub "${Name}-training"
      JobQueueType: sagemaker_training
      Priority: 1
      SchedulingPolicyArn: !GetAtt Policy.Arn
      ServiceEnvironmentOrder: [{Order: 1, ServiceEnvironment: !GetAtt [Environment, ServiceEnvironmentArn]}]
      JobStateTimeLimitActions:
        - Action: TERMINATE
          State: RUNNABLE
          Reason: MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED
          MaxTimeSeconds: !Ref Seconds
  First:
    Type: AWS::Batch::QuotaShare
    Metadata:
      PolicyEngine:
        Ignore: [{Finding: QM106, Because: agreed with the team}]
    Properties:
      QuotaShareName: !Select [0, !Ref Teams]
      JobQueue: {Ref: Queue}
      CapacityLimits:
        - {CapacityUnit: ml.g5.xlarge, MaxCapacity: 1}
        - !If
          - HasLarge
          - {CapacityUnit: !Join [".", [ml, g5, 12xlarge]], MaxCapacity: !FindInMap [Limits, large, QS1]}
          - !Ref AWS::NoValue
      ResourceSharingConfiguration: {Strategy: lend_and_borrow, BorrowLimit: 0.0}
      PreemptionConfiguration: {InSharePreemption: enabled}
  Second:
    Type: AWS::Batch::QuotaShare
    Properties:
      QuotaShareName: !Select ["1", !Ref Teams]
      JobQueue: !Ref Queue
      CapacityLimits: [{CapacityUnit: ml.g5.xlarge, MaxCapacity: 1}]
      ResourceSharingConfiguration: {Strategy: LEND, BorrowLimit: !Ref AWS::NoValue}
      PreemptionConfiguration: {InSharePreemption: DISABLED}
  Third:
    Type: AWS::Batch::QuotaShare
    Properties:
      QuotaShareName: 6214e9
      JobQueue: !Select [1, !Split ["job-queue/", !Ref Queue]]
      CapacityLimits: [{CapacityUnit: ml.g5.xlarge, MaxCapacity: 1}]
      ResourceSharingConfiguration: {Strategy: RESERVE}
      PreemptionConfiguration: {InSharePreemption: DISABLED}
      State: DISABLED
  Absent:
    Type: AWS::Batch::QuotaShare
    Condition: Never
    Properties: {QuotaShareName: QS4, JobQueue: !Ref Queue}
"""


@pytest.fixture
def declared(write: Write) -> dict[Kind, Policy]:
    document = write("policy.yaml", DOCUMENT)
    write_assembly(Path("cdk.out"), {"Training": template_of(load_policy(document))})
    return {
        Kind.DOCUMENT: load_policy(document),
        Kind.TEMPLATE: load_policy(write("template.yaml", TEMPLATE), parameters={"Large": "2"}),
        Kind.ASSEMBLY: load_policy("cdk.out"),
    }


def test_three_sources_one_policy(declared: dict[Kind, Policy]) -> None:
    policy = declared[Kind.DOCUMENT]
    assert policy.shares["QS1"].borrow_limit == 0
    assert declared[Kind.TEMPLATE] == policy
    assert declared[Kind.ASSEMBLY] == policy


def test_whole_numbers_are_plain_integers(declared: dict[Kind, Policy]) -> None:
    for policy in declared.values():
        counts = [count for share in policy.shares.values() for count in share.capacity_limits.values()]
        assert {type(count) for count in [*counts, policy.shares["QS1"].borrow_limit]} == {int}


def test_the_order_of_declaration_is_kept(declared: dict[Kind, Policy]) -> None:
    for policy in declared.values():
        assert list(policy.shares) == ["QS1", "QS2", "6214e9"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("laws")


@few
@given(policy=policies())
def test_a_policy_survives_a_document(folder: Path, policy: Policy) -> None:
    for name, write in (("p.yaml", yaml.safe_dump), ("p.json", json.dumps)):
        path = folder / name
        path.write_text(write(policy.document()), encoding="utf-8")
        assert load_policy(path) == policy


@few
@given(policy=policies())
def test_a_policy_survives_a_template(folder: Path, policy: Policy) -> None:
    for name, write in (("t.yaml", yaml.safe_dump), ("t.json", json.dumps)):
        path = folder / name
        path.write_text(write(template_of(policy), sort_keys=False), encoding="utf-8")
        assert load_policy(path) == policy


@few
@given(policy=policies())
def test_what_a_document_stands_for_gives_its_policy(folder: Path, policy: Policy) -> None:
    path = folder / "d.json"
    path.write_text(json.dumps(policy.document()), encoding="utf-8")
    (queue,) = load(path).queues
    assert queue.unknowns == ()
    assert [share.name for share in queue.shares] == list(policy.shares)
