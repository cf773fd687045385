"""What ends jobs or cannot be done: as CloudFormation sees it in templates, and by name elsewhere."""

from pathlib import Path

import pytest

from policy_engine.changes import Hazard, dangers
from tests.policy_engine.changes.sides import (
    UNIT,
    Edit,
    documents,
    moved,
    pairs_of,
    policy,
    set_to,
    share,
    templates,
    without,
)

QUEUE, SHARE, POLICY, ENVIRONMENT = (
    "TrainingQueue0C",
    "TrainingShares00000001",
    "TrainingPolicy0A",
    "TrainingEnvironment0B",
)
EVERYONE = ("a", "b", "c")


@pytest.mark.parametrize(
    ("edits", "hazard", "ends", "says"),
    [
        ([without(SHARE)], Hazard.SHARE_REMOVED, ("b",), "its deletion terminates all its jobs"),
        ([set_to(SHARE, "bee", "QuotaShareName")], Hazard.SHARE_RENAMED, ("b",), "becomes bee"),
        ([moved(SHARE, "Bee")], Hazard.SHARE_RECREATED, ("b",), "which fails while the name is taken"),
        ([set_to(QUEUE, "gpu", "JobQueueName")], Hazard.QUEUE_REPLACED, EVERYONE, "from one that CloudFormation makes"),
        ([moved(QUEUE, "Queue2")], Hazard.QUEUE_REPLACED, EVERYONE, f"job queue {QUEUE} is now Queue2"),
        (
            [set_to(QUEUE, "sagemaker_training", "JobQueueType")],
            Hazard.QUEUE_REPLACED,
            EVERYONE,
            "type of the job queue changes from SAGEMAKER_TRAINING to sagemaker_training",
        ),
        ([set_to(POLICY, {"ShareDecaySeconds": 1}, "FairsharePolicy")], Hazard.KIND_SWITCHED, (), "to both kinds"),
        ([set_to(QUEUE, None, "SchedulingPolicyArn")], Hazard.KIND_SWITCHED, (), "to none at all"),
        ([set_to(POLICY, "shares", "Name")], Hazard.POLICY_REPLACED, (), "whether a queue with quota shares takes it"),
        ([moved(ENVIRONMENT, "Pool")], Hazard.ENVIRONMENT_REPLACED, (), f"{ENVIRONMENT} is now Pool"),
        ([set_to(QUEUE, {"team": "x"}, "Tags")], Hazard.TAGS_EDITED, (), "by CloudFormation's pages a replacement"),
    ],
)  # fmt: skip
def test_in_templates(tmp_path: Path, edits: list[Edit], hazard: Hazard, ends: tuple[str, ...], says: str) -> None:
    [danger] = dangers(pairs_of(templates(tmp_path, *edits)))
    assert (danger.hazard, danger.ends_jobs_of) == (hazard, ends)
    assert says in danger.message
    assert danger.steps


@pytest.mark.parametrize(
    "edits",
    [
        [set_to(SHARE, {"team": "x"}, "Tags")],
        [set_to(SHARE, [{"CapacityUnit": UNIT, "MaxCapacity": 1}], "CapacityLimits")],
        [set_to(SHARE, "DISABLED", "State"), set_to(QUEUE, 3, "Priority")],
    ],
    ids=["tags of a share", "limits", "states"],
)
def test_what_is_updated_in_place_is_no_danger(tmp_path: Path, edits: list[Edit]) -> None:
    assert dangers(pairs_of(templates(tmp_path, *edits))) == ()


@pytest.mark.parametrize(
    ("named", "hazards"),
    [("gpu", [Hazard.SHARE_MOVED]), ("arn:aws:batch:us-east-1:123456789012:job-queue/gpu", [])],
    ids=["a name is another value than an ARN", "an ARN may be the one of the reference"],
)
def test_a_share_that_names_its_queue_in_another_way(tmp_path: Path, named: str, hazards: list[Hazard]) -> None:
    found = dangers(pairs_of(templates(tmp_path, set_to(SHARE, named, "JobQueue"), base=policy())))
    assert [danger.hazard for danger in found] == hazards
    assert all("names its queue in another way, which replaces it" in danger.message for danger in found)


def test_where_the_queue_is_replaced_nothing_more_is_said_of_its_shares(tmp_path: Path) -> None:
    found = dangers(pairs_of(templates(tmp_path, moved(QUEUE, "Other"), without(SHARE))))
    assert [danger.hazard for danger in found] == [Hazard.QUEUE_REPLACED]


def test_a_document_goes_by_names() -> None:
    [renamed_queue] = dangers(documents(policy(queue="gpu"), policy(queue="gpus")))
    assert (renamed_queue.hazard, renamed_queue.ends_jobs_of) == (Hazard.QUEUE_REPLACED, EVERYONE)
    assert dangers(documents(policy(queue="gpu"), policy(queue=None))) == (), "it need not say what it is about"


def test_a_share_declared_as_one_that_is_gone_was_is_that_one_renamed() -> None:
    pairs = documents(policy(a=share(), b=share(3)), policy(a=share(), bee=share(3)))
    [danger] = dangers(pairs)
    assert (danger.hazard, pairs.renamed) == (Hazard.SHARE_RENAMED, {"b": "bee"})


def test_a_construct_renames_the_logical_id_too(tmp_path: Path) -> None:
    pairs = pairs_of(templates(tmp_path, set_to(SHARE, "bee", "QuotaShareName"), moved(SHARE, "Bee")))
    [danger] = dangers(pairs)
    assert (danger.hazard, pairs.renamed) == (Hazard.SHARE_RENAMED, {"b": "bee"})


def test_where_it_could_be_one_of_two_it_is_none() -> None:
    pairs = documents(policy(b=share(3), c=share(3)), policy(bee=share(3)))
    assert [danger.hazard for danger in dangers(pairs)] == [Hazard.SHARE_REMOVED] * 2
    assert pairs.renamed == {}


def test_the_steps_of_a_rename_keep_the_jobs() -> None:
    [danger] = dangers(documents(policy(a=share(), b=share(3)), policy(a=share(), bee=share(3))))
    steps = list(danger.steps)
    order = ["keep the name b", "declare bee beside b", "submit to bee", "disable b", "wait until", "remove b"]
    assert [wanted in step for wanted, step in zip(order, steps, strict=True)] == [True] * len(order)
    assert "--job-queue gpu --filters name=QUOTA_SHARE_NAME,values=b" in steps[4]


def test_twenty_shares_leave_no_room_for_another() -> None:
    shares = {f"t{number}": share(1) for number in range(19)}
    [danger] = dangers(documents(policy(6, "gpu", b=share(3), **shares), policy(6, "gpu", bee=share(3), **shares)))
    assert "a queue has at most 20 shares" in danger.steps[1]


def test_only_what_aws_documents_is_destructive(tmp_path: Path) -> None:
    found = {
        danger.hazard: (danger.finding, danger.is_destructive)
        for edit in (without(SHARE), set_to(POLICY, "x", "Name"), set_to(POLICY, {}, "FairsharePolicy"),
                     set_to(POLICY, {"a": "b"}, "Tags"))
        for danger in dangers(pairs_of(templates(tmp_path, edit)))
    }  # fmt: skip
    assert found == {
        Hazard.SHARE_REMOVED: ("QM301", True),
        Hazard.POLICY_REPLACED: ("QM301", False),
        Hazard.KIND_SWITCHED: ("QM302", True),
        Hazard.TAGS_EDITED: ("QM303", False),
    }
