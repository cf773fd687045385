"""The charts of the HTML page: drawn by Altair, rendered without a browser by vl-convert, inlined as SVG.

Names of a policy or scenario come in as data alone. Every field has a name of ours and every expression is made of
numbers, so nothing that a user wrote is ever read as Vega's expression language.

Altair checks a chart for longer than Vega draws it, so each kind of chart is built once, with
its data by name, and filled in as often as it is drawn.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final, TypeAlias

import altair as alt
import vl_convert
from markupsafe import Markup

from policy_engine.report.html.svg import inlined
from policy_engine.report.series import BANDS, Interval
from policy_engine.report.times import TimeAxis
from policy_engine.workload.durations import duration_text

FONT: Final = "Liberation Sans"
"""The typeface vl-convert brings: texts are measured alike on every machine. The page sets its own."""
TEXT_SIZE: Final = 12
Records: TypeAlias = list[dict[str, float | str]]
_LEFT: Final = 34
_RIGHT: Final = 12
_TOP: Final = 10
_BOTTOM: Final = 24
_CAPACITY_HEIGHT: Final = 72
_ROW: Final = 34
"""Height of one job: a line of text and its bar."""
_BAR: Final = (19, 29)
"""Top and bottom of the bar in it."""
_TEXT: Final = 11
"""Middle of the text in it."""
NARROWEST: Final = 0.7
"""Pixels; of a run of weeks no screen shows what is narrower."""
NEAREST: Final = 3.0
"""Pixels between two shapes, which are eight wide."""
ROUNDING: Final = 1e-6
"""Instances that a mean may be above a whole number for no other reason than how computers add."""

FILLS: Final = {band: f"var(--{band})" for band in BANDS} | {
    "by_borrowers": "var(--borrowed)",
    "lent": "url(#lent)",
    "reserved": "url(#reserved)",
}
"""Colours of the page; what somebody else uses and what nobody may use are patterns as well."""
ENDS: Final = {
    "finished": ("circle", "var(--ink)"),
    "preempted": ("M-.8,-.8L.8,.8M-.8,.8L.8,-.8", "var(--lost)"),
    "terminated": ("square", "var(--ink)"),
    "failed": ("triangle-up", "var(--lost)"),
    "running": ("triangle-right", "var(--ink)"),
}
"""How an attempt ended, as a shape and its colour; ``running`` is one that had not ended."""


@dataclass(frozen=True, slots=True)
class Window:
    """The time that a chart shows, and the pixels it has for it."""

    axis: TimeAxis
    width: int


@dataclass(frozen=True, slots=True)
class Capacity:
    """What a chart of capacity shows. Times in seconds."""

    intervals: Sequence[Interval]
    limits: Sequence[tuple[float, int]]
    """Since when, and how many instances."""
    stops: Sequence[float] = ()
    """When jobs were preempted."""
    least: float = 0.0
    """Instances that the chart has room for at least, to be beside another."""


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a job's life, from ``start`` to ``end`` in seconds."""

    row: int
    start: float
    end: float
    kind: str
    """``waiting``, ``kept`` (work that was kept) or ``lost``."""


@dataclass(frozen=True, slots=True)
class End:
    """How an attempt ended, and when."""

    row: int
    at: float
    kind: str
    """One of ``ENDS``."""


@dataclass(frozen=True, slots=True)
class Row:
    """The texts of one job."""

    name: str
    note: str


@dataclass(frozen=True, slots=True)
class Label:
    """What a chart is called, for those who cannot see it. ``ident`` is unique on the page."""

    ident: str
    title: str
    description: str


def capacity(capacity: Capacity, window: Window, label: Label) -> Markup:
    """Instances over time as steps: in use, lent, kept back and free up to the limit, borrowed beyond it."""
    axis = window.axis
    highest = max(1, capacity.least, *(i.total for i in capacity.intervals), *(limit for _, limit in capacity.limits))
    top = math.ceil(highest - ROUNDING)
    data: dict[str, Records] = {
        "areas": _areas(capacity.intervals, axis),
        "limits": [
            {"x": axis.place(at), "y": limit} for at, limit in (*capacity.limits, (axis.end, capacity.limits[-1][1]))
        ],
        "stops": [{"x": axis.place(at), "y": top * 1.1} for at in capacity.stops],
    }
    spec = deepcopy(_capacity_chart())
    y = spec["layer"][0]["encoding"]["y"]
    y["scale"]["domain"] = [0, top * 1.18]
    y["axis"] |= {"values": _counts(top), "tickCount": len(_counts(top))}
    return _drawn(spec, data, window, _CAPACITY_HEIGHT, label)


def jobs(rows: Sequence[Row], spans: Iterable[Span], ends: Iterable[End], window: Window, label: Label) -> Markup:
    """Jobs as rows: their attempts as bars, how each ended as a shape, waiting as a thin line."""
    place = window.axis.place
    top, bottom = _BAR
    bars: Records = [
        {"x": place(span.start), "x2": place(span.end), "y": _ROW * span.row + top, "y2": _ROW * span.row + bottom}
        | {"kind": span.kind}
        for span in _wide_enough(spans, window)
    ]
    middle = (top + bottom) / 2
    data: dict[str, Records] = {
        "bars": bars,
        "ends": [{"x": place(end.at), "y": _ROW * end.row + middle, "kind": end.kind} for end in _apart(ends, window)],
        "rows": [{"y": _ROW * n + _TEXT, "name": row.name, "note": row.note} for n, row in enumerate(rows)],
    }
    height = _ROW * len(rows)
    spec = deepcopy(_jobs_chart(window.width))
    spec["layer"][0]["encoding"]["y"]["scale"] |= {"domain": [0, height], "range": [0, height]}
    return _drawn(spec, data, window, height, label)


def _wide_enough(spans: Iterable[Span], window: Window) -> Iterator[Span]:
    """The spans; what is too narrow to be seen is drawn as what comes before it in its row."""
    place, least = window.axis.place, NARROWEST / window.width
    held: Span | None = None
    for span in spans:
        if held is not None and held.row == span.row and place(span.end) - place(span.start) < least:
            held = replace(held, end=span.end)
            continue
        if held is not None:
            yield held
        held = span
    if held is not None:
        yield held


def _apart(ends: Iterable[End], window: Window) -> Iterator[End]:
    """The ends; of those of one kind that would hide each other in a row the first."""
    place, least = window.axis.place, NEAREST / window.width
    drawn: dict[tuple[int, str], float] = {}
    for end in ends:
        at = place(end.at)
        if at - drawn.get((end.row, end.kind), -1.0) >= least:
            drawn[end.row, end.kind] = at
            yield end


@cache
def _capacity_chart() -> dict[str, Any]:
    y = alt.Y("y:Q", title=None)
    bands = alt.Scale(domain=list(BANDS), range=[FILLS[band] for band in BANDS])
    areas = (
        _of("areas")
        .mark_area(interpolate="step-after")
        .encode(
            x=_time("x:Q"),
            y=alt.Y("y:Q", title=None, scale=alt.Scale(nice=False), axis=alt.Axis(format="d", gridColor="var(--line)")),
            y2="y2:Q",
            color=alt.Color("band:N", scale=bands, legend=None),
        )
    )
    limit = (
        _of("limits")
        .mark_line(interpolate="step-after", strokeDash=[4, 3], strokeWidth=1.5, color="var(--ink)")
        .encode(x="x:Q", y=y)
    )
    stops = (
        _of("stops")
        .mark_point(shape="triangle-down", size=52, filled=True, color="var(--lost)", opacity=1)
        .encode(x="x:Q", y=y)
    )
    return _built(areas, limit, stops)


@cache
def _jobs_chart(width: int) -> dict[str, Any]:
    y = alt.Y("y:Q", title=None)
    works = alt.Scale(domain=["kept", "lost"], range=["var(--kept)", "url(#lost)"])
    work = (
        _of("bars")
        .transform_filter("datum.kind != 'waiting'")
        .mark_rect()
        .encode(
            x=_time("x:Q"),
            x2="x2:Q",
            y=alt.Y("y:Q", title=None, scale=alt.Scale(nice=False), axis=None),
            y2="y2:Q",
            color=alt.Color("kind:N", scale=works, legend=None),
        )
    )
    waits = (
        _of("bars")
        .transform_filter("datum.kind == 'waiting'")
        .transform_calculate(middle="(datum.y + datum.y2) / 2")
        .mark_rule(strokeDash=[2, 3], strokeWidth=2, color="var(--muted)")
        .encode(x="x:Q", x2="x2:Q", y=alt.Y("middle:Q", title=None))
    )
    shapes = (
        _of("ends")
        .mark_point(filled=True, size=70, opacity=1, strokeWidth=2)
        .encode(x="x:Q", y=y, shape=_end(alt.Shape, 0), fill=_end(alt.Fill, 1), stroke=_end(alt.Stroke, 1))
    )
    rows = _of("rows")
    names = rows.mark_text(align="left", fontWeight=600, color="var(--ink)", limit=width * 0.52)
    notes = rows.mark_text(align="right", color="var(--muted)", limit=width * 0.46)
    return _built(
        work,
        waits,
        shapes,
        names.encode(x=alt.value(0), y=y, text="name:N"),
        notes.encode(x=alt.value(width), y=y, text="note:N"),
    )


def _of(name: str) -> alt.Chart:
    return alt.Chart(alt.NamedData(name))


def _time(field: str) -> alt.X:
    axis = alt.Axis(labelOverlap="greedy", labelSeparation=8, gridColor="var(--line)")
    return alt.X(field, title=None, scale=alt.Scale(domain=[0, 1], nice=False), axis=axis)


def _end(channel: type[Any], of: int) -> Any:
    return channel("kind:N", scale=alt.Scale(domain=list(ENDS), range=[end[of] for end in ENDS.values()]), legend=None)


def _built(*layers: alt.Chart) -> dict[str, Any]:
    """The Vega-Lite of the layers, checked by Altair. The first one has the axes."""
    chart = alt.LayerChart(layer=list(layers)).properties(
        padding={"left": _LEFT, "right": _RIGHT, "top": _TOP, "bottom": _BOTTOM},
        autosize=alt.AutoSizeParams(type="none"),
    )
    built: dict[str, Any] = (
        chart.configure(aria=False, font=FONT, background="transparent")
        .configure_view(stroke=None)
        .configure_axis(domain=False, ticks=False, labelColor="var(--muted)", labelFontSize=TEXT_SIZE, labelPadding=6)
        .configure_text(fontSize=TEXT_SIZE, baseline="middle")
        .to_dict()
    )
    return built


def _drawn(spec: dict[str, Any], data: dict[str, Records], window: Window, height: int, label: Label) -> Markup:
    times = {window.axis.place(at): duration_text(at) for at in window.axis.ticks(max(3, window.width // 70))}
    # from places, as Vega writes them, to labels; both are made of numbers alone
    labels = json.dumps({f"{place:.6f}": text for place, text in times.items()})
    spec["layer"][0]["encoding"]["x"]["axis"] |= {
        "values": list(times),
        "tickCount": len(times),
        "labelExpr": f"({labels})[format(datum.value, '.6f')]",
    }
    spec |= {"width": window.width, "height": height, "datasets": data}
    # no address is allowed: the data are in the specification
    svg = vl_convert.vegalite_to_svg(spec, allowed_base_urls=[])
    return inlined(svg, label.ident, label.title, label.description)


def _areas(intervals: Sequence[Interval], axis: TimeAxis) -> Records:
    """The outline of every band that is ever seen: its bottom and top at each step, and at the end."""
    seen = [band for band in range(len(BANDS)) if any(interval.levels[band] for interval in intervals)]
    corners = [(interval.start, interval.levels) for interval in intervals]
    corners += [(interval.end, interval.levels) for interval in intervals[-1:]]
    return [
        {"x": axis.place(at), "y": sum(levels[:band]), "y2": sum(levels[: band + 1]), "band": BANDS[band]}
        for band in seen
        for at, levels in corners
    ]


def _counts(top: int) -> list[int]:
    """At most five whole numbers from 0, a round step apart."""
    step = next(step for power in range(12) for base in (1, 2, 5) if top <= 4 * (step := base * 10**power))
    return list(range(0, top + 1, step))
