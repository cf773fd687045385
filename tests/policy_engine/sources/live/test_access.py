"""Every way in which AWS cannot be asked is one line that says what to do."""

import sys
from unittest.mock import patch

import pytest

from policy_engine.errors import InputError
from policy_engine.sources import load
from policy_engine.sources.live import Access, Pace, reaching
from tests.policy_engine.sources.live.account import Account, RefusalError

OPERATIONS = ["DescribeJobQueues", "DescribeSchedulingPolicies", "DescribeServiceEnvironments", "ListQuotaShares"]


def refused() -> str:
    with pytest.raises(InputError) as error:
        load("queue:training")
    return str(error.value)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_access_denied_names_the_action(account: Account, operation: str) -> None:
    text = f"User: arn:aws:iam::123456789012:user/x is not authorized to perform: batch:{operation} on resource: *"
    account.refuse[operation] = [RefusalError("AccessDeniedException", text, 403)]
    expected = f"queue:training: access denied: the credentials lack batch:{operation}; docs/live.md has the policy"
    assert refused().startswith(expected)


def test_the_action_is_named_though_aws_does_not(account: Account) -> None:
    account.refuse["ListQuotaShares"] = [RefusalError("AccessDeniedException", "", 403)]
    assert "the credentials lack batch:ListQuotaShares;" in refused()


@pytest.mark.parametrize("code", ["TooManyRequestsException", "ThrottlingException"])
def test_what_is_throttled_is_asked_again(account: Account, code: str) -> None:
    account.refuse["ListQuotaShares"] = [RefusalError(code, "Too Many Requests", 429)] * 3
    assert len(load("queue:training").queue().shares) == 3
    assert account.asked["batch:ListQuotaShares"] == 5, "three refusals, two pages"


def test_what_stays_throttled_is_told(account: Account) -> None:
    account.refuse["ListQuotaShares"] = [RefusalError("TooManyRequestsException", "Too Many Requests", 429)] * 99
    assert refused() == (
        "queue:training: throttled: batch:ListQuotaShares was refused 10 times; try again later, or with a lower --rate"
    )
    assert account.asked["batch:ListQuotaShares"] == 10


@pytest.mark.parametrize("code", ["ExpiredTokenException", "UnrecognizedClientException", "SignatureDoesNotMatch"])
def test_bad_credentials_are_told(account: Account, code: str) -> None:
    account.refuse["DescribeJobQueues"] = [RefusalError(code, "The security token is expired.", 403)]
    assert refused() == "queue:training: the credentials are not accepted: the security token is expired"


def test_other_errors_are_aws_own_words(account: Account) -> None:
    account.refuse["ListQuotaShares"] = [RefusalError("ClientException", "Queue arn:x is\n not VALID.")]
    assert refused() == "queue:training: batch:ListQuotaShares: queue arn:x is not VALID"


def test_a_fault_of_the_service_is_tried_again(account: Account) -> None:
    account.refuse["DescribeJobQueues"] = [RefusalError("ServerException", "oops", 500)]
    assert load("queue:training").queues


# --- before anything is asked ---------------------------------------------------------------------


def test_no_region(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_CONFIG_FILE", "none")
    assert refused() == "queue:training: no region: give --region, set AWS_REGION, or name the queue by its ARN"


def test_no_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "none")
    with reaching(region="us-west-2"):
        assert refused() == (
            "queue:training: no AWS credentials: give --profile, or sign in (aws sso login, aws configure)"
        )


def test_no_such_profile() -> None:
    with reaching(profile="nobody", region="us-west-2"):
        assert refused() == ("queue:training: no AWS profile 'nobody'; `aws configure list-profiles` shows them")


@pytest.mark.parametrize(
    ("endpoint", "message"),
    [("http://127.0.0.1:9", "AWS is not reached: could not connect to"), ("nowhere", "invalid endpoint: nowhere")],
)
def test_an_endpoint_that_does_not_answer(monkeypatch: pytest.MonkeyPatch, endpoint: str, message: str) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_BATCH", endpoint)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "x")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "x")
    with reaching(region="us-west-2"), patch("time.sleep"):
        assert refused().lower().startswith(f"queue:training: {message}".lower())


def test_the_extra_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "boto3", None)
    assert refused() == "queue:training: boto3 is not installed; pip install 'constructs-quota[live]'"


def test_options_hold_until_they_are_left(account: Account) -> None:
    with reaching(profile="ops"), reaching(region="eu-central-1"):
        assert Access("queue:x").region == "eu-central-1"
    assert Access("queue:x").region == "us-west-2"
    assert account.asked == {}


def test_a_pace_is_kept() -> None:
    now = [0.0]
    waits: list[float] = []

    def sleep(seconds: float) -> None:
        waits.append(seconds)
        now[0] += seconds

    pace = Pace(4, lambda: now[0], sleep)
    for takes in (0.0, 0.1, 1.0, 0.0):
        pace.keep()
        now[0] += takes
    assert waits == pytest.approx([0.25, 0.15])
