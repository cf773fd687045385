"""The engine's ``Policy`` of a queue's declaration, or the place of what is wrong or unknown in it.

The rules are the models' own: the declaration is written as the data of a policy document, and what
pydantic says about a part of it is said about the place where that part is declared.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from policy_engine.errors import InputError
from policy_engine.policy import (
    Policy,
    SharingStrategy,
    State,
    borrow_limit_strategy_problem,
    name_problem,
    share_count_problem,
    unit_problem,
)
from policy_engine.sources.declaration import (
    SAGEMAKER_TRAINING,
    TERMINATE,
    EnvironmentOrder,
    JobQueue,
    Place,
    QueueDeclaration,
    QuotaShare,
    ServiceEnvironment,
    TimeLimit,
    Unknown,
    enum_member,
)
from policy_engine.sources.reading import KeyPath
from policy_engine.sources.validation import MISSING, Problem, shown


def policy_of(declared: QueueDeclaration) -> Policy:
    """The policy of the queue. Raises InputError."""
    _require_existence(declared)
    _require_quota_management(declared)
    draft = _Draft()
    draft.add_queue(declared.queue)
    draft.add_environment(declared)
    draft.add_shares(declared.shares)
    draft.add_ignored(declared)
    try:
        return Policy.of(draft.data)
    except ValidationError as error:
        problem = Problem(error.errors(include_url=False)[0], draft.data)
        raise draft.place(problem.path).error(problem.message()) from None


def _require_existence(declared: QueueDeclaration) -> None:
    for resource in declared.resources:
        if resource.existence is not None:
            raise resource.place.error(f"whether it is created is {resource.existence}")


def _require_quota_management(declared: QueueDeclaration) -> None:
    """Refuse what AWS Batch does not take for a quota-managed queue (UG create-quota-management-resources)."""
    queue, policy = declared.queue, declared.scheduling_policy
    kind = _known(queue.type, queue.where("type"))
    if not isinstance(kind, str) or kind.upper() != SAGEMAKER_TRAINING:
        what = MISSING if kind is None else f"{shown(kind)} is not {SAGEMAKER_TRAINING}"
        raise queue.where("type").error(f"{what}; a queue with quota shares is of type {SAGEMAKER_TRAINING}")
    if queue.policy is None:
        raise queue.where("policy").error(f"{MISSING}; quota shares need a scheduling policy with a QuotaSharePolicy")
    if policy is None:
        return
    _known(policy.idle_assignment, policy.where("idle_assignment"))
    if policy.fairshare or not policy.quota_share:
        what = "both a QuotaSharePolicy and a FairsharePolicy" if policy.quota_share else "no QuotaSharePolicy"
        raise policy.place.error(f"{what}; quota shares need a QuotaSharePolicy alone")


def _known(value: Any, place: Place) -> Any:
    if isinstance(value, Unknown):
        raise place.error(str(value))
    return value


def _required(value: Any, place: Place) -> Any:
    if value is None:
        raise place.error(MISSING)
    return _known(value, place)


def _check(problem: str | None, place: Place) -> None:
    if problem is not None:
        raise place.error(problem)


class _Draft:
    """The data of a policy document, and where each part of it is declared."""

    def __init__(self) -> None:
        self.data: dict[str, Any] = {}
        self._places: dict[KeyPath, Place] = {}

    def place(self, path: KeyPath) -> Place:
        """Where the part is declared, or the nearest that it is a part of."""
        while path not in self._places:
            path = path[:-1]
        return self._places[path]

    def add_queue(self, queue: JobQueue) -> None:
        self._places[()] = queue.place
        # A name made of AWS::StackName is common; here it is a label.
        label = queue.logical_id if isinstance(queue.name, Unknown) else queue.label
        self._put(self.data, ("queue",), label, queue.where("name"))
        self._put(self.data, ("state",), queue.state, queue.where("state"))
        limits = _known(queue.time_limits, queue.where("time_limits")) or ()
        self.data["job_state_time_limits"] = [self._time_limit(index, limit) for index, limit in enumerate(limits)]

    def _time_limit(self, index: int, limit: TimeLimit) -> dict[str, Any]:
        path = ("job_state_time_limits", index)
        self._places[path] = limit.place
        if _known(limit.action, limit.place.at("Action")) != TERMINATE:
            raise limit.place.at("Action").error(f"{shown(limit.action)} is not {TERMINATE}")
        data: dict[str, Any] = {}
        self._put(data, (*path, "reason"), limit.reason, limit.place.at("Reason"))
        self._put(data, (*path, "max_seconds"), limit.max_seconds, limit.place.at("MaxTimeSeconds"))
        return data

    def add_environment(self, declared: QueueDeclaration) -> None:
        environment = _only_environment(declared)
        path = ("service_environment",)
        self._places[path] = environment.place
        data = self.data["service_environment"] = self._limits(path, environment)
        self._put(data, (*path, "state"), environment.state, environment.where("state"))

    def add_shares(self, shares: Sequence[QuotaShare]) -> None:
        self.data["shares"] = {}
        if shares:
            _check(share_count_problem(len(shares)), shares[-1].place)
        for share in shares:
            place = share.where("name")
            name = _required(share.name, place)
            _check(name_problem(name), place)
            if name in self.data["shares"]:
                raise place.error(f"a second quota share {shown(name)} on the queue")
            self.data["shares"][name] = self._share(("shares", name), share)

    def _share(self, path: KeyPath, share: QuotaShare) -> dict[str, Any]:
        self._places[path] = share.where("name")
        data = self._limits(path, share)
        strategy = enum_member(share.strategy, SharingStrategy, any_case=True)
        self._put(data, (*path, "strategy"), strategy or share.strategy, share.where("strategy"))
        self._put(data, (*path, "borrow_limit"), share.borrow_limit, share.where("borrow_limit"))
        if strategy is not None and share.borrow_limit is not None:
            _check(borrow_limit_strategy_problem(strategy), share.where("borrow_limit"))
        self._put(data, (*path, "state"), share.state, share.where("state"))
        place = share.where("in_share_preemption")
        switch = enum_member(_required(share.in_share_preemption, place), State, any_case=True)
        if switch is None:
            raise place.error(f"{shown(share.in_share_preemption)} is not one of {', '.join(State)}")
        self._put(data, (*path, "in_share_preemption"), switch is State.ENABLED, place)
        return data

    def _limits(self, path: KeyPath, resource: ServiceEnvironment | QuotaShare) -> dict[str, Any]:
        place = resource.where("capacity_limits")
        limits: dict[str, Any] = {}
        for limit in _required(resource.capacity_limits, place):
            unit_place, maximum_place = limit.place.at("CapacityUnit"), limit.place.at("MaxCapacity")
            unit = _required(limit.unit, unit_place)
            _check(unit_problem(unit), unit_place)
            if unit in limits:
                raise unit_place.error(f"a second limit for {shown(unit)}")
            limits[unit] = _required(limit.maximum, maximum_place)
            self._places[(*path, "capacity_limits", unit)] = maximum_place
        self._places[(*path, "capacity_limits")] = place
        return {"capacity_limits": limits}

    def _put(self, data: dict[str, Any], path: KeyPath, value: Any, place: Place) -> None:
        """Write a value; one that is absent is left out, and the model says whether it may be."""
        self._places[path] = place
        if _known(value, place) is not None:
            data[str(path[-1])] = value

    def add_ignored(self, declared: QueueDeclaration) -> None:
        entries = self.data["ignore"] = []
        for holder in declared.resources:
            for ignored in holder.ignores:
                path = ("ignore", len(entries))
                self._places[path] = ignored.place
                entry: dict[str, Any] = {"share": holder.name} if isinstance(holder, QuotaShare) else {}
                self._put(entry, (*path, "finding"), ignored.finding, ignored.place)
                self._put(entry, (*path, "because"), ignored.because, ignored.place)
                entries.append(entry)


def _only_environment(declared: QueueDeclaration) -> ServiceEnvironment:
    """The queue's one service environment (UG service_limits: one per queue)."""
    queue = declared.queue
    place = queue.where("environments")
    entries: Sequence[EnvironmentOrder] = _known(queue.environments, place) or ()
    if len(entries) != 1:
        raise place.error(f"{len(entries)} service environments; a queue with quota shares has exactly 1")
    if declared.environments:
        return declared.environments[0]
    raise _undeclared_environment(entries[0])


def _undeclared_environment(entry: EnvironmentOrder) -> InputError:
    if entry.environment is None:
        return entry.place.at("ServiceEnvironment").error(MISSING)
    value = entry.environment.value
    what = f"the service environment {shown(value)} is not declared here, so its capacity is unknown"
    return entry.environment.place.error(str(value) if isinstance(value, Unknown) else what)
