"""Operations on the tags of resources and jobs (API TagResource and its neighbours)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policy_engine.endpoint.account import Account
from policy_engine.endpoint.errors import ClientError
from policy_engine.endpoint.resources import Answer
from policy_engine.policy.rules import MAX_TAGS


def list_all(account: Account, request: Mapping[str, Any]) -> Answer:
    """ListTagsForResource."""
    return {"tags": dict(account.tags_of(request["resourceArn"]))}


def add(account: Account, request: Mapping[str, Any]) -> Answer:
    """TagResource; a tag that is there already gets the new value."""
    tags = account.tags_of(request["resourceArn"])
    count = len(tags | request["tags"])
    if count > MAX_TAGS:
        raise ClientError(f"tags: {count} tags; at most {MAX_TAGS} are allowed")
    tags.update(request["tags"])
    return {}


def remove(account: Account, request: Mapping[str, Any]) -> Answer:
    """UntagResource; a tag that is not there is no error."""
    tags = account.tags_of(request["resourceArn"])
    for key in request["tagKeys"]:
        tags.pop(key, None)
    return {}
