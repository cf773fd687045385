"""Blocks into HTML: everything that a user wrote comes out as text, and the page needs nothing and runs nothing."""

import base64
import hashlib
import re
from collections import Counter
from html.parser import HTMLParser

import pytest
from markupsafe import Markup

from policy_engine.report.blocks import (
    Badge,
    Block,
    Column,
    Details,
    Facts,
    Figure,
    Group,
    Lane,
    Legend,
    Lines,
    Listing,
    Name,
    Page,
    Section,
    Table,
    Text,
    Tone,
)
from policy_engine.report.html.rendering import render
from tests.policy_engine.report.html.stories import NASTY


class Reader(HTMLParser):
    """Elements, attributes and text of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def attributes(self, name: str) -> list[str | None]:
        return [attributes[name] for _, attributes in self.elements if name in attributes]


def page_of(word: str) -> Page:
    """A page that has the word in every place that can hold one."""
    figure = Figure(word, Markup("<svg></svg>"), Markup("<svg></svg>"))
    facts = Facts([(word, word), (word, Name(word))])
    rows = [(Name(word), word, Badge(word), Lines([word, word]))]
    columns = [Column(word), Column(word), Column(word), Column(word, is_number=True)]
    table = Table(word, columns, rows)
    blocks: list[Block] = [
        table,
        Text(word),
        facts,
        Legend([("own", word)]),
        Lane(Name(word), word, facts, [figure]),
        figure,
    ]
    nested: list[Block] = [Group(word, blocks), Details(word, [Table(word, columns, rows, ["moves"], "log")])]
    sections = [Section("one", word, [*blocks, *nested])]
    return Page(word, word, Badge(word, Tone.BAD), [(word, word)], sections, [(word, word)])


def count(read: Reader, word: str) -> int:
    """How often the page says the word; a sentence begins with a capital."""
    return "".join(read.texts).lower().count(word.lower())


PLAIN = Reader(render(page_of("quux")))


@pytest.mark.parametrize("name", NASTY)
def test_a_word_is_text_wherever_it_stands(name: str) -> None:
    read = Reader(render(page_of(name)))
    breaks = ("wbr",)
    assert [tag for tag, _ in read.elements if tag not in breaks] == [tag for tag, _ in PLAIN.elements]
    assert [sorted(attributes) for tag, attributes in read.elements if tag not in breaks] == [
        sorted(attributes) for _, attributes in PLAIN.elements
    ]
    assert count(read, name) == count(PLAIN, "quux") > 20


@pytest.mark.parametrize(
    ("name", "seen"),
    [("\u202egnp.exe", r"\u202egnp.exe"), ("a\x00b\x1b[31m", r"a\x00b\x1b[31m"), ("a\n\n<b>", "a <b>")],
    ids=["direction", "controls", "line breaks"],
)
def test_what_nobody_could_see_is_written_out(name: str, seen: str) -> None:
    read = Reader(render(page_of(name)))
    assert count(read, seen) == count(PLAIN, "quux")


def test_long_words_may_be_broken_and_short_ones_may_not() -> None:
    def cell(word: str) -> str:
        html = render(page_of(word))
        found = re.search(r'<th role="rowheader" scope="row"><bdi class="name">(.*?)</bdi></th>', html)
        return found[1] if found else ""

    assert cell("qs1_job_high") == "qs1_job_high"
    assert cell("a_team/with_a_name.of-25") == "a_<wbr>team/<wbr>with_<wbr>a_<wbr>name.<wbr>of-<wbr>25"
    assert cell("x" * 25) == "<wbr>".join(["x" * 10, "x" * 10, "x" * 5])


def test_a_listing_keeps_its_lines_and_their_indentation() -> None:
    page = Page("", "", Badge(""), [], [Section("one", "One", [Listing("", ["jobs:", "  - {name: <b>,  at: 1}", ""])])])
    lines = re.findall(r"<span>([^<]*)</span>", render(page).partition("<pre>")[2].partition("</pre>")[0])
    assert lines == ["jobs:", "  - {name: &lt;b&gt;,  at: 1}", ""]


def test_the_policy_lets_the_pages_own_style_sheet_through_and_no_more() -> None:
    html = render(page_of("quux"))
    policy = next(
        attributes["content"]
        for tag, attributes in PLAIN.elements
        if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
    )
    (style,) = re.findall(r"<style>(.*?)</style>", html, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policy == (
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'"
    )


def test_nothing_is_loaded_or_run() -> None:
    tags = {tag for tag, _ in PLAIN.elements}
    assert tags.isdisjoint({"script", "img", "iframe", "object", "embed", "form", "base", "video", "audio", "use"})
    assert PLAIN.attributes("src") == []
    assert PLAIN.attributes("style") == []
    links = PLAIN.attributes("href")
    assert all(link == "data:," or (link or "").startswith("#") for link in links), links
    (style,) = re.findall(r"<style>(.*?)</style>", render(page_of("quux")), re.DOTALL)
    assert "@import" not in style
    assert "url(" not in style
    assert not any(name.startswith("on") for _, attributes in PLAIN.elements for name in attributes)


def test_every_link_and_label_leads_somewhere_and_every_id_is_there_once() -> None:
    ids = Counter(PLAIN.attributes("id"))
    assert set(ids.values()) == {1}
    targets = [link.removeprefix("#") for link in PLAIN.attributes("href") if link and link.startswith("#")]
    assert set(targets) <= set(ids)
    assert set(PLAIN.attributes("aria-labelledby")) <= set(ids)


def test_a_table_stays_one_for_those_who_cannot_see_it() -> None:
    roles = Counter(PLAIN.attributes("role"))
    tables = sum(tag == "table" for tag, _ in PLAIN.elements)
    assert roles["table"] == tables == 3
    assert roles["columnheader"] == 4 * tables
    assert roles["rowheader"] == tables
    assert roles["cell"] == 3 * tables
    labels = [attributes.get("data-label") for tag, attributes in PLAIN.elements if tag == "td"]
    assert labels == ["quux"] * 3 * tables


def test_a_verdict_says_the_same_without_colour() -> None:
    html = render(page_of("fails"))
    assert (
        '<h1 class="verdict bad"><span class="mark" aria-hidden="true">✕</span><span>Fails: fails</span></h1>' in html
    )
    assert len({tone.mark for tone in Tone}) == len(Tone)
