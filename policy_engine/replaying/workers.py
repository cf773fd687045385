"""Runs one function over many items on the cores of this machine."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

T = TypeVar("T")
R = TypeVar("R")

_task: Callable[[Any], Any] | None = None
"""What this process is to do with each item, where it is a worker."""


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def spread_over_cores(task: Callable[[T], R], items: Iterable[T], workers: int | None = None) -> Iterator[R]:
    """The task's result for each item, in the order of the items; None workers are as many as there are cores.

    The task goes to each worker once, however many items there are: it may hold a whole history.
    """
    items = list(items)
    count = min(cores() if workers is None else workers, len(items))
    if count <= 1:
        yield from map(task, items)
        return
    from concurrent.futures import ProcessPoolExecutor  # most replays need none

    with ProcessPoolExecutor(count, initializer=_remember, initargs=(task,)) as pool:
        yield from pool.map(_do, items)


def _remember(task: Callable[[Any], Any]) -> None:
    global _task
    _task = task


def _do(item: Any) -> Any:
    if _task is None:
        raise RuntimeError("a worker without a task")
    return _task(item)
