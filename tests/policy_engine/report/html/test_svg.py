"""What is left of Vega's SVG, and what is not."""

from xml.etree import ElementTree as Xml

import pytest

from policy_engine.report.html.svg import inlined


def drawn_as(inside: str) -> str:
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9">{inside}</svg>'


def cleaned(inside: str) -> str:
    """What is left of something drawn."""
    return inlined(drawn_as(inside), "i", "t", "d").partition("</desc>")[2].removesuffix("</svg>")


def test_a_chart_is_an_image_with_a_title_and_a_description() -> None:
    svg = inlined('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9" width="9"/>', "c1", "A <b>", "D & d")
    assert svg == (
        '<svg viewBox="0 0 9 9" role="img" aria-labelledby="c1-title" aria-describedby="c1-desc">'
        '<title id="c1-title">A &lt;b&gt;</title><desc id="c1-desc">D &amp; d</desc></svg>'
    )


@pytest.mark.parametrize(
    "drawn",
    [
        "<script>alert(1)</script>",
        '<image href="https://example.org/x.png"/>',
        '<a href="https://example.org"><path d="M0,0H1" fill="red"/></a>',
        "<foreignObject><p>text</p></foreignObject>",
        "<style>* { display: none }</style>",
        '<path d="M0,0H1" fill="red" display="none"/>',
        '<path d="" fill="red"/>',
        '<path d="M0,0h0v0h0Z"/>',
        "<text></text>",
        '<g class="empty"><g/></g>',
    ],
)
def test_what_does_not_draw_is_left_out(drawn: str) -> None:
    assert cleaned(drawn) == ""


@pytest.mark.parametrize(
    ("drawn", "left"),
    [
        ('<rect width="2" height="3" fill="red" onclick="alert(1)" style="fill:blue" class="c" id="x"/>',
         '<rect width="2" height="3" fill="red" />'),
        ('<g class="a" transform="translate(0,0)"><line x2="5" y2="0" stroke="red" opacity="1"/></g>',
         '<line x2="5" stroke="red" />'),
        ('<g transform="translate(1.25,2)"><text font-family="Liberation Sans" fill="red">a &lt; b</text></g>',
         '<g transform="translate(1.2,2)"><text fill="red">a &lt; b</text></g>'),
        ('<path d="M0.04,1.26C2,3,4,5,6,7" fill="red"/>', '<path d="M0,1.3C2,3,4,5,6,7" fill="red" />'),
        ('<path d="M0,0h150v10h-150Z" fill="red"/>', '<path d="M0,0h150v10h-150Z" fill="red" />'),
    ],
    ids=["attributes", "groups that say nothing", "typeface and decimals", "curves", "rectangles"],
)  # fmt: skip
def test_what_draws_is_kept_without_what_it_does_not_need(drawn: str, left: str) -> None:
    assert cleaned(drawn) == left


@pytest.mark.parametrize(
    ("path", "short"),
    [
        ("M0,9L5,9L5,4L8,4L8,9L0,9Z", "M0,9h5v-5h3v5h-8Z"),
        ("M0,9L2,9L2,9L5,9L5,4", "M0,9h5v-5"),
        ("M0,0L3,4L6,4", "M0,0l3,4h3"),
        ("M1.5,0L1.9,0.3L1.2,0.3", "M1.5,0l.4,.3h-.7"),
        ("M5,5L5,5Z", ""),
    ],
    ids=["steps", "points on the way", "slopes", "tenths", "a point"],
)
def test_a_path_of_straight_lines_is_written_in_steps(path: str, short: str) -> None:
    drawn = cleaned(f'<path d="{path}" fill="red"/>')
    assert drawn == (f'<path d="{short}" fill="red" />' if short else "")


def test_what_comes_out_is_well_formed() -> None:
    svg = inlined(
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><text>"&amp;\'</text></svg>', "i", '"', "'"
    )
    assert Xml.fromstring(svg).find("text") is not None  # noqa: S314
