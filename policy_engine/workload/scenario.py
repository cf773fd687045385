"""Scenarios: a workload, what happens to the queue meanwhile, and what is expected of it.

``load_scenario`` reads a file; what it says about shares, jobs and instance types is checked against a policy by
``Scenario.workload``. Whatever is wrong is an ``InputError`` that names file, line, column and key.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, Final

from policy_engine.policy import Policy, SharingStrategy, StuckReason, borrow_limit_strategy_problem
from policy_engine.scheduler.choices import Choices
from policy_engine.scheduler.jobs import Exit, Job, Timing, Update, Workload
from policy_engine.scheduler.moves import Chooser
from policy_engine.scheduler.script import Decision, Script
from policy_engine.sources.reading import Document, KeyPath, dotted, read
from policy_engine.sources.validation import validated
from policy_engine.workload.durations import Range, duration_text
from policy_engine.workload.expected import (
    AlwaysExpectation,
    AnyExpectation,
    AtExpectation,
    Expectation,
    JobExpectation,
    NeverExpectation,
    QueueExpectation,
    ShareExpectation,
)
from policy_engine.workload.scenario_file import (
    IN_TIMING,
    Event,
    JobEntry,
    RunningJob,
    ScenarioFile,
    ShareUpdate,
    TimingEntry,
    WaitingJob,
)

MAX_JOBS: Final = 1_000_000
"""Jobs of one scenario: as many as AWS Batch keeps SUBMITTED (UG service_limits)."""


def load_scenario(path: str | Path, policy: Policy | None = None) -> Scenario:
    """The scenario of a YAML or JSON file; with a policy, checked against it too. Raises InputError."""
    document = read(path)
    _check_places(document)
    scenario = Scenario(document, validated(document, ScenarioFile))
    if policy is not None:
        scenario.choices()
        scenario.workload(policy)
    return scenario


def _check_places(document: Document) -> None:
    """Two keys that are easily put in each other's place."""
    for found, name, right in (("choices", IN_TIMING, "timing"), ("timing", "default_priority", "choices")):
        data = document.data.get(found) if isinstance(document.data, dict) else None
        if isinstance(data, dict) and name in data:
            raise document.error((found, name), f"{name!r} is set under {right!r}")


@dataclass(frozen=True)
class Scenario:
    """A scenario that was read and makes sense by itself."""

    document: Document
    """The file, for places."""
    file: ScenarioFile
    """Its contents."""

    @property
    def source(self) -> str:
        """The file's name, as it was given."""
        return self.document.file

    @property
    def expect(self) -> tuple[AnyExpectation, ...]:
        """What is expected, in the order of the file."""
        return self.file.expect

    @property
    def queue(self) -> str | None:
        """Which queue of the policy is meant."""
        return self.file.queue

    @property
    def policy_path(self) -> str | None:
        """The POLICY that the scenario names, resolved against its own folder; None where it names none."""
        policy = self.file.policy
        if policy is None or policy.startswith("queue:"):
            return policy
        return str(Path(self.source).parent / policy)

    def line(self, number: int) -> int:
        """The line, from 1, of an expectation, counted from 0."""
        return self.document.position(("expect", number))[0]

    def choices(self, *, ranges: bool = False) -> Choices:
        """The answers to the open choices. Raises InputError where one is a range (``ranges``: its smaller end)."""
        answers = {name: getattr(self.file.choices, name) for name in type(self.file.choices).model_fields}
        if ranges:
            answers["default_priority"] = self.default_priority[0]
        for name, answer in answers.items():
            self._refuse_range(("choices", name), answer)
        return Choices(**answers)

    def timing(self, *, ranges: bool = False) -> Timing:
        """How long things take. Raises InputError where a time is a range (``ranges``: its larger end)."""
        if ranges:
            return self.timings()[-1]
        times = {name: getattr(self.file.timing, name) for name in TimingEntry.model_fields}
        for name, time in times.items():
            self._refuse_range(("timing", name), time)
        return Timing(**times)

    def timings(self) -> tuple[Timing, ...]:
        """How long things take, with each time that is a range at both of its ends: all smaller ends first."""
        times = {name: _ends(getattr(self.file.timing, name)) for name in TimingEntry.model_fields}
        both: Iterator[dict[str, Any]] = (dict(zip(times, given, strict=True)) for given in product(*times.values()))
        return tuple(Timing(**given) for given in both)

    def workload(self, policy: Policy, *, ranges: bool = False) -> Workload:
        """The jobs and updates, ``running`` first. Raises InputError for what the policy has not got.

        ``ranges``: durations may be ranges; of a time that is one the larger end is taken.
        """
        return _Check(self, policy, ranges=ranges).workload()

    @property
    def default_priority(self) -> tuple[int, int]:
        """The least and the most that the priority may be of a job that states none (C15)."""
        given = self.file.choices.default_priority  # type: ignore[attr-defined]
        return (int(given.least), int(given.most)) if isinstance(given, Range) else (given, given)

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """Moves that the file fixes."""
        return tuple(Decision(entry.at, entry.job, entry.victims) for entry in self.file.decisions)

    def chooser(self, workload: Workload) -> Chooser | None:
        """Makes the moves that the file fixes; None where it fixes none."""
        return Script(self.decisions, workload.jobs) if self.file.decisions else None

    def _refuse_range(self, path: KeyPath, value: object) -> None:
        if isinstance(value, Range):
            raise self.document.error(path, _RANGE)


class _Check:
    """Makes the workload of a scenario under a policy, and refuses what the policy has not got."""

    def __init__(self, scenario: Scenario, policy: Policy, *, ranges: bool) -> None:
        self.file = scenario.file
        self.ranges = ranges
        self.error = scenario.document.error
        self.timing = scenario.timing(ranges=ranges)
        self.policy = policy
        self.units = dict.fromkeys(policy.service_environment.capacity_limits)
        for event in self.file.events:
            changed = event.update_service_environment
            self.units.update(dict.fromkeys((changed and changed.capacity_limits) or ()))
        self.submitted: dict[str, tuple[float, KeyPath]] = {}
        """Job to when it is submitted, and where it stands in the file."""

    def workload(self) -> Workload:
        """The workload. Raises InputError."""
        entries: list[tuple[KeyPath, RunningJob | WaitingJob]] = [
            *((("running", number), entry) for number, entry in enumerate(self.file.running)),
            *((("jobs", number), entry) for number, entry in enumerate(self.file.jobs)),
        ]
        self._check_size(entries)
        jobs = tuple(job for path, entry in entries for job in self._jobs(path, entry))
        updates = tuple(self._updates())
        for number, expectation in enumerate(self.file.expect):
            self._check_expectation(("expect", number), expectation)
        for number, decision in enumerate(self.file.decisions):
            for part, job in [("job", decision.job), *((("victims", n), v) for n, v in enumerate(decision.victims))]:
                place = part if isinstance(part, tuple) else (part,)
                self._known(("decisions", number, *place), "job", job, self.submitted)
        return Workload(jobs, updates, self.timing, self.file.until)

    # --- jobs -----------------------------------------------------------------------------------

    def _check_size(self, entries: Sequence[tuple[KeyPath, JobEntry]]) -> None:
        total = 0
        for path, entry in entries:
            total += entry.copies or 1
            if total > MAX_JOBS:
                raise self.error((*path, "copies"), f"more than {MAX_JOBS:,} jobs, which is as many as a queue takes")

    def _jobs(self, path: KeyPath, entry: RunningJob | WaitingJob) -> Iterator[Job]:
        """The job, or its copies."""
        self._known((*path, "share"), "share", entry.share, self.policy.shares)
        demand = self._demand(path, entry)
        shortest, duration = self._duration(path, entry)
        if entry.exit is Exit.CAPACITY_FAILURE:
            self._check_ends(path, entry)
        first = entry.started if isinstance(entry, RunningJob) else entry.submit
        for copy in range(entry.copies or 1):
            name = entry.name if entry.copies is None else f"{entry.name}-{copy + 1}"
            at = first + copy * (entry.every or 0.0)
            if isinstance(entry, RunningJob) and at > 0:
                raise self.error(
                    (*path, "every"), f"{name!r} would start at {duration_text(at)}, after the run has begun"
                )
            self._check_runs(path, entry, at)
            self._note_name(path, name, at)
            yield Job(
                name=name,
                share=entry.share,
                demand=demand,
                priority=entry.priority,
                submit=at,
                duration=duration,
                shortest=shortest,
                attempts=entry.attempts,
                preemption_retries=entry.preemption_retries,
                timeout=entry.timeout,
                checkpoint_every=entry.checkpoint_every,
                exit=entry.exit,
                started=at if isinstance(entry, RunningJob) else None,
            )

    def _duration(self, path: KeyPath, entry: JobEntry) -> tuple[float | None, float | None]:
        """The least (of a range alone) and the most seconds of its work."""
        if not isinstance(entry.duration, Range):
            return None, entry.duration
        if not self.ranges:
            raise self.error((*path, "duration"), _RANGE)
        return entry.duration.least, entry.duration.most

    def _check_ends(self, path: KeyPath, entry: JobEntry) -> None:
        """A job that never finds capacity is retried without using an attempt (R15): something else has to end it."""
        if entry.duration == 0:
            raise self.error((*path, "duration"), "an attempt that finds no capacity takes time; give more than 0")
        stuck = StuckReason.INSUFFICIENT_INSTANCE_CAPACITY
        limited = any(limit.reason is stuck for limit in self.policy.job_state_time_limits)
        if self.file.until is None and not limited:
            remedy = f"give 'until', or a job_state_time_limit for {stuck} in the policy"
            raise self.error((*path, "exit"), f"{entry.exit} is retried without end; {remedy}")

    def _check_runs(self, path: KeyPath, entry: RunningJob | WaitingJob, at: float) -> None:
        """A job of ``running`` still runs when the scenario begins."""
        for key in ("duration", "timeout"):
            given = getattr(entry, key)
            seconds = given.most if isinstance(given, Range) else given
            if seconds is not None and at + seconds < 0:
                ended = duration_text(at + seconds)
                raise self.error((*path, key), f"the job has ended at {ended}, before the run begins")

    def _note_name(self, path: KeyPath, name: str, at: float) -> None:
        if name in self.submitted:
            first = dotted(self.submitted[name][1])
            raise self.error((*path, "name"), f"the job name {name!r} is taken by {first}; names are unique")
        self.submitted[name] = (at, path)

    def _demand(self, path: KeyPath, entry: JobEntry) -> Mapping[str, int]:
        """Instance type to instances."""
        if entry.instance_groups is None:
            return {self._unit(path, entry.instance_type): entry.instance_count}
        demand: dict[str, int] = {}
        for number, group in enumerate(entry.instance_groups):
            unit = self._unit((*path, "instance_groups", number), group.instance_type)
            demand[unit] = demand.get(unit, 0) + group.instance_count
        return demand

    def _unit(self, path: KeyPath, unit: str | None) -> str:
        path = (*path, "instance_type")
        if unit is not None:
            self._known(path, "instance type", unit, self.units, "in the service environment")
            return unit
        if len(self.units) != 1:
            raise self.error(path, f"is needed where there are several: {', '.join(self.units)}")
        return next(iter(self.units))

    # --- events ---------------------------------------------------------------------------------

    def _updates(self) -> Iterator[Update]:
        """In the order of the file; checked in the order of time, in which they apply."""
        strategies = {name: share.strategy for name, share in self.policy.shares.items()}
        for number, event in sorted(enumerate(self.file.events), key=lambda numbered: numbered[1].at):
            self._check_event(("events", number), event, strategies)
        return (event.update() for event in self.file.events)

    def _check_event(self, path: KeyPath, event: Event, strategies: dict[str, SharingStrategy]) -> None:
        path = (*path, event.verb)
        for named in (event.update_priority, event.terminate):
            if named is not None:
                self._check_submitted((*path, "job"), named.job, event.at)
        for change in (event.update_share, event.delete_share):
            if change is not None:
                self._known((*path, "share"), "share", change.share, self.policy.shares)
                if change.share not in strategies:
                    raise self.error((*path, "share"), f"the share {change.share!r} has been deleted by then")
        if event.update_share is not None:
            self._check_share_update(path, event.update_share, strategies)
        if event.delete_share is not None:
            del strategies[event.delete_share.share]

    def _check_submitted(self, path: KeyPath, job: str, at: float) -> None:
        self._known(path, "job", job, self.submitted)
        submitted = self.submitted[job][0]
        if submitted > at:
            raise self.error(
                path, f"{job!r} is not submitted before {duration_text(submitted)}, after {duration_text(at)}"
            )

    def _check_share_update(self, path: KeyPath, update: ShareUpdate, strategies: dict[str, SharingStrategy]) -> None:
        for unit in update.capacity_limits or ():
            self._known(
                (*path, "capacity_limits", unit), "instance type", unit, self.units, "in the service environment"
            )
        if update.strategy is not None:
            strategies[update.share] = update.strategy
        if update.borrow_limit is not None:
            problem = borrow_limit_strategy_problem(strategies[update.share])
            if problem is not None:
                raise self.error((*path, "borrow_limit"), problem)

    # --- expectations ---------------------------------------------------------------------------

    def _check_expectation(self, path: KeyPath, expectation: Expectation) -> None:
        """An expectation about a job or share that does not exist is an error."""
        for part, job in jobs_named(expectation):
            self._known((*path, *part), "job", job, self.submitted)
        for part, share in shares_named(expectation):
            self._known((*path, *part), "share", share, self.policy.shares)
        queue = expectation.queue if isinstance(expectation, QueueExpectation) else None
        if isinstance(queue, str) and self.policy.queue is not None:
            self._known((*path, "queue"), "queue", queue, [self.policy.queue])

    def _known(self, path: KeyPath, what: str, name: str, known: Collection[str], where: str = "") -> None:
        if name in known:
            return
        nearest = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
        shown = [*known][:_NAMES_SHOWN] + ["..."] * (len(known) > _NAMES_SHOWN)
        hint = f"did you mean {nearest[0]!r}?" if nearest else f"there is {', '.join(shown) or 'none'}"
        raise self.error(path, f"no {what} {name!r}{where and ' '}{where}; {hint}")


_NAMES_SHOWN: Final = 10
_RANGE: Final = "a range is for verify --all-choices; give one value"


def _ends(time: float | Range | None) -> tuple[float | None, ...]:
    """Both ends of a range; else the time alone."""
    if not isinstance(time, Range):
        return (time,)
    return (time.least,) if time.least == time.most else (time.least, time.most)


def jobs_named(expectation: Expectation) -> Iterator[tuple[KeyPath, str]]:
    """Every job that an expectation names, and where in it."""
    if isinstance(expectation, AtExpectation):
        for state, jobs in expectation.states.items():
            for number, job in enumerate(jobs):
                yield (state, number), job
    elif isinstance(expectation, JobExpectation):
        yield ("job",), expectation.job
        if expectation.by is not None:
            yield ("by",), expectation.by


def shares_named(expectation: Expectation) -> Iterator[tuple[KeyPath, str]]:
    """Every share that an expectation names, and where in it."""
    if isinstance(expectation, ShareExpectation):
        yield ("share",), expectation.share
    elif isinstance(expectation, AlwaysExpectation) and expectation.always.share is not None:
        yield ("always", "share"), expectation.always.share
    elif isinstance(expectation, NeverExpectation) and expectation.never.share is not None:
        yield ("never", "share"), expectation.never.share
