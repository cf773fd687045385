"""The instances of a share over time: exact where they change seldom, means that lose nothing where they do not."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.outcome import Step
from policy_engine.report.series import BANDS, Course, Interval, timeline


def step(at: float, unallocated: int = 0, **levels: Mapping[str, Any]) -> Step:
    """A step; levels not given are 0 for every share."""
    shares = {share for of in levels.values() for share in of} or {"a", "b"}
    filled: dict[str, dict[str, Any]] = {
        band: dict.fromkeys(shares, 0) | dict(levels.get(band, {}))
        for band in ("own", "borrowed", "lent", "reserved", "free")
    }
    return Step(at=at, unallocated=unallocated, **filled)


def told(course: Course) -> list[tuple[float, float, dict[str, float]]]:
    """Start, end and what is there."""
    return [
        (i.start, i.end, {band: level for band, level in zip(BANDS, i.levels, strict=True) if level})
        for i in course.intervals
    ]


LENT = [
    step(0, own={"a": 1, "b": 0}, borrowed={"a": 1, "b": 0}, lent={"a": 0, "b": 1}),
    step(60, own={"a": 1, "b": 1}),
    step(90, own={"a": 1, "b": 1}, unallocated=2),
]


def test_a_share_is_followed_from_change_to_change() -> None:
    found = timeline(LENT, ["a", "b"], 120, most=10)
    assert told(found.shares["a"]) == [(0, 60, {"own": 1, "borrowed": 1}), (60, 120, {"own": 1})]
    assert told(found.shares["b"]) == [(0, 60, {"lent": 1}), (60, 120, {"own": 1})]
    assert found.shares["a"].mean_over is None


def test_the_queue_shows_borrowed_instances_once() -> None:
    queue = timeline(LENT, ["a", "b"], 120, most=10).queue
    assert told(queue) == [
        (0, 60, {"own": 1, "by_borrowers": 1}),
        (60, 90, {"own": 2}),
        (90, 120, {"own": 2, "unallocated": 2}),
    ]
    assert queue.most_used == 2


def test_a_share_that_is_deleted_has_nothing() -> None:
    found = timeline([LENT[0], step(60, own={"b": 1})], ["a", "b"], 120, most=10)
    assert told(found.shares["a"]) == [(0, 60, {"own": 1, "borrowed": 1}), (60, 120, {})]


def test_a_share_that_never_has_anything_is_known_as_such() -> None:
    found = timeline([step(0, own={"a": 1, "b": 0})], ["a", "b"], 60, most=10)
    assert found.shares["a"].is_ever_there
    assert not found.shares["b"].is_ever_there


def test_means_keep_peaks_and_what_they_are_means_over() -> None:
    ups_and_downs = [step(at, own={"a": at // 10 % 2 * 4}) for at in range(0, 100, 10)]
    course = timeline(ups_and_downs, ["a"], 100, most=5).shares["a"]
    assert course.mean_over == 20
    assert told(course) == [(start, start + 20, {"own": 2}) for start in range(0, 100, 20)]
    assert course.most_used == 4
    assert course.peaks[0] == 4
    assert course.mean()[0] == 2


def test_a_quiet_share_stays_exact_beside_a_restless_one() -> None:
    steps = [step(at, own={"a": at % 2, "b": int(at > 50)}) for at in range(100)]
    found = timeline(steps, ["a", "b"], 100, most=10)
    assert found.shares["a"].mean_over == 10
    assert told(found.shares["b"]) == [(0, 51, {}), (51, 100, {"own": 1})]


@given(
    st.lists(st.tuples(st.floats(0.001, 50), st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=60),
    st.integers(1, 20),
)
def test_means_hold_as_many_instance_seconds_as_the_run(changes: list[tuple[float, int, int]], most: int) -> None:
    steps, at = [], 0.0
    for gap, own, borrowed in changes:
        steps.append(step(at, own={"a": own}, borrowed={"a": borrowed}))
        at += gap
    course = timeline(steps, ["a"], at, most).shares["a"]
    assert len(course.intervals) <= most
    for band, index in (("own", 0), ("borrowed", -1)):
        seconds = sum(i.levels[index] * (i.end - i.start) for i in course.intervals)
        expected = sum(
            getattr(s, band)["a"] * ((steps[n + 1].at if n + 1 < len(steps) else at) - s.at)
            for n, s in enumerate(steps)
        )
        assert seconds == pytest.approx(expected)


def test_an_interval_knows_what_is_in_use() -> None:
    interval = Interval(0, 1, (1, 2, 4, 8, 16, 32, 64))
    assert interval.used == 1 + 2 + 64
    assert interval.total == 127
