"""Reads the quota-management resources of a CloudFormation template.

Source: CloudFormation Template Reference of ``AWS::Batch::SchedulingPolicy``, ``ServiceEnvironment``,
``JobQueue`` and ``QuotaShare``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any, Final

from policy_engine.sources.acknowledged import Acknowledgements
from policy_engine.sources.declaration import (
    CapacityLimit,
    Declaration,
    EnvironmentOrder,
    Ignored,
    JobQueue,
    Link,
    Place,
    QuotaShare,
    Raw,
    Resource,
    SchedulingPolicy,
    ServiceEnvironment,
    TimeLimit,
    Unknown,
)
from policy_engine.sources.intrinsics import ABSENT, Alone, Resolver, Surroundings
from policy_engine.sources.parameters import Parameters, text_of
from policy_engine.sources.reading import Document, KeyPath, dotted, plain_number
from policy_engine.sources.validation import MISSING, Problem, shown

_NESTED_STACK: Final = "AWS::CloudFormation::Stack"


class Template:
    """One template: its quota-management resources and its outputs, with values as far as they are known."""

    def __init__(
        self,
        document: Document,
        given: Mapping[str, Raw],
        *,
        template_id: str = "",
        surroundings: Surroundings | None = None,
        existence: Unknown | None = None,
        acknowledged: Acknowledgements | None = None,
    ) -> None:
        self.document = document
        self.id = template_id
        """Which stack of an assembly; "" for a template that is read on its own."""
        self._existence = existence
        self._acknowledged = acknowledged or Acknowledgements()
        self.parameters = Parameters(document, given)
        self._resolver = Resolver(
            document.data,
            template_id=template_id,
            parameters=self.parameters,
            surroundings=surroundings or Alone(),
        )
        self._outputs: dict[str, Raw] = {}

    # --- resources ----------------------------------------------------------------------------------

    @cached_property
    def resources(self) -> tuple[Resource, ...]:
        """The quota-management resources, in the template's order, without those of a false condition."""
        found = (self._resource(logical_id, raw) for logical_id, raw in self._raw_resources())
        return tuple(resource for resource in found if resource is not None)

    def _raw_resources(self) -> Iterator[tuple[str, dict[str, Any]]]:
        section = self._mapping(self.document.data.get("Resources", {}), ("Resources",))
        for logical_id, raw in section.items():
            path = ("Resources", logical_id)
            if logical_id.startswith("Fn::ForEach::"):
                hint = "give the processed template (aws cloudformation get-template --template-stage Processed)"
                what = f"Fn::ForEach is not read; {hint}"
                raise self.document.error(path, what)
            yield logical_id, self._mapping(raw, path)

    def _mapping(self, value: Any, path: KeyPath) -> dict[str, Any]:
        if isinstance(value, dict):
            return value
        raise self.document.error(path, MISSING if value is None else f"{shown(value)} is not a mapping")

    def _resource(self, logical_id: str, raw: dict[str, Any]) -> Resource | None:
        read = _READERS.get(str(raw.get("Type")))
        if read is None or self._is_left_out(raw):
            return None
        path = ("Resources", logical_id)
        metadata = raw.get("Metadata")
        construct = metadata.get("aws:cdk:path") if isinstance(metadata, dict) else None
        place = Place(logical_id, logical_id, construct if isinstance(construct, str) else None, self.document, path)
        resource = read(self.properties(logical_id, place), logical_id, place)
        return replace(
            resource,
            template=self.id,
            fixed_name=resource.name is not None,
            existence=self.existence(logical_id, raw),
            depends_on=_depends_on(raw.get("DependsOn")),
            ignores=(*_ignores(metadata, place.at("Metadata")), *self._acknowledgements(place)),
        )

    def _acknowledgements(self, place: Place) -> Iterator[Ignored]:
        """What a CDK app acknowledged on the resource's construct, or on one around it."""
        for finding, because in self._acknowledged.about(place.logical_id, place.construct_path):
            yield Ignored(finding, because, place)

    def _is_left_out(self, raw: Mapping[str, Any]) -> bool:
        """Is there a condition on it, and is it false?"""
        return "Condition" in raw and self._resolver.condition(raw["Condition"]) is False

    def existence(self, logical_id: str, raw: Mapping[str, Any]) -> Unknown | None:
        """Why it is not known whether there will be the resource; None where there will be."""
        decided = self._resolver.condition(raw["Condition"]) if "Condition" in raw else True
        if not isinstance(decided, Unknown):
            return self._existence
        return replace(decided, logical_id=logical_id, property="Condition")

    def properties(self, logical_id: str, place: Place) -> Values:
        """The properties of the resource, resolved."""
        raw = self.document.data["Resources"][logical_id].get("Properties", {})
        resolved = self._resolver.value(raw)
        below = replace(place, path=(*place.path, "Properties"))
        return Values({} if resolved is ABSENT else _stamped(resolved, logical_id, ()), below)

    @cached_property
    def nested_stacks(self) -> dict[str, dict[str, Any]]:
        """The logical id of every nested stack with its raw resource."""
        nested = ((name, raw) for name, raw in self._raw_resources() if raw.get("Type") == _NESTED_STACK)
        return {name: raw for name, raw in nested if not self._is_left_out(raw)}

    # --- outputs ------------------------------------------------------------------------------------

    def output(self, name: str) -> Raw:
        """The value of the output; None where there is no such output."""
        if name not in self._outputs:
            spec = self._raw_outputs.get(name)
            self._outputs[name] = Unknown(f"output {name!r} depends on itself")
            self._outputs[name] = None if spec is None else self._resolver.value(spec.get("Value"))
        return self._outputs[name]

    @cached_property
    def exports(self) -> dict[str, str]:
        """The name of every export with the output that it exports."""
        found = {}
        for output, spec in self._raw_outputs.items():
            export = spec.get("Export")
            name = self._resolver.value(export.get("Name")) if isinstance(export, dict) else None
            if isinstance(name, str):
                found[name] = output
        return found

    @cached_property
    def _raw_outputs(self) -> dict[str, dict[str, Any]]:
        section = self.document.data.get("Outputs")
        listed = section.items() if isinstance(section, dict) else ()
        return {name: spec for name, spec in listed if isinstance(spec, dict) and not self._is_left_out(spec)}


def declaration_of(source: str, templates: list[Template]) -> Declaration:
    """What the templates declare together."""
    resources = [resource for template in templates for resource in template.resources]
    return Declaration(
        source=source,
        job_queues=tuple(r for r in resources if isinstance(r, JobQueue)),
        service_environments=tuple(r for r in resources if isinstance(r, ServiceEnvironment)),
        scheduling_policies=tuple(r for r in resources if isinstance(r, SchedulingPolicy)),
        quota_shares=tuple(r for r in resources if isinstance(r, QuotaShare)),
    )


# --- values --------------------------------------------------------------------------------------


def _stamped(value: Any, logical_id: str, path: KeyPath) -> Any:
    """The value, in which whatever is unknown names the resource and property that has it."""
    if isinstance(value, Unknown):
        return replace(value, logical_id=logical_id, property=dotted(path))
    if isinstance(value, dict):
        return {key: _stamped(item, logical_id, (*path, key)) for key, item in value.items()}
    if isinstance(value, list):
        return [_stamped(item, logical_id, (*path, index)) for index, item in enumerate(value)]
    return value


class Values:
    """Resolved properties, or an entry in a list of them, with their place.

    CloudFormation takes a number for text and text for a number; what is neither stays as it is written.
    """

    def __init__(self, data: Raw, place: Place) -> None:
        self.place = place
        self._data = data

    def get(self, *path: str) -> Raw:
        """The value at the path; Unknown where something on the way is, None where it is absent."""
        data: Any = self._data
        for depth, part in enumerate(path):
            if data is None or isinstance(data, Unknown):
                break
            if not isinstance(data, dict):
                raise self.place.at(*path[:depth]).error(f"{shown(data)} is not a mapping")
            data = data.get(part)
        return data  # type: ignore[no-any-return]

    def text(self, *path: str) -> Raw:
        """The value at the path as text."""
        value = self.get(*path)
        text = text_of(value)
        return value if text is None else text

    def number(self, *path: str) -> Raw:
        """The value at the path as a number."""
        value = self.get(*path)
        number = plain_number(value) if isinstance(value, str) else None
        return value if number is None else number

    def link(self, name: str) -> Link | None:
        """What the property names; None where it is absent."""
        value = self.text(name)
        if value is None:
            return None
        references = value.refers_to if isinstance(value, Unknown) else ()
        return Link(value, self.place.at(name), references[0] if len(references) == 1 else None)

    def entries(self, name: str) -> tuple[Values, ...] | Unknown | None:
        """The mappings that the property lists; one that is unknown has only unknown values."""
        listed = self.get(name)
        if listed is None or isinstance(listed, Unknown):
            return listed
        if not isinstance(listed, list):
            raise self.place.at(name).error(f"{shown(listed)} is not a list")
        entries = tuple(Values(item, self.place.at(name, index)) for index, item in enumerate(listed))
        for entry in entries:
            if not isinstance(entry._data, dict | Unknown):
                raise entry.place.error(f"{shown(entry._data)} is not a mapping")
        return entries


def _depends_on(value: Any) -> tuple[str, ...]:
    listed = value if isinstance(value, list) else [value]
    return tuple(item for item in listed if isinstance(item, str))


def _ignores(metadata: Any, place: Place) -> Iterator[Ignored]:
    """``Metadata.PolicyEngine.Ignore``: a list of ``{Finding: QM106, Because: why}``."""
    ours = Values(metadata if isinstance(metadata, dict) else {}, place)
    listed = Values(ours.get("PolicyEngine"), place.at("PolicyEngine")).entries("Ignore")
    for entry in listed if isinstance(listed, tuple) else ():
        raw = entry.get()
        written = {key.lower(): value for key, value in raw.items()} if isinstance(raw, dict) else {}
        from pydantic import ValidationError

        from policy_engine.policy import IgnoredFinding

        try:
            ignored = IgnoredFinding.model_validate(written)
        except ValidationError as error:
            problem = Problem(error.errors(include_url=False)[0], written)
            raise entry.place.error(f"{dotted(problem.path)}: {problem.message()}") from None
        yield Ignored(ignored.finding, ignored.because, entry.place)


# --- the four kinds of resource ------------------------------------------------------------------


def _capacity_limits(values: Values) -> tuple[CapacityLimit, ...] | Unknown | None:
    entries = values.entries("CapacityLimits")
    if not isinstance(entries, tuple):
        return entries
    return tuple(CapacityLimit(e.text("CapacityUnit"), e.number("MaxCapacity"), e.place) for e in entries)


def _service_environment(values: Values, logical_id: str, place: Place) -> ServiceEnvironment:
    return ServiceEnvironment(
        logical_id=logical_id,
        place=place,
        properties=values.place,
        name=values.text("ServiceEnvironmentName"),
        tags=values.get("Tags"),
        type=values.text("ServiceEnvironmentType"),
        state=values.text("State"),
        capacity_limits=_capacity_limits(values),
    )


def _scheduling_policy(values: Values, logical_id: str, place: Place) -> SchedulingPolicy:
    return SchedulingPolicy(
        logical_id=logical_id,
        place=place,
        properties=values.place,
        name=values.text("Name"),
        tags=values.get("Tags"),
        quota_share=values.get("QuotaSharePolicy") is not None,
        fairshare=values.get("FairsharePolicy") is not None,
        idle_assignment=values.text("QuotaSharePolicy", "IdleResourceAssignmentStrategy"),
    )


def _job_queue(values: Values, logical_id: str, place: Place) -> JobQueue:
    return JobQueue(
        logical_id=logical_id,
        place=place,
        properties=values.place,
        name=values.text("JobQueueName"),
        tags=values.get("Tags"),
        type=values.text("JobQueueType"),
        state=values.text("State"),
        priority=values.number("Priority"),
        environments=_environment_order(values),
        compute_environments=bool(values.get("ComputeEnvironmentOrder")),
        policy=values.link("SchedulingPolicyArn"),
        time_limits=_time_limits(values),
    )


def _environment_order(values: Values) -> tuple[EnvironmentOrder, ...] | Unknown | None:
    entries = values.entries("ServiceEnvironmentOrder")
    if not isinstance(entries, tuple):
        return entries
    return tuple(EnvironmentOrder(e.number("Order"), e.link("ServiceEnvironment"), e.place) for e in entries)


def _time_limits(values: Values) -> tuple[TimeLimit, ...] | Unknown | None:
    entries = values.entries("JobStateTimeLimitActions")
    if not isinstance(entries, tuple):
        return entries
    return tuple(
        TimeLimit(e.text("Action"), e.text("State"), e.text("Reason"), e.number("MaxTimeSeconds"), e.place)
        for e in entries
    )


def _quota_share(values: Values, logical_id: str, place: Place) -> QuotaShare:
    return QuotaShare(
        logical_id=logical_id,
        place=place,
        properties=values.place,
        name=values.text("QuotaShareName"),
        tags=values.get("Tags"),
        queue=values.link("JobQueue"),
        capacity_limits=_capacity_limits(values),
        strategy=values.text("ResourceSharingConfiguration", "Strategy"),
        borrow_limit=values.number("ResourceSharingConfiguration", "BorrowLimit"),
        in_share_preemption=values.text("PreemptionConfiguration", "InSharePreemption"),
        state=values.text("State"),
    )


_READERS: Final[Mapping[str, Callable[[Values, str, Place], Resource]]] = {
    "AWS::Batch::ServiceEnvironment": _service_environment,
    "AWS::Batch::SchedulingPolicy": _scheduling_policy,
    "AWS::Batch::JobQueue": _job_queue,
    "AWS::Batch::QuotaShare": _quota_share,
}
