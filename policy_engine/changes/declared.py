"""What changed in the declaration: field by field, with what it does to jobs that run.

Sources: AWS Batch User Guide (UG) pages ``quota-shares``, ``preemption``, ``updating-service-environments``; API
Reference (API) pages ``UpdateQuotaShare``, ``UpdateJobQueue``, ``UpdateServiceEnvironment``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, TypeAlias

from policy_engine.changes.pairing import Pair, Pairs, R
from policy_engine.policy import UNLIMITED, SharingStrategy, State
from policy_engine.sources.declaration import (
    FIFO,
    JobQueue,
    Place,
    QuotaShare,
    Raw,
    Resource,
    SchedulingPolicy,
    ServiceEnvironment,
    Unknown,
    enum_member,
)

Value: TypeAlias = str | int | float | None
"""A value in the words of reports; None where there is none."""


class What(StrEnum):
    """What has the field."""

    QUEUE = "job queue"
    SCHEDULING_POLICY = "scheduling policy"
    ENVIRONMENT = "service environment"
    SHARE = "quota share"


@dataclass(frozen=True, slots=True)
class Change:
    """One field, before and after."""

    what: What
    name: str
    """Of the resource before the change, or after it where it is new."""
    field: str
    """In the words of a policy document; ``declaration`` of a resource that comes or goes."""
    unit: str | None
    """The instance type, where it is about one."""
    old: Value
    new: Value
    effect: str
    """What it does to jobs that are there, as AWS documents it; "" where it does nothing to them."""
    place: Place
    """In the new declaration, or in the old one of what is gone."""


NOT_DOCUMENTED: Final = "AWS does not say what becomes of jobs that hold borrowed capacity"

_EFFECTS: Final[Mapping[tuple[What, str], str]] = {
    (What.SHARE, "strategy"): NOT_DOCUMENTED,
    (What.SHARE, "borrow_limit"): NOT_DOCUMENTED,
    (What.SHARE, "in_share_preemption"): "counts from the next decision on",
    (What.QUEUE, "job_state_time_limits"): "counts for jobs that wait already",
}


def changes(pairs: Pairs) -> tuple[Change, ...]:
    """Every field that differs: of the queue, its scheduling policy, its environment, then of each share.

    A value that is unknown on both sides for the same reason counts as the same.
    """
    found = [*_changed(What.QUEUE, Pair(pairs.old.queue, pairs.new.queue), pairs)]
    found += _changed(What.SCHEDULING_POLICY, pairs.policy, pairs)
    for environment in pairs.environments:
        found += _changed(What.ENVIRONMENT, environment, pairs)
    for share in pairs.shares:
        found += _changed(What.SHARE, share, pairs)
    return tuple(found)


_Fields: TypeAlias = dict[tuple[str, str | None], tuple[Value, Place]]
"""Field and instance type to value and place."""


def _changed(what: What, pair: Pair[R], pairs: Pairs) -> Iterator[Change]:
    present = pair.new or pair.old
    if present is None:
        return
    if pair.old is None or pair.new is None:
        told = _summary(present)
        old, new = (told, None) if pair.new is None else (None, told)
        yield Change(what, pair.label, "declaration", None, old, new, "", present.place)
        return
    before, after = _fields(pair.old), _fields(pair.new)
    if not pairs.by_logical_id:
        _leave_out_unstated(before, after)
    nothing: tuple[Value, Place] = (None, pair.new.place)
    for field, unit in dict.fromkeys((*before, *after)):
        was, (now, place) = before.get((field, unit), nothing)[0], after.get((field, unit), nothing)
        if was != now:
            yield Change(what, pair.label, field, unit, was, now, _effect(what, field, was, now), place)


def _leave_out_unstated(before: _Fields, after: _Fields) -> None:
    """Take out what a document does not say and a template does: it need not differ."""
    for field in ("name", "tags", "priority"):
        sides = before.get((field, None)), after.get((field, None))
        if field == "priority" or any(side is None or side[0] is None for side in sides):
            before.pop((field, None), None)
            after.pop((field, None), None)


def _fields(resource: Resource) -> _Fields:
    found: _Fields = {("name", None): (_text(resource.name), resource.where("name"))}
    for kind, read in _READERS.items():
        if isinstance(resource, kind):
            found |= read(resource)
    found["tags", None] = (_tags(resource.tags), resource.where("tags"))
    return found


def _summary(resource: Resource) -> str:
    """What it declares, in one line."""
    told = [f"{unit or field} {value}" for (field, unit), (value, _) in _fields(resource).items() if value is not None]
    return ", ".join(told[1:] if told[:1] == [f"name {resource.label}"] else told)


def _queue(queue: JobQueue) -> _Fields:
    found: _Fields = {
        ("state", None): (_state(queue.state), queue.where("state")),
        ("type", None): (_upper(queue.type), queue.where("type")),
        ("priority", None): (_text(queue.priority), queue.where("priority")),
    }
    limits = queue.time_limits
    if isinstance(limits, Unknown):
        found["job_state_time_limits", None] = (str(limits), queue.where("time_limits"))
        return found
    for limit in limits or ():
        field = f"job_state_time_limits {_text(limit.reason)}"
        found[field, None] = (f"{_text(limit.max_seconds)} s", limit.place)
    return found


def _environment(environment: ServiceEnvironment) -> _Fields:
    return {
        ("state", None): (_state(environment.state), environment.where("state")),
        ("type", None): (_upper(environment.type), environment.where("type")),
        **_limits(environment),
    }


def _policy(policy: SchedulingPolicy) -> _Fields:
    assigned = FIFO if policy.idle_assignment is None else _upper(policy.idle_assignment)
    return {
        ("kind", None): (kind_of(policy), policy.where("quota_share")),
        ("idle_assignment", None): (assigned, policy.where("idle_assignment")),
    }


def kind_of(policy: SchedulingPolicy) -> str:
    """Which of its two kinds a scheduling policy is of (API CreateSchedulingPolicy)."""
    if policy.quota_share and policy.fairshare:
        return "both kinds"
    return "quota shares" if policy.quota_share else "fair share" if policy.fairshare else "neither kind"


def _share(share: QuotaShare) -> _Fields:
    return {
        **_limits(share),
        ("strategy", None): (_upper(share.strategy), share.where("strategy")),
        ("borrow_limit", None): (_borrowing(share), share.where("borrow_limit")),
        ("in_share_preemption", None): (_switch(share.in_share_preemption), share.where("in_share_preemption")),
        ("state", None): (_state(share.state), share.where("state")),
    }


_READERS: Final[Mapping[type[Resource], Callable[..., _Fields]]] = {
    JobQueue: _queue,
    ServiceEnvironment: _environment,
    SchedulingPolicy: _policy,
    QuotaShare: _share,
}


def _limits(holder: ServiceEnvironment | QuotaShare) -> _Fields:
    limits = holder.capacity_limits
    if isinstance(limits, Unknown):
        return {("capacity_limits", None): (str(limits), holder.where("capacity_limits"))}
    return {("capacity_limits", _told(limit.unit)): (_text(limit.maximum), limit.place) for limit in limits or ()}


# --- values in words ------------------------------------------------------------------------------


def _text(value: Raw) -> Value:
    if value is None or isinstance(value, str | int | float):
        return value
    return str(value)


def _told(value: Raw) -> str:
    return str(_text(value))


def _upper(value: Raw) -> Value:
    return value.upper() if isinstance(value, str) else _text(value)


def _state(value: Raw) -> Value:
    return State.ENABLED.value if value is None else _text(value)


def _switch(value: Raw) -> Value:
    text = _upper(value)
    return {State.ENABLED.value: "on", State.DISABLED.value: "off"}.get(str(text), text)


def _borrowing(share: QuotaShare) -> Value:
    strategy = enum_member(share.strategy, SharingStrategy, any_case=True)
    if share.borrow_limit is None:
        return "unlimited" if strategy is not None and strategy.borrows else None
    if isinstance(share.borrow_limit, int | float):
        return "unlimited" if share.borrow_limit == UNLIMITED else f"{share.borrow_limit:g} %"
    return _text(share.borrow_limit)


def _tags(value: Raw) -> Value:
    """As text; their order means nothing."""
    if isinstance(value, dict):
        return _listed(value.items())
    if isinstance(value, list):
        return _listed((tag.get("Key"), tag.get("Value")) if isinstance(tag, dict) else (tag, None) for tag in value)
    return _text(value)


def _listed(pairs: Iterable[tuple[Any, Any]]) -> str | None:
    """Without those that AWS sets itself, as CloudFormation does on all that it makes."""
    texts = ((_told(key), _told(text)) for key, text in pairs)
    return ", ".join(sorted(f"{key}={text}" for key, text in texts if not key.startswith("aws:"))) or None


# --- what it does to jobs that are there ----------------------------------------------------------


def _effect(what: What, field: str, old: Value, new: Value) -> str:
    if field == "capacity_limits":
        return _of_limit(what, old, new)
    if field == "state" and new == State.DISABLED:
        return _DISABLED.get(what, "")
    if field == "borrow_limit" and (old is None or new is None):
        return ""  # comes and goes with the strategy, which says it
    return _EFFECTS.get((what, field.split()[0]), "")


_DISABLED: Final = {
    What.SHARE: "takes no new jobs; those it has may finish",
    What.QUEUE: "takes no new jobs; those it has may finish",
    What.ENVIRONMENT: "dispatches nothing; what runs goes on",
}


def _of_limit(what: What, old: Value, new: Value) -> str:
    """Of a share's limit (R11) and of the environment's, which are opposites."""
    before, after = _number(old), _number(new)
    if before is None or after is None or after >= before:
        return ""
    if what is What.ENVIRONMENT:
        return "stops nothing; holds back new starts"
    return "its jobs above the new limit can be preempted"


def _number(value: Value) -> float | None:
    if value is None:
        return 0
    return value if isinstance(value, int | float) else None
