"""The answer that made a history is among those that fit it, and every one that would have made another is refuted."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from policy_engine.conforming import Asked, ChoiceConformance, Conformance, Fit, Standing, conform, read_record
from policy_engine.conforming.following import Follower, Timeline
from policy_engine.outcome.as_batch import history_text
from policy_engine.scheduler.choices import BY_NAME, CHOICES, Choices
from policy_engine.scheduler.jobs import Exit, Job, Terminate, Timing, Workload
from policy_engine.simulation import Run, simulate
from tests.policy_engine.conforming.setups import SETUPS, Setup, answered, borrower, job, policy, share

CASES = [
    pytest.param(setup, choice, answer, id=f"{choice}-{number}-{answer}")
    for choice, setups in SETUPS.items()
    for number, setup in enumerate(setups)
    for answer in BY_NAME[choice].answers
    if answer != "any"
]


def about(found: Conformance, choice: str) -> ChoiceConformance:
    return next(one for one in found.choices if one.choice.name == choice)


def refuted(one: ChoiceConformance) -> set[str]:
    return {answer.answer for answer in one.answers if answer.fit is Fit.REFUTED}


def test_every_choice_has_a_setup_and_every_answer_is_told_apart_by_one() -> None:
    assert set(SETUPS) == {choice.name for choice in CHOICES if not choice.is_number}
    for choice, setups in SETUPS.items():
        answers = [answer for answer in BY_NAME[choice].answers if answer != "any"]
        made = {answer: [history_text(setup.run(answered(choice, answer))) for setup in setups] for answer in answers}
        alike = {(one, other) for one in answers for other in answers if one < other and made[one] == made[other]}
        assert alike == set(), choice


@pytest.mark.parametrize(("setup", "choice", "answer"), CASES)
def test_the_answer_used_fits_and_those_that_do_otherwise_are_refuted(
    tmp_path: Path, setup: Setup, choice: str, answer: str
) -> None:
    made = {other: history_text(setup.run(answered(choice, other))) for other in BY_NAME[choice].answers}
    found = setup.conformed(answered(choice, answer), tmp_path / "jobs.jsonl")

    one = about(found, choice)
    assert answer in one.fitting
    assert refuted(one) == {other for other, text in made.items() if text != made[answer] and other != "any"}
    assert found.anything.fit is Fit.CONSISTENT
    assert found.together is not None
    assert getattr(found.together, choice) in one.fitting
    for other in one.answers:
        assert (other.contradiction is None) == (other.fit is Fit.CONSISTENT)


def test_what_refutes_an_answer_is_the_decision(tmp_path: Path) -> None:
    """Two owners, one instance: the one whose head came first got it, and `name` would have taken the other."""
    found = SETUPS["share_order"][0].conformed(Choices(), tmp_path / "jobs.jsonl")
    [name] = [answer for answer in about(found, "share_order").answers if answer.answer == "name"]
    decision = name.contradiction
    assert decision is not None
    assert (decision.at, decision.job) == (100.0, "a1")
    assert (decision.happened, decision.expected) == ("z2 started", "a1 starts")


def test_a_victim_that_the_rules_spare_refutes(tmp_path: Path) -> None:
    found = SETUPS["victims"][1].conformed(answered("victims", "oldest"), tmp_path / "jobs.jsonl")
    [default] = [answer for answer in about(found, "victims").answers if answer.answer == "borrowed_first"]
    assert default.contradiction is not None
    assert default.contradiction.at == 50.0
    assert default.contradiction.happened == "l1 started and b1 was preempted"
    assert default.contradiction.expected == "l1 starts, and b2 stops for it"


def test_a_history_of_nothing_in_particular_tests_nothing(tmp_path: Path) -> None:
    setup = Setup(policy(2, a=share(1), b=share(1)), (job("a1", 0, 10), job("b1", 5, 10)))
    found = setup.conformed(Choices(), tmp_path / "jobs.jsonl")
    assert {one.standing for one in found.choices} == {Standing.NOT_EXERCISED}
    assert found.together == Choices()


def test_what_nothing_explains_is_contradicted(tmp_path: Path) -> None:
    """A RESERVE share beyond its limit: no answer allows it."""
    setup = Setup(policy(2, a=share(1), b=share(1)), (job("a1", 0, 50), job("a2", 10, 50)))
    path = tmp_path / "jobs.jsonl"
    path.write_text(history_text(replace(setup, policy=policy(2, a=share(2))).run(Choices())), encoding="utf-8")
    found = conform(setup.policy, read_record(str(path), setup.policy), Asked(0, 0))
    assert {one.standing for one in found.choices} == {Standing.CONTRADICTED}
    assert (found.anything.fit, found.together) == (Fit.REFUTED, None)
    assert found.anything.contradiction is not None
    assert found.anything.contradiction.happened == "a2 started"


def test_the_kind_that_aws_tells_counts(tmp_path: Path) -> None:
    """A reason that says cross-share: a job of its own share is nobody for whom it can have been stopped."""
    setup = Setup(policy(1, a=share(1, own=True)), (job("a1", 0, 90), job("a2", 10, 50, priority=1)))
    path = tmp_path / "jobs.jsonl"
    text = history_text(setup.run(Choices()))
    path.write_text(text, encoding="utf-8")
    record = read_record(str(path), setup.policy)
    assert conform(setup.policy, record, Asked(0, 0)).anything.fit is Fit.CONSISTENT
    stop = '"stoppedAt": 1767225610000'
    path.write_text(text.replace(stop, f'{stop}, "statusReason": "Cross-share preemption triggered"'), encoding="utf-8")
    told = conform(setup.policy, read_record(str(path), setup.policy), Asked(0, 0))
    assert told.anything.fit is Fit.REFUTED


def test_what_comes_before_the_warm_up_is_taken_as_it_is(tmp_path: Path) -> None:
    """Jobs of a running scenario stand where no rule would have put them."""
    two = policy(2, a=share(2))
    jobs = (job("a1", 0, 300), job("a2", 0, 300), job("a3", 100, 50), job("a4", 200, 50))
    path = tmp_path / "jobs.jsonl"
    path.write_text(history_text(Setup(two, jobs).run(Choices())), encoding="utf-8")
    one = policy(1, a=share(1))
    record = read_record(str(path), one)
    assert conform(one, record, Asked(0, 0)).anything.fit is Fit.REFUTED
    found = conform(one, record, Asked(0, 0, warm_up=50.0))
    assert found.judged_from == 50.0
    assert found.anything.contradiction is not None
    assert found.anything.contradiction.at == 300.0, "a3 and a4 start together where there is one instance"


# --- any workload ---------------------------------------------------------------------------------

POLICY = policy(
    10, a=borrower(4, borrow=130, own=True), b=borrower(3, own=True), c=share(2, "LEND")
)  # one instance is nobody's
ANSWERS = {
    choice.name: [answer for answer in choice.answers if answer != "any"] for choice in CHOICES if not choice.is_number
}


@st.composite
def workloads(draw: st.DrawFn) -> tuple[Job, ...]:
    count = draw(st.integers(4, 9))
    return tuple(
        job(
            f"{draw(st.sampled_from('abc'))}{number}",
            float(draw(st.integers(0, 30)) * 10),
            float(draw(st.integers(1, 40)) * 10),
            draw(st.integers(1, 3)),
            draw(st.integers(0, 2)),
            attempts=draw(st.integers(1, 2)),
            exit=draw(st.sampled_from([Exit.SUCCEEDED, Exit.SUCCEEDED, Exit.FAILED])),
            preemption_retries=draw(st.sampled_from([None, None, 0, 1])),
        )
        for number in range(count)
    )


def recorded(run: Run, path: Path) -> Any:
    path.write_text(history_text(run), encoding="utf-8")
    return read_record(str(path), run.policy)


def reachable(run: Run, path: Path, *, tolerance: float, stop_within: float, eager: bool = False) -> Any:
    timeline = Timeline(recorded(run, path), tolerance=round(tolerance * 1000), stop_within=round(stop_within * 1000))
    return Follower(timeline, run.policy, run.choices, frozenset()).follow(0, eager=eager).contradiction


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(jobs=workloads(), answers=st.fixed_dictionaries({n: st.sampled_from(a) for n, a in ANSWERS.items()}))
def test_the_engines_own_history_is_reachable_under_its_answers(
    tmp_path: Path, jobs: tuple[Job, ...], answers: dict[str, Any]
) -> None:
    ordered = tuple(sorted(jobs, key=lambda one: one.submit))
    choices = replace(Choices(), **answers)
    path = tmp_path / "jobs.jsonl"
    at_once = simulate(POLICY, Workload(ordered, (Terminate(155.0, ordered[0].name),)), choices)
    assert reachable(at_once, path, tolerance=0, stop_within=0) is None
    stopping = simulate(POLICY, Workload(ordered, timing=Timing(stop_seconds=25)), choices)
    assert reachable(stopping, path, tolerance=0, stop_within=25) is None
    assert reachable(stopping, path, tolerance=10, stop_within=40) is None


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(jobs=workloads())
def test_late_starts_are_within_the_tolerance(tmp_path: Path, jobs: tuple[Job, ...]) -> None:
    """Starts 7 s after the dispatch of earlier attempts, stops 25 s after the decision."""
    ordered = tuple(sorted(jobs, key=lambda one: one.submit))
    run = simulate(POLICY, Workload(ordered, timing=Timing(stop_seconds=25, start_seconds=7)))
    assert reachable(run, tmp_path / "jobs.jsonl", tolerance=7, stop_within=25) is None


@settings(max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(jobs=workloads(), name=st.sampled_from(sorted(ANSWERS)), data=st.data())
def test_conform_finds_the_answer_used(tmp_path: Path, jobs: tuple[Job, ...], name: str, data: st.DataObject) -> None:
    answer = data.draw(st.sampled_from(ANSWERS[name]))
    ordered = tuple(sorted(jobs, key=lambda one: one.submit))
    run = simulate(POLICY, Workload(ordered), answered(name, answer))
    found = conform(POLICY, recorded(run, tmp_path / "jobs.jsonl"), Asked(0, 0))
    assert answer in about(found, name).fitting
    for one in found.choices:
        assert one.choice.name == name or one.choice.default in one.fitting
