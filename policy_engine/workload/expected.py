"""What a scenario file may expect: the form of each expectation; ``policy_engine.expectations`` judges them."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import Annotated, Any, ClassVar, Final, Generic, Literal, Self, TypeVar

from pydantic import BeforeValidator, Discriminator, Field, Tag, WithJsonSchema, model_validator

from policy_engine.policy import Declared, Priority, Text, whole_number_problem
from policy_engine.workload.durations import DURATION_SCHEMA, Duration

# --- values ----------------------------------------------------------------------------------------


def whole_number(least: int, most: int | None = None) -> BeforeValidator:
    """Takes whole numbers within [least, most], also written as ``5.0``."""

    def check(value: object) -> object:
        if value is None:
            return None
        problem = whole_number_problem(value, least, most)
        if problem is not None:
            raise ValueError(problem)
        return int(value)  # type: ignore[call-overload]  # a number, says the check

    return BeforeValidator(check)


Count = Annotated[int, whole_number(1), WithJsonSchema({"type": "integer", "minimum": 1})]
"""1 or more."""
WholeNumber = Annotated[int, whole_number(0), WithJsonSchema({"type": "integer", "minimum": 0})]
"""0 or more."""
Amount = Annotated[float, Field(ge=0, allow_inf_nan=False), WithJsonSchema({"type": "number", "minimum": 0})]
"""0 or more, also with a fraction."""

N = TypeVar("N")


class Bound(Declared, Generic[N]):
    """``{at_least: .., at_most: ..}``; a value alone means exactly that."""

    at_least: N | None = None
    at_most: N | None = None

    @model_validator(mode="before")
    @classmethod
    def _exactly(cls, data: object) -> object:
        if isinstance(data, dict) or data is None:
            return data
        return {"at_least": data, "at_most": data}

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if self.at_least is None and self.at_most is None:
            raise ValueError("needs at_least, at_most or both")
        return self

    def holds(self, value: float) -> bool:
        """Is the value within the bound? What the rounding of sums may come to is left aside."""
        low, high = self._ends
        slack = _ROUNDING * max(1.0, abs(value))
        return low - slack <= value <= high + slack

    @property
    def _ends(self) -> tuple[float, float]:
        return (
            float("-inf") if self.at_least is None else float(self.at_least),  # type: ignore[arg-type]
            float("inf") if self.at_most is None else float(self.at_most),  # type: ignore[arg-type]
        )

    def text(self, written: Callable[[float], str] = "{:g}".format) -> str:
        """The bound in words: ``exactly 1``, ``at most 1h``."""
        low, high = self._ends
        if low == high:
            return f"exactly {written(low)}"
        words = []
        if self.at_least is not None:
            words.append(f"at least {written(low)}")
        if self.at_most is not None:
            words.append(f"at most {written(high)}")
        return " and ".join(words)


_ROUNDING: Final = 1e-9


def _bound_schema(value: dict[str, Any]) -> WithJsonSchema:
    bounds = {"type": "object", "properties": {"at_least": value, "at_most": value}, "minProperties": 1}
    return WithJsonSchema({"anyOf": [value, {**bounds, "additionalProperties": False}]})


CountBound = Annotated[Bound[WholeNumber], _bound_schema({"type": "integer", "minimum": 0})]
DurationBound = Annotated[Bound[Duration], _bound_schema(dict(DURATION_SCHEMA))]
AmountBound = Annotated[Bound[Amount], _bound_schema({"type": "number", "minimum": 0})]

# --- the forms -------------------------------------------------------------------------------------


class Expectation(Declared):
    """What every form takes."""

    form: ClassVar[str]
    """The key that tells the form."""

    name: Text | None = Field(default=None, description="What reports call it.")
    because: Text | None = Field(default=None, description="Why it matters; reports print it.")

    @model_validator(mode="before")
    @classmethod
    def _keys_of_one_form(cls, data: object) -> object:
        """A key of another form is not misspelt, it is in the wrong place."""
        for key in data if isinstance(data, dict) else ():
            if key not in cls.model_fields and any(key in form.model_fields for form in FORMS):
                known = ", ".join(field for field in cls.model_fields if field != cls.form)
                raise ValueError(f"{key!r} does not go with {cls.form!r}, which takes {known}")
        return data

    def _needs(self, *fields: str) -> None:
        if all(getattr(self, field) is None for field in fields):
            raise ValueError(f"expects nothing; {self.form!r} needs {', '.join(fields[:-1])} or {fields[-1]}")


STATES: Final = ("running", "runnable", "succeeded", "failed", "dispatched")
"""What a job may be expected to be at an instant."""


class AtExpectation(Expectation):
    """Which jobs are in which state just after everything due at an instant."""

    form: ClassVar[str] = "at"

    at: Duration = Field(description="Seconds from the scenario's zero.")
    running: tuple[Text, ...] | None = Field(default=None, description="RUNNING, or being stopped.")
    runnable: tuple[Text, ...] | None = Field(default=None, description="RUNNABLE, claimants included.")
    succeeded: tuple[Text, ...] | None = Field(default=None, description="SUCCEEDED.")
    failed: tuple[Text, ...] | None = Field(default=None, description="FAILED, terminated jobs included.")
    dispatched: tuple[Text, ...] | None = Field(default=None, description="Every job with capacity.")
    exactly: bool = Field(default=False, strict=True, description="No other job is in the states named.")

    @property
    def states(self) -> dict[str, tuple[str, ...]]:
        """State to the jobs expected in it."""
        named = {state: getattr(self, state) for state in STATES}
        return {state: jobs for state, jobs in named.items() if jobs is not None}

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        self._needs(*STATES)
        if not self.exactly and not any(self.states.values()):
            raise ValueError("expects nothing: name a job, or add 'exactly: true' to expect no job in the state")
        return self


class JobExpectation(Expectation):
    """What becomes of one job."""

    form: ClassVar[str] = "job"

    job: Text = Field(description="Its name; of copies, with the number.")
    starts_within: Duration | None = Field(default=None, description="Seconds from submission to first start.")
    finishes_within: Duration | None = Field(default=None, description="Seconds from submission to success.")
    preempted: CountBound | None = Field(default=None, description="Attempts that a preemption ended.")
    by: Text | None = Field(
        default=None, description="Only preemptions by this job count; without preempted: at least one."
    )
    reason: Text | None = Field(
        default=None,
        description="cross_share, in_share or limit_lowered: only preemptions of this kind count; without preempted: at"
        " least one. Anything else: how AWS's status reason of the job begins.",
    )
    lost_work: DurationBound | None = Field(default=None, description="Instance-time: 2h is two instance-hours.")
    never_starts: bool | None = Field(default=None, strict=True, description="false: it starts at some time.")

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        self._needs("starts_within", "finishes_within", "preempted", "by", "reason", "lost_work", "never_starts")
        return self


class Waits(Declared):
    """Bounds on the waits to the first start of a share's jobs; percentiles by nearest rank."""

    mean: DurationBound | None = Field(default=None, description="The mean.")
    p50: DurationBound | None = Field(default=None, description="The median.")
    p95: DurationBound | None = Field(default=None, description="95 percent wait no longer.")
    max: DurationBound | None = Field(default=None, description="The longest.")

    @property
    def bounds(self) -> dict[str, Bound[Duration]]:
        """Statistic to bound."""
        named = {field: getattr(self, field) for field in type(self).model_fields}
        return {field: bound for field, bound in named.items() if bound is not None}

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not self.bounds:
            raise ValueError("needs mean, p50, p95 or max")
        return self


class ShareExpectation(Expectation):
    """What one share comes to over the run, all its instance types together."""

    form: ClassVar[str] = "share"

    share: Text = Field(description="Its name.")
    wait: Waits | None = Field(default=None, description="Of its jobs that started.")
    usage: CountBound | None = Field(default=None, description="Most instances that it held at once.")
    borrowed: CountBound | None = Field(default=None, description="Most instances that it borrowed at once.")
    preemptions_suffered: CountBound | None = Field(default=None, description="Of its jobs' attempts.")
    preemptions_caused: CountBound | None = Field(default=None, description="For its jobs, in whatever share.")
    lost_instance_hours: AmountBound | None = Field(default=None, description="Work that its jobs lost.")

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        fields = ("wait", "usage", "borrowed", "preemptions_suffered", "preemptions_caused", "lost_instance_hours")
        self._needs(*fields)
        return self


class Queue(Declared):
    """The queue, where its expectation stands below the key."""

    utilization: AmountBound = Field(description="Busy instance-seconds by those of the environment, 0 to 1.")


class QueueExpectation(Expectation):
    """What the queue comes to over the run."""

    form: ClassVar[str] = "queue"

    queue: Text | Queue | None = Field(description="The queue's name or nothing, or {utilization: ..}.")
    utilization: AmountBound | None = Field(
        default=None, description="Busy instance-seconds by those of the service environment, 0 to 1."
    )

    @property
    def bound(self) -> Bound[Amount]:
        """What the utilisation must be."""
        bound = self.queue.utilization if isinstance(self.queue, Queue) else self.utilization
        assert bound is not None  # noqa: S101  # _says_something refuses the rest
        return bound

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if isinstance(self.queue, Queue) == (self.utilization is not None):
            raise ValueError("needs utilization, once")
        return self


# --- always and never ------------------------------------------------------------------------------


def _only_true(value: object) -> object:
    if value is False:
        raise ValueError("false would expect nothing; write true, or leave the key out")
    return value


Holds = Annotated[bool, Field(strict=True), BeforeValidator(_only_true), WithJsonSchema({"const": True})]


class Within(Declared):
    """How soon."""

    within: Duration | None = Field(default=None, description="Seconds; absent: as long as stopping takes.")


def _plain_name(data: object) -> object:
    """``within_bounds`` is short for ``{within_bounds: true}``."""
    if not isinstance(data, str):
        return data
    if data in AlwaysProperty.PLAIN:
        return {data: True}
    if data in AlwaysProperty.NAMES:
        raise ValueError(f"{data!r} needs a value: {{{data}: ..}}")
    nearest = difflib.get_close_matches(data, AlwaysProperty.NAMES, n=1, cutoff=0.5)
    hint = f"did you mean {nearest[0]!r}?" if nearest else f"there is {', '.join(AlwaysProperty.NAMES)}"
    raise ValueError(f"no property {data!r}; {hint}")


class AlwaysProperty(Declared):
    """What holds at every instant: one of the first keys; the others refine it."""

    owner_reclaims: Holds | Within | None = Field(
        default=None, description="A head inside its share's own limit starts, within this time of coming to the front."
    )
    reserve_never_lent: Holds | None = Field(
        default=None, description="No job starts on idle capacity of a RESERVE share."
    )
    within_bounds: Holds | None = Field(
        default=None, description="No job starts beyond its share's bound or the environment's capacity."
    )
    no_futile_preemption: Holds | None = Field(
        default=None, description="Nobody is stopped for a job that then does not start."
    )
    no_preemption_cycle: Holds | None = Field(
        default=None, description="No job is stopped, directly or through others, by one that it stopped."
    )
    starts_within: Duration | None = Field(default=None, description="Every job starts within this time of submission.")
    disruption_ratio: AmountBound | None = Field(
        default=None, description="Instances stopped at once for a job, per instance that it asks for."
    )
    within: Duration | None = Field(
        default=None, description="With owner_reclaims; default: as long as stopping takes."
    )
    share: Text | None = Field(default=None, description="With starts_within: only jobs of this share.")
    at_most_instances: Count | None = Field(default=None, description="With starts_within: only jobs up to this size.")

    PLAIN: ClassVar[tuple[str, ...]] = (
        "owner_reclaims",
        "reserve_never_lent",
        "within_bounds",
        "no_futile_preemption",
        "no_preemption_cycle",
    )
    """Properties that are said by their name alone."""
    NAMES: ClassVar[tuple[str, ...]] = (*PLAIN, "starts_within", "disruption_ratio")
    REFINED_BY: ClassVar[dict[str, tuple[str, ...]]] = {
        "owner_reclaims": ("within",),
        "starts_within": ("share", "at_most_instances"),
    }

    @model_validator(mode="before")
    @classmethod
    def _not_never(cls, data: object) -> object:
        if isinstance(data, dict) and "preempted" in data:
            raise ValueError("'preempted' goes with 'never'")
        return data

    @property
    def kind(self) -> str:
        """Which property it is."""
        return next(name for name in self.NAMES if getattr(self, name) is not None)

    @property
    def reclaims_within(self) -> float | None:
        """The time of ``owner_reclaims``, in seconds; None where it is left to the timing."""
        if isinstance(self.owner_reclaims, Within) and self.owner_reclaims.within is not None:
            return self.owner_reclaims.within
        return self.within

    @model_validator(mode="after")
    def _one_property(self) -> Self:
        given = [name for name in self.NAMES if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(f"needs one property, not {len(given)}: {', '.join(self.NAMES)}")
        for name in ("within", "share", "at_most_instances"):
            if getattr(self, name) is not None and name not in self.REFINED_BY.get(given[0], ()):
                raise ValueError(f"{name!r} does not go with {given[0]!r}")
        return self


def _or_plain_name(schema: dict[str, Any]) -> None:
    schema["anyOf"] = [{"$ref": schema.pop("$ref")}, {"enum": list(AlwaysProperty.PLAIN)}]


class AlwaysExpectation(Expectation):
    """A property that holds at every instant."""

    form: ClassVar[str] = "always"

    always: Annotated[AlwaysProperty, BeforeValidator(_plain_name)] = Field(
        description="The property: a name, or a key with its value.", json_schema_extra=_or_plain_name
    )
    within: Duration | None = Field(default=None, description="The same as under always.")

    @property
    def reclaims_within(self) -> float | None:
        """The time of ``owner_reclaims``, in seconds; None where it is left to the timing."""
        return self.always.reclaims_within if self.within is None else self.within

    @model_validator(mode="after")
    def _within_once(self) -> Self:
        if self.within is not None and self.always.owner_reclaims is None:
            raise ValueError(f"'within' does not go with {self.always.kind!r}")
        if self.within is not None and self.always.reclaims_within is not None:
            raise ValueError("'within' is given twice")
        return self


class NeverProperty(Declared):
    """What happens at no instant."""

    preempted: Literal["cross_share", "in_share", "limit_lowered", "any"] = Field(description="The kind of preemption.")
    share: Text | None = Field(default=None, description="Only of jobs of this share.")
    priority_at_least: Priority | None = Field(
        default=None, description="Only of jobs of this priority or a higher one."
    )

    @model_validator(mode="before")
    @classmethod
    def _not_always(cls, data: object) -> object:
        names = [data] if isinstance(data, str) else data if isinstance(data, dict) else []
        for name in names:
            if name in AlwaysProperty.NAMES:
                raise ValueError(f"{name!r} goes with 'always'")
        return data


class NeverExpectation(Expectation):
    """Something that happens at no instant."""

    form: ClassVar[str] = "never"

    never: NeverProperty


FORMS: Final[tuple[type[Expectation], ...]] = (
    AtExpectation,
    JobExpectation,
    ShareExpectation,
    QueueExpectation,
    AlwaysExpectation,
    NeverExpectation,
)


def _form(data: object) -> str | None:
    """The tag of the form that the data of an expectation has; None for none."""
    keys = data if isinstance(data, dict) else ()
    # unlike any key: the reader tells the two apart
    return next((f"form:{form.form}" for form in FORMS if form.form in keys), None)


def _has_form(data: object) -> object:
    if _form(data) is None:
        raise ValueError(f"an expectation has one of the keys {', '.join(form.form for form in FORMS)}")
    return data


AnyExpectation = Annotated[
    Annotated[AtExpectation, Tag("form:at")]
    | Annotated[JobExpectation, Tag("form:job")]
    | Annotated[ShareExpectation, Tag("form:share")]
    | Annotated[QueueExpectation, Tag("form:queue")]
    | Annotated[AlwaysExpectation, Tag("form:always")]
    | Annotated[NeverExpectation, Tag("form:never")],
    Discriminator(_form),
    BeforeValidator(_has_form),
]
