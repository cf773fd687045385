"""Listings keep their lines and indentation in every format, and nothing in them is obeyed."""

import io

import pytest
from rich.console import Console

from policy_engine.report import junit, markdown, text
from policy_engine.report.blocks import Badge, Listing, Page, Section
from policy_engine.report.html.rendering import render

LINES = ["jobs:", "  - name: <b>`x`</b>", "    because: \x1b[31mred ```", "", f"  long: {'x' * 100}"]


def page(lines: list[str]) -> Page:
    return Page("verify", "t", Badge("fails"), [], [Section("s", "S", [Listing("what it is", lines)])])


def test_markdown_fences_with_more_backticks_than_there_are() -> None:
    shown = markdown.render(page(LINES))
    block = shown[shown.index("````text") :].split("\n")
    assert block[:7] == [
        "````text",
        "jobs:",
        "  - name: <b>`x`</b>",
        "    because: \\x1b[31mred ```",
        "",
        f"  long: {'x' * 100}",
        "````",
    ]


def test_text_breaks_no_line() -> None:
    shown = text.render(page(LINES), Console(width=40, file=io.StringIO()))
    assert f"what it is\njobs:\n  - name: <b>`x`</b>\n    because: \\x1b[31mred ```\n\n  long: {'x' * 100}\n" in shown


def test_html_escapes_it() -> None:
    pytest.importorskip("jinja2")
    shown = render(page(LINES))
    assert "<span>  - name: &lt;b&gt;`x`&lt;/b&gt;</span><span>    because: \\x1b[31mred ```</span>" in shown


def test_junit_keeps_its_indentation() -> None:
    case = junit.Case("c", junit.Outcome.FAILED, "m", "\n".join(LINES))
    assert "jobs:\n  - name: &lt;b&gt;`x`&lt;/b&gt;\n    because: \\x1b[31mred" in junit.render(
        [junit.Suite("s", [case], [])]
    )
