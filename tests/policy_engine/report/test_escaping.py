"""Text of a user's files appears as text, whatever it holds."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from policy_engine.report import escaping

SHOWN = {
    "plain": ("plain", "plain"),
    "ansi": ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
    "8-bit control": ("\x9b31m", "\\x9b31m"),
    "bell and backspace": ("a\x07b\x08", "a\\x07b\\x08"),
    "bidi override": ("\u202egnp.exe", "\\u202egnp.exe"),
    "bidi isolate": ("\u2066x\u2069", "\\u2066x\\u2069"),
    "line separator": ("a\u2028b", "a\\u2028b"),
    "zero width space": ("QS\u200b1", "QS\\u200b1"),
    "tag character": ("a\U000e0041", "a\\U000e0041"),
    "lone surrogate": ("a\ud800", "a\\ud800"),
    "paragraph of a block scalar": ("one\n  two\r\n\tthree\n", "one two three"),
    "other writing": ("größe 数量 می\u200cخواهم", "größe 数量 می\u200cخواهم"),
}


@pytest.mark.parametrize(("text", "shown"), SHOWN.values(), ids=SHOWN)
def test_what_cannot_be_seen_is_written_out(text: str, shown: str) -> None:
    assert escaping.visible(text) == shown


BLOCKS = {"r", "p", "ul", "li", "table", "thead", "tbody", "tr", "th", "td"}
INJECTIONS = [
    "</script><b>x",
    "<img src=x onerror=alert(1)>",
    "a|b",
    "**bold** _it_ ~~gone~~ `code`",
    "[link](http://example.com) ![image](x)",
    "# heading",
    "- item",
    "+ item",
    "1. item",
    "7) item",
    "=====",
    "---",
    "&lt;b&gt; &amp;",
    "back\\slash \\| \\`",
    "$x^2$",
    "[red]x[/red]",
    "@octocat, a@b.org and @my-org/team",
    "#12 and o/r#12 and GH-12",
    "p.yaml:100:5: :+1: :heavy_check_mark:",
    "&#64;octocat",
]


@pytest.mark.parametrize(
    "place", ["{}\n", "- {}\n", "| a | b |\n|---|---|\n| {} | z |\n"], ids=["paragraph", "item", "cell"]
)
@pytest.mark.parametrize("text", INJECTIONS)
def test_markdown_shows_the_text_itself(text: str, place: str) -> None:
    html = MarkdownIt("gfm-like", {"linkify": False}).render(place.format(escaping.markdown(text)))
    root = ET.fromstring(f"<r>{html}</r>")  # noqa: S314
    assert "".join(root.itertext()).split("z")[0].replace("a\nb", "").strip() == text
    assert {element.tag for element in root.iter()} <= BLOCKS


REFERENCES = {
    "a person": ("@octocat", "@<!-- -->octocat"),
    "a team": ("by @my-org/team", "by @<!-- -->my-org/team"),
    "an issue": ("see #12", "see \\#<!-- -->12"),
    "an issue elsewhere": ("o/r#12", "o/r\\#<!-- -->12"),
    "an emoji": (":+1:", ":<!-- -->+1:"),
    "an emoji with an escape": (":eyes_x:", ":<!-- -->eyes\\_x:"),
    "a place that is an emoji": ("p.yaml:100:5", "p.yaml:<!-- -->100:5"),
    "a place": ("p.yaml:3:21: shares", "p.yaml:3:21: shares"),
    "a lone sign": ("@ # :", "@ \\# :"),
}


@pytest.mark.parametrize(("text", "written"), REFERENCES.values(), ids=REFERENCES)
def test_github_notifies_nobody_and_refers_to_nothing(text: str, written: str) -> None:
    """GitHub looks at what Markdown has become: a backslash or an entity would be gone by then."""
    assert escaping.markdown(text) == written


@given(st.text())
def test_any_text_survives_xml(text: str) -> None:
    element = ET.Element("failure")
    element.text = escaping.xml(text)
    again = ET.fromstring(ET.tostring(element, encoding="unicode"))  # noqa: S314
    assert (again.text or "") == element.text


@given(st.text())
def test_shown_text_is_one_line_that_can_be_printed(text: str) -> None:
    shown = escaping.visible(text)
    assert len(shown.splitlines()) <= 1
    assert all(char.isprintable() or char in "\u200c\u200d" or char.isspace() for char in shown)
    assert "\x1b" not in shown


def test_xml_keeps_the_lines_of_a_report() -> None:
    assert escaping.xml("one\n\ntwo \x1b[0m") == "one\n\ntwo \\x1b[0m"
