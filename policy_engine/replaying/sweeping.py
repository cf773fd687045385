"""Many replays at once: of many policies, many histories, and many perturbed copies of each.

Every replay is told by its policy, its history and the number of its copy alone, so that the results are the same
wherever they are made: in one process, on all cores, on a cluster, or taken from a file of an earlier sweep.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from random import Random
from statistics import fmean, pstdev
from typing import TYPE_CHECKING, Any, Final

from policy_engine.errors import InputError, UndecidedError
from policy_engine.outcome.measures import Measures
from policy_engine.policy import Policy
from policy_engine.replaying.outcome import Outcome, OutcomeWithRows
from policy_engine.replaying.replay import ReplayOptions, ReplayResult, replay
from policy_engine.replaying.workers import Each, workers
from policy_engine.workload.history import History

if TYPE_CHECKING:
    from policy_engine.replaying.keeping import Results

SHAKE_SECONDS: Final = 60.0
"""Every submission of a perturbed copy is moved by up to so many seconds, to either side."""

Tell = Callable[[], None]
"""Called after each replay."""


@dataclass(frozen=True)
class Spreading:
    """Where many replays are made, and where their results are kept. None of it changes a result."""

    workers: int | None = None
    """Processes on this machine; None is one for each core."""
    dask: str | Any | None = None
    """Address of a Dask scheduler, or a ``distributed.Client``: the replays are made there."""
    results: Path | str | None = None
    """A file that results are kept in as they come, and taken from where they are there."""


@dataclass(frozen=True, slots=True)
class Case:
    """One replay of a sweep."""

    policy: str
    """Names, as the sweep was given them."""
    history: str
    copy: int = 0
    """0 is the history as it was recorded, others are its perturbed copies."""


@dataclass(frozen=True, slots=True)
class Swept:
    """What one replay came to."""

    case: Case
    outcome: Outcome

    @property
    def measures(self) -> Measures:
        """From the end of the warm-up to the end of the run."""
        return self.outcome.measures


@dataclass(frozen=True, slots=True)
class Spread:
    """One number over many replays."""

    mean: float
    deviation: float
    """Standard deviation over the replays."""
    least: float
    most: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """The spread of at least one value."""
        return cls(fmean(values), pstdev(values), min(values), max(values))


@dataclass(frozen=True)
class Sweep:
    """Many replays."""

    policies: Mapping[str, Policy]
    histories: Mapping[str, History]
    options: ReplayOptions
    shakes: int
    """Perturbed copies of each history."""
    seed: int
    seconds: float
    """Every submission of a copy was moved by up to so many."""
    runs: tuple[Swept, ...]
    """Policy by policy, of each history by history, of each the recorded one and then its copies."""

    def of(self, policy: str, history: str) -> tuple[Swept, ...]:
        """The replays of one policy and one history, the recorded one first."""
        return tuple(run for run in self.runs if (run.case.policy, run.case.history) == (policy, history))


def sweep(
    policies: Mapping[str, Policy],
    histories: Mapping[str, History],
    options: ReplayOptions | None = None,
    *,
    shakes: int = 0,
    seed: int = 0,
    seconds: float = SHAKE_SECONDS,
    spreading: Spreading | None = None,
    tell: Tell | None = None,
) -> Sweep:
    """Replay every history, and ``shakes`` perturbed copies of it, under every policy.

    Args:
        policies: by name.
        histories: by name; from ``read_history``.
        options: of every replay; None for the defaults.
        shakes: perturbed copies of each history.
        seed: of the copies.
        seconds: every submission of a copy is moved by up to so many.
        spreading: where the replays are made and kept; None: on all cores, and nowhere.
        tell: called after each replay.

    Raises:
        InputError: a policy has no place for any of the jobs, a cluster cannot be reached, or a file cannot be used.
        UndecidedError: by the documented rules a replay has no end.
    """
    options = ReplayOptions() if options is None else options
    cases = [Case(policy, history, n) for policy in policies for history in histories for n in range(shakes + 1)]
    with replays(histories, options, seed=seed, seconds=seconds, spreading=spreading) as run:
        outcomes = run([(policies[case.policy], case.history, case.copy) for case in cases], tell)
    runs = tuple(Swept(case, _expected(case, made, histories)) for case, made in zip(cases, outcomes, strict=True))
    return Sweep(policies, histories, options, shakes, seed, seconds, runs)


def _expected(case: Case, made: Outcome | Refused, histories: Mapping[str, History]) -> Outcome:
    if isinstance(made, Outcome):
        return made
    what = f"policy {case.policy}: {made.message}"
    raise made.kind(what, file=histories[case.history].source)


# --- replays of some histories under any policy ------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Refused:
    """A replay that cannot be made."""

    kind: type[InputError | UndecidedError]
    message: str


Rows = Callable[[str, ReplayResult], Iterable[str]]
"""Makes the rows of a replay, which it is given with a name; it goes to the workers."""
Wanted = tuple[Policy, str, int]
"""A policy, the name of a history, and the number of its copy; 0 is the recorded one."""
Replays = Callable[[Sequence[Wanted], "Tell | None"], "list[Outcome | Refused]"]
"""Makes the replays, and gives what they came to in the order in which they were asked for."""


@contextmanager
def replays(
    histories: Mapping[str, History],
    options: ReplayOptions,
    *,
    seed: int = 0,
    seconds: float = SHAKE_SECONDS,
    spreading: Spreading | None = None,
    rows: Rows | None = None,
) -> Iterator[Replays]:
    """Workers that know the histories, to be asked as often as one likes.

    With ``rows``, which makes them of a replay, each outcome is an ``OutcomeWithRows``.
    """
    spreading = Spreading() if spreading is None else spreading
    task = _Task(histories, options, seed, seconds, rows)
    keeping = None if spreading.results is None else _Keeping(task, Path(spreading.results))
    with workers(task, spreading.workers, spreading.dask) as each:
        yield partial(_made, each, keeping)


@dataclass(frozen=True)
class _Task:
    """What a worker is told once."""

    histories: Mapping[str, History]
    options: ReplayOptions
    seed: int
    seconds: float
    rows: Rows | None

    def __call__(self, wanted: Wanted) -> Outcome | Refused:
        """One replay."""
        policy, name, copy = wanted
        history = self.histories[name]
        if copy:
            history = shaken(history, self.seed, copy, self.seconds)
        try:
            result = replay(policy, history, self.options)
        except (InputError, UndecidedError) as error:
            return Refused(type(error), error.message)
        fitted = result.fitted
        left_out = sum(remark.count for remark in fitted.remarks if remark.is_loss)
        if self.rows is not None:
            rows = "".join(f"{row}\n" for row in self.rows(f"copy {copy}", result))
            return OutcomeWithRows(result.measures, len(fitted.never_run), left_out, rows)
        return Outcome(result.measures, len(fitted.never_run), left_out)


class _Keeping:
    """The results that are in a file, by what decides them."""

    def __init__(self, task: _Task, path: Path) -> None:
        from policy_engine.replaying.keeping import Results, digest  # for few

        self.task = task
        self.results: Results = Results(path)
        self.digests = {name: digest(history) for name, history in task.histories.items()}

    def key(self, wanted: Wanted) -> str:
        """Of a replay's result."""
        from policy_engine.replaying.keeping import key

        policy, name, copy = wanted
        perturbed = (self.task.seed, copy, self.task.seconds) if copy else None
        return key(policy, self.digests[name], self.task.options, perturbed)


def _made(
    each: Each[Wanted, Outcome | Refused], keeping: _Keeping | None, wanted: Sequence[Wanted], tell: Tell | None
) -> list[Outcome | Refused]:
    made: list[Outcome | Refused | None] = [None] * len(wanted)
    keys = [None if keeping is None else keeping.key(one) for one in wanted]
    for number, key in enumerate(keys):
        # rows are not kept
        if keeping is not None and key is not None and keeping.task.rows is None:
            made[number] = keeping.results.get(key)
    missing = [number for number, found in enumerate(made) if found is None]
    for _ in range(len(wanted) - len(missing)):
        _told(tell)
    for place, outcome in each([wanted[number] for number in missing]) if missing else ():
        number = missing[place]
        made[number] = outcome
        if keeping is not None and isinstance(outcome, Outcome):
            keeping.results.add(keys[number] or "", outcome)
        _told(tell)
    return [outcome for outcome in made if outcome is not None]


def _told(tell: Tell | None) -> None:
    if tell is not None:
        tell()


def shaken(history: History, seed: int, number: int, seconds: float) -> History:
    """A copy of the history of which every submission is moved by up to so many seconds; never before the first."""
    random = Random(f"{seed}/{number}")  # noqa: S311 - reproducible, not secret
    moved = [(max(0.0, job.submit + random.uniform(-seconds, seconds)), at) for at, job in enumerate(history.jobs)]
    moved.sort()
    jobs = tuple(replace(history.jobs[at], submit=submit) for submit, at in moved)
    return replace(history, jobs=jobs, started=[history.started[at] for _, at in moved])
