"""Laws of a comparison, for any two policies."""

import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.comparison import Asked, Search, Word, compare_sources, differences, word_of
from policy_engine.comparison.scenarios import under_both
from policy_engine.comparison.sides import Policies
from policy_engine.expectations import Answer, verify
from policy_engine.policy import Policy, SharingStrategy
from policy_engine.scheduler.choices import Choices
from policy_engine.sources import Kind, Source
from policy_engine.sources.document import declaration_of
from policy_engine.workload.scenario import load_scenario
from tests.policy_engine.sources.templates import few, policies

OTHER_WAY_ROUND = {Word.SAME: Word.SAME, Word.BETTER: Word.WORSE, Word.WORSE: Word.BETTER, Word.MIXED: Word.MIXED}
UNITS = ("ml.g5.xlarge", "ml.g5.12xlarge")


@st.composite
def shares(draw: st.DrawFn) -> dict[str, Any]:
    strategy = draw(st.sampled_from(SharingStrategy))
    units = draw(st.sampled_from([UNITS[:1], UNITS[:1], UNITS]))
    data: dict[str, Any] = {
        "capacity_limits": {unit: draw(st.integers(1, 4)) for unit in units},
        "strategy": strategy,
        "in_share_preemption": draw(st.booleans()),
    }
    return data | ({"borrow_limit": draw(st.sampled_from((-1, 0, 50, 100, 200)))} if strategy.borrows else {})


@st.composite
def contending(draw: st.DrawFn, *, more: int = 0) -> Policy:
    """Up to four shares on one or two instance types; the environment has what they declare, and ``more``."""
    names = ["a", "b", "c", "d"][: draw(st.integers(1, 4))]
    declared = {name: draw(shares()) for name in names}
    capacity: dict[str, int] = {}
    for each in declared.values():
        for unit, count in each["capacity_limits"].items():
            capacity[unit] = capacity.get(unit, 0) + count
    spare = more or draw(st.sampled_from((0, 0, -1, 2)))
    limits = {unit: max(1, count + spare) for unit, count in capacity.items()}
    return Policy.of({"service_environment": {"capacity_limits": limits}, "shares": declared})


def source(policy: Policy) -> Source:
    return Source(Kind.DOCUMENT, "policy.yaml", "a policy", declaration_of(policy))


@few
@given(policies())
def test_nothing_changes_from_a_policy_to_itself(policy: Policy) -> None:
    found = compare_sources(source(policy), source(policy), Asked())
    assert (found.changes, found.dangers, found.findings, found.new_findings) == ((), (), (), ())
    assert {share.word for share in found.shares} <= {Word.SAME}
    assert (found.word, found.hit, found.destructive) == (Word.SAME, {}, ())


@given(contending(), contending())
def test_the_other_way_round_better_and_worse_change_places(one: Policy, other: Policy) -> None:
    there, back = (differences(*pair, Choices()) for pair in ((one, other), (other, one)))
    assert there.keys() == back.keys()
    for name in there:
        assert word_of(back[name]) is OTHER_WAY_ROUND[word_of(there[name])]
        assert [(d.measure, d.new, d.old) for d in back[name]] == [(d.measure, d.old, d.new) for d in there[name]]


@given(contending(more=3), st.data())
def test_a_limit_that_is_raised_in_spare_capacity_takes_nothing_from_its_share(
    policy: Policy, data: st.DataObject
) -> None:
    name = data.draw(st.sampled_from(sorted(policy.shares)))
    unit = data.draw(st.sampled_from(sorted(policy.service_environment.capacity_limits)))
    share = policy.shares[name]
    limits = {**share.capacity_limits, unit: share.limit(unit) + data.draw(st.integers(1, 3))}
    raised = policy.model_copy(
        update={"shares": {**policy.shares, name: share.model_copy(update={"capacity_limits": limits})}}
    )

    found = differences(policy, raised, Choices())[name]
    assert [difference.told for difference in found if difference.word.has_losses] == []


def changed(seed: int) -> tuple[Policy, Policy]:
    """A policy of three shares, and the same with one thing or two changed, without hypothesis: witnesses take time."""
    rng = random.Random(seed)  # noqa: S311 - not for secrets

    def declared() -> dict[str, Any]:
        strategy = rng.choice(("RESERVE", "LEND", "LEND_AND_BORROW", "LEND_AND_BORROW"))
        borrows = {"borrow_limit": rng.choice((-1, 50, 100, 200))} if strategy == "LEND_AND_BORROW" else {}
        limits = {UNITS[0]: rng.randint(1, 4)}
        return {"capacity_limits": limits, "strategy": strategy, "in_share_preemption": rng.random() < 0.3, **borrows}

    old = {name: declared() for name in "abc"}
    new = {**old, rng.choice("abc"): declared()}
    if rng.random() < 0.3:
        del new[rng.choice("abc")]
    capacity = sum(share["capacity_limits"][UNITS[0]] for share in old.values())

    def policy(shares: dict[str, Any], more: int) -> Policy:
        environment = {"capacity_limits": {UNITS[0]: max(1, capacity + more)}}
        return Policy.of({"service_environment": environment, "shares": shares})

    return policy(old, 0), policy(new, rng.choice((0, 0, -1)))


SEEDS = range(25)


@pytest.fixture(scope="module")
def searched() -> list[tuple[Policy, Policy, str, Word, Any]]:
    """Every share that loses something in some changes, with its witness."""
    found = []
    for old, new in map(changed, SEEDS):
        search = Search(old, new, Choices())
        for name, differing in differences(old, new, Choices()).items():
            if word_of(differing).has_losses:
                found.append((old, new, name, word_of(differing), search.witness(name)))
    return found


def test_who_gets_worse_is_shown_a_witness(searched: list[tuple[Policy, Policy, str, Word, Any]]) -> None:
    worse = [(name, witness) for _, _, name, word, witness in searched if word is Word.WORSE]
    assert len(worse) > 12
    assert [name for name, witness in worse if witness is None] == []


def test_every_witness_replays_to_the_stated_difference(
    searched: list[tuple[Policy, Policy, str, Word, Any]], tmp_path: Path
) -> None:
    """Its scenario file holds under the old policy, and fails under the new one in every expectation.

    Where both have all its shares, so say the plain runs of ``verify``.
    """
    verified = 0
    for old, new, _, _, witness in searched:
        if witness is None:
            continue
        path = tmp_path / "witness.yaml"
        path.write_text(witness.text, encoding="utf-8")
        scenario = load_scenario(path)
        found = under_both(scenario, [Policies(old, new)])
        assert found.judged
        assert all(judged.is_lost for judged in found.judged)
        if {job.share for job in witness.workload.jobs} <= old.shares.keys() & new.shares.keys():
            for policy, answer in ((old, Answer.HOLDS), (new, Answer.FAILS)):
                assert {one.verdict for one in verify(policy, scenario, rests_on=False).verdicts} == {answer}
            verified += 1
    assert verified > 15


def test_a_witness_has_no_job_that_it_could_do_without(searched: list[tuple[Policy, Policy, str, Word, Any]]) -> None:
    from policy_engine.comparison.witnesses import _without_job

    for old, new, name, _, witness in searched[:12]:
        if witness is None:
            continue
        jobs = witness.workload.jobs
        search = Search(old, new, Choices())
        smaller = [search._look(name, fewer) for n in range(len(jobs)) for fewer in _without_job(jobs, n)]
        had_gains = any(effect.is_better for effect in witness.effects if effect.job.share == name)
        assert all(found is None or found.has_gains > had_gains for found in smaller)
