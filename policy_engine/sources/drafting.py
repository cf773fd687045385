"""The engine's ``Policy`` of a queue's declaration, or the place of what is wrong or unknown in it.

The rules are the models' own: the declaration is written as the data of a policy document, and what
pydantic says about a part of it is said about the place where that part is declared.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from policy_engine.errors import InputError
from policy_engine.policy import Policy, SharingStrategy, State, name_problem, share_count_problem, unit_problem
from policy_engine.sources.declaration import (
    SAGEMAKER_TRAINING,
    TERMINATE,
    EnvironmentOrder,
    JobQueue,
    Place,
    QueueDeclaration,
    QuotaShare,
    Raw,
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
        problem = share_count_problem(len(shares))
        if problem is not None:
            raise shares[-1].place.error(problem)
        for share in shares:
            name = _known(share.name, share.where("name"))
            problem = MISSING if name is None else name_problem(name)
            if problem is None and name in self.data["shares"]:
                problem = f"a second quota share {shown(name)} on the queue"
            if problem is not None:
                raise share.where("name").error(problem)
            self.data["shares"][name] = self._share(("shares", name), share)

    def _share(self, path: KeyPath, share: QuotaShare) -> dict[str, Any]:
        self._places[path] = share.where("name")
        data = self._limits(path, share)
        strategy, preemption = share.strategy, share.in_share_preemption
        self._put(data, (*path, "strategy"), _as_meant(strategy), share.where("strategy"))
        self._put(data, (*path, "borrow_limit"), share.borrow_limit, share.where("borrow_limit"))
        self._put(data, (*path, "state"), share.state, share.where("state"))
        place = share.where("in_share_preemption")
        switch = enum_member(_known(preemption, place), State, any_case=True)
        if preemption is not None and switch is None:
            raise place.error(f"{shown(preemption)} is not one of {', '.join(State)}")
        self._put(data, (*path, "in_share_preemption"), switch and switch is State.ENABLED, place)
        return data

    def _limits(self, path: KeyPath, resource: ServiceEnvironment | QuotaShare) -> dict[str, Any]:
        place = resource.where("capacity_limits")
        limits = _known(resource.capacity_limits, place)
        data: dict[str, Any] = {}
        self._put(data, (*path, "capacity_limits"), None if limits is None else {}, place)
        for limit in limits or ():
            unit = _known(limit.unit, limit.place.at("CapacityUnit"))
            problem = MISSING if unit is None else unit_problem(unit)
            if problem is None and unit in data["capacity_limits"]:
                problem = f"a second limit for {shown(unit)}"
            if problem is not None:
                raise limit.place.at("CapacityUnit").error(problem)
            maximum = _known(limit.maximum, limit.place.at("MaxCapacity"))
            if maximum is None:
                raise limit.place.at("MaxCapacity").error(MISSING)
            self._put(data["capacity_limits"], (*path, "capacity_limits", unit), maximum, limit.place.at("MaxCapacity"))
        return data

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


def _as_meant(strategy: Raw) -> Raw:
    return enum_member(strategy, SharingStrategy, any_case=True) or strategy


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
        return entry.place.error(f"ServiceEnvironment: {MISSING}")
    value = entry.environment.value
    what = f"the service environment {shown(value)} is not declared here, so its capacity is unknown"
    return entry.environment.place.error(str(value) if isinstance(value, Unknown) else what)
