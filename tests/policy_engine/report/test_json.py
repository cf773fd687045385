"""How results are written as JSON."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from policy_engine.report.json import text

DATA = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.text(max_size=4), DATA, max_size=4))
def test_what_is_written_is_read_back(data: dict[str, Any]) -> None:
    written = text(data)
    assert json.loads(written) == data
    assert written.isascii()


def test_an_event_is_a_line() -> None:
    events = [{"at": 1.0, "usage": {"QS1": {"ml.g5.xlarge": 2}}}, {"at": 1.5, "usage": {}}]
    assert text({"a": {"b": {"c": {"d": 1}}}, "events": events, "none": [], "deep": {"list": ({"x": (1, 2)},)}}) == (
        "{\n"
        '  "a": {\n'
        '    "b": {\n'
        '      "c": {"d": 1}\n'
        "    }\n"
        "  },\n"
        '  "events": [\n'
        '    {"at": 1, "usage": {"QS1": {"ml.g5.xlarge": 2}}},\n'
        '    {"at": 1.5, "usage": {}}\n'
        "  ],\n"
        '  "none": [],\n'
        '  "deep": {\n'
        '    "list": [\n'
        '      {"x": [1, 2]}\n'
        "    ]\n"
        "  }\n"
        "}\n"
    )


def test_sums_are_written_without_their_rounding() -> None:
    assert json.loads(text({"sum": 0.1 + 0.2, "whole": 3.0000000001, "zero": -0.0})) == {
        "sum": 0.3,
        "whole": 3,
        "zero": 0,
    }
