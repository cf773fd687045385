"""Python's collector of cyclic garbage, kept from looking at what has no cycles."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final


@contextmanager
def paused() -> Iterator[None]:
    """While many small objects are made that refer to each other in no circle: looking takes a third of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@contextmanager
def paused_to_the_end() -> Iterator[None]:
    """The same in a program that ends then: what is left goes with the process, and is not looked at before."""
    with paused():
        try:
            yield
        finally:
            gc.freeze()


_KEPT: Final[list[object]] = []


def keep_to_the_end(thing: object) -> None:
    """Let the thing outlive the command, so that nobody waits until it is taken apart; the one before it may go."""
    _KEPT[:] = [thing]
