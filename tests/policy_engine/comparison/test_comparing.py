"""Everything about a change together: which queue, who is hit, what fails, what was accepted."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from policy_engine.comparison import Asked, Comparison, FailOn, Word, compare_sources
from policy_engine.errors import InputError
from policy_engine.policy import Policy
from policy_engine.running import compare
from policy_engine.sources import Source, load
from policy_engine.workload.scenario import load_scenario
from tests.policy_engine.changes.sides import UNIT, moved, policy, set_to, share, templates, without
from tests.policy_engine.sources.templates import Json, template_of

BORROWER = share(strategy="LEND_AND_BORROW", borrow_limit=100)
LESS = policy(a=BORROWER, b=share(1), c=BORROWER)
"""b lends one instance less, which hits all three."""


@pytest.fixture
def document(tmp_path: Path) -> Callable[..., Source]:
    def made(name: str, given: Policy, **more: Any) -> Source:
        path = tmp_path / name
        path.write_text(json.dumps({**given.document(), **more}), encoding="utf-8")
        return load(path)

    return made


def compared(old: Policy, new: Policy, *intends: str) -> Comparison:
    return compare(old, new, intends=intends).comparison


# --- who is hit ---------------------------------------------------------------------------------------


def test_without_an_intent_it_is_meant_for_those_that_are_declared_otherwise() -> None:
    found = compared(policy(), LESS)
    assert [(one.name, one.word, one.is_declared_otherwise, one.is_intended) for one in found.shares] == [
        ("a", Word.WORSE, False, False),
        ("b", Word.WORSE, True, True),
        ("c", Word.WORSE, False, False),
    ]
    assert found.hit == {"a": ("worse guarantees",), "c": ("worse guarantees",)}
    assert [one.name for one in found.losing] == ["a", "b", "c"], "a loss that nobody said is meant"


def test_what_is_meant_is_no_loss() -> None:
    found = compared(policy(), LESS, "b", "a")
    assert (list(found.hit), [one.name for one in found.losing]) == (["c"], ["c"])
    assert found.failed(FailOn.WORSE)
    assert not compared(policy(), LESS, "a", "b", "c").failed(FailOn.WORSE)
    assert not found.failed(FailOn.DESTRUCTIVE)
    assert not found.failed(None)


def test_a_renamed_share_can_be_meant_by_both_its_names() -> None:
    old, new = policy(a=share(), b=share(3)), policy(a=share(), bee=share(3))
    for name in ("b", "bee"):
        assert [one.name for one in compared(old, new, name).shares if one.is_intended] == ["b"]


def test_an_intent_for_nobody_is_an_error_with_a_hint() -> None:
    with pytest.raises(InputError, match=r"intends: no share 'd' before or after the change; there is a, b, c"):
        compared(policy(), LESS, "d")
    with pytest.raises(InputError, match="did you mean 'research'"):
        compared(policy(research=share()), policy(research=share(1)), "reserch")


def test_one_word_for_all() -> None:
    assert compared(policy(), policy()).word is Word.SAME
    assert compared(policy(), LESS).word is Word.WORSE
    assert compared(LESS, policy()).word is Word.BETTER
    assert compared(policy(a=share(2), b=share(2)), policy(a=share(1), b=share(3))).word is Word.MIXED


# --- what fails -----------------------------------------------------------------------------------------


def test_jobs_that_end_are_worse_than_worse() -> None:
    found = compared(policy(a=share(), b=share(3)), policy(a=share(), bee=share(3)), "b")
    assert {one.word for one in found.shares} == {Word.SAME}
    assert found.failed(FailOn.WORSE)
    assert found.failed(FailOn.DESTRUCTIVE)


def test_what_somebody_accepted_is_not_destructive(document: Callable[..., Source]) -> None:
    because = "b is drained since Monday"
    accepted = [{"finding": "QM301", "share": "b", "because": because}]
    old, new = document("old.json", policy()), document("new.json", policy(a=BORROWER, c=BORROWER), ignore=accepted)
    found = compare_sources(old, new, Asked())
    assert [finding.ignored_because for finding in found.findings] == [because]
    assert (found.destructive, found.failed(FailOn.DESTRUCTIVE)) == ((), False)
    assert "b" not in found.hit, "its end is meant"

    other = document("other.json", policy(a=BORROWER, c=BORROWER), ignore=[{**accepted[0], "share": "c"}])
    assert compare_sources(old, other, Asked()).failed(FailOn.DESTRUCTIVE)


def test_a_template_accepts_on_its_queue(tmp_path: Path) -> None:
    def accepted(resources: Json) -> None:
        ignore = [{"Finding": "QM301", "Because": "drained"}]
        resources["TrainingQueue0C"]["Metadata"] = {"PolicyEngine": {"Ignore": ignore}}

    for edits, fails in (
        ([without("TrainingShares00000001")], True),
        ([without("TrainingShares00000001"), accepted], False),
    ):
        assert compare_sources(*templates(tmp_path, *edits), Asked()).failed(FailOn.DESTRUCTIVE) is fails


def test_an_expectation_that_holds_no_more_fails_the_change(tmp_path: Path) -> None:
    path = tmp_path / "jobs.yaml"
    path.write_text("jobs: [{name: x, share: b, instance_count: 2}]\nexpect: [{job: x, starts_within: 0s}]\n")
    found = compare(policy(), LESS, scenario=path, intends=["a", "b", "c"])
    assert not found.comparison.losing
    assert found.failed("worse")
    assert found.comparison.hit == {}, "b is meant"
    assert compare(policy(), LESS, scenario=path, intends=["a"]).comparison.hit["b"] == (
        "worse guarantees",
        "its jobs fare worse in the scenario",
    )


def test_only_findings_that_were_not_there_are_new(document: Callable[..., Source]) -> None:
    old, new = document("old.json", policy()), document("new.json", LESS)
    found = compare_sources(old, new, Asked())
    assert [finding.id for finding in found.new_findings] == ["QM102"], "QM108 was there before"
    assert compare_sources(new, old, Asked()).new_findings == ()


# --- unknown values -------------------------------------------------------------------------------------


def test_what_is_unknown_leaves_the_guarantees_out(tmp_path: Path) -> None:
    limits = [{"CapacityUnit": UNIT, "MaxCapacity": {"Fn::ImportValue": "limit"}}]
    edits = [set_to("TrainingShares00000000", limits, "CapacityLimits"), without("TrainingShares00000001")]
    sources = templates(tmp_path, *edits)
    found = compare_sources(*sources, Asked())
    assert found.shares == ()
    assert "unknown until deployment" in str(found.not_reckoned)
    assert found.failed(FailOn.DESTRUCTIVE), "a share is removed all the same"

    unknown = compare_sources(*templates(tmp_path, edits[0]), Asked())
    assert not unknown.failed(FailOn.DESTRUCTIVE)
    with pytest.raises(InputError, match="unknown until deployment"):
        unknown.failed(FailOn.WORSE)


def test_nothing_is_run_on_what_is_unknown(tmp_path: Path) -> None:
    limits = [{"CapacityUnit": UNIT, "MaxCapacity": {"Fn::ImportValue": "limit"}}]
    sources = templates(tmp_path, set_to("TrainingShares00000000", limits, "CapacityLimits"))
    path = tmp_path / "jobs.yaml"
    path.write_text("jobs: [{name: x, share: a}]\n")
    with pytest.raises(InputError, match="unknown until deployment"):
        compare_sources(*sources, Asked(scenario=load_scenario(path)))


def test_parameters_go_to_the_template_that_has_them(tmp_path: Path) -> None:
    def limited(resources: Json) -> None:
        resources["TrainingShares00000000"]["Properties"]["CapacityLimits"][0]["MaxCapacity"] = {"Ref": "Limit"}

    templates(tmp_path, limited)
    data = json.loads((tmp_path / "new.json").read_text())
    (tmp_path / "new.json").write_text(json.dumps({"Parameters": {"Limit": {"Type": "Number"}}, **data}))
    files = tmp_path / "old.json", tmp_path / "new.json"
    assert compare(*files, parameters={"Limit": "2"}).words == {"a": "same", "b": "same", "c": "same"}
    with pytest.raises(InputError, match="--parameter Limt: there is no such parameter; did you mean 'Limit'"):
        compare(*files, parameters={"Limt": "2"})


# --- which queue ----------------------------------------------------------------------------------------


def several(folder: Path, name: str, *queues: str) -> Source:
    """A template with a queue of that name for each."""
    resources: Json = {}
    for number, queue in enumerate(queues):
        text = json.dumps(template_of(policy(queue=queue))["Resources"])
        resources |= json.loads(text.replace("Training", f"Training{number}"))
    path = folder / name
    path.write_text(json.dumps({"Resources": resources}), encoding="utf-8")
    return load(path)


@pytest.mark.parametrize(
    ("old", "new", "queue", "new_queue", "found"),
    [
        (["one"], ["one"], None, None, ("one", "one")),
        (["one", "two"], ["one", "two"], "two", None, ("two", "two")),
        (["two"], ["one", "two"], None, None, ("two", "two")),
        (["one", "two"], ["two"], None, None, ("two", "two")),
        (["one", "two"], ["one", "three"], "two", "three", ("two", "three")),
        (["one"], ["other"], None, None, ("one", "other")),
        (["one"], ["other"], "one", None, ("one", "other")),
        (["one"], ["other"], "other", None, ("one", "other")),
    ],
)
def test_the_queue_that_is_compared(
    tmp_path: Path, old: list[str], new: list[str], queue: str | None, new_queue: str | None, found: tuple[str, str]
) -> None:
    sources = several(tmp_path, "old.json", *old), several(tmp_path, "new.json", *new)
    comparison = compare_sources(*sources, Asked(), queue=queue, new_queue=new_queue)
    assert (comparison.old.name, comparison.new.name) == found


@pytest.mark.parametrize(
    ("queue", "says"),
    [(None, "2 queues, name one with --queue: one .*, two"), ("thre", "no queue 'thre'; there is one .*, two")],
)
def test_of_several_queues_one_has_to_be_named(tmp_path: Path, queue: str | None, says: str) -> None:
    sources = several(tmp_path, "old.json", "one", "two"), several(tmp_path, "new.json", "one", "two")
    with pytest.raises(InputError, match=says):
        compare_sources(*sources, Asked(), queue=queue)


def test_the_scenario_names_the_queue(tmp_path: Path) -> None:
    path = tmp_path / "jobs.yaml"
    path.write_text("queue: two\njobs: [{name: x, share: a}]\n")
    both = several(tmp_path, "old.json", "one", "two")
    assert compare_sources(both, both, Asked(scenario=load_scenario(path))).old.name == "two"


def test_two_queues_of_different_names_are_one_that_is_replaced(document: Callable[..., Source]) -> None:
    old, new = document("old.json", policy(queue="gpu")), document("new.json", policy(queue="other"))
    found = compare_sources(old, new, Asked())
    assert [finding.id for finding in found.destructive] == ["QM301"]
    assert found.hit == dict.fromkeys("abc", ("its jobs end",))


def test_a_queue_that_is_not_quota_managed_any_more_is_compared(tmp_path: Path) -> None:
    fair = {"ShareDecaySeconds": 600}
    shares = [without(f"TrainingShares{number:08X}") for number in range(3)]
    policy_edits = [
        set_to("TrainingPolicy0A", fair, "FairsharePolicy"),
        set_to("TrainingPolicy0A", None, "QuotaSharePolicy"),
    ]
    found = compare_sources(*templates(tmp_path, *shares, *policy_edits), Asked())
    assert sorted(finding.id for finding in found.destructive) == ["QM301"] * 3 + ["QM302"]


def test_a_template_and_a_document_are_compared_by_name(tmp_path: Path, document: Callable[..., Source]) -> None:
    _, template = templates(tmp_path, moved("TrainingShares00000001", "Renamed"))
    found = compare_sources(document("released.json", policy(queue=None)), template, Asked())
    assert (found.changes, found.dangers) == ((), ())
