"""Policies and templates before and after a change, in few words."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from policy_engine.changes import Pairs, paired
from policy_engine.policy import Policy
from policy_engine.sources import Source, load
from policy_engine.sources.document import declaration_of
from tests.policy_engine.sources.templates import Json, template_of

UNIT = "ml.g5.xlarge"


def share(limit: int = 2, strategy: str = "LEND", **more: Any) -> Json:
    """A share of one instance type."""
    return {"capacity_limits": {UNIT: limit}, "strategy": strategy, "in_share_preemption": False, **more}


def policy(capacity: int = 6, queue: str | None = "gpu", **shares: Json) -> Policy:
    """A policy of one instance type; without shares it has three, a and c of which may borrow as much as they own."""
    borrower = share(strategy="LEND_AND_BORROW", borrow_limit=100)
    return Policy.of(
        {
            "queue": queue,
            "service_environment": {"capacity_limits": {UNIT: capacity}},
            "shares": shares or {"a": borrower, "b": share(), "c": borrower},
        }
    )


def documents(old: Policy, new: Policy) -> Pairs:
    """Both as documents."""
    return paired(*(declaration_of(each).queues[0] for each in (old, new)), by_id=False)


Edit = Callable[[Json], None]


def templates(folder: Path, *edits: Edit, base: Policy | None = None) -> tuple[Source, Source]:
    """A template, and the same with its resources edited; both read from files."""
    sources = []
    for name, changes in (("old", ()), ("new", edits)):
        template = template_of(base or policy(queue=None))
        for edit in changes:
            edit(template["Resources"])
        path = folder / f"{name}.json"
        path.write_text(json.dumps(template, indent=1), encoding="utf-8")
        sources.append(load(path))
    return sources[0], sources[1]


def pairs_of(sources: tuple[Source, Source]) -> Pairs:
    """The only queue of each."""
    return paired(*(source.queues[0] for source in sources), by_id=True)


def set_to(logical_id: str, value: Any, *path: str) -> Edit:
    """Puts a value somewhere into the properties of a resource."""

    def edit(resources: Json) -> None:
        holder = resources[logical_id]["Properties"]
        for key in path[:-1]:
            holder = holder[key]
        holder[path[-1]] = value

    return edit


def moved(logical_id: str, to: str) -> Edit:
    """Gives a resource another logical id, and those that refer to it the reference."""

    def edit(resources: Json) -> None:
        text = json.dumps(resources).replace(f'"Ref": "{logical_id}"', f'"Ref": "{to}"')
        resources.clear()
        resources.update({to if name == logical_id else name: made for name, made in json.loads(text).items()})

    return edit


def without(logical_id: str) -> Edit:
    """Takes a resource out."""

    def edit(resources: Json) -> None:
        del resources[logical_id]

    return edit
