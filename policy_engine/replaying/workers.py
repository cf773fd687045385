"""Runs one task over many items: on the cores of this machine, or on a Dask cluster that the user already has.

Both through joblib. Results come as they are made, each with the number of its item, so that nothing that is made of
them depends on where they were made, or on how many made them.
"""

from __future__ import annotations

import os
import pickle
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Final, TypeVar

from policy_engine._version import __version__
from policy_engine.errors import InputError

T = TypeVar("T")
R = TypeVar("R")

Each = Callable[[Sequence[T]], Iterator[tuple[int, R]]]
"""The number of an item and what the task made of it, in the order in which they are done."""

EXTRA: Final = "pip install 'constructs-quota[dask]'"
CONNECT_SECONDS: Final = 10
"""A cluster that does not answer for so long is not there."""


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def workers(task: Callable[[T], R], count: int | None = None, dask: str | Any | None = None) -> Iterator[Each[T, R]]:
    """Workers that know the task, which may hold whole histories: it goes to each of them once.

    Args:
        task: what is done with an item; it and the items can be pickled.
        count: processes on this machine; None is one for each core, 1 does all in this process.
        dask: address of the scheduler of a Dask cluster, or a ``distributed.Client``; ``count`` says nothing then.

    Raises:
        InputError: the cluster cannot be reached, or its workers have another version of this engine.
    """
    if dask is not None:
        with _client(dask) as client:
            yield lambda items: _on_cluster(client, task, items)
    elif (count or cores()) == 1:
        yield lambda items: ((number, task(item)) for number, item in enumerate(items))
    else:
        with tempfile.TemporaryDirectory(prefix="policy-engine-") as folder:
            kept = _Kept(str(Path(folder) / "task"))
            Path(kept.path).write_bytes(pickle.dumps(task, pickle.HIGHEST_PROTOCOL))
            yield lambda items: _on_cores(kept, items, count or cores())


# --- on this machine -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Kept:
    """A task in a file, from which each worker reads it once: pickled anew for every item it would cost a replay."""

    path: str


_read: tuple[str, Callable[[Any], Any]] | None = None
"""The task that this worker read last, and its path."""


def _do_kept(kept: _Kept, number: int, item: Any) -> tuple[int, Any]:
    global _read
    if _read is None or _read[0] != kept.path:
        _read = None  # two histories at once are too many
        _read = kept.path, pickle.loads(Path(kept.path).read_bytes())  # noqa: S301 - written by this program
    return number, _read[1](item)


def _on_cores(kept: _Kept, items: Sequence[Any], count: int) -> Iterator[tuple[int, Any]]:
    from joblib import Parallel, delayed  # takes a tenth of a second, and most runs need none

    run = Parallel(n_jobs=min(count, max(1, len(items))), return_as="generator_unordered", batch_size=1)
    yield from run(delayed(_do_kept)(kept, number, item) for number, item in enumerate(items))


# --- on a cluster ----------------------------------------------------------------------------------


def _do(task: Callable[[Any], Any], number: int, item: Any) -> tuple[int, Any]:
    return number, task(item)


def _on_cluster(client: Any, task: Callable[[Any], Any], items: Sequence[Any]) -> Iterator[tuple[int, Any]]:
    from joblib import Parallel, delayed, parallel_config

    with parallel_config(backend="dask", client=client, scatter=[task]):
        run = Parallel(return_as="generator_unordered", batch_size=1, pre_dispatch="all")
        yield from run(delayed(_do)(task, number, item) for number, item in enumerate(items))


@contextmanager
def _client(dask: str | Any) -> Iterator[Any]:
    try:
        distributed: Any = import_module("distributed")
    except ImportError:
        raise InputError(f"a Dask cluster needs the extra: {EXTRA}") from None
    if not isinstance(dask, str):
        _check_versions(dask)
        yield dask
        return
    try:
        client = distributed.Client(dask, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        why = str(error).partition("\n")[0] or type(error).__name__
        raise InputError(
            f"no Dask scheduler at {dask!r}: {why}; expected an address such as tcp://host:8786"
        ) from error
    with client:
        _check_versions(client)
        yield client


def version() -> str:
    """Of the engine where it is called."""
    return __version__


def _check_versions(client: Any) -> None:
    """Results are the same everywhere because the engine is."""
    client.wait_for_workers(1, timeout=CONNECT_SECONDS)
    try:
        found = client.run(version)
    except ImportError as error:
        raise InputError(f"a worker of the Dask cluster has no policy-engine {__version__}: {error}") from error
    for worker, other in found.items():
        if other != __version__:
            raise InputError(f"the Dask worker {worker} has policy-engine {other}; here it is {__version__}")
