"""Vega's SVG, cut down to what a page needs and given a name for those who cannot see it.

Only drawing elements and their geometry and colours are let through. What is left is a quarter of the
size, obeys a Content-Security-Policy without inline styles, and takes its colours and its typeface from
the page.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final
from xml.etree import ElementTree as Xml

from markupsafe import Markup

_ELEMENTS: Final = frozenset({"svg", "g", "path", "line", "rect", "text"})
_ATTRIBUTES: Final = frozenset(
    {
        *("d", "fill", "fill-opacity", "font-size", "font-weight", "height", "opacity", "stroke"),
        *("stroke-dasharray", "stroke-opacity", "stroke-width", "text-anchor", "transform", "width", "x2", "y2"),
    }
)
_SAYS_NOTHING: Final = {"opacity": {"1"}, "stroke-width": {"1"}, "text-anchor": {"start"}, "x2": {"0"}, "y2": {"0"}}
"""Values that are SVG's own defaults."""
_NOWHERE: Final = "translate(0,0)"
_STRAIGHT: Final = re.compile(r"M[-\d.]+,[-\d.]+(?:L[-\d.]+,[-\d.]+)+Z?")
_POINT: Final = re.compile(r"([-\d.]+),([-\d.]+)")
_DECIMALS: Final = re.compile(r"-?\d+\.\d+")


def inlined(svg: str, ident: str, title: str, description: str) -> Markup:
    """The SVG as an element of an HTML page: an image with a title and a description.

    ``ident`` must be unique on the page; the ids of title and description begin with it.
    """
    # our own renderer's output, which has no entities and no document type
    drawn = Xml.fromstring(svg)  # noqa: S314
    root = Xml.Element(
        "svg",
        {
            "viewBox": drawn.attrib["viewBox"],
            "role": "img",
            "aria-labelledby": f"{ident}-title",
            "aria-describedby": f"{ident}-desc",
        },
    )
    Xml.SubElement(root, "title", {"id": f"{ident}-title"}).text = title
    Xml.SubElement(root, "desc", {"id": f"{ident}-desc"}).text = description
    for child in drawn:
        root.extend(_cleaned(child))
    # the XML writer has escaped every text and attribute
    return Markup(Xml.tostring(root, encoding="unicode"))  # noqa: S704


def _cleaned(element: Xml.Element) -> list[Xml.Element]:
    """What of the element is drawn: itself, its children in its place, or nothing."""
    name = element.tag.rpartition("}")[2]
    if name not in _ELEMENTS or element.get("display") == "none":
        return []
    kept = Xml.Element(name, _attributes(element))
    if name == "path" and _STRAIGHT.fullmatch(kept.get("d", "")):
        kept.set("d", _shortened(kept.attrib["d"]))
    kept.text = element.text if name == "text" else None
    for child in element:
        kept.extend(_cleaned(child))
    if name == "g":
        return [kept] if len(kept) and kept.attrib else list(kept)
    return [kept] if _is_seen(kept) else []


def _attributes(element: Xml.Element) -> dict[str, str]:
    return {
        name: _DECIMALS.sub(_short, value)
        for name, value in element.attrib.items()
        if name in _ATTRIBUTES
        and value not in _SAYS_NOTHING.get(name, ())
        and not (name == "transform" and value == _NOWHERE)
    }


def _short(match: re.Match[str]) -> str:
    """A tenth of a pixel is all that can be seen."""
    return f"{round(float(match[0]), 1) + 0.0:g}"


def _shortened(path: str) -> str:
    """A path of straight lines without the points that turn nowhere; a chart of steps is half of them."""
    points: list[tuple[str, str]] = []
    for x, y in _POINT.findall(path):
        while points and (points[-1] == (x, y) or _is_on_the_way(points[-2:], x, y)):
            points.pop()
        points.append((x, y))
    if len(points) == 1:
        return ""
    said = f"M{points[0][0]},{points[0][1]}"
    for (last_x, last_y), (x, y) in pairwise(points):
        if y == last_y:
            said += f"h{_from(last_x, x)}"
        elif x == last_x:
            said += f"v{_from(last_y, y)}"
        else:
            said += f"l{_from(last_x, x)},{_from(last_y, y)}"
    return said + ("Z" if path.endswith("Z") else "")


def _from(last: str, now: str) -> str:
    """How far it is: shorter to write than where it is. In tenths, so that nothing adds up."""
    far = round(10 * float(now)) - round(10 * float(last))
    return f"{far / 10:g}".replace("0.", ".", 1) if abs(far) < 10 else f"{far / 10:g}"


def _is_on_the_way(last: list[tuple[str, str]], x: str, y: str) -> bool:
    """Does the way to (x, y) run along that to the last point?"""
    return len(last) == 2 and (last[0][0] == last[1][0] == x or last[0][1] == last[1][1] == y)


def _is_seen(element: Xml.Element) -> bool:
    match element.tag:
        case "path":
            # Vega's groups say fill="none" once; a path without colours of its own shows nothing
            return bool(element.get("d")) and ("fill" in element.attrib or "stroke" in element.attrib)
        case "text":
            return bool(element.text)
        case _:
            return True
