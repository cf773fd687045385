"""Reads YAML and JSON so that every value is known by its line and column.

Scalars are those of the YAML 1.2 core schema: only ``true``, ``false``, ``null`` and numbers are not text
(``on``, ``no`` and ``2020-01-01`` are). Keys are always text, and a number remembers how it was written.
"""

from __future__ import annotations

import codecs
import json
import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NoReturn

from policy_engine.errors import InputError
from policy_engine.policy import WrittenFloat, WrittenInt

KeyPath = tuple[str | int, ...]
"""Keys and indices from the top of a file to a value: ``("jobs", 3, "name")``."""

MAX_DEPTH: Final = 100
"""Mappings and lists within each other; CloudFormation and the policy document need a tenth of it."""
MAX_ALIASED: Final = 100_000
"""Values that YAML aliases may stand for in all: a short file can ask for billions."""
_MAX_DIGITS: Final = 300
"""A number with more digits is beyond a float."""


@dataclass(slots=True)
class Spot:
    """Where a value stands: the offset of its key (of the item in a list), and its parts."""

    offset: int
    children: dict[str | int, Spot] = field(default_factory=dict)
    size: int = 1
    """Values in it, itself included; counted for YAML alone."""


class Document:
    """The data of one file, and where in it each value stands."""

    def __init__(self, file: str, text: str, data: Any, spots: Callable[[], Spot], *, tagged: bool = False) -> None:
        self.file = file
        self.data = data
        self.tagged = tagged
        """Does the file use short forms such as ``!Ref``?"""
        self._text = text
        self._spots = spots
        self._root: Spot | None = None

    def position(self, path: KeyPath) -> tuple[int, int]:
        """Line and column, from 1, of the key or list item; of the nearest parent where it is absent."""
        if self._root is None:
            self._root = self._spots()
        spot = self._root
        for part in path:
            child = spot.children.get(part)
            if child is None:
                break
            spot = child
        return line_and_column(self._text, spot.offset)

    def error(self, path: KeyPath, message: str) -> InputError:
        """An error about the value at the path."""
        line, column = self.position(path)
        return InputError(message, file=self.file, line=line, column=column, key=dotted(path))


def dotted(path: KeyPath) -> str:
    """The path as a user would write it: ``jobs[3].name``."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def line_and_column(text: str, offset: int) -> tuple[int, int]:
    """Line and column, from 1, of an offset in characters."""
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def read(path: str | Path, *, short_forms: bool = False) -> Document:
    """The YAML or JSON file as plain values: dict, list, str, int, float, bool and None.

    With ``short_forms``, CloudFormation's YAML tags are read as their long forms (``!Sub x`` as
    ``{"Fn::Sub": "x"}``); without, they are an error. Raises InputError.
    """
    file = str(path)
    text = _text(Path(path), file)
    if not text.strip():
        raise InputError("the file is empty", file=file)
    if Path(path).suffix.lower() == ".json":
        return _read_json(file, text)
    if text.lstrip()[0] in "{[" and _is_json(text):
        return _read_json(file, text)  # YAML refuses the tabs that JSON allows
    return _read_yaml(file, text, short_forms=short_forms)


def _too_deep(file: str, text: str, offset: int) -> InputError:
    line, column = line_and_column(text, offset)
    what = f"more than {MAX_DEPTH} mappings and lists within each other"
    return InputError(what, file=file, line=line, column=column)


# --- text ----------------------------------------------------------------------------------------


_BOMS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def _text(path: Path, file: str) -> str:
    raw = _bytes(path, file)
    encoding = next((name for bom, name in _BOMS if raw.startswith(bom)), "utf-8")
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError as error:
        before = raw[: error.start].decode(encoding, "replace")
        line, column = line_and_column(before, len(before))
        what = f"byte 0x{raw[error.start]:02x} is not {encoding.removesuffix('-sig').upper()} text"
        raise InputError(what, file=file, line=line, column=column) from None
    if "\0" in text:
        raise InputError("the file is binary, not YAML or JSON", file=file)
    return text


def _bytes(path: Path, file: str) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise InputError("no such file", file=file) from None
    except IsADirectoryError:
        raise InputError("is a directory, not a file", file=file) from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", file=file) from None
    except ValueError as error:  # a NUL in the name
        raise InputError(f"cannot be read: {error}", file=file) from None


# --- numbers -------------------------------------------------------------------------------------


def _written_int(text: str) -> WrittenInt:
    if len(text) > _MAX_DIGITS:
        raise _UnusableNumberError(text)
    return WrittenInt(int(text), text)


def _written_float(text: str) -> WrittenFloat:
    value = float(text)
    if math.isinf(value):
        raise _UnusableNumberError(text)
    return WrittenFloat(value, text)


class _UnusableNumberError(ValueError):
    """A number of JSON that is NaN, infinite or too large."""


# --- JSON ----------------------------------------------------------------------------------------


class _DuplicateKeyError(ValueError):
    """A key twice in one object; the scan for positions says where."""


def _no_constant(text: str) -> NoReturn:
    raise _UnusableNumberError(text)


def _unique_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) != len(pairs):
        raise _DuplicateKeyError
    return values


def _load_json(text: str) -> Any:
    return json.loads(
        text,
        object_pairs_hook=_unique_pairs,
        parse_int=_written_int,
        parse_float=_written_float,
        parse_constant=_no_constant,
    )


def _is_json(text: str) -> bool:
    try:
        _load_json(text)
    except json.JSONDecodeError:
        return False
    except (_DuplicateKeyError, _UnusableNumberError, RecursionError):
        return True  # JSON, if bad: say what is wrong with it as JSON
    return True


def _read_json(file: str, text: str) -> Document:
    try:
        data = _load_json(text)
    except json.JSONDecodeError as error:
        what = f"not valid JSON: {error.msg[:1].lower()}{error.msg[1:]}"
        raise InputError(what, file=file, line=error.lineno, column=error.colno) from None
    except (_DuplicateKeyError, _UnusableNumberError, RecursionError):
        _JsonScan(file, text)
        raise InputError("not valid JSON", file=file) from None
    if _is_deeper(data, MAX_DEPTH):
        _JsonScan(file, text)
    return Document(file, text, data, lambda: _JsonScan(file, text).root)


def _is_deeper(data: Any, depth: int) -> bool:
    """Are there more containers within each other than ``depth``?"""
    level = [data]
    for _ in range(depth):
        level = [child for value in level for child in _parts(value) if isinstance(child, dict | list)]
        if not level:
            return False
    return True


def _parts(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


_JSON_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}]|[^\s\[\]{}:,"]+', re.DOTALL)


class _JsonScan:
    """One walk over a text that is JSON: where everything stands, and what ``json`` finds without a place."""

    def __init__(self, file: str, text: str) -> None:
        self.file = file
        self.text = text
        self.root = Spot(0)
        self._open: list[tuple[str | int, Spot, bool]] = []
        """The containers around the piece: key or index, spot, is it an object?"""
        self._key: tuple[str, int] | None = None
        """A key that waits for its value, and where it stands."""
        for match in _JSON_TOKEN.finditer(text):
            self._token(match.group(), match.start())

    def _token(self, piece: str, offset: int) -> None:
        if piece in "]}":
            self._open.pop()
        elif self._open and self._open[-1][2] and self._key is None:
            self._note_key(json.loads(piece), offset)
        else:
            self._value(piece, offset)

    def _note_key(self, key: str, offset: int) -> None:
        known = self._open[-1][1].children
        if key in known:
            first, _ = line_and_column(self.text, known[key].offset)
            raise self._error(offset, key, f"duplicate key {key!r}, first on line {first}")
        self._key = (key, offset)

    def _value(self, piece: str, offset: int) -> None:
        part: str | int = ""
        if self._open:
            siblings = self._open[-1][1].children
            part, at = self._key if self._key is not None else (len(siblings), offset)
            spot = siblings[part] = Spot(at)
            self._key = None
        else:
            spot = self.root = Spot(offset)
        if piece in "[{":
            if len(self._open) == MAX_DEPTH:
                raise _too_deep(self.file, self.text, offset)
            self._open.append((part, spot, piece == "{"))
        elif piece[0] != '"' and not _is_usable(piece):
            raise self._error(offset, part, f"{piece} is not a number that can be used")

    def _error(self, offset: int, part: str | int, message: str) -> InputError:
        line, column = line_and_column(self.text, offset)
        key = dotted((*(outer for outer, _, _ in self._open[1:]), part))
        return InputError(message, file=self.file, line=line, column=column, key=key)


def _is_usable(token: str) -> bool:
    try:
        _load_json(token)
    except _UnusableNumberError:
        return False
    return True


# --- YAML ----------------------------------------------------------------------------------------


_PLAIN_WORDS: Final = {
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys(("null", "Null", "NULL", "~", ""), None),
}
_PLAIN_INT: Final = re.compile(r"[-+]?[0-9]+")
_PLAIN_BASE_INT: Final = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_PLAIN_FLOAT: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_TAGS: Final = {f"tag:yaml.org,2002:{name}" for name in ("str", "int", "float", "bool", "null", "map", "seq")}
_TEXT_TAGS: Final = {"!", "tag:yaml.org,2002:str"}
_UNPRINTABLE: Final = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def plain_number(text: str) -> WrittenInt | WrittenFloat | None:
    """The decimal number that the text is; None where it is none, or beyond a float."""
    if len(text) > _MAX_DIGITS:
        return None
    if _PLAIN_INT.fullmatch(text):
        return WrittenInt(int(text), text)
    if _PLAIN_FLOAT.fullmatch(text) and not math.isinf(float(text)):
        return WrittenFloat(float(text), text)
    return None


def _plain(text: str) -> Any:
    """A scalar without quotes, in the YAML 1.2 core schema."""
    if text in _PLAIN_WORDS:
        return _PLAIN_WORDS[text]
    if len(text) <= _MAX_DIGITS and _PLAIN_BASE_INT.fullmatch(text):
        return WrittenInt(int(text, 0), text)
    number = plain_number(text)
    return text if number is None else number


def _read_yaml(file: str, text: str, *, short_forms: bool) -> Document:
    bad = _UNPRINTABLE.search(text)
    if bad is not None:
        line, column = line_and_column(text, bad.start())
        what = f"not valid YAML: character U+{ord(bad.group()):04X} is not allowed"
        raise InputError(what, file=file, line=line, column=column)
    reader = _YamlReader(file, text, short_forms=short_forms)
    data, spot = reader.document()
    return Document(file, text, data, lambda: spot, tagged=reader.tagged)


class _YamlReader:
    """Builds values from the parser's events: no object of a file's choosing is ever made."""

    def __init__(self, file: str, text: str, *, short_forms: bool) -> None:
        import yaml  # not at the top: a JSON source does without

        self.file = file
        self.text = text
        self.short_forms = short_forms
        self.tagged = False
        self._yaml = yaml
        self._events = yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        self._anchors: dict[str, tuple[Any, Spot] | None] = {}
        """None while the anchored value is being read."""
        self._aliased = 0

    def document(self) -> tuple[Any, Spot]:
        """The one document of the file."""
        yaml = self._yaml
        self._next()
        event = self._next()
        if isinstance(event, yaml.StreamEndEvent):
            raise InputError("the file is empty", file=self.file)
        data, spot = self._value(self._next(), ())
        self._next()
        event = self._next()
        if not isinstance(event, yaml.StreamEndEvent):
            raise self._error(event.start_mark.index, (), "more than one YAML document in the file")
        return data, spot

    def _next(self) -> Any:
        try:
            return next(self._events)
        except self._yaml.MarkedYAMLError as error:
            raise self._syntax_error(error) from None
        except (self._yaml.YAMLError, RecursionError) as error:
            raise InputError(f"not valid YAML: {error}", file=self.file) from None

    def _syntax_error(self, error: Any) -> InputError:
        mark = error.problem_mark
        if self.text[mark.index : mark.index + 1] == "\t":
            return self._error(mark.index, (), "not valid YAML: a tab; indent with spaces")
        context = f" {error.context}" if error.context else ""
        return self._error(mark.index, (), f"not valid YAML: {error.problem}{context}")

    def _error(self, offset: int, path: KeyPath, message: str) -> InputError:
        line, column = line_and_column(self.text, offset)
        return InputError(message, file=self.file, line=line, column=column, key=dotted(path))

    def _value(self, event: Any, path: KeyPath) -> tuple[Any, Spot]:
        yaml = self._yaml
        if isinstance(event, yaml.AliasEvent):
            return self._alias(event, path)
        if event.anchor is not None:
            self._anchors[event.anchor] = None
        if len(path) > MAX_DEPTH:
            raise _too_deep(self.file, self.text, event.start_mark.index)
        spot = Spot(event.start_mark.index)
        wrap = self._short_form(event, path)
        data: Any
        if isinstance(event, yaml.ScalarEvent):
            is_text = wrap is not None or event.tag in _TEXT_TAGS or (event.style and event.tag is None)
            data = event.value if is_text else _plain(event.value)
        elif isinstance(event, yaml.SequenceStartEvent):
            data = self._list(spot, path)
        else:
            data = self._mapping(spot, path)
        if wrap is not None:
            data, spot = {wrap: data}, Spot(spot.offset, {wrap: spot}, spot.size + 1)
        if event.anchor is not None:
            self._anchors[event.anchor] = (data, spot)
        return data, spot

    def _short_form(self, event: Any, path: KeyPath) -> str | None:
        """The long form's key of a CloudFormation tag; None for a value without one."""
        tag = event.tag
        if tag is None or tag == "!" or tag in _TAGS:
            return None
        if not (self.short_forms and tag.startswith("!")):
            raise self._error(event.start_mark.index, path, f"the YAML tag {tag} is not supported")
        self.tagged = True
        name: str = tag[1:]
        return name if name in ("Ref", "Condition") else f"Fn::{name}"

    def _alias(self, event: Any, path: KeyPath) -> tuple[Any, Spot]:
        offset = event.start_mark.index
        known = self._anchors.get(event.anchor)
        if known is None:
            what = "stands for itself" if event.anchor in self._anchors else "has no anchor before it"
            raise self._error(offset, path, f"the YAML alias *{event.anchor} {what}")
        self._aliased += known[1].size
        if self._aliased > MAX_ALIASED:
            raise self._error(offset, path, f"YAML aliases stand for more than {MAX_ALIASED} values")
        return known

    def _list(self, spot: Spot, path: KeyPath) -> list[Any]:
        items: list[Any] = []
        while not isinstance(event := self._next(), self._yaml.SequenceEndEvent):
            item, child = self._value(event, (*path, len(items)))
            spot.children[len(items)] = Spot(event.start_mark.index, child.children, child.size)
            spot.size += child.size
            items.append(item)
        return items

    def _mapping(self, spot: Spot, path: KeyPath) -> dict[str, Any]:
        values: dict[str, Any] = {}
        merged: list[tuple[Any, Spot]] = []
        while not isinstance(event := self._next(), self._yaml.MappingEndEvent):
            key = self._key(event, path)
            value, child = self._value(self._next(), (*path, key))
            spot.size += child.size + 1
            if key == "<<" and not event.style:
                merged += self._sources(value, child, event.start_mark.index, path)
                continue
            if key in values:
                first, _ = line_and_column(self.text, spot.children[key].offset)
                what = f"duplicate key {key!r}, first on line {first}"
                raise self._error(event.start_mark.index, (*path, key), what)
            values[key] = value
            spot.children[key] = Spot(event.start_mark.index, child.children, child.size)
        for value, child in merged:
            for key in value.keys() - values.keys():
                spot.children[key] = child.children[key]
            values = {**value, **values}
        return values

    def _key(self, event: Any, path: KeyPath) -> str:
        offset: int = event.start_mark.index
        if isinstance(event, self._yaml.ScalarEvent):
            key: str = event.value
            if event.anchor is not None:
                self._anchors[event.anchor] = (key, Spot(offset))
            return key
        if isinstance(event, self._yaml.AliasEvent):
            value, _ = self._alias(event, path)
            if isinstance(value, str):
                return value
        raise self._error(offset, path, "a key must be text")

    def _sources(self, value: Any, spot: Spot, offset: int, path: KeyPath) -> list[tuple[Any, Spot]]:
        """What a merge key ``<<`` names: a mapping, or a list of them of which the first wins."""
        if isinstance(value, dict):
            return [(value, spot)]
        if isinstance(value, list) and all(isinstance(item, dict) for item in value):
            return [(item, spot.children[index]) for index, item in enumerate(value)]
        raise self._error(offset, path, "a merge key '<<' needs a mapping or a list of mappings")
