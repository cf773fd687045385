"""Times and instance-times as people read them, and where they stand on an axis."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.report.times import TimeAxis, instance_time, rough


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0s"),
        (0.26, "0.3s"),
        (59.96, "1m"),
        (61.7, "1m2s"),
        (3_599.9, "1h"),
        (3_661, "1h1m"),
        (90_061, "1d1h"),
        (9_000_000, "104d4h"),
        (-61.7, "-1m2s"),
    ],
)
def test_a_rough_duration_has_its_two_largest_parts(seconds: float, text: str) -> None:
    assert rough(seconds) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 instance-seconds"),
        (1, "1 instance-second"),
        (59, "59 instance-seconds"),
        (60, "1 instance-minute"),
        (3_599, "60 instance-minutes"),
        (3_600, "1 instance-hour"),
        (5_400, "1.5 instance-hours"),
        (7_200_000, "2,000 instance-hours"),
    ],
)
def test_instance_time_takes_the_unit_that_suits_it(seconds: float, text: str) -> None:
    assert instance_time(seconds) == text


# --- the axis ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("start", "end", "most", "ticks"),
    [
        (0, 180, 9, [0, 30, 60, 90, 120, 150, 180]),
        (0, 1_200, 5, [0, 300, 600, 900, 1_200]),
        (-60, 600, 5, [0, 300, 600]),
        (0, 1, 4, [0, 1]),
        (0, 400, 4, [0, 120, 240, 360]),
        (0, 30 * 86_400, 5, [0, 7 * 86_400, 14 * 86_400, 21 * 86_400, 28 * 86_400]),
        (0, 1_000 * 86_400, 5, [0, 252 * 86_400, 504 * 86_400, 756 * 86_400]),
    ],
)
def test_ticks_stand_at_round_times(start: float, end: float, most: int, ticks: list[float]) -> None:
    assert TimeAxis.of([], start, end).ticks(most) == ticks


def test_what_happens_close_together_gets_room_of_its_own() -> None:
    axis = TimeAxis.of([0, 60, 120, 3_600], 0, 10_800)
    assert not axis.is_to_scale
    assert list(axis.stops) == [0, 60, 120, 3_600, 10_800]
    assert axis.ticks(3) == [0, 60, 120, 3_600, 10_800]
    assert [axis.place(at) for at in axis.stops] == [0, 0.25, 0.5, 0.75, 1]
    assert axis.place(90) == 0.375


@pytest.mark.parametrize(
    "instants",
    [[0, 60, 120], [at * 0.5 for at in range(100)], []],
    ids=["told apart at scale", "too many to spread", "nothing happens"],
)
def test_the_axis_is_to_scale_where_that_reads_well(instants: list[float]) -> None:
    axis = TimeAxis.of(instants, 0, 180)
    assert axis.is_to_scale
    assert axis.place(45) == 0.25


@given(
    st.lists(st.floats(-1e3, 1e6, allow_nan=False), max_size=20),
    st.floats(-1e3, 0, allow_nan=False),
    st.floats(1, 1e6, allow_nan=False),
)
def test_places_keep_the_order_of_times_and_stay_on_the_axis(instants: list[float], start: float, end: float) -> None:
    axis = TimeAxis.of(instants, start, end)
    assert axis.place(start) == 0
    assert axis.place(end) == 1
    places = [axis.place(at) for at in sorted(at for at in instants if start <= at <= end)]
    assert all(0 <= place <= 1 for place in places)
    assert all(earlier <= later for earlier, later in pairwise(places))
