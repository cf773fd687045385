"""Policy documents: what they say, and what is wrong with them in one line."""

import pytest

from policy_engine.errors import InputError
from policy_engine.policy import Policy
from policy_engine.sources import Kind, load, load_policy
from tests.policy_engine.sources.conftest import Write

GOOD = """\
queue: gpu-training
service_environment:
  capacity_limits: {ml.g5.xlarge: 3}
shares:
  QS1: {capacity_limits: {ml.g5.xlarge: 1}, strategy: LEND_AND_BORROW, borrow_limit: 200, in_share_preemption: true}
  6214e9:
    capacity_limits: {ml.g5.xlarge: 1}
    strategy: LEND
    in_share_preemption: false
    state: DISABLED
job_state_time_limits:
  - {reason: "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED", max_seconds: 600}
ignore:
  - {finding: QM106, share: 6214e9, because: agreed}
  - {finding: QM101, because: 7}
"""


def test_a_document_is_its_policy(write: Write) -> None:
    source = load(write("p.yaml", GOOD))
    assert source.kind is Kind.DOCUMENT
    assert source.description == "policy document p.yaml"
    policy = source.queue().policy()
    assert policy == Policy.of(
        {
            "queue": "gpu-training",
            "service_environment": {"capacity_limits": {"ml.g5.xlarge": 3}},
            "shares": {
                "QS1": {
                    "capacity_limits": {"ml.g5.xlarge": 1},
                    "strategy": "LEND_AND_BORROW",
                    "borrow_limit": 200,
                    "in_share_preemption": True,
                },
                "6214e9": {
                    "capacity_limits": {"ml.g5.xlarge": 1},
                    "strategy": "LEND",
                    "in_share_preemption": False,
                    "state": "DISABLED",
                },
            },
            "job_state_time_limits": [
                {"reason": "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED", "max_seconds": 600}
            ],
            "ignore": [
                {"finding": "QM106", "share": "6214e9", "because": "agreed"},
                {"finding": "QM101", "because": "7"},
            ],
        }
    )
    assert type(policy.shares["QS1"].borrow_limit) is int


def test_a_document_is_declared_as_the_resources_it_stands_for(write: Write) -> None:
    (queue,) = load(write("p.yaml", GOOD)).queues
    assert queue.name == "gpu-training"
    assert queue.unknowns == ()
    assert queue.queue.time_limits is not None
    (environment,) = queue.environments
    assert environment.where("capacity_limits").position == (3, 3)
    first, second = queue.shares
    assert (first.name, first.in_share_preemption, first.borrow_limit) == ("QS1", "ENABLED", 200)
    assert first.where("borrow_limit").key == "shares.QS1.borrow_limit"
    assert first.where("borrow_limit").position == (5, 72)
    assert second.where("borrow_limit").position == (6, 3)  # absent: the share
    assert isinstance(second.capacity_limits, tuple)
    assert second.capacity_limits[0].place.position == (7, 23)
    assert [(i.finding, i.because, i.place.position) for i in second.ignores] == [("QM106", "agreed", (14, 5))]
    assert [(i.finding, i.because, i.place.position) for i in queue.queue.ignores] == [("QM101", "7", (15, 5))]
    assert second.queue is not None
    assert second.queue.is_reference


def shares(count: int) -> str:
    share = "{capacity_limits: {ml.g5.xlarge: 1}, strategy: LEND, in_share_preemption: false}"
    listed = "".join(f"  S{index}: {share}\n" for index in range(count))
    return f"service_environment: {{capacity_limits: {{ml.g5.xlarge: 3}}}}\nshares:\n{listed}"


BAD: dict[str, tuple[str, str, str]] = {
    "unknown key": (
        "strategy: LEND\n",
        "strategi: LEND\n",
        "8:5: shares.6214e9.strategi: unknown key 'strategi'; did you mean 'strategy'?",
    ),
    "unknown key at the top": ("shares:", "Shares:", "4:1: Shares: unknown key 'Shares'; did you mean 'shares'?"),
    "unknown key like no other": (
        "queue:",
        "zzz:",
        "1:1: zzz: unknown key 'zzz'; allowed: queue, service_environment, shares, job_state_time_limits, state,"
        " ignore",
    ),
    "unknown key in a list": (
        "share: 6214e9",
        "shore: 6214e9",
        "14:22: ignore[0].shore: unknown key 'shore'; did you mean 'share'?",
    ),
    "missing key": ("    strategy: LEND\n", "", "6:3: shares.6214e9.strategy: required, but missing"),
    "missing key at the top": (
        "service_environment:\n  capacity_limits: {ml.g5.xlarge: 3}\n",
        "",
        "1:1: service_environment: required, but missing",
    ),
    "not a name": (
        "gpu-training",
        "gpu training",
        "1:1: queue: 'gpu training' is not a name: 1 to 128 letters, digits, '-' and '_' are allowed",
    ),
    "share not a name": (
        "QS1:",
        '"a\\nb":',
        "5:3: shares.a\\nb: 'a\\nb' is not a name: 1 to 128 letters, digits, '-' and '_' are allowed",
    ),
    "not a unit": (
        "capacity_limits: {ml.g5.xlarge: 3}",
        "capacity_limits: {NUM_INSTANCES: 3}",
        "3:21: service_environment.capacity_limits.NUM_INSTANCES: 'NUM_INSTANCES' is not a SageMaker instance type"
        " such as 'ml.g5.xlarge'",
    ),
    "capacity 0": (
        "xlarge: 3",
        "xlarge: 0",
        "3:21: service_environment.capacity_limits.ml.g5.xlarge: 0 is out of range: 1 or more is allowed",
    ),
    "capacity a fraction": (
        "xlarge: 3",
        "xlarge: 2.5",
        "3:21: service_environment.capacity_limits.ml.g5.xlarge: 2.5 is not a whole number (1 or more)",
    ),
    "capacity infinite": (
        "xlarge: 3",
        "xlarge: .inf",
        "3:21: service_environment.capacity_limits.ml.g5.xlarge: '.inf' is not a whole number (1 or more)",
    ),
    "capacity text": (
        "xlarge: 3",
        "xlarge: '3'",
        "3:21: service_environment.capacity_limits.ml.g5.xlarge: '3' is not a whole number (1 or more)",
    ),
    "capacity true": (
        "xlarge: 3",
        "xlarge: true",
        "3:21: service_environment.capacity_limits.ml.g5.xlarge: True is not a whole number (1 or more)",
    ),
    "no capacity limit": (
        "{ml.g5.xlarge: 3}",
        "{}",
        "3:3: service_environment.capacity_limits: 0 capacity limits; 1 to 5 are allowed",
    ),
    "six capacity limits": (
        "{ml.g5.xlarge: 3}",
        "{ml.g5.xlarge: 1, ml.g5.2xlarge: 1, ml.g5.4xlarge: 1, ml.g5.8xlarge: 1, ml.g5.12xlarge: 1, ml.g5.24xlarge: 1}",
        "3:3: service_environment.capacity_limits: 6 capacity limits; 1 to 5 are allowed",
    ),
    "a list for a mapping": (
        "{ml.g5.xlarge: 3}",
        "[ml.g5.xlarge]",
        "3:3: service_environment.capacity_limits: a list is not a mapping",
    ),
    "nothing for a mapping": (
        "  capacity_limits: {ml.g5.xlarge: 3}",
        "",
        "2:1: service_environment: nothing is not a mapping",
    ),
    "a text for a share": (
        "QS1: {",
        "QS0: LEND\n  QS1: {",
        "5:3: shares.QS0: 'LEND' is not a mapping",
    ),
    "a mapping for a list": (
        GOOD[GOOD.index("ignore:") :],
        "ignore: {finding: QM106}",
        "13:1: ignore: a mapping is not a list",
    ),
    "strategy": (
        "strategy: LEND\n",
        "strategy: lend\n",
        "8:5: shares.6214e9.strategy: 'lend' is not one of RESERVE, LEND, LEND_AND_BORROW",
    ),
    "strategy a list": (
        "strategy: LEND\n",
        "strategy: [LEND]\n",
        "8:5: shares.6214e9.strategy: a list is not one of RESERVE, LEND, LEND_AND_BORROW",
    ),
    "preemption": (
        "in_share_preemption: false",
        "in_share_preemption: no",
        "9:5: shares.6214e9.in_share_preemption: 'no' is not true or false",
    ),
    "preemption a number": (
        "in_share_preemption: false",
        "in_share_preemption: 0",
        "9:5: shares.6214e9.in_share_preemption: 0 is not true or false",
    ),
    "borrow limit": ("200", "-2", "5:72: shares.QS1.borrow_limit: -2 is out of range: -1 or more is allowed"),
    "borrow limit and strategy": (
        "LEND_AND_BORROW",
        "RESERVE",
        "5:3: shares.QS1: a borrow limit is only valid with LEND_AND_BORROW, not with RESERVE",
    ),
    "state": ("DISABLED", "disabled", "10:5: shares.6214e9.state: 'disabled' is not one of ENABLED, DISABLED"),
    "reason": (
        "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED",
        "X",
        "12:6: job_state_time_limits[0].reason: 'X' is not one of CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY,"
        " MISCONFIGURATION:SERVICE_ENVIRONMENT_MAX_RESOURCE, MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED",
    ),
    "seconds": (
        "600",
        "599",
        "12:66: job_state_time_limits[0].max_seconds: 599 is out of range: 600 to 86400 is allowed",
    ),
    "finding": ("QM106", "QM1", "14:6: ignore[0].finding: 'QM1': string should match pattern '^QM[0-9]{3}$'"),
    "no reason": (
        "because: agreed",
        "because: ''",
        "14:37: ignore[0].because: '': string should have at least 1 character",
    ),
    "duplicate share": ("  6214e9:", "  QS1:", "6:3: shares.QS1: duplicate key 'QS1', first on line 5"),
    "a short form": ("queue: gpu-training", "queue: !Ref Queue", "1:8: queue: the YAML tag !Ref is not supported"),
    "a list": (GOOD, "- a\n", "1:1: a list is not a mapping; expected a policy document or a template"),
    "a text": (GOOD, "text", "1:1: 'text' is not a mapping; expected a policy document or a template"),
    "a template without resources": (
        "queue:",
        "AWSTemplateFormatVersion:",
        "1:1: a CloudFormation template without Resources",
    ),
    "21 shares": (GOOD, shares(21), "2:1: shares: 21 quota shares; at most 20 are allowed on a queue"),
}


@pytest.mark.parametrize(("old", "new", "line"), BAD.values(), ids=BAD.keys())
def test_bad_documents_are_one_line(write: Write, old: str, new: str, line: str) -> None:
    assert old in GOOD
    name = write("p.yaml", GOOD.replace(old, new, 1))
    for read in (load, load_policy):
        with pytest.raises(InputError) as caught:
            read(name)
        assert str(caught.value) == f"p.yaml:{line}"


def test_20_shares_are_allowed(write: Write) -> None:
    assert len(load_policy(write("p.yaml", shares(20))).shares) == 20


def test_a_document_has_no_parameters(write: Write) -> None:
    with pytest.raises(InputError) as caught:
        load(write("p.yaml", GOOD), parameters={"Limit": "3"})
    assert str(caught.value) == "p.yaml: --parameter Limit: a policy document has no parameters"


def test_json_serves_as_well(write: Write) -> None:
    policy = load_policy(write("p.yaml", GOOD))
    name = write("p.json", policy.model_dump_json(exclude_defaults=True))
    assert load_policy(name) == policy
