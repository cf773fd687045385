"""Counterexamples in reports: what happens, drawn; the moves that make it happen; and the scenario that replays it."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Final

from policy_engine.expectations import Counterexample, Verdict
from policy_engine.report.blocks import Block, Details, Drawing, Group, Listing, Section, Text
from policy_engine.report.writing import write_report

DEPARTURES = "Where it leaves the default choices"


def sections(ident: str, title: str, verdicts: Sequence[Verdict], *, folded: bool) -> list[Section]:
    """A section with the counterexample of each verdict that has one; none where none has."""
    shown = [verdict for verdict in verdicts if verdict.counterexample is not None]
    if not shown:
        return []
    kind = Details if folded else Group
    return [Section(ident, title, [kind(verdict.name, list(_blocks(verdict))) for verdict in shown])]


def write(folder: Path, verdicts: Iterable[tuple[str, Verdict]]) -> list[Path]:
    """Write each counterexample as a scenario file NAME.yaml, and say where they are.

    Each verdict comes with what its name begins with, where several scenarios share the folder. Raises InputError where
    a file cannot be written.
    """
    written: dict[Path, str] = {}
    for prefix, verdict in verdicts:
        if verdict.counterexample is not None:
            written[_free(folder, _file_name(f"{prefix} {verdict.name}"), written)] = verdict.counterexample.text
    for path, text in written.items():
        write_report(path, text)
    return list(written)


_LONGEST_NAME: Final = 80
_NOT_IN_A_NAME: Final = re.compile(r"[^a-z0-9]+")


def _file_name(text: str) -> str:
    """A name for any file system: letters, digits and hyphens."""
    return _NOT_IN_A_NAME.sub("-", text.lower())[:_LONGEST_NAME].strip("-") or "counterexample"


def _free(folder: Path, name: str, taken: Container[Path]) -> Path:
    numbers = (f"-{number}" if number > 1 else "" for number in count(1))
    return next(path for number in numbers if (path := folder / f"{name}{number}.yaml") not in taken)


def _blocks(verdict: Verdict) -> Iterator[Block]:
    found = verdict.counterexample
    if found is None:
        return
    yield Text(verdict.message)
    if verdict.depends_on:
        yield Text(f"depends on {', '.join(verdict.depends_on)}")
    yield _drawing(found)
    if found.departures:
        yield Listing(DEPARTURES, found.departures)
    yield Listing("The scenario that replays it", found.text.rstrip("\n").split("\n"))


def lines(verdict: Verdict) -> list[str]:
    """The same without the scenario, for formats that take nothing but text."""
    found = verdict.counterexample
    if found is None:
        return []
    departures = [f"{DEPARTURES}:", *found.departures] if found.departures else []
    return [*_drawing(found).listing().lines, *departures]


def _drawing(found: Counterexample) -> Drawing:
    return Drawing("What happens, and the instances of each share before and after it", found.drawing)
