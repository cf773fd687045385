"""A report in GitHub's Markdown, for a comment on a pull request: the verdict first, details folded."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

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
    Section,
    Table,
    Text,
    Tone,
)
from policy_engine.report.escaping import markdown, unlinked, visible, visible_line

_MARKS: Final = {Tone.GOOD: "✅ ", Tone.BAD: "❌ ", Tone.UNSURE: "⚠️ ", Tone.PLAIN: ""}


MOST: Final = 65_536
"""Characters of a comment on GitHub; a longer one is refused."""
_ROOM: Final = 1_000
"""Characters kept for what is added to a comment beside the report."""


def render(page: Page) -> str:
    """The page as Markdown, short enough for a comment: what is folded away goes first, and then rows of tables."""
    for shorter in _shorter(page):
        text = "\n".join(_lines(shorter)) + "\n"
        if len(text) <= MOST - _ROOM:
            break
    return text


def _shorter(page: Page) -> Iterator[Page]:
    """The page, and ever shorter ones, each of which says what it leaves out."""
    yield page
    sections = list(page.sections)
    for number in reversed(range(len(sections))):
        sections[number] = _unfolded(sections[number])
        yield replace(page, sections=tuple(sections))
    rows = max((len(table.rows) for section in sections for table in _tables(section.blocks)), default=0)
    while rows := rows // 2:
        yield replace(page, sections=[_cut(section, rows) for section in sections])


def _tables(blocks: Iterable[Block]) -> Iterator[Table]:
    for block in blocks:
        if isinstance(block, Table):
            yield block
        elif isinstance(block, Group):
            yield from _tables(block.blocks)


def _unfolded(section: Section) -> Section:
    """Without what is folded away."""
    folded = [block.summary for block in section.blocks if isinstance(block, Details)]
    if not folded:
        return section
    told = Text(f"Left out, as a comment on GitHub has {MOST:,} characters: {', '.join(folded)}.")
    return replace(section, blocks=[*(b for b in section.blocks if not isinstance(b, Details)), told])


def _cut(section: Section, rows: int) -> Section:
    """With the first rows of its tables alone."""
    return replace(section, blocks=[_cut_block(block, rows) for block in section.blocks])


def _cut_block(block: Block, rows: int) -> Block:
    if isinstance(block, Group):
        return replace(block, blocks=[_cut_block(inner, rows) for inner in block.blocks])
    if not isinstance(block, Table) or len(block.rows) <= rows:
        return block
    caption = f"{block.caption}: " if block.caption else ""
    return replace(block, caption=f"{caption}the first {rows:,} of {len(block.rows):,}", rows=block.rows[:rows])


def _lines(page: Page) -> Iterator[str]:
    yield f"## {_cell(page.verdict)}: {markdown(page.title)}"
    yield ""
    yield from (f"- {markdown(word)}: {markdown(place)}" for word, place in page.sources)
    for section in page.sections:
        yield from ("", f"### {markdown(section.title)}")
        yield from _blocks(section.blocks)
    yield from _folded("What this rests on", [Facts(page.rests_on)])


def _blocks(blocks: Iterable[Block]) -> Iterator[str]:
    for block in blocks:
        if isinstance(block, Table):
            yield from _table(block)
        elif isinstance(block, Facts):
            yield ""
            yield from (f"- {markdown(word)}: {_cell(value)}" for word, value in block.pairs)
        elif isinstance(block, Text):
            yield from ("", markdown(block.text))
        elif isinstance(block, Listing | Drawing):
            yield from _listing(block.listing() if isinstance(block, Drawing) else block)
        elif isinstance(block, Group):
            yield from ("", f"#### {markdown(block.title)}")
            yield from _blocks(block.blocks)
        elif isinstance(block, Columns):
            for title, below in block.parts:
                yield from ("", f"*{markdown(title)}*")
                yield from _blocks(below)
        elif isinstance(block, Details):
            yield from _folded(block.summary, block.blocks)


def _folded(summary: str, blocks: Iterable[Block]) -> Iterator[str]:
    # The summary is HTML; the blank line after it makes GitHub read what follows as Markdown.
    yield from ("", f"<details><summary>{unlinked(html.escape(visible(summary)))}</summary>")
    yield from _blocks(blocks)
    yield from ("", "</details>")


def _listing(listing: Listing) -> Iterator[str]:
    """Fenced with more backticks than there are in it, so that nothing in it ends the fence."""
    lines = [visible_line(line) for line in listing.lines]
    fence = "`" * max(3, 1 + max((len(run) for line in lines for run in re.findall("`+", line)), default=0))
    caption = ("", f"*{markdown(listing.caption)}*") if listing.caption else ()
    yield from (*caption, "", f"{fence}text", *lines, fence)


def _table(table: Table) -> Iterator[str]:
    if table.caption:
        yield from ("", f"*{markdown(table.caption)}*")
    yield ""
    yield _row(markdown(column.title) for column in table.columns)
    yield _row("--:" if column.is_number else "---" for column in table.columns)
    for row in table.rows:
        yield _row(_cell(cell) for cell in row)


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(cell: Cell) -> str:
    if isinstance(cell, Badge):
        return f"{_MARKS[cell.tone]}**{markdown(cell.text)}**"
    if isinstance(cell, Lines):
        return "<br>".join(markdown(text) for text in cell.texts)
    return markdown(cell.text if isinstance(cell, Name) else cell)
