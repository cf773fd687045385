"""What YAML and JSON say, where it stands, and what is wrong with them."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.errors import InputError
from policy_engine.policy import WrittenFloat, WrittenInt
from policy_engine.sources.reading import KeyPath, dotted, read
from tests.policy_engine.sources.conftest import Write
from tests.policy_engine.sources.templates import few


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("true", True),
        ("False", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("yes", "yes"),
        ("on", "on"),
        ("NO", "NO"),
        ("y", "y"),
        ("7", 7),
        ("-7", -7),
        ("007", 7),
        ("0x1F", 31),
        ("0o17", 15),
        ("0b1", "0b1"),
        ("1_000", "1_000"),
        ("1:30", "1:30"),
        ("1.5", 1.5),
        ("6214e9", 6214e9),
        (".5", 0.5),
        (".inf", ".inf"),
        (".nan", ".nan"),
        ("1e999", "1e999"),
        ("9" * 400, "9" * 400),
        ("2020-01-01", "2020-01-01"),
        ("=", "="),
        ("'7'", "7"),
        ('"true"', "true"),
        ("!!str 7", "7"),
        ("! 7", "7"),
        ("!!int 7", 7),
    ],
)
def test_plain_scalars_are_those_of_the_core_schema(write: Write, written: str, value: object) -> None:
    data = read(write("a.yaml", f"key: {written}\n")).data
    assert data == {"key": value}
    assert isinstance(data["key"], bool) == isinstance(value, bool)


@pytest.mark.parametrize("name", ["a.yaml", "a.json"])
def test_a_number_remembers_how_it_was_written(write: Write, name: str) -> None:
    data = read(write(name, '{"a": 12, "b": 5.0, "c": 1e3}')).data
    assert [(type(value), value.text) for value in data.values()] == [
        (WrittenInt, "12"),
        (WrittenFloat, "5.0"),
        (WrittenFloat, "1e3"),
    ]


def test_keys_are_text_however_they_look(write: Write) -> None:
    data = read(write("a.yaml", "{6214e9: 1, 103959: 2, true: 3, null: 4, ~: 5, on: 6, 'x': 7}\n")).data
    assert list(data) == ["6214e9", "103959", "true", "null", "~", "on", "x"]


def test_anchors_aliases_and_merges(write: Write) -> None:
    document = read(
        write(
            "a.yaml",
            """\
            base: &base {p: 1, q: 2}
            more: &more {q: 3, r: 4}
            one: {<<: *base, q: 9}
            two: {<<: [*more, *base], s: 5}
            same: *base
            quoted: {"<<": 1}
            &k key: 1
            other: {*k : 2}
            """,
        )
    )
    assert document.data["one"] == {"p": 1, "q": 9}
    assert document.data["two"] == {"q": 3, "r": 4, "p": 1, "s": 5}
    assert document.data["same"] == {"p": 1, "q": 2}
    assert document.data["quoted"] == {"<<": 1}
    assert document.data["other"] == {"key": 2}
    assert document.position(("one", "p")) == (1, 14)  # where it is written
    assert document.position(("one", "q")) == (3, 18)
    assert document.position(("two", "q")) == (2, 14)


SHORT_FORMS = """\
a: !Ref Queue
b: !GetAtt Queue.JobQueueArn
c: !Sub ["${x}", {x: !Ref P}]
d: !If [c, !Ref AWS::NoValue, 3]
e: !Condition c
"""


def test_short_forms_are_their_long_forms(write: Write) -> None:
    document = read(write("a.yaml", SHORT_FORMS), short_forms=True)
    assert document.tagged
    assert document.data == {
        "a": {"Ref": "Queue"},
        "b": {"Fn::GetAtt": "Queue.JobQueueArn"},
        "c": {"Fn::Sub": ["${x}", {"x": {"Ref": "P"}}]},
        "d": {"Fn::If": ["c", {"Ref": "AWS::NoValue"}, 3]},
        "e": {"Condition": "c"},
    }
    assert document.position(("c", "Fn::Sub", 1, "x")) == (3, 19)


@pytest.mark.parametrize(
    ("path", "position"),
    [
        ((), (1, 1)),
        (("a",), (1, 1)),
        (("b",), (2, 1)),
        (("b", 0), (3, 5)),
        (("b", 1), (4, 5)),
        (("b", 1, "c"), (4, 6)),
        (("b", 1, "é"), (4, 14)),
        (("b", 1, "é", 1), (4, 23)),
        (("b", 1, "absent"), (4, 5)),
        (("b", 7), (2, 1)),
        (("absent", "x"), (1, 1)),
    ],
)
def test_positions_are_of_the_key_or_item(write: Write, path: KeyPath, position: tuple[int, int]) -> None:
    text = 'a: "ü"\nb:\n  - x\n  - {c: "}", "é": [1, 2]}\n'
    assert read(write("a.yaml", text)).position(path) == position


@pytest.mark.parametrize(
    ("path", "position"),
    [
        ((), (1, 1)),
        (("a",), (2, 2)),
        (("b", 1, 'c"{'), (4, 7)),
        (("b", 1, "d", 1), (4, 31)),
        (("b", 1, "absent"), (4, 6)),
    ],
)
def test_positions_in_json_with_tabs(write: Write, path: KeyPath, position: tuple[int, int]) -> None:
    text = '{\n\t"a": "[,:{\\"",\n\t"b": [1,\n\t\t\t\t\t{"c\\"{": [], "d": [true,\n2]}]}'
    text = text.replace("\n2", " 2")
    assert read(write("a.json", text)).position(path) == position


def paths_of(data: Any, path: KeyPath = ()) -> list[KeyPath]:
    parts = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    return [path, *(below for key, value in parts for below in paths_of(value, (*path, key)))]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda part: st.lists(part, max_size=4) | st.dictionaries(st.text(), part, max_size=4),
    max_leaves=20,
)


@few
@given(data=st.dictionaries(st.text(), JSON), indent=st.sampled_from([None, 1, "\t"]), ascii_only=st.booleans())
def test_json_gives_back_what_was_written_and_where(
    tmp_path_factory: pytest.TempPathFactory, data: Any, indent: Any, ascii_only: bool
) -> None:
    text = json.dumps(data, indent=indent, ensure_ascii=ascii_only)
    path = tmp_path_factory.getbasetemp() / "any.json"
    path.write_bytes(text.encode("utf-8", "surrogatepass") if ascii_only else text.encode("utf-8", "replace"))
    document = read(path)
    assert document.data == json.loads(path.read_bytes())
    lines = path.read_text(encoding="utf-8").split("\n")
    for where in paths_of(document.data):
        line, column = document.position(where)
        if where and isinstance(where[-1], str):
            assert json.JSONDecoder().raw_decode(lines[line - 1][column - 1 :])[0] == where[-1]


PRINTABLE = st.text(st.characters(exclude_categories=["Cc", "Cs", "Cn"], exclude_characters="\ufeff"))
YAML = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | PRINTABLE,
    lambda part: st.lists(part, max_size=4) | st.dictionaries(PRINTABLE, part, max_size=4),
    max_leaves=20,
)


@few
@given(data=st.dictionaries(PRINTABLE, YAML, min_size=1), flow=st.booleans())
def test_yaml_gives_back_what_was_written(tmp_path_factory: pytest.TempPathFactory, data: Any, flow: bool) -> None:
    path = tmp_path_factory.getbasetemp() / "any.yaml"
    path.write_text(yaml.safe_dump(data, default_style='"', default_flow_style=flow), encoding="utf-8", newline="\n")
    assert read(path).data == data


ENCODINGS = ["utf-8", "utf-8-sig", "utf-16", "utf-32"]


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("name", ["a.yaml", "a.json"])
def test_byte_order_marks_are_no_part_of_the_text(write: Write, encoding: str, name: str) -> None:
    document = read(write(name, '{"é": 1}'.encode(encoding)))
    assert document.data == {"é": 1}
    assert document.position(("é",)) == (1, 2)


BOMB = "a: &a [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{last}'] * 10)}]\n" for last, name in zip("abcdef", "bcdefg", strict=True)
)

BAD = {
    "empty": ("a.yaml", "", "a.yaml: the file is empty"),
    "blank": ("a.json", " \n\n", "a.json: the file is empty"),
    "comments": ("a.yaml", "# nothing\n", "a.yaml: the file is empty"),
    "binary": ("a.yaml", b"\x7fELF\x00\x01", "a.yaml: the file is binary, not YAML or JSON"),
    "latin-1": ("a.yaml", "a: 1\nb: é".encode("latin-1"), "a.yaml:2:4: byte 0xe9 is not UTF-8 text"),
    "half a utf-16": ("a.yaml", b"\xff\xfea\x00b", "a.yaml:1:2: byte 0x62 is not UTF-16 text"),
    "control": ("a.yaml", "a: 1\nb: x\x07", "a.yaml:2:5: not valid YAML: character U+0007 is not allowed"),
    "tab": ("a.yaml", "a:\n\t- 1\n", "a.yaml:2:1: not valid YAML: a tab; indent with spaces"),
    "open": (
        "a.yaml",
        "a: [1, 2\n",
        "a.yaml:2:1: not valid YAML: did not find expected ',' or ']' while parsing a flow sequence",
    ),
    "colon": ("a.yaml", "a: b: c\n", "a.yaml:1:5: not valid YAML: mapping values are not allowed in this context"),
    "two documents": ("a.yaml", "a: 1\n---\nb: 2\n", "a.yaml:2:1: more than one YAML document in the file"),
    "duplicate": ("a.yaml", "a: {b: 1,\n  b: 2}\n", "a.yaml:2:3: a.b: duplicate key 'b', first on line 1"),
    "duplicate number": ("a.yaml", "1: 1\n'1': 2\n", "a.yaml:2:1: 1: duplicate key '1', first on line 1"),
    "duplicate in JSON": (
        "a.json",
        '{"a": [{}, {"b": 1,\n "b": 2}]}',
        "a.json:2:2: a[1].b: duplicate key 'b', first on line 1",
    ),
    "duplicate, then no JSON": ("a.json", '{"a": 1, "a": 2} x', "a.json:1:10: a: duplicate key 'a', first on line 1"),
    "trailing comma": (
        "a.json",
        '{"a": 1,\n}',
        "a.json:2:1: not valid JSON: expecting property name enclosed in double quotes",
    ),
    "no JSON": ("a.json", "a: 1\n", "a.json:1:1: not valid JSON: expecting value"),
    "NaN": ("a.json", '{"a": [0, NaN]}', "a.json:1:11: a[1]: NaN is not a number that can be used"),
    "infinite": ("a.json", '{"a": -1e999}', "a.json:1:7: a: -1e999 is not a number that can be used"),
    "recursion": ("a.yaml", "a: &a [*a]\n", "a.yaml:1:8: a[0]: the YAML alias *a stands for itself"),
    "no anchor": ("a.yaml", "a: *b\n", "a.yaml:1:4: a: the YAML alias *b has no anchor before it"),
    "alias bomb": ("a.yaml", BOMB, "a.yaml:5:36: e[7]: YAML aliases stand for more than 100000 values"),
    "merge": ("a.yaml", "a: {<<: 1}\n", "a.yaml:1:5: a: a merge key '<<' needs a mapping or a list of mappings"),
    "key": ("a.yaml", "? [a]\n: 1\n", "a.yaml:1:3: a key must be text"),
    "tag": ("a.yaml", "a: !Ref b\n", "a.yaml:1:4: a: the YAML tag !Ref is not supported"),
    "object": (
        "a.yaml",
        "a: !!python/name:os.system\n",
        "a.yaml:1:4: a: the YAML tag tag:yaml.org,2002:python/name:os.system is not supported",
    ),
    "deep YAML": ("a.yaml", "- " * 3000, "a.yaml:1:203: more than 100 mappings and lists within each other"),
    "deep flow": ("a.yaml", "[" * 3000, "a.yaml:1:101: more than 100 mappings and lists within each other"),
    "deep JSON": (
        "a.json",
        "[" * 101 + "]" * 101,
        "a.json:1:101: more than 100 mappings and lists within each other",
    ),
    "very deep JSON": (
        "a.json",
        '{"a":' * 100_000 + "1" + "}" * 100_000,
        "a.json:1:501: more than 100 mappings and lists within each other",
    ),
}


@pytest.mark.parametrize(("name", "content", "line"), BAD.values(), ids=BAD.keys())
def test_bad_files_are_one_line(write: Write, name: str, content: str | bytes, line: str) -> None:
    with pytest.raises(InputError) as caught:
        read(write(name, content))
    assert str(caught.value) == line


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("absent.yaml", "absent.yaml: no such file"),
        (".", ".: is a directory, not a file"),
        ("a\0b", "a\\x00b: cannot be read: embedded null byte"),
        ("x" * 300, f"{'x' * 300}: cannot be read: File name too long"),
    ],
)
def test_files_that_cannot_be_read(write: Write, name: str, line: str) -> None:
    write("any", "")
    with pytest.raises(InputError) as caught:
        read(name)
    assert str(caught.value) == line


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission(write: Write) -> None:
    Path(write("a.yaml", "a: 1")).chmod(0)
    with pytest.raises(InputError, match="cannot be read: Permission denied"):
        read("a.yaml")


def test_tabs_of_json_in_a_yaml_file(write: Write) -> None:
    assert read(write("a.yaml", '{\n\t"a":\n\t\t[1]}')).data == {"a": [1]}


def test_flow_style_yaml_is_not_taken_for_json(write: Write) -> None:
    assert read(write("a.yaml", "{a: 1, b: [x]}")).data == {"a": 1, "b": ["x"]}


@pytest.mark.parametrize(
    ("path", "text"),
    [((), ""), (("jobs", 3, "name"), "jobs[3].name"), ((0, 1), "[0][1]"), (("a", "ml.g5.xlarge"), "a.ml.g5.xlarge")],
)
def test_dotted(path: KeyPath, text: str) -> None:
    assert dotted(path) == text
