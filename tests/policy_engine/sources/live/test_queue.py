"""A live queue is read as what it is; what is no quota-managed queue is refused in one line."""

from typing import Any

import boto3
import pytest
from botocore.stub import Stubber

from policy_engine.errors import InputError
from policy_engine.policy import Policy
from policy_engine.sources import Kind, load, load_policy
from policy_engine.sources.live import open_queue
from tests.policy_engine.sources.live.account import QUEUE, Account, limits, share

EXPECTED = {
    "queue": "training",
    "service_environment": {"capacity_limits": {"ml.g5.xlarge": 3}},
    "shares": {
        "QS1": {
            "capacity_limits": {"ml.g5.xlarge": 1},
            "strategy": "LEND_AND_BORROW",
            "borrow_limit": 200,
            "in_share_preemption": True,
        },
        "QS2": {"capacity_limits": {"ml.g5.xlarge": 1}, "strategy": "LEND", "in_share_preemption": False},
        "QS3": {"capacity_limits": {"ml.g5.xlarge": 1}, "strategy": "RESERVE", "in_share_preemption": False},
    },
    "job_state_time_limits": [{"reason": "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED", "max_seconds": 3600}],
}


@pytest.mark.parametrize("named", ["queue:training", f"queue:{QUEUE}"])
def test_the_policy_is_what_aws_has(account: Account, named: str) -> None:
    assert load_policy(named) == Policy.of(EXPECTED)
    assert account.asked["batch:ListQuotaShares"] == 2, "three shares are two pages of two"


@pytest.mark.usefixtures("account")
def test_the_source_says_what_was_read() -> None:
    source = load("queue:training")
    assert (source.kind, source.is_live) == (Kind.QUEUE, True)
    assert source.description == "live queue training (us-west-2, account 123456789012)"


def test_states_and_units_are_read(account: Account) -> None:
    account.queue["state"] = "DISABLED"
    account.environments[0] |= {"state": "DISABLED", "capacityLimits": limits(g5_xlarge=3, p5_48xlarge=2)}
    account.shares[2] |= {"state": "DISABLED", "capacityLimits": limits(p5_48xlarge=1)}

    policy = load_policy("queue:training")

    assert policy.state == policy.service_environment.state == policy.shares["QS3"].state == "DISABLED"
    assert policy.service_environment.capacity_limits == {"ml.g5.xlarge": 3, "ml.p5.48xlarge": 2}
    assert policy.shares["QS3"].capacity_limits == {"ml.p5.48xlarge": 1}


def test_a_borrow_limit_of_who_borrows_nothing_means_nothing(account: Account) -> None:
    account.shares[1]["resourceSharingConfiguration"]["borrowLimit"] = -1
    assert load_policy("queue:training").shares["QS2"].borrow_limit is None


def test_a_share_that_is_being_deleted_is_left_out_and_told(account: Account) -> None:
    account.shares[1]["status"] = "DELETING"
    source = load("queue:training")
    assert list(source.queue().policy().shares) == ["QS1", "QS3"]
    assert source.description.endswith("; QS2: being deleted, left out")


def test_a_value_that_the_engine_does_not_take_is_named_with_its_place(account: Account) -> None:
    account.environments[0]["capacityLimits"] = [{"capacityUnit": "NUM_INSTANCES", "maxCapacity": 3}]
    with pytest.raises(InputError, match=r"^gpus.capacityLimits\[0\].CapacityUnit: 'NUM_INSTANCES'"):
        load_policy("queue:training")


def change(**given: Any) -> Any:
    def changed(account: Account) -> None:
        for name, values in given.items():
            getattr(account, name).update(values)

    return changed


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (change(queue={"jobQueueType": "ECS"}), "a queue of type ECS has no quota shares"),
        (change(queue={"jobQueueType": None}), "a queue of type ECS has no quota shares"),
        (change(queue={"schedulingPolicyArn": ""}), "it is first come, first served, without quota shares"),
        (change(policy={"quotaSharePolicy": None, "fairsharePolicy": {}}), "is one of fair share, without"),
        (change(policy={"arn": "arn:other"}), "does not exist any more"),
        (change(queue={"status": "DELETED"}), "no such job queue in us-west-2"),
    ],
    ids=["ECS", "no type", "no policy", "fair share", "policy gone", "deleted"],
)
def test_what_has_no_quota_shares_is_refused(account: Account, changed: Any, message: str) -> None:
    changed(account)
    with pytest.raises(InputError) as refused:
        load("queue:training")
    assert str(refused.value).startswith("queue:training: ")
    assert message in str(refused.value)
    assert account.asked["batch:ListQuotaShares"] == 0, "nothing more is asked"


@pytest.mark.usefixtures("account")
@pytest.mark.parametrize(
    ("named", "message"),
    [
        ("queue:other", "queue:other: no such job queue in us-west-2 for these credentials"),
        ("queue:", "queue:: names no queue; expected queue:NAME or queue:arn:aws:batch:REGION:ACCOUNT:job-queue/NAME"),
        ("queue:a b", "queue:a b: 'a b' is no name of a job queue (1 to 128 letters, digits, - and _); expected"),
        ("queue:arn:aws:batch:us-west-2:123456789012:job-definition/x", "is no name of a job queue"),
    ],
)
def test_what_names_no_queue_is_refused(named: str, message: str) -> None:
    with pytest.raises(InputError) as refused:
        load(named)
    assert message in str(refused.value)


@pytest.mark.usefixtures("account")
def test_a_live_queue_takes_no_parameters() -> None:
    with pytest.raises(InputError, match="queue:training: --parameter Size: a live queue has no parameters"):
        load("queue:training", parameters={"Size": "3"})


def test_an_arn_says_which_region(account: Account) -> None:
    account.queue["jobQueueArn"] = arn = QUEUE.replace("us-west-2", "eu-west-1")
    assert open_queue(f"queue:{arn}").access.region == "eu-west-1"


def test_every_call_and_answer_fits_the_service_model() -> None:
    """Stubber holds parameters and answers to botocore's model."""
    account = Account()
    client = boto3.Session("x", "x").client("batch", "us-west-2")
    environment = account.environments[0]["serviceEnvironmentArn"]
    first, second, third = account.shares
    queue = {**account.queue, "computeEnvironmentOrder": []}
    with Stubber(client) as stub:
        stub.add_response("describe_job_queues", {"jobQueues": [queue]}, {"jobQueues": ["training"]})
        stub.add_response(
            "describe_scheduling_policies", {"schedulingPolicies": [account.policy]}, {"arns": [account.policy["arn"]]}
        )
        stub.add_response(
            "describe_service_environments",
            {"serviceEnvironments": account.environments},
            {"serviceEnvironments": [environment]},
        )
        stub.add_response(
            "list_quota_shares", {"quotaShares": [first, second], "nextToken": "more"}, {"jobQueue": QUEUE}
        )
        stub.add_response("list_quota_shares", {"quotaShares": [third]}, {"jobQueue": QUEUE, "nextToken": "more"})
        live = open_queue("queue:training", session=_Session(client))
        stub.assert_no_pending_responses()
    assert live.declaration.queues[0].policy() == Policy.of(EXPECTED)


class _Session:
    """A session with one client."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def client(self, *_: Any, **__: Any) -> Any:
        return self._client


def test_twenty_shares_are_read_in_order(account: Account) -> None:
    account.shares[:] = [share(f"S{number:02}", "LEND") for number in range(20)]
    assert list(load_policy("queue:training").shares) == [f"S{number:02}" for number in range(20)]
