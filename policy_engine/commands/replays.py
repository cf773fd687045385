"""What the commands that replay histories have in common: options, and what they come to."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from policy_engine.commands.options import duration
from policy_engine.errors import visible
from policy_engine.program import complain

if TYPE_CHECKING:
    from policy_engine.replaying import ReplayOptions, Spreading
    from policy_engine.workload.history import History

FILE: Final = click.Path(path_type=Path, dir_okay=False)

READING: Final[Mapping[str, Mapping[str, Any]]] = {
    "--map": {"type": FILE, "metavar": "FILE", "help": "Teams to shares, GPUs to instance types, and so on."},
    "--strict": {"is_flag": True, "help": "It is an error that a job is left out."},
    "--stop-seconds": {
        "callback": duration,
        "default": "20",
        "show_default": True,
        "metavar": "S",
        "help": "From a preemption to the release of its capacity.",
    },
    "--checkpoint-every": {"callback": duration, "metavar": "TIME", "help": "Jobs save their work so often."},
    "--warm-up": {
        "callback": duration,
        "default": "0",
        "metavar": "TIME",
        "help": "Run this much of the history, such as 21d, without measuring it.",
    },
}
"""How a history is read and replayed."""

SHAKING: Final[Mapping[str, Mapping[str, Any]]] = {
    "--shake": {
        "type": click.IntRange(min=0),
        "default": 0,
        "metavar": "N",
        "help": "Replay N perturbed copies too, and show the spread.",
    },
    "--seed": {"type": int, "default": 0, "metavar": "N", "help": "Of --shake."},
}

ANONYMISE: Final[Mapping[str, Mapping[str, Any]]] = {
    "--anonymise": {"is_flag": True, "help": "Replace the names of jobs, teams and files everywhere."}
}

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


@dataclass(frozen=True)
class Reading:
    """The values of ``READING``."""

    map: Path | None
    strict: bool
    stop_seconds: float
    checkpoint_every: float | None
    warm_up: float


@dataclass(frozen=True)
class Making:
    """The values of ``SPREADING``."""

    workers: int | None
    dask: str | None
    results: Path | None


def history_of(path: str, asked: Reading) -> History:
    """The history in the file."""
    from policy_engine.workload.history import load_map, read_history

    return read_history(path, None if asked.map is None else load_map(asked.map), strict=asked.strict)


def options_of(asked: Reading) -> ReplayOptions:
    """How it is replayed."""
    from policy_engine.replaying import ReplayOptions
    from policy_engine.scheduler.jobs import Timing

    timing = Timing(stop_seconds=asked.stop_seconds, checkpoint_every=asked.checkpoint_every or None)
    return ReplayOptions(timing, warm_up=asked.warm_up, strict=asked.strict)


def tell_losses(history: History) -> None:
    """Say on standard error what the reader left out."""
    for remark in history.remarks:
        if remark.is_loss:
            complain(f"left out: {visible(remark.text)}")


def spreading_of(asked: Making) -> Spreading:
    """Where the replays are made."""
    from policy_engine.replaying import Spreading

    return Spreading(asked.workers, asked.dask, asked.results)


@contextmanager
def told_when_interrupted(results: Path | None) -> Iterator[None]:
    """Where there is a file of results, an interrupt loses nothing that is done, and that is said."""
    try:
        yield
    except KeyboardInterrupt:
        if results is not None:
            complain(f"interrupted; what is done is kept in {results}, and the same command goes on from there")
        raise
