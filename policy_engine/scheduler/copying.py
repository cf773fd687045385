"""Copies of objects with many attributes. An exploration makes one for everything that can happen next."""

from __future__ import annotations

from collections.abc import Callable, Collection
from inspect import isgetsetdescriptor, ismemberdescriptor
from typing import TypeVar, cast

Thing = TypeVar("Thing")


def copier(of: type[Thing], changing: Collection[str], nested: Collection[str] = ()) -> Callable[[Thing], Thing]:
    """A function that copies a thing with ``__slots__``: what is not named is shared.

    It is compiled, as ``dataclasses`` does with what it makes: a loop over the names takes five times as long.

    Args:
        of: the class, with a ``__new__`` of its own and no properties: as mypyc compiles it, neither a plain
            ``__new__`` nor what tells the two apart is there.
        changing: attributes that are copied.
        nested: attributes that are lists of what is copied.
    """
    members = vars(of).items()
    slots = [name for name, member in members if ismemberdescriptor(member) or isgetsetdescriptor(member)]
    lines = ["def copy(thing):", "    twin = new(of)"]
    for name in slots:
        value = f"thing.{name}"
        if name in changing:
            value += ".copy()"
        elif name in nested:
            value = f"[inner.copy() for inner in {value}]"
        lines.append(f"    twin.{name} = {value}")
    names: dict[str, object] = {"new": of.__new__, "of": of}
    exec("\n".join([*lines, "    return twin"]), names)  # noqa: S102 - nothing in it comes from outside
    return cast("Callable[[Thing], Thing]", names["copy"])
