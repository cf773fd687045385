"""Tables in a terminal: nothing is lost, and no word is broken that a line can hold."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from policy_engine.report.blocks import Badge, Column, Details, Facts, Group, Lines, Name, Page, Section, Table, Text
from policy_engine.report.text import render


def page(*blocks: Table | Text | Facts | Group | Details) -> Page:
    return Page("verify", "title", Badge("holds"), [], [Section("s", "Section", blocks)], [])


def lines(table: Table, width: int) -> list[str]:
    text = render(page(table), Console(width=width))
    return text.split("Section\n")[1].split("\nWhat this rests on\n")[0].rstrip("\n").splitlines()


WORDS = st.text("abcdefgh-_.", min_size=1, max_size=30)
CELLS = st.lists(WORDS, max_size=4).map(" ".join)


@given(
    st.integers(1, 4).flatmap(
        lambda columns: st.lists(st.lists(CELLS, min_size=columns, max_size=columns), min_size=1, max_size=4)
    ),
    st.integers(20, 200),
)
@settings(max_examples=50)
def test_every_word_of_a_table_is_shown_whole(rows: list[list[str]], width: int) -> None:
    columns = [Column(f"c{number}", is_number=number % 2 == 1) for number in range(len(rows[0]))]
    shown = lines(Table("", columns, rows), width)
    body = " ".join(shown[2:]).split()
    assert sorted(body) == sorted(word for row in rows for cell in row for word in cell.split())


def test_a_table_is_as_wide_as_the_terminal_where_its_words_fit() -> None:
    prose = "word " * 40
    shown = lines(Table("", [Column("a"), Column("b")], [[prose, "12345"], ["x", prose]]), 60)
    assert max(map(len, shown)) <= 60
    # one column cannot have less than its share of the room: 40 words of five characters in 28
    assert len(shown) == 2 + 7 + 7


def test_a_word_longer_than_a_line_is_folded_not_cut() -> None:
    name = "n" * 128
    shown = lines(Table("", [Column("a"), Column("b")], [[Name(name), "12345"]]), 80)
    assert "".join(line.split()[0] for line in shown[2:]) == name


def test_figures_stand_at_the_right() -> None:
    shown = lines(Table("", [Column("n", is_number=True), Column("t")], [["1", "x"], ["1,000", "y"]]), 80)
    assert shown[2:] == ["    1  x", "1,000  y"]


def test_details_are_shown_and_captions_said() -> None:
    table = Table("caption", [Column("a")], [[Lines(["one", "two"])]])
    text = render(
        page(Details("folded", [table]), Group("group", [Text("prose")]), Facts([("word", "value")])), Console()
    )
    assert [line.strip("─") for line in text.splitlines() if line.strip("─")] == [
        "Section",
        "caption",
        "a",
        "one",
        "two",
        "group",
        "prose",
        "word  value",
        "What this rests on",
        "holds: title",
    ]


@pytest.mark.parametrize(("encoding", "rule"), [("utf-8", "─"), ("ascii", "-")])
def test_rules_are_drawn_with_what_the_terminal_has(encoding: str, rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    console = Console(width=80)
    monkeypatch.setattr(type(console), "encoding", encoding)
    text = render(page(Table("", [Column("abc")], [["x"]])), console)
    assert f"\n{rule * 3}\n" in text


def test_markup_of_rich_is_text() -> None:
    hostile = "[red]x[/red] [link=http://a]y[/link] :smile: \x1b[31mz\x1b[0m"
    written = "[red]x[/red] [link=http://a]y[/link] :smile: \\x1b[31mz\\x1b[0m"
    console = Console(width=200, force_terminal=True, color_system="truecolor")
    for block in (
        Text(hostile),
        Facts([(hostile, hostile)]),
        Group(hostile, []),
        Table(hostile, [Column("a")], [[Name(hostile)], [Lines([hostile])], [Badge(hostile)], [hostile]]),
    ):
        text = render(page(block), console)
        assert written in text
        assert "\x1b[31m" not in text
