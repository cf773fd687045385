"""Runs a scenario under a policy, wherever the two come from: ``simulate`` and ``verify``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

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
from policy_engine.policy import Policy
from policy_engine.report import json
from policy_engine.report.simulation import SimulationReport
from policy_engine.report.verification import VerificationReport, Verified
from policy_engine.scheduler.moves import TooManyMovesError
from policy_engine.simulation import Run
from policy_engine.simulation import simulate as run_workload
from policy_engine.sources import Kind, Source, load
from policy_engine.sources.document import declaration_of
from policy_engine.workload.scenario import Scenario, load_scenario

PolicySource: TypeAlias = str | Path | Source | Policy
"""A path (cloud assembly, template or document), what was read from one, or a policy."""


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
        return SimulationReport(self.source, self.scenario.source, self.run).data()

    def to_json(self) -> str:
        """The result as JSON."""
        return json.text(self.to_dict())


@dataclass(frozen=True, slots=True)
class VerificationResult(SimulationResult):
    """What happened, and every expectation judged."""

    expectations: tuple[Verdict, ...]
    """In the order of the scenario."""

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
        return Verification(self.run.policy, self.scenario, self.run, self.expectations)

    def to_dict(self) -> dict[str, Any]:
        """The result as the data of its JSON."""
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
    with _undecided_without_end(read):
        run = run_workload(ready, workload, choices, chooser=read.chooser(workload))
    return SimulationResult(source, read, run)


def verify(
    policy: PolicySource | None,
    scenario: str | Path | Scenario,
    *,
    queue: str | None = None,
    parameters: Mapping[str, str] | None = None,
) -> VerificationResult:
    """Run the scenario under the policy and judge everything that it expects.

    Args and errors are those of ``simulate``; a scenario that expects nothing is an InputError too.
    """
    source, ready, read = _opened(policy, scenario, queue, parameters)
    with _undecided_without_end(read):
        verification = expectations.verify(ready, read)
    return VerificationResult(source, read, verification.run, verification.verdicts)


@contextmanager
def _undecided_without_end(scenario: Scenario) -> Iterator[None]:
    try:
        yield
    except TooManyMovesError as error:
        raise UndecidedError(str(error), file=scenario.source) from error


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
