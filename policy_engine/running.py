"""Runs a scenario under a policy, wherever the two come from: ``simulate``, ``verify``, ``explain``, ``compare``."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from math import nextafter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from policy_engine import expectations
from policy_engine.errors import InputError, UndecidedError
from policy_engine.expectations import Answer, Verdict, Verification
from policy_engine.outcome import (
    JobOutcome,
    QueueOutcome,
    ShareOutcome,
    job_outcomes,
    queue_outcome,
    share_outcomes,
)
from policy_engine.policy import MAX_PRIORITY, Policy
from policy_engine.scheduler.choices import Choices
from policy_engine.scheduler.endless import TooManyMovesError
from policy_engine.scheduler.jobs import Timing, Workload
from policy_engine.simulation import Run
from policy_engine.simulation import simulate as run_workload
from policy_engine.sources import Kind, Source, load
from policy_engine.sources.document import declaration_of
from policy_engine.workload.durations import duration_text
from policy_engine.workload.expected import NeverExpectation
from policy_engine.workload.scenario import Scenario, load_scenario

if TYPE_CHECKING:
    # what other commands do without
    from policy_engine.comparison import Comparison, FailOn
    from policy_engine.explaining import Explanation
    from policy_engine.replaying import ReplayOptions
    from policy_engine.report.proof import ProofReport
    from policy_engine.workload.history import History

# Reports take longer to load than a scenario takes to run, so they are loaded where one is written.

PolicySource: TypeAlias = str | Path | Source | Policy
"""A path (cloud assembly, template or document), what was read from one, or a policy."""

MAX_STATES: Final = 1_000_000
MAX_SECONDS: Final = 60.0
"""Bounds of each exploration, where none are given."""


def _silent(_: str) -> None:
    """Nobody is told how far it is."""


@dataclass(frozen=True, slots=True)
class SimulationResult:
    """What happened; nothing is judged."""

    source: Source
    """Where the policy was read from."""
    scenario: Scenario
    run: Run
    """The log is ``run.log``."""

    @property
    def jobs(self) -> tuple[JobOutcome, ...]:
        """What became of every job."""
        return job_outcomes(self.run)

    @property
    def shares(self) -> tuple[ShareOutcome, ...]:
        """What it came to for every share and instance type."""
        return share_outcomes(self.run)

    @property
    def queue(self) -> QueueOutcome:
        """What it came to for the queue."""
        return queue_outcome(self.run)

    def to_dict(self) -> dict[str, Any]:
        """The result as the data of its JSON."""
        from policy_engine.report.simulation import SimulationReport

        return SimulationReport(self.source, self.scenario.source, self.run).data()

    def to_json(self) -> str:
        """The result as JSON."""
        from policy_engine.report import json

        return json.text(self.to_dict())


@dataclass(frozen=True, slots=True)
class VerificationResult(SimulationResult):
    """What happened, and every expectation judged."""

    expectations: tuple[Verdict, ...]
    """In the order of the scenario."""
    open_choices: tuple[str, ...] | None = None
    """The choices that were answered in every way; None: each in one. ``run`` is the run of the default answers."""

    @property
    def verdict(self) -> Answer:
        """The worst of all: ``holds``, ``fails``, ``depends`` or ``undecided``."""
        return self.verification.verdict

    @property
    def failed(self) -> tuple[Verdict, ...]:
        """The expectations that do not hold."""
        return tuple(verdict for verdict in self.expectations if verdict.verdict is not Answer.HOLDS)

    @property
    def verification(self) -> Verification:
        """The same without its source."""
        return Verification(self.run.policy, self.scenario, self.run, self.expectations, self.open_choices)

    def to_dict(self) -> dict[str, Any]:
        """The result as the data of its JSON."""
        from policy_engine.report.verification import VerificationReport, Verified

        return VerificationReport([Verified(self.source, self.verification)]).data()


def simulate(
    policy: PolicySource | None,
    scenario: str | Path | Scenario,
    *,
    queue: str | None = None,
    parameters: Mapping[str, str] | None = None,
) -> SimulationResult:
    """Run the scenario under the policy; what it expects is not judged.

    Args:
        policy: where the policy comes from, or the policy; None for the one that the scenario names.
        scenario: a scenario, or its file.
        queue: name, logical id or construct path of the queue, where the source has several and the scenario names
            none.
        parameters: values of a template's parameters; only where ``policy`` is a path.

    Raises:
        InputError: the policy or the scenario cannot be read, or they do not fit each other.
        UndecidedError: by the documented rules jobs stop each other over and over, and the run has no end.
    """
    source, ready, read = _opened(policy, scenario, queue, parameters)
    workload, choices = read.workload(ready), read.choices()
    with _undecided_without_end(read.source):
        run = run_workload(ready, workload, choices, chooser=read.chooser(workload))
    return SimulationResult(source, read, run)


@dataclass(frozen=True, slots=True)
class ExplanationResult(SimulationResult):
    """What became of one job, and why."""

    explanation: Explanation

    def to_dict(self) -> dict[str, Any]:
        """The result as the data of its JSON."""
        from policy_engine.report.explanation import ExplanationReport

        return ExplanationReport(self.source, self.scenario.source, self.explanation).data()


def explain(
    policy: PolicySource | None,
    scenario: str | Path | Scenario,
    *,
    job: str,
    at: float | None = None,
    queue: str | None = None,
    parameters: Mapping[str, str] | None = None,
) -> ExplanationResult:
    """Run the scenario and say why a job waits, why it was preempted, why nobody was stopped for it.

    Args:
        policy: as in ``simulate``.
        scenario: as in ``simulate``.
        job: the job's name.
        at: seconds from the scenario's zero, within the run; None for the whole life of the job.
        queue: as in ``simulate``.
        parameters: as in ``simulate``.

    Raises:
        InputError: as in ``simulate``; there is no such job, or the time is outside the run.
        UndecidedError: as in ``simulate``.
    """
    from policy_engine.explaining import explain as explain_run

    result = simulate(policy, scenario, queue=queue, parameters=parameters)
    read, run = result.scenario, result.run
    _check_asked(read.source, run, job, at)
    explanation = explain_run(run, job, at, read.chooser(run.workload))
    return ExplanationResult(result.source, read, run, explanation)


_NAMES_SHOWN: Final = 10


def _check_asked(file: str, run: Run, job: str, at: float | None) -> None:
    """Raises InputError for a job or a time that the run has not got."""
    names = [one.name for one in run.workload.jobs]
    if job not in names:
        nearest = get_close_matches(job, names, n=1, cutoff=0.5)
        shown = ", ".join(names[:_NAMES_SHOWN] + ["..."] * (len(names) > _NAMES_SHOWN))
        hint = f"did you mean {nearest[0]!r}?" if nearest else f"there is {shown or 'none'}"
        raise InputError(f"no job {job!r}; {hint}", file=file, key="job")
    if at is not None and not 0 <= at <= run.end:
        span = f"0s to {duration_text(run.end)}"
        raise InputError(f"{duration_text(at)} is outside the run; {span} is allowed", file=file, key="at")


def verify(
    policy: PolicySource | None,
    scenario: str | Path | Scenario,
    *,
    queue: str | None = None,
    parameters: Mapping[str, str] | None = None,
    all_choices: bool = False,
    open: Sequence[str] | None = None,  # noqa: A002 - what the command line calls it
    max_states: int = MAX_STATES,
    max_seconds: float = MAX_SECONDS,
    rests_on: bool = True,
    progress: Callable[[str], None] = _silent,
) -> VerificationResult:
    """Run the scenario under the policy and judge everything that it expects.

    Args:
        policy: as in ``simulate``.
        scenario: as in ``simulate``.
        queue: as in ``simulate``.
        parameters: as in ``simulate``.
        all_choices: judge every schedule that AWS's documentation allows: choices that the scenario does not answer
            are answered in every way, and jobs without a duration, or with a range of them, end at any time.
        open: the same with these choices alone open.
        max_states: states to look at for each expectation before it is ``undecided``.
        max_seconds: seconds to look for each expectation before it is ``undecided``.
        rests_on: say which open choices each verdict rests on, for which the scenario is run some twenty times more.
        progress: told what is looked at, in words.

    Raises:
        InputError: as in ``simulate``; the scenario expects nothing; ``open`` names no choice; an expectation cannot
            be judged over every schedule.
        UndecidedError: as in ``simulate``.
    """
    source, ready, read = _opened(policy, scenario, queue, parameters)
    with _undecided_without_end(read.source):
        if all_choices or open is not None:
            return _explored(source, ready, read, open, max_states, max_seconds, progress)
        verification = expectations.verify(ready, read, rests_on=rests_on)
    return VerificationResult(source, read, verification.run, verification.verdicts)


def _explored(
    source: Source,
    policy: Policy,
    scenario: Scenario,
    asked: Sequence[str] | None,
    max_states: int,
    max_seconds: float,
    progress: Callable[[str], None],
) -> VerificationResult:
    """Every expectation judged over every schedule, beside the run of the default answers."""
    from policy_engine.proving import explore, open_names
    from policy_engine.proving.verdicts import verdict

    opened = _open_names(asked, scenario.file.choices.model_fields_set, open_names)
    workload, choices = scenario.workload(policy, ranges=True), scenario.choices(ranges=True)
    expectations.require_some(scenario)
    if scenario.file.decisions:
        raise scenario.document.error(("decisions",), "fixes moves, so there is one schedule; leave --all-choices out")
    run = _run_before_a_circle(policy, workload, choices)
    found: list[Verdict] = []
    explorations = explore(policy, scenario, opened, max_states=max_states, max_seconds=max_seconds)
    for number in range(len(scenario.expect)):
        progress(f"{scenario.source}: expectation {number + 1} of {len(scenario.expect)}")
        written = scenario.document.data["expect"][number]
        try:
            exploration = next(explorations)
        except InputError as error:
            raise scenario.document.error(("expect", number), error.message) from error
        line = scenario.line(number)
        found.append(verdict(exploration, run, written=written, file=scenario.source, line=line))
    return VerificationResult(source, scenario, run, tuple(found), opened)


def _run_before_a_circle(policy: Policy, workload: Workload, choices: Choices) -> Run:
    """The run of these answers; where jobs stop each other without end, as far as it goes before that."""
    try:
        return run_workload(policy, workload, choices)
    except TooManyMovesError as error:
        before = nextafter(error.since, 0.0)
        if before < error.since:
            return run_workload(policy, replace(workload, until=before), choices)
        return run_workload(policy, replace(workload, jobs=(), updates=(), until=0.0), choices)


def undecided(
    policy: PolicySource | None,
    scenario: str | Path | Scenario,
    error: UndecidedError,
    *,
    queue: str | None = None,
    parameters: Mapping[str, str] | None = None,
) -> VerificationResult:
    """The result for a scenario whose verification ended with this error: nothing that it expects is decided."""
    source, ready, read = _opened(policy, scenario, queue, parameters)
    run = _run_before_a_circle(ready, read.workload(ready, ranges=True), read.choices(ranges=True))
    verdicts = tuple(
        Verdict(
            name=wanted.name if wanted.name is not None else expectations.describe(wanted, run),
            verdict=Answer.UNDECIDED,
            message=error.message,
            because=wanted.because,
            file=read.source,
            line=read.line(number),
        )
        for number, wanted in enumerate(read.expect)
    )
    return VerificationResult(source, read, run, verdicts)


def _open_names(
    asked: Sequence[str] | None, given: Collection[str], names: Callable[..., tuple[str, ...]]
) -> tuple[str, ...]:
    try:
        return names(asked, given)
    except ValueError as error:
        raise InputError(str(error), key="open") from error


@dataclass(frozen=True, slots=True)
class ProofResult:
    """A property judged over every workload of so many jobs."""

    report: ProofReport = field(repr=False)

    @property
    def verdict(self) -> Answer:
        """``holds``, ``fails``, ``depends`` or ``undecided``."""
        return self.report.verdict

    @property
    def property(self) -> Verdict:
        """The verdict with what it hinges on and what breaks it."""
        return self.report.judged

    def to_dict(self) -> dict[str, Any]:
        """The result as the data of its JSON."""
        return self.report.data()

    def to_json(self) -> str:
        """The result as JSON."""
        from policy_engine.report import json

        return json.text(self.to_dict())


def prove(
    policy: PolicySource,
    property: str,  # noqa: A002 - what the command line calls it
    *,
    jobs: int,
    sizes: Sequence[int] = (1,),
    priorities: Sequence[int] = (0,),
    open: Sequence[str] | None = None,  # noqa: A002
    choices: Choices | None = None,
    stop_seconds: float = 0.0,
    queue: str | None = None,
    parameters: Mapping[str, str] | None = None,
    max_states: int = MAX_STATES,
    max_seconds: float = MAX_SECONDS,
) -> ProofResult:
    """Judge a property over every workload of up to so many jobs, and every schedule of it.

    Args:
        policy: as in ``simulate``.
        property: ``within_bounds``, ``reserve_never_lent``, ``owner_reclaims``, ``no_futile_preemption``,
            ``no_preemption_cycle``; with a value ``owner_reclaims=2m``, ``disruption_ratio=2``, ``starts_within=10m``.
        jobs: the most jobs of a workload; they come to any share at any time and end at any time.
        sizes: instances of a job.
        priorities: of a job.
        open: the choices that are answered in every way; None for all of them.
        choices: answers to the others.
        stop_seconds: from a preemption to the release of its capacity.
        queue: as in ``simulate``.
        parameters: as in ``simulate``.
        max_states: states to look at before it is ``undecided``.
        max_seconds: seconds to look before it is ``undecided``.

    Raises:
        InputError: the policy cannot be read; there is no such property or choice; a number is out of range.
    """
    from policy_engine.proving import open_names
    from policy_engine.proving import prove as explored
    from policy_engine.proving.properties import property_of
    from policy_engine.proving.verdicts import verdict
    from policy_engine.report.proof import ProofReport, Workloads

    try:
        wanted = property_of(property)
    except ValueError as error:
        raise InputError(str(error), key="property") from error
    _check_numbers(jobs=(1, None, [jobs]), sizes=(1, None, sizes), priorities=(0, MAX_PRIORITY, priorities))
    source = _source(policy, parameters)
    ready = source.queue(queue).policy()
    if isinstance(wanted, NeverExpectation) and wanted.never.share not in (None, *ready.shares):
        raise InputError(f"no share {wanted.never.share!r}; there is {', '.join(ready.shares)}", key="property")
    opened = _open_names(open, (), open_names)
    answers, timing = choices or Choices(), Timing(stop_seconds=stop_seconds)
    with _undecided_without_end(source.name):
        found = explored(
            ready,
            wanted,
            opened,
            answers,
            jobs=jobs,
            sizes=sizes,
            priorities=priorities,
            stop_seconds=stop_seconds,
            max_states=max_states,
            max_seconds=max_seconds,
        )
    broken = None if found.counterexample is None else found.counterexample.run
    named = broken or run_workload(ready, Workload((), timing=timing), answers)
    workloads = Workloads(jobs, tuple(sizes), tuple(priorities))
    shown = verdict(found, named)
    return ProofResult(ProofReport(source, ready, workloads, shown, opened, answers, timing, broken))


@dataclass(frozen=True, slots=True)
class ComparisonResult:
    """What a change does, and for whom."""

    comparison: Comparison

    @property
    def words(self) -> dict[str, str]:
        """Share to ``same``, ``better``, ``worse`` or ``mixed``; a share that was renamed has its old name."""
        return {share.name: share.word.value for share in self.comparison.shares}

    @property
    def is_destructive(self) -> bool:
        """Does it end jobs, or is it refused, and nobody accepted that?"""
        return bool(self.comparison.destructive)

    def failed(self, fail_on: FailOn | str = "worse") -> bool:
        """Is it ``worse`` or ``destructive``? The command exits with 1 then.

        Raises InputError where it cannot be said, as a value is unknown until deployment.
        """
        from policy_engine.comparison import FailOn

        return self.comparison.failed(FailOn(fail_on))

    def to_dict(self, fail_on: FailOn | str | None = None) -> dict[str, Any]:
        """The result as the data of its JSON."""
        from policy_engine.comparison import FailOn
        from policy_engine.report.comparison import ComparisonReport

        return ComparisonReport(self.comparison, None if fail_on is None else FailOn(fail_on)).data()

    def to_json(self) -> str:
        """The result as JSON."""
        from policy_engine.report import json

        return json.text(self.to_dict())


def compare(
    old: PolicySource,
    new: PolicySource,
    *,
    scenario: str | Path | Scenario | None = None,
    history: str | Path | History | None = None,
    replaying: ReplayOptions | None = None,
    held: Scenario | None = None,
    intends: Sequence[str] = (),
    choices: Choices | None = None,
    queue: str | None = None,
    new_queue: str | None = None,
    parameters: Mapping[str, str] | None = None,
    progress: Callable[[str, float], None] | None = None,
) -> ComparisonResult:
    """Say what changes from one policy to another, what that ends, and who loses by it.

    Args:
        old: the policy as it is: as in ``simulate``.
        new: the policy as it is to be.
        scenario: jobs to run under both.
        history: real jobs to replay under both.
        replaying: how; None for the defaults of ``replay``.
        held: the jobs that the queue holds now, for what becomes of them.
        intends: names of the shares that the change is meant for; none: all whose declaration changes.
        choices: answers to the open choices; None for the scenario's, or else the defaults.
        queue: name, logical id or construct path of the queue in both, where there are several.
        new_queue: the same in ``new`` alone.
        parameters: values of the templates' parameters; each goes to the template that has it.
        progress: told what is done, and the part of it that is done.

    Raises:
        InputError: a source cannot be read; there are several queues; a share is intended that neither has; jobs are
            given and a policy has an unknown value or no place for them.
        UndecidedError: as in ``simulate``.
    """
    from policy_engine.comparison import Asked, compare_sources
    from policy_engine.replaying import ReplayOptions
    from policy_engine.workload.history import read_history

    sources = _two_sources(old, new, parameters or {})
    asked = Asked(
        choices,
        tuple(intends),
        load_scenario(scenario) if isinstance(scenario, str | Path) else scenario,
        read_history(history) if isinstance(history, str | Path) else history,
        replaying or ReplayOptions(),
        held,
    )
    return ComparisonResult(compare_sources(*sources, asked, queue=queue, new_queue=new_queue, progress=progress))


def _two_sources(old: PolicySource, new: PolicySource, parameters: Mapping[str, str]) -> tuple[Source, Source]:
    """Both read, each with the parameters that it has. Raises InputError for one that neither has."""
    sources: list[Source] = []
    refused: list[dict[str, InputError]] = []
    for policy in (old, new):
        given, errors = dict(parameters), {}
        while True:
            try:
                sources.append(_source(policy, given))
                break
            except InputError as error:
                name = (error.key or "").removeprefix("--parameter ")
                if name not in given:
                    raise
                errors[name] = error
                del given[name]
        refused.append(errors)
    for name in parameters:
        if all(name in errors for errors in refused):
            raise refused[1][name]
    return sources[0], sources[1]


def _check_numbers(**given: tuple[int, int | None, Sequence[int]]) -> None:
    """Raises InputError for a number that is not from the first to the second."""
    for key, (least, most, numbers) in given.items():
        for number in numbers:
            if number < least or (most is not None and number > most):
                allowed = f"{least} or more" if most is None else f"{least} to {most}"
                raise InputError(f"{number} is out of range: {allowed}", key=key)


@contextmanager
def _undecided_without_end(file: str) -> Iterator[None]:
    try:
        yield
    except TooManyMovesError as error:
        raise UndecidedError(str(error), file=file) from error


def _opened(
    policy: PolicySource | None,
    scenario: str | Path | Scenario,
    queue: str | None,
    parameters: Mapping[str, str] | None,
) -> tuple[Source, Policy, Scenario]:
    read = scenario if isinstance(scenario, Scenario) else load_scenario(scenario)
    given = policy if policy is not None else read.policy_path
    if given is None:
        raise InputError("no policy: give one, or name it under 'policy'", file=read.source)
    source = _source(given, parameters)
    return source, source.queue(queue if queue is not None else read.queue).policy(), read


def _source(policy: PolicySource, parameters: Mapping[str, str] | None) -> Source:
    if isinstance(policy, Source):
        return policy
    if isinstance(policy, Policy):
        return Source(Kind.DOCUMENT, "policy", "a policy", declaration_of(policy))
    return load(policy, parameters=parameters)
