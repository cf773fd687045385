"""Options of commands that make many replays, and what those commands say when they are interrupted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from policy_engine.program import complain

if TYPE_CHECKING:
    from policy_engine.replaying import Spreading

FILE: Final = click.Path(path_type=Path, dir_okay=False)

SPREADING: Final[Mapping[str, Mapping[str, Any]]] = {
    "--workers": {"type": click.IntRange(min=1), "metavar": "N", "help": "Processes; default: one for each core."},
    "--dask": {"metavar": "ADDRESS", "help": "Scheduler of a Dask cluster that makes the replays instead."},
    "--results": {
        "type": FILE,
        "metavar": "FILE",
        "help": "Keep the result of each replay in FILE, and take from it what is there: an interrupted command goes"
        " on where it ended.",
    },
}


def together(record: type[Any], name: str, options: Mapping[str, Mapping[str, Any]]) -> Callable[[Any], Any]:
    """Gives the command the values of the options as one record, a data class, by that name."""
    names = [field.name for field in fields(record)]

    def wrap(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def gathered(**given: Any) -> Any:
            return command(**{name: record(**{key: given.pop(key) for key in names})}, **given)

        wrapped: Callable[..., Any] = gathered
        for option, settings in reversed(list(options.items())):
            wrapped = click.option(option, **settings)(wrapped)
        return wrapped

    return wrap


def spreading_of(given: Any) -> Spreading:
    """Of a record of options that has those of ``SPREADING``."""
    from policy_engine.replaying import Spreading

    return Spreading(given.workers, given.dask, given.results)


@contextmanager
def told_when_interrupted(results: Path | None) -> Iterator[None]:
    """Where there is a file of results, an interrupt loses nothing, and that is said."""
    try:
        yield
    except KeyboardInterrupt:
        if results is not None:
            complain(f"interrupted; what is done is kept in {results}, and the same command goes on from there")
        raise
