"""What a report for people is made of, whatever its format.

Everything here is plain text, as a policy, scenario or history has it. Each format escapes it and gives it its looks:
``report.text``, ``report.markdown``, ``report.html``. Lanes, figures and legends are for the page alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar, Final, TypeAlias

from policy_engine.outcome.drawing import MOST_SIGNS, SIGNS, DrawnStep, lines
from policy_engine.workload.durations import duration_text

if TYPE_CHECKING:
    # comes with the extra ``html``, and with the charts that are made of it
    from markupsafe import Markup


class Tone(StrEnum):
    """How a statement is to be taken; a colour and a mark that says the same without colour."""

    GOOD = "good"
    BAD = "bad"
    UNSURE = "unsure"
    PLAIN = "plain"

    @property
    def mark(self) -> str:
        """One character."""
        return _MARKS[self]


_MARKS: Final = {Tone.GOOD: "✓", Tone.BAD: "✕", Tone.UNSURE: "?", Tone.PLAIN: "i"}


@dataclass(frozen=True, slots=True)
class Badge:
    """A word that stands out."""

    text: str
    tone: Tone = Tone.PLAIN
    kind: ClassVar[str] = "badge"


@dataclass(frozen=True, slots=True)
class Name:
    """What a user named: set in a typeface that keeps l, 1 and I apart."""

    text: str
    kind: ClassVar[str] = "name"


@dataclass(frozen=True, slots=True)
class Lines:
    """Several short texts in one cell."""

    texts: Sequence[str]
    kind: ClassVar[str] = "lines"


Cell: TypeAlias = str | Badge | Name | Lines


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table; figures stand at the right."""

    title: str
    is_number: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells; the first cell names its row. ``classes`` holds one class a row, for the filter of the log."""

    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    classes: Sequence[str] = ()
    filter: str = ""
    """Name of the filter by class, unique on the page; empty where there is none."""
    kind: ClassVar[str] = "table"


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph."""

    text: str
    kind: ClassVar[str] = "text"


@dataclass(frozen=True, slots=True)
class Listing:
    """Lines that keep their breaks and indentation, in a typeface of one width."""

    caption: str
    lines: Sequence[str]
    kind: ClassVar[str] = "listing"


@dataclass(frozen=True, slots=True)
class Drawing:
    """What happens step by step, and the instances of each share before and after it."""

    caption: str
    steps: Sequence[DrawnStep]
    kind: ClassVar[str] = "drawing"

    legend: ClassVar[Sequence[tuple[str, str]]] = [(kind, kind) for kind in SIGNS]
    """The kinds of instances, and what each is called."""
    most_signs: ClassVar[int] = MOST_SIGNS
    """Instances of a share that are drawn one by one."""

    @property
    def times(self) -> list[str]:
        """Of each step."""
        return [duration_text(step.at) for step in self.steps]

    @property
    def has_units(self) -> bool:
        """Are there several instance types?"""
        return len({drawn.unit for step in self.steps for drawn in step.shares}) > 1

    def listing(self) -> Listing:
        """The same in signs."""
        return Listing(self.caption, lines(self.steps, duration_text))


@dataclass(frozen=True, slots=True)
class Facts:
    """Short pairs of a word and a value."""

    pairs: Sequence[tuple[str, Cell]]
    kind: ClassVar[str] = "facts"


@dataclass(frozen=True, slots=True)
class Figure:
    """One chart in two widths, as SVG that ``report.html.svg`` has cleaned."""

    caption: str
    wide: Markup
    narrow: Markup
    kind: ClassVar[str] = "figure"


@dataclass(frozen=True, slots=True)
class Legend:
    """What colours, patterns and shapes mean: the key of a swatch in the template, and words."""

    entries: Sequence[tuple[str, str]]
    kind: ClassVar[str] = "legend"


@dataclass(frozen=True, slots=True)
class Lane:
    """A share, or the queue: facts at the side, charts on one axis beside them."""

    title: Cell
    note: str
    facts: Facts
    figures: Sequence[Figure]
    kind: ClassVar[str] = "lane"


@dataclass(frozen=True, slots=True)
class Group:
    """Blocks under a heading of their own."""

    title: str
    blocks: Sequence[Block]
    kind: ClassVar[str] = "group"


@dataclass(frozen=True, slots=True)
class Columns:
    """Blocks side by side where there is room, each under its title: before and after."""

    parts: Sequence[tuple[str, Sequence[Block]]]
    kind: ClassVar[str] = "columns"


@dataclass(frozen=True, slots=True)
class Details:
    """Blocks that are folded away until somebody opens them."""

    summary: str
    blocks: Sequence[Block]
    kind: ClassVar[str] = "details"


Block: TypeAlias = Table | Text | Listing | Drawing | Facts | Figure | Legend | Lane | Group | Columns | Details


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page that the navigation leads to."""

    ident: str
    title: str
    blocks: Sequence[Block]


@dataclass(frozen=True, slots=True)
class Page:
    """The whole page."""

    command: str
    title: str
    verdict: Badge
    sources: Sequence[tuple[str, str]]
    """What was read: a word and a place."""
    sections: Sequence[Section] = field(default=())
    rests_on: Sequence[tuple[str, str]] = ()
    lead: int | None = None
    """So many sections come before the pictures of what happened; None: all."""
