"""The form of a scenario file: every field and event verb, and what a value may be."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Annotated, Any, Final, Self

from pydantic import Field, PlainValidator, WithJsonSchema, create_model, model_validator

from policy_engine.policy import (
    MAX_ATTEMPTS,
    BorrowLimit,
    CapacityLimits,
    Declared,
    Priority,
    SharingStrategy,
    State,
    Text,
    limit_count_problem,
    whole_number_problem,
)
from policy_engine.scheduler import jobs as scheduled
from policy_engine.scheduler.choices import BY_NAME, CHOICES, OpenChoice
from policy_engine.scheduler.jobs import Exit, Update
from policy_engine.sources.validation import shown
from policy_engine.workload.durations import (
    Duration,
    DurationOrRange,
    PastTime,
    PositiveDuration,
    PositiveDurationOrRange,
    Range,
)
from policy_engine.workload.expected import AnyExpectation, Count, WholeNumber, whole_number


class Group(Declared):
    """One instance group of a job over several instance types."""

    instance_type: Text = Field(description="A SageMaker instance type of the service environment.")
    instance_count: Count = Field(default=1, description="Instances of it.")


class JobEntry(Declared):
    """What jobs under ``jobs`` and ``running`` have in common."""

    name: Text = Field(min_length=1, description="Unique; what expectations and reports call it.")
    share: Text = Field(description="The quota share that it is submitted to.")
    instance_type: Text | None = Field(default=None, description="Default: the only one of the service environment.")
    instance_count: Count = Field(default=1, description="Instances, all at once or not at all.")
    instance_groups: tuple[Group, ...] | None = Field(
        default=None, description="Instead of the two above: a job over several instance types."
    )
    priority: Priority | None = Field(default=None, description="schedulingPriority, 0 to 9999.")
    duration: DurationOrRange | None = Field(default=None, description="Seconds of work; absent: until the end.")
    attempts: Annotated[
        int,
        whole_number(1, MAX_ATTEMPTS),
        WithJsonSchema({"type": "integer", "minimum": 1, "maximum": MAX_ATTEMPTS}),
    ] = Field(default=1, description="Placements, the first included.")
    preemption_retries: WholeNumber | None = Field(
        default=None, description="Requeues after preemption before the job fails; absent: without limit."
    )
    timeout: PositiveDuration | None = Field(default=None, description="Seconds after which an attempt is ended.")
    checkpoint_every: PositiveDuration | None = Field(default=None, description="Seconds of work.")
    exit: Exit = Field(default=Exit.SUCCEEDED, description="How an attempt ends that nobody stops.")
    copies: Count | None = Field(default=None, description="So many jobs, named with -1, -2, ...")
    every: Duration | None = Field(default=None, description="Seconds between copies.")

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.instance_groups is not None and self.model_fields_set & {"instance_type", "instance_count"}:
            raise ValueError("instance_groups stands instead of instance_type and instance_count, not beside them")
        if self.instance_groups == ():
            raise ValueError("instance_groups needs a group")
        if self.every is not None and self.copies is None:
            raise ValueError("'every' needs 'copies'")
        return self


class WaitingJob(JobEntry):
    """A job that is submitted during the run."""

    submit: Duration = Field(default=0, description="Seconds from the scenario's zero.")


class RunningJob(JobEntry):
    """A job that was submitted and dispatched before the run."""

    started: PastTime = Field(default=0, description="Seconds from the scenario's zero, 0 or below.")


class PriorityUpdate(Declared):
    """UpdateServiceJob."""

    job: Text = Field(description="Its name.")
    priority: Priority = Field(description="The new schedulingPriority, 0 to 9999.")


class JobName(Declared):
    """TerminateServiceJob."""

    job: Text = Field(description="Its name.")


class ShareUpdate(Declared):
    """UpdateQuotaShare: what is absent stays."""

    share: Text = Field(description="Its name.")
    capacity_limits: CapacityLimits | None = Field(default=None, description="The new limits, instead of all old ones.")
    strategy: SharingStrategy | None = Field(default=None, description="What happens to idle capacity.")
    borrow_limit: BorrowLimit | None = Field(default=None, description="Percent of the own limit; -1: unlimited.")
    in_share_preemption: bool | None = Field(
        default=None, strict=True, description="May a job stop jobs of the same share with lower priority?"
    )
    state: State | None = Field(default=None, description="A DISABLED share takes no new jobs.")

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        _check_update(self)
        return self


class ShareName(Declared):
    """DeleteQuotaShare: its jobs are terminated."""

    share: Text = Field(description="Its name.")


class EnvironmentUpdate(Declared):
    """UpdateServiceEnvironment: what is absent stays."""

    capacity_limits: CapacityLimits | None = Field(default=None, description="The new limits, instead of all old ones.")
    state: State | None = Field(default=None, description="DISABLED dispatches nothing.")

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        _check_update(self)
        return self


class QueueUpdate(Declared):
    """UpdateJobQueue."""

    state: State = Field(description="A DISABLED queue takes no new jobs.")


def _check_update(update: ShareUpdate | EnvironmentUpdate) -> None:
    fields = [name for name in type(update).model_fields if name != "share"]
    if all(getattr(update, name) is None for name in fields):
        raise ValueError(f"changes nothing; give {', '.join(fields[:-1])} or {fields[-1]}")
    if update.capacity_limits is not None and (problem := limit_count_problem(len(update.capacity_limits))):
        raise ValueError(problem)


class Event(Declared):
    """Something that is done to the queue or a job: one verb."""

    at: Duration = Field(description="Seconds from the scenario's zero.")
    update_priority: PriorityUpdate | None = Field(default=None, description="Changes the priority of a job.")
    terminate: JobName | None = Field(default=None, description="Ends a job.")
    update_share: ShareUpdate | None = Field(default=None, description="Changes a quota share.")
    delete_share: ShareName | None = Field(default=None, description="Deletes a quota share and ends its jobs.")
    update_service_environment: EnvironmentUpdate | None = Field(
        default=None, description="Changes the service environment; a lowered capacity stops nothing."
    )
    update_queue: QueueUpdate | None = Field(default=None, description="Changes the job queue.")

    @property
    def verb(self) -> str:
        """The key that says what is done."""
        return next(verb for verb in _verbs() if getattr(self, verb) is not None)

    @model_validator(mode="after")
    def _one_verb(self) -> Self:
        given = [verb for verb in _verbs() if getattr(self, verb) is not None]
        if len(given) != 1:
            raise ValueError(f"needs one verb, not {len(given)}: {', '.join(_verbs())}")
        return self

    def update(self) -> Update:
        """What the simulator does."""
        verb = self.verb
        given: Declared = getattr(self, verb)
        return _UPDATES[verb](self.at, **given.model_dump())


def _verbs() -> list[str]:
    return [field for field in Event.model_fields if field != "at"]


_UPDATES: Final[Mapping[str, Callable[..., Update]]] = {
    "update_priority": scheduled.UpdatePriority,
    "terminate": scheduled.Terminate,
    "update_share": scheduled.UpdateShare,
    "delete_share": scheduled.DeleteShare,
    "update_service_environment": scheduled.UpdateServiceEnvironment,
    "update_queue": scheduled.UpdateQueue,
}


class TimingEntry(Declared):
    """How long things take, in seconds; what is absent takes no time."""

    stop_seconds: DurationOrRange = Field(default=0.0, description=f"C14: {BY_NAME['stop_seconds'].question}.")
    start_seconds: DurationOrRange = Field(default=0.0, description="From SCHEDULED to RUNNING.")
    queue_latency: DurationOrRange = Field(default=0.0, description="From a change to the decision that answers it.")
    checkpoint_every: PositiveDurationOrRange | None = Field(
        default=None, description="Of work, for jobs that do not say; absent: no checkpoints."
    )
    restart_seconds: DurationOrRange = Field(
        default=0.0, description="What a preempted job needs before its work goes on."
    )


def _answer(choice: OpenChoice, value: object) -> object:
    """The value as an answer to the open choice."""
    if not choice.is_number:
        if value in choice.answers:
            return value
        raise ValueError(f"{shown(value)} is not one of {', '.join(choice.answers)}")
    ends: list[Any] = value if isinstance(value, list) else [value]
    for end in ends:
        if problem := whole_number_problem(end, int(choice.least), None if choice.most is None else int(choice.most)):
            raise ValueError(problem)
    if not isinstance(value, list):
        return int(ends[0])
    if len(ends) != 2 or ends[0] > ends[1]:
        raise ValueError("a range has two ends, the smaller first: [0, 5]")
    return Range(*ends)


def _choice_field(choice: OpenChoice) -> tuple[Any, Any]:
    schema: dict[str, Any] = {"enum": list(choice.answers)}
    if choice.is_number:
        number = {"type": "integer", "minimum": choice.least, "maximum": choice.most}
        schema = {"anyOf": [number, {"type": "array", "items": number, "minItems": 2, "maxItems": 2}]}
    kind = Annotated[Any, PlainValidator(partial(_answer, choice)), WithJsonSchema(schema)]
    default = int(choice.default) if choice.is_number else choice.default
    return kind, Field(default=default, description=f"{choice.id}: {choice.question}?")


IN_TIMING: Final = "stop_seconds"
"""The open choice that is answered under ``timing``, with the other times."""
_CHOICE_FIELDS: Final[dict[str, Any]] = {
    choice.name: _choice_field(choice) for choice in CHOICES if choice.name != IN_TIMING
}
ChoicesEntry = create_model("ChoicesEntry", __base__=Declared, __doc__="What AWS leaves open.", **_CHOICE_FIELDS)


class DecisionEntry(Declared):
    """One move of the scheduler, as a counterexample fixes it."""

    at: Duration = Field(description="Seconds from the scenario's zero.")
    job: Text = Field(description="The job that starts.")
    victims: tuple[Text, ...] = Field(default=(), description="The jobs that are stopped for it, in order.")


class ScenarioFile(Declared):
    """A scenario file, as it is written."""

    policy: Text | None = Field(default=None, description="A POLICY, relative to this file.")
    queue: Text | None = Field(default=None, description="Which queue, where the policy holds several.")
    choices: ChoicesEntry = Field(default_factory=ChoicesEntry)
    timing: TimingEntry = Field(default_factory=TimingEntry)
    running: tuple[RunningJob, ...] = Field(default=(), description="Dispatched before time 0, in submit order.")
    jobs: tuple[WaitingJob, ...] = Field(default=(), description="In submit order.")
    events: tuple[Event, ...] = Field(default=(), description="At one instant they apply by kind, not by place here.")
    decisions: tuple[DecisionEntry, ...] = Field(
        default=(),
        description="Moves that AWS leaves open, one after the other; where none is given the choices decide. Written"
        " into counterexamples.",
    )
    until: Duration | None = Field(default=None, description="Ends the run; absent: the last event does.")
    expect: tuple[AnyExpectation, ...] = Field(default=(), description="What must hold; judged by verify.")
