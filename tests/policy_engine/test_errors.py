"""One line, whatever is in it."""

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.errors import InputError, visible


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (InputError("wrong"), "wrong"),
        (InputError("wrong", file="a.yaml"), "a.yaml: wrong"),
        (InputError("wrong", file="a.yaml", line=3), "a.yaml:3: wrong"),
        (InputError("wrong", file="a.yaml", line=3, column=7), "a.yaml:3:7: wrong"),
        (InputError("wrong", file="a.yaml", line=3, column=7, key="shares.QS1"), "a.yaml:3:7: shares.QS1: wrong"),
        (InputError("wrong", key="shares.QS1"), "shares.QS1: wrong"),
        (InputError("wrong", file="a.yaml", key=""), "a.yaml: wrong"),
        (InputError("'a\nb\x1b[31m\u2028\u202e'", key="x\ty"), "x\\ty: 'a\\nb\\x1b[31m\\u2028\\u202e'"),
        (InputError("\ud800"), "\\ud800"),
    ],
)
def test_a_line_leaves_out_what_is_not_known(error: InputError, line: str) -> None:
    assert str(error) == line


@given(st.text(), st.text())
def test_a_message_is_always_one_printable_line(message: str, key: str) -> None:
    line = str(InputError(message, file=key, line=1, column=1, key=key))
    assert line.isprintable()
    assert len(line.splitlines()) == 1


def test_a_name_that_is_a_whole_file_is_cut() -> None:
    assert visible("x" * 5000) == "x" * 1000 + "..."


def test_an_error_survives_a_process_boundary() -> None:
    error = InputError("wrong", file="a.yaml", line=3, column=7, key="k")
    assert str(pickle.loads(pickle.dumps(error))) == "a.yaml:3:7: k: wrong"  # noqa: S301  our own bytes
