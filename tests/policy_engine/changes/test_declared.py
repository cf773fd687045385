"""What changed in a declaration: every field, with what it does to jobs that are there."""

from pathlib import Path
from typing import Any

import pytest

from policy_engine.changes import changes
from policy_engine.policy import Policy
from tests.policy_engine.changes.sides import UNIT, documents, pairs_of, policy, set_to, share, templates
from tests.policy_engine.sources.templates import Json

A = share(strategy="LEND_AND_BORROW", borrow_limit=100)


def told(old: Policy, new: Policy) -> list[tuple[Any, ...]]:
    return [(c.what, c.name, c.field, c.unit, c.old, c.new) for c in changes(documents(old, new))]


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        ({**A, "capacity_limits": {UNIT: 3}}, ("capacity_limits", UNIT, 2, 3)),
        ({**A, "in_share_preemption": True}, ("in_share_preemption", None, "off", "on")),
        ({**A, "state": "DISABLED"}, ("state", None, "ENABLED", "DISABLED")),
        ({**A, "borrow_limit": 0}, ("borrow_limit", None, "100 %", "0 %")),
        ({**A, "borrow_limit": -1}, ("borrow_limit", None, "100 %", "unlimited")),
        (
            {key: value for key, value in A.items() if key != "borrow_limit"},
            ("borrow_limit", None, "100 %", "unlimited"),
        ),
    ],
)
def test_a_field_of_a_share(after: Json, expected: tuple[Any, ...]) -> None:
    assert told(policy(a=A), policy(a=after)) == [("quota share", "a", *expected)]


def test_a_strategy_takes_its_borrow_limit_with_it() -> None:
    found = changes(documents(policy(a=A), policy(a=share())))
    assert [(c.field, c.old, c.new) for c in found] == [
        ("strategy", "LEND_AND_BORROW", "LEND"),
        ("borrow_limit", "100 %", None),
    ]
    assert found[0].effect == "AWS does not say what becomes of jobs that hold borrowed capacity"
    assert not found[1].effect, "said once"


def test_an_instance_type_that_comes_and_one_that_goes() -> None:
    other = {**A, "capacity_limits": {"ml.g5.12xlarge": 1}}
    found = changes(documents(policy(a=A), policy(a=other)))
    assert [(c.unit, c.old, c.new) for c in found] == [(UNIT, 2, None), ("ml.g5.12xlarge", None, 1)]
    assert [c.effect for c in found] == ["its jobs above the new limit can be preempted", ""]


@pytest.mark.parametrize(
    ("capacity", "effect"), [(5, "stops nothing; holds back new starts"), (7, "")], ids=["lowered", "raised"]
)
def test_the_environment_is_the_opposite_of_a_share(capacity: int, effect: str) -> None:
    [change] = changes(documents(policy(), policy(capacity)))
    assert (change.what, change.old, change.new, change.effect) == ("service environment", 6, capacity, effect)


def test_a_share_that_comes_and_one_that_goes_are_told_as_declared() -> None:
    found = changes(documents(policy(a=A, b=share()), policy(a=A, d=share(3))))
    assert [(c.name, c.old, c.new) for c in found] == [
        ("b", f"{UNIT} 2, strategy LEND, in_share_preemption off, state ENABLED", None),
        ("d", None, f"{UNIT} 3, strategy LEND, in_share_preemption off, state ENABLED"),
    ]


def test_time_limits_and_the_queue() -> None:
    limit = {"reason": "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED", "max_seconds": 600}
    data = {**policy().document(), "job_state_time_limits": [limit], "state": "DISABLED"}
    found = changes(documents(policy(), Policy.of(data)))
    assert [(c.field, c.old, c.new, c.effect) for c in found] == [
        ("state", "ENABLED", "DISABLED", "takes no new jobs; those it has may finish"),
        (f"job_state_time_limits {limit['reason']}", None, "600 s", "counts for jobs that wait already"),
    ]


@pytest.mark.parametrize(
    "edit",
    [
        set_to("TrainingShares00000000", "lend_and_borrow", "ResourceSharingConfiguration", "Strategy"),
        set_to("TrainingPolicy0A", {}, "QuotaSharePolicy"),
        set_to("TrainingShares00000000", [{"CapacityUnit": UNIT, "MaxCapacity": "2"}], "CapacityLimits"),
    ],
    ids=["case", "the only assignment left out", "a number as text"],
)
def test_what_means_the_same_is_no_change(tmp_path: Path, edit: Any) -> None:
    assert changes(pairs_of(templates(tmp_path, edit))) == ()


def test_a_document_need_not_say_what_a_template_does(tmp_path: Path) -> None:
    from policy_engine.changes import paired
    from policy_engine.sources.document import declaration_of

    _, template = templates(tmp_path, set_to("TrainingQueue0C", 7, "Priority"))
    document = declaration_of(policy(queue=None))
    assert changes(paired(document.queues[0], template.queues[0], by_id=False)) == ()


def test_a_value_that_is_not_known_is_told_and_the_same_one_is_no_change(tmp_path: Path) -> None:
    def unknown(name: str) -> Any:
        return set_to(
            "TrainingShares00000000",
            [{"CapacityUnit": UNIT, "MaxCapacity": {"Fn::ImportValue": name}}],
            "CapacityLimits",
        )

    _, one = templates(tmp_path, unknown("limit"))
    [change] = changes(pairs_of((templates(tmp_path)[0], one)))
    assert "unknown until deployment" in str(change.new)
    assert changes(pairs_of((one, one))) == ()


def test_a_change_knows_its_place(tmp_path: Path) -> None:
    [change] = changes(pairs_of(templates(tmp_path, set_to("TrainingShares00000001", "DISABLED", "State"))))
    assert change.place.file == str(tmp_path / "new.json")
    assert change.place.position is not None
    assert "State" in Path(change.place.file).read_text().splitlines()[change.place.position[0] - 1]
