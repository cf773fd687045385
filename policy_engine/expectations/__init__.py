"""What a user may demand of a policy, and the verdicts.

The forms are those of ``policy_engine.workload.expected``; each is judged on a run: on its log and on what follows
from it.
"""

from __future__ import annotations

from collections.abc import Iterable

from policy_engine.errors import InputError
from policy_engine.expectations.evidence import Evidence
from policy_engine.expectations.finding import Finding
from policy_engine.expectations.hinges import resting
from policy_engine.expectations.jobs import describe_at, describe_job, judge_at, judge_job
from policy_engine.expectations.properties import describe_always, describe_never, judge_always, judge_never
from policy_engine.expectations.shares import describe_queue, describe_share, judge_queue, judge_share
from policy_engine.expectations.verdict import Answer, Counterexample, Verdict, Verification
from policy_engine.policy import Policy
from policy_engine.simulation import Run, simulate
from policy_engine.workload.expected import (
    AlwaysExpectation,
    AnyExpectation,
    AtExpectation,
    JobExpectation,
    NeverExpectation,
    QueueExpectation,
    ShareExpectation,
)
from policy_engine.workload.scenario import Scenario

__all__ = [
    "Answer",
    "Counterexample",
    "Verdict",
    "Verification",
    "describe",
    "judge",
    "judge_one",
    "require_some",
    "verify",
]


def verify(policy: Policy, scenario: Scenario, *, rests_on: bool = True) -> Verification:
    """Run the scenario under the policy and judge everything that it expects.

    ``rests_on`` runs it again for every other answer to an open choice, to say which ones the verdicts rest on.

    Raises InputError where the scenario does not fit the policy, and where it expects nothing: a run that checked
    nothing is not a pass.
    """
    workload, choices = scenario.workload(policy), scenario.choices()
    require_some(scenario)
    run = simulate(policy, workload, choices, chooser=scenario.chooser(workload))
    verdicts = judge(run, scenario)
    if rests_on:
        verdicts = resting(run, verdicts, lambda other: judge(other, scenario), lambda: scenario.chooser(workload))
    return Verification(policy, scenario, run, verdicts)


def require_some(scenario: Scenario) -> None:
    """Raises InputError where the scenario expects nothing."""
    if not scenario.expect:
        raise InputError("expects nothing; say what should hold under 'expect'", file=scenario.source)


def judge(run: Run, scenario: Scenario) -> tuple[Verdict, ...]:
    """The verdict on each expectation of the scenario, in its order."""
    evidence = Evidence(run, [wanted.at for wanted in scenario.expect if isinstance(wanted, AtExpectation)])
    return tuple(
        _verdict(wanted, evidence, scenario.source, scenario.line(number))
        for number, wanted in enumerate(scenario.expect)
    )


def judge_one(run: Run, wanted: AnyExpectation, file: str = "", line: int = 0) -> Verdict:
    """The verdict on one expectation, which stands in this line of this file."""
    instants = [wanted.at] if isinstance(wanted, AtExpectation) else []
    return _verdict(wanted, Evidence(run, instants), file, line)


def _verdict(wanted: AnyExpectation, evidence: Evidence, file: str, line: int) -> Verdict:
    findings = list(_findings(wanted, evidence))
    failed = [finding.told for finding in findings if not finding.holds]
    return Verdict(
        name=wanted.name if wanted.name is not None else describe(wanted, evidence.run),
        verdict=Answer.FAILS if failed else Answer.HOLDS,
        message="; ".join(failed or [finding.told for finding in findings]),
        because=wanted.because,
        file=file,
        line=line,
    )


def _findings(wanted: AnyExpectation, evidence: Evidence) -> Iterable[Finding]:
    match wanted:
        case AtExpectation():
            return judge_at(wanted, evidence)
        case JobExpectation():
            return judge_job(wanted, evidence)
        case ShareExpectation():
            return judge_share(wanted, evidence)
        case QueueExpectation():
            return judge_queue(wanted, evidence)
        case AlwaysExpectation():
            return judge_always(wanted, evidence)
        case NeverExpectation():
            return judge_never(wanted, evidence)


def describe(wanted: AnyExpectation, run: Run) -> str:
    """A sentence that says what is expected, for an expectation without a name."""
    match wanted:
        case AtExpectation():
            return describe_at(wanted)
        case JobExpectation():
            return describe_job(wanted)
        case ShareExpectation():
            return describe_share(wanted)
        case QueueExpectation():
            return describe_queue(wanted)
        case AlwaysExpectation():
            return describe_always(wanted, run)
        case NeverExpectation():
            return describe_never(wanted)
