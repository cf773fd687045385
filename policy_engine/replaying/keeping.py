"""Results of replays in a file, so that an interrupted sweep goes on where it ended.

A line of JSON for each replay, with a key made of all that decides its result: the policy, the jobs, the options, and
the engine's version. One file may hold the results of many sweeps; where nothing has changed, nothing is run again.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, Final

from pydantic import TypeAdapter

from policy_engine._version import __version__
from policy_engine.errors import InputError
from policy_engine.policy import Policy
from policy_engine.replaying.outcome import Outcome
from policy_engine.replaying.replay import ReplayOptions
from policy_engine.scheduler.jobs import Job
from policy_engine.workload.history import History

_FORMAT: Final = 1
"""Of the lines; results of another one are not found."""
_OUTCOME: Final = TypeAdapter(Outcome)


class Results:
    """The results in one file. Raises InputError where it cannot be read or written, or holds something else."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._found: dict[str, Outcome] = {}
        self._read()

    def get(self, key: str) -> Outcome | None:
        """The result of that key, if it is there."""
        return self._found.get(key)

    def add(self, key: str, outcome: Outcome) -> None:
        """Keep a result. It is in the file when this returns."""
        self._found[key] = outcome
        line = f'{{"key":"{key}","result":{_OUTCOME.dump_json(outcome).decode()}}}\n'
        try:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(line)
        except OSError as error:
            raise self._error(f"results cannot be kept: {_reason(error)}") from error

    def _read(self) -> None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.touch()
            text = self.path.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise self._error("not a file of results") from error
        except OSError as error:
            raise self._error(f"results cannot be kept: {_reason(error)}") from error
        whole, end, cut = text.rpartition("\n")
        for number, line in enumerate(whole.splitlines() if end else (), start=1):
            self._read_line(number, line)
        if cut:
            self._drop(whole + end, cut)

    def _read_line(self, number: int, line: str) -> None:
        try:
            found = json.loads(line)
            key, result = found["key"], found["result"]
            self._found[key] = _OUTCOME.validate_python(result)
        except (ValueError, KeyError, TypeError) as error:
            raise InputError("not a result that a sweep has kept", file=str(self.path), line=number) from error

    def _drop(self, whole: str, cut: str) -> None:
        """The last line is a part of one, where the program was killed while it wrote."""
        if not cut.startswith('{"key":"'[: len(cut)]):
            raise self._error("not a file of results")
        self.path.write_text(whole, encoding="utf-8")

    def _error(self, message: str) -> InputError:
        return InputError(message, file=str(self.path))


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()


# --- keys ------------------------------------------------------------------------------------------


def digest(history: History) -> str:
    """Of all that a replay takes from the history."""
    found = hashlib.sha256()
    for job in history.jobs:
        found.update(repr(_content(job)).encode())
    return found.hexdigest()


def _content(job: Job) -> tuple[Any, ...]:
    demand = sorted(job.demand.items())
    rest = job.attempts, job.preemption_retries, job.timeout, job.checkpoint_every, job.exit.value, job.started
    return job.name, job.share, demand, job.priority, float(job.submit), job.duration, job.shortest, *rest


def key(policy: Policy, history: str, options: ReplayOptions, copy: tuple[int, int, float] | None) -> str:
    """Of the result of one replay.

    ``history`` is the history's digest, ``copy`` the seed, number and seconds of a perturbed one. The order of the
    shares counts (C1 ``declared``); the name of the queue and findings that are ignored do not.
    """
    declared = policy.document()
    for name in ("queue", "ignore"):
        declared.pop(name, None)
    rest = repr(options.timing), repr(options.choices), options.warm_up
    content = json.dumps([_FORMAT, __version__, declared, history, rest, copy])
    return hashlib.sha256(content.encode()).hexdigest()
