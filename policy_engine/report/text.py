"""A report for a terminal, readable at 80 columns and through a pipe.

Text of the user's is passed to rich as ``Text``, never as markup, and has its control characters written out.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from rich import box
from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.table import Table as Grid
from rich.text import Text as Styled

from policy_engine.report.blocks import (
    Badge,
    Block,
    Cell,
    Columns,
    Details,
    Drawing,
    Facts,
    Group,
    Lines,
    Listing,
    Name,
    Page,
    Table,
    Text,
    Tone,
)
from policy_engine.report.escaping import visible, visible_line

_STYLES: Final = {Tone.GOOD: "green", Tone.BAD: "bold red", Tone.UNSURE: "yellow", Tone.PLAIN: ""}


_LONGEST_WORD: Final = 40
"""Characters of a word that a column makes room for; a longer one is broken."""
_GAP: Final = 2


class _Paper(io.StringIO):
    """Takes what a console would write."""

    encoding = ""
    """Of where it will go: decides whether tables are ruled with ASCII."""


def render(page: Page, console: Console) -> str:
    """The page as text for the console: as wide as it is, in colour where it has some. Nothing is written.

    Nothing is cut off and no word is broken that a line can hold: a table that cannot be so narrow is wider.
    """
    paper = _Paper()
    paper.encoding = console.encoding
    console.file = paper
    room = console.width
    for part in _parts(page, room):
        console.width = max(room, _width(part))
        console.print(part)
    return "\n".join(line.rstrip() for line in paper.getvalue().split("\n"))


def _width(part: RenderableType) -> int:
    """Characters that a table takes; 0 for prose, which takes what there is."""
    return sum((column.width or 0) + _GAP for column in part.columns) if isinstance(part, Grid) else 0


def _parts(page: Page, width: int) -> Iterator[RenderableType]:
    yield _facts(page.sources, width)
    for section in page.sections:
        yield from ("", _heading(section.title))
        yield from _blocks(section.blocks, width)
    yield from ("", _heading("What this rests on"))
    yield _facts(page.rests_on, width)
    yield ""
    yield Styled.assemble(_cell(page.verdict), f": {visible(page.title)}")


def _heading(title: str) -> Styled:
    return Styled(visible(title), style="bold")


def _blocks(blocks: Iterable[Block], width: int) -> Iterator[RenderableType]:
    """Charts and their legends are for the page; everything else is shown, folded or not."""
    for number, each in enumerate(blocks):
        block = each.listing() if isinstance(each, Drawing) else each
        if number and isinstance(block, Table | Listing | Group | Columns):
            yield ""
        if isinstance(block, Table | Listing):
            if block.caption:
                yield Styled(visible(block.caption), style="italic")
            yield _table(block, width) if isinstance(block, Table) else _listing(block)
        elif isinstance(block, Facts):
            yield _facts(block.pairs, width)
        elif isinstance(block, Text):
            yield Styled(visible(block.text))
        elif isinstance(block, Group | Columns | Details):
            for title, below in _below(block):
                if title:
                    yield _heading(title)
                yield from _blocks(below, width)


def _below(block: Group | Columns | Details) -> Sequence[tuple[str, Sequence[Block]]]:
    """The blocks in it, with their titles."""
    if isinstance(block, Columns):
        return block.parts
    return [(block.title if isinstance(block, Group) else "", block.blocks)]


def _table(table: Table, width: int) -> Grid:
    titles = [Styled(column.title) for column in table.columns]
    rows = [[_cell(cell) for cell in row] for row in table.rows]
    grid = Grid(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    for column, title, fitting in zip(table.columns, titles, _widths([titles, *rows], width), strict=True):
        grid.add_column(title, justify="right" if column.is_number else "left", overflow="fold", width=fitting)
    for row in rows:
        grid.add_row(*row)
    return grid


def _listing(listing: Listing) -> Grid:
    lines = [Styled(visible_line(line)) for line in listing.lines]
    grid = Grid.grid()
    grid.add_column(no_wrap=True, width=max((cell_len(line.plain) for line in lines), default=0))
    for line in lines:
        grid.add_row(line)
    return grid


def _facts(pairs: Iterable[tuple[str, Cell]], width: int) -> Grid:
    rows = [[Styled(visible(word), style="dim"), _cell(value)] for word, value in pairs]
    grid = Grid.grid(padding=(0, _GAP, 0, 0))
    for fitting in _widths(rows, width):
        grid.add_column(overflow="fold", width=fitting)
    for row in rows:
        grid.add_row(*row)
    return grid


def _widths(rows: Sequence[Sequence[Styled]], room: int) -> list[int]:
    """Characters of each column: its longest line where all fit, else the widest give way, down to their words."""
    columns = list(zip(*rows, strict=True))
    lines = [max(cell_len(line) for cell in column for line in cell.plain.split("\n")) for column in columns]
    words = [
        min(_LONGEST_WORD, max((cell_len(word) for cell in column for word in cell.plain.split()), default=1))
        for column in columns
    ]
    most = max(lines, default=0)
    while most > 1 and sum(_between(words, lines, most)) + _GAP * (len(columns) - 1) > room:
        most -= 1
    return _between(words, lines, most)


def _between(least: Sequence[int], wanted: Sequence[int], most: int) -> list[int]:
    return [max(low, min(high, most)) for low, high in zip(least, wanted, strict=True)]


def _cell(cell: Cell) -> Styled:
    if isinstance(cell, Badge):
        return Styled(visible(cell.text), style=_STYLES[cell.tone])
    if isinstance(cell, Lines):
        return Styled("\n".join(visible(text) for text in cell.texts))
    return Styled(visible(cell.text if isinstance(cell, Name) else cell))
