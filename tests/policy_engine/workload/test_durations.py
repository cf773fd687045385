import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.workload.durations import duration_text, parse_duration


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        (90, 90),
        (0, 0),
        (2.5, 2.5),
        ("90", 90),
        ("90s", 90),
        ("5m", 300),
        ("2h", 7200),
        ("1d", 86400),
        ("1h30m", 5400),
        ("1d2h3m4s", 93784),
        ("1.5h", 5400),
        ("0.5s", 0.5),
        ("-60s", -60),
        ("-1h30m", -5400),
        (-60, -60),
    ],
)
def test_written_durations_are_read(written: object, seconds: float) -> None:
    assert parse_duration(written) == seconds


@pytest.mark.parametrize(
    "written",
    ["", "-", "s", "1x", "1m1h", "1h 30m", "1:30", "m5", "1..5s", "٣s", "+5m", True, None, [], math.inf, math.nan],
)
def test_what_is_no_duration_is_refused_with_the_value(written: object) -> None:
    with pytest.raises(ValueError, match="is not a duration such as 90, 90s, 5m, 2h, 1d or 1h30m") as caught:
        parse_duration(written)
    assert repr(written) in str(caught.value)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0s"),
        (60, "1m"),
        (90, "1m30s"),
        (5400, "1h30m"),
        (86400, "1d"),
        (-60, "-1m"),
        (0.5, "0.5s"),
        (60.25, "1m0.25s"),
        (3600.0004, "1h"),
        (59.9999, "1m"),
    ],
)
def test_durations_are_written_short(seconds: float, text: str) -> None:
    assert duration_text(seconds) == text


@given(st.integers(min_value=-(10**10), max_value=10**10))
def test_what_is_written_reads_back(milliseconds: int) -> None:
    assert parse_duration(duration_text(milliseconds / 1000)) == pytest.approx(milliseconds / 1000, abs=1e-6)
