"""What a construct is told: refused where it is wrong, passed on where it is a CDK token.

The rules themselves are those of :mod:`policy_engine.policy`; here they only get their place in the construct tree.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any, Final

import aws_cdk as cdk
from constructs import Construct

from policy_engine.policy import (
    State,
    capacity_problem,
    enum_problem,
    instance_types,
    limit_count_problem,
    name_problem,
    unit_problem,
)


def is_token(value: object) -> bool:
    """Whether the value is a CDK token: something only known at deployment."""
    if isinstance(value, float):
        # The kernel's JSON has no infinity and no NaN.
        return math.isfinite(value) and cdk.Token.is_unresolved(value)
    return (isinstance(value, str) or hasattr(value, "resolve")) and cdk.Token.is_unresolved(value)


def as_number(value: Any) -> Any:
    """The value as the L1s take a number, whatever form its token has."""
    return value if isinstance(value, int | float) else cdk.Token.as_number(value)


def as_text(value: Any) -> Any:
    """The value as the L1s take a string, whatever form its token has; None stays None."""
    return value if value is None else str(value) if isinstance(value, str) else cdk.Token.as_string(value)


def has_member(value: object, name: str) -> bool:
    """Whether it has the property; where its class has, CDK's kernel is not asked for the value."""
    return hasattr(type(value), name) or hasattr(value, name)


def hold(key: str, value: object, member: str, how: str) -> None:
    """Hold an argument to an object of the CDK that has the member. Raises ValueError: it has not."""
    if not has_member(value, member):
        raise ValueError(f"{key}: {value!r} is not {how}")


class Refusal:
    """Everything that is wrong with the arguments of one construct, raised as one error.

    Raised before the construct is made, so that a refused one leaves nothing in the tree.
    """

    def __init__(self, scope: Construct, construct_id: str) -> None:
        self._scope = scope
        self._id = construct_id
        self._lines: list[str] = []
        self.is_open = False
        """Was a value let through that is only known later, or that only the engine can judge?"""

    def add(self, key: str, problem: str | None) -> None:
        """Note what is wrong with the argument; None is nothing."""
        if problem is not None:
            self._lines.append(f"{key}: {problem}")

    def value(self, key: str, value: object, problem_of: Callable[[object], str | None]) -> None:
        """Hold a value to a rule.

        No token satisfies the rule of a plain value (a number token is a huge negative number, a string token has
        characters no name has), so the kernel, which costs a round trip, is only asked about values that fail.
        """
        problem = problem_of(value)
        if problem is None:
            return
        if is_token(value):
            self.is_open = True
        else:
            self.add(key, problem)

    def job_queue(self, value: object, member: str) -> None:
        """Hold a job queue to what has the member: ``job_queue_ref`` or more than that."""
        if has_member(value, member):
            return
        how = (
            "pass its job_queue"
            if has_member(value, "job_queue")
            else "import one that exists with QuotaJobQueue.from_job_queue_arn or _name"
        )
        shown = value.node.path if isinstance(value, Construct) else repr(value)
        self.add("job_queue", f"{shown} is not a job queue; {how}")

    def flag(self, key: str, value: object) -> None:
        """Hold a value to True and False."""
        if not isinstance(value, bool):
            self.add(key, f"{value!r} is not True or False")

    def name(self, key: str, value: object) -> None:
        """Hold an optional physical name to AWS's pattern."""
        if value is not None:
            self.value(key, value, name_problem)

    def state(self, value: object) -> None:
        """Hold a state to ENABLED and DISABLED."""
        self.value("state", value, lambda state: enum_problem(state, State))

    def capacity_limits(self, limits: object) -> None:
        """Hold capacity limits to: 1 to 5 instance types, each with a whole number of instances."""
        if not isinstance(limits, Mapping):
            self.add(
                "capacity_limits",
                f"{limits!r} is not a mapping of instance type to instances, such as {{'ml.g5.xlarge': 3}}",
            )
            return
        self.add("capacity_limits", limit_count_problem(len(limits)))
        for unit, count in limits.items():
            self.value("capacity_limits", unit, unit_problem)
            self.is_open = self.is_open or unit not in instance_types.known()
            self.value(f"capacity_limits[{unit!r}]", count, capacity_problem)

    def declared_by(self, units: Iterable[object], environment: Mapping[str, int]) -> None:
        """Hold a share's instance types to those of its service environment (finding QM004)."""
        if any(unit_problem(unit) for unit in environment):
            return  # a token, which may stand for any type
        for unit in units:
            if unit not in environment and unit_problem(unit) is None:
                self.add(
                    "capacity_limits",
                    f"the service environment has no {unit!r}; it has {', '.join(environment)}."
                    " Add it there, or take it out of the share",
                )

    def raise_if_any(self) -> None:
        """Raise what was found. Raises ValueError: one line per problem, each with the construct's path."""
        if self._lines:
            path = f"{self._scope.node.path}/{self._id}".lstrip("/")
            raise ValueError("\n".join(f"{path}: {line}" for line in self._lines))


class Changeable:
    """An L1 whose attributes can be set once it is declared, past its constructor, which refuses what is wrong.

    Like all bases of ours it stands behind the CDK's class; see ``QuotaShareBase``.
    """

    def __setattr__(self, name: str, value: object) -> None:
        """Set an attribute.

        Raises:
            AttributeError: It is a name, which is what the ARN says.
            ValueError: It is a dictionary for a structure, of which CDK drops keys that it does not know, such as those
                in Python's spelling (issues 280 of terraform-cdk and 874 of cdk8s-core).
        """
        attribute = getattr(type(self), name, None)
        if isinstance(attribute, cached_property):
            raise AttributeError(f"{name}: a name is given to the constructor, and cannot be set afterwards")
        is_property = isinstance(attribute, property)
        items = value if isinstance(value, list) else [value]
        if is_property and any(isinstance(item, dict) for item in items):
            structure = f"{type(self).__mro__[1].__name__}'s structures"
            raise ValueError(f"{name}: {value!r} is a dictionary, of which CDK may drop keys; use {structure}")
        super().__setattr__(name, value)
        if is_property:
            self._check_at_synthesis()

    def _check_at_synthesis(self) -> None:
        """Have the new value checked when the app is synthesised."""
        raise NotImplementedError


PLUGIN_NAME: Final = "Quota-Policy"
"""What the ids of findings start with in CDK's reports."""
FIXED_NAME: Final = f"{PLUGIN_NAME}::QM110"
"""The finding of a fixed name; what one acknowledges."""


def warn_of_fixed_name(resource: cdk.CfnResource, name: str | None, loss: str) -> None:
    """Warn where a resource is given a name, which CloudFormation cannot replace; ``loss`` is what a rename costs.

    Source: a change that replaces a resource makes the new one before it deletes the old one, and the two cannot have
    one name (issue 2463 of cloudformation-coverage-roadmap).
    """
    if name is not None:
        # Under the id of the plugin's finding, so that one acknowledgement is for both.
        cdk.Annotations.of(resource).add_warning_v2(
            FIXED_NAME,
            f"a fixed name, {name!r}: a change that replaces the resource fails with a conflict (409), and a new name"
            f" {loss}. Leave the name out, or acknowledge {FIXED_NAME} with the reason for it",
        )


def leave_out_of_tags(resource: cdk.CfnResource) -> None:
    """Keep the tags of an app or a stack off a resource.

    A change of tags may replace a job queue or a scheduling policy: CloudFormation's reference says that it does, its
    schema that it does not, and updates have failed (issues 1229, 1655 and 2463 of cloudformation-coverage-roadmap).
    """
    resource.add_property_deletion_override("Tags")
