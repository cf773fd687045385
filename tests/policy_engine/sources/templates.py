"""Policies, and the CloudFormation templates and cloud assemblies that declare them."""

import json
from pathlib import Path
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

from policy_engine.policy import Policy, SharingStrategy, State, StuckReason

Json = dict[str, Any]

UNITS = ("ml.g5.xlarge", "ml.g5.12xlarge", "ml.p4d.24xlarge", "ml.m5.metal", "ml.trn1n.32xlarge", "ml.p5.48xlarge")


def limits_of(limits: dict[str, int]) -> list[Json]:
    return [{"CapacityUnit": unit, "MaxCapacity": count} for unit, count in limits.items()]


def template_of(policy: Policy) -> Json:
    """A template as the constructs synthesise it: linked by Ref, shares under a child scope."""
    queue: Json = {
        "JobQueueType": "SAGEMAKER_TRAINING",
        "Priority": 1,
        "SchedulingPolicyArn": {"Ref": "TrainingPolicy0A"},
        "ServiceEnvironmentOrder": [{"Order": 1, "ServiceEnvironment": {"Ref": "TrainingEnvironment0B"}}],
        "State": policy.state.value,
    }
    if policy.queue is not None:
        queue["JobQueueName"] = policy.queue
    if policy.job_state_time_limits:
        queue["JobStateTimeLimitActions"] = [
            {"Action": "TERMINATE", "MaxTimeSeconds": t.max_seconds, "Reason": t.reason.value, "State": "RUNNABLE"}
            for t in policy.job_state_time_limits
        ]
    environment = {
        "CapacityLimits": limits_of(policy.service_environment.capacity_limits),
        "ServiceEnvironmentType": "SAGEMAKER_TRAINING",
        "State": policy.service_environment.state.value,
    }
    resources = {
        "TrainingPolicy0A": resource(
            "SchedulingPolicy", {"QuotaSharePolicy": {"IdleResourceAssignmentStrategy": "FIFO"}}
        ),
        "TrainingEnvironment0B": resource("ServiceEnvironment", environment),
        "TrainingQueue0C": resource("JobQueue", queue, ignores_of(policy, None)),
    }
    for index, (name, share) in enumerate(policy.shares.items()):
        sharing: Json = {"Strategy": share.strategy.value}
        if share.borrow_limit is not None:
            sharing["BorrowLimit"] = share.borrow_limit
        properties = {
            "CapacityLimits": limits_of(share.capacity_limits),
            "JobQueue": {"Ref": "TrainingQueue0C"},
            "PreemptionConfiguration": {"InSharePreemption": "ENABLED" if share.in_share_preemption else "DISABLED"},
            "QuotaShareName": name,
            "ResourceSharingConfiguration": sharing,
            "State": share.state.value,
        }
        resources[f"TrainingShares{index:08X}"] = resource("QuotaShare", properties, ignores_of(policy, name))
    return {"Resources": resources}


def resource(kind: str, properties: Json, ignores: list[Json] | None = None) -> Json:
    metadata = {"Metadata": {"PolicyEngine": {"Ignore": ignores}}} if ignores else {}
    return {"Type": f"AWS::Batch::{kind}", "Properties": properties, **metadata}


def ignores_of(policy: Policy, share: str | None) -> list[Json]:
    return [{"Finding": i.finding, "Because": i.because} for i in policy.ignore if i.share == share]


def write_assembly(folder: Path, stacks: dict[str, Json], **artifacts: Json) -> None:
    """A cloud assembly of templates by stack id; further artifacts by id."""
    folder.mkdir(parents=True, exist_ok=True)
    listed: Json = {}
    for stack, template in stacks.items():
        file = f"{stack.replace('/', '')}.template.json"
        (folder / file).write_text(json.dumps(template, indent=1), encoding="utf-8")
        listed[file.removesuffix(".template.json")] = {
            "type": "aws:cloudformation:stack",
            "environment": "aws://unknown-account/unknown-region",
            "properties": {"templateFile": file, "validateOnSynth": False},
            "displayName": stack,
        }
    manifest = {"version": "55.0.0", "artifacts": {**listed, **artifacts}}
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=1), encoding="utf-8")


few = settings(max_examples=settings().max_examples // 3)
"""For laws whose examples are files: fewer of them, whatever the profile."""

# --- policies ------------------------------------------------------------------------------------

names = st.from_regex(r"[A-Za-z0-9_-]{1,12}", fullmatch=True)
capacity_limits = st.dictionaries(st.sampled_from(UNITS), st.integers(1, 1000), min_size=1, max_size=5)
text = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)


@st.composite
def share_data(draw: st.DrawFn) -> Json:
    strategy = draw(st.sampled_from(SharingStrategy))
    data: Json = {
        "capacity_limits": draw(capacity_limits),
        "strategy": strategy,
        "in_share_preemption": draw(st.booleans()),
        "state": draw(st.sampled_from(State)),
    }
    if strategy.borrows and draw(st.booleans()):
        data["borrow_limit"] = draw(st.integers(-1, 1000))
    return data


@st.composite
def policies(draw: st.DrawFn) -> Policy:
    """Any policy with a named queue; in its ``ignore``, the queue's stand before the shares'."""
    shares = draw(st.dictionaries(names, share_data(), max_size=5))
    ignored = st.fixed_dictionaries({"finding": st.from_regex(r"QM[0-9]{3}", fullmatch=True), "because": text})
    holders = [None, *shares]
    return Policy.of(
        {
            "queue": draw(names),
            "service_environment": {"capacity_limits": draw(capacity_limits), "state": draw(st.sampled_from(State))},
            "shares": shares,
            "state": draw(st.sampled_from(State)),
            "job_state_time_limits": [
                {"reason": draw(st.sampled_from(StuckReason)), "max_seconds": draw(st.integers(600, 86400))}
                for _ in range(draw(st.integers(0, 2)))
            ],
            "ignore": [{**draw(ignored), "share": holder} for holder in holders if draw(st.booleans())],
        }
    )
