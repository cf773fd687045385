"""What jsii does not check: that a class has every member of the interfaces that it says it implements (jsii 3344)."""

import inspect
from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import pytest

import constructs_quota

MODULES = [
    import_module(f"{constructs_quota.__name__}.{found.name}") for found in iter_modules(constructs_quota.__path__)
]
IMPLEMENTERS: list[tuple[type, Any]] = [
    (value, interface)
    for module in MODULES
    for value in vars(module).values()
    if inspect.isclass(value) and value.__module__ == module.__name__
    for interface in vars(value).get("__jsii_ifaces__", ())
]


def members(cls: type) -> Iterator[tuple[str, str]]:
    """Name in Python and in JavaScript of what jsii knows of a class."""
    for name in dir(cls):
        value: Any = inspect.getattr_static(cls, name)
        function: Any = value.fget if isinstance(value, property) else value
        if hasattr(function, "__jsii_name__"):
            yield name, function.__jsii_name__


@pytest.mark.parametrize(("implementer", "interface"), IMPLEMENTERS, ids=lambda cls: cls.__name__)
def test_has_every_member(implementer: type, interface: Any) -> None:
    wanted = set(members(interface.__jsii_proxy_class__()))

    # What has the same name in both languages needs no mark to be found.
    there = set(members(implementer)) | {(name, name) for name in dir(implementer)}
    assert wanted - there == set()


def test_looks_at_those_of_every_kind() -> None:
    interfaces = {interface.__name__ for _, interface in IMPLEMENTERS}
    assert interfaces >= {
        "IJobQueueRef",
        "IPolicyValidationPlugin",
        "IQuotaShareRef",
        "ISchedulingPolicyRef",
        "IServiceEnvironmentRef",
        "IStableAnyProducer",
        "IStableStringProducer",
        "IValidation",
    }
