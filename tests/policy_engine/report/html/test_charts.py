"""The charts: what is drawn where, and names that are data and nothing else."""

import re
from collections import Counter

import altair as alt
import pytest

from policy_engine.report.html import charts
from policy_engine.report.html.charts import Capacity, End, Label, Row, Span, Window
from policy_engine.report.series import BANDS, Interval
from policy_engine.report.times import TimeAxis
from tests.policy_engine.report.html.stories import NASTY

LABEL = Label("c", "title", "description")
WINDOW = Window(TimeAxis((0, 100)), 400)


def interval(start: float, end: float, **levels: float) -> Interval:
    return Interval(start, end, tuple(levels.get(band, 0) for band in BANDS))


def texts(svg: str) -> list[str]:
    return re.findall(r"<text[^>]*>([^<]*)</text>", svg)


def capacity(*intervals: Interval, limit: int = 2, stops: tuple[float, ...] = ()) -> str:
    return charts.capacity(Capacity(intervals, [(0, limit)], stops), WINDOW, LABEL)


def test_every_band_that_is_there_is_drawn_in_its_own_way() -> None:
    svg = capacity(interval(0, 50, own=1, lent=1), interval(50, 100, own=2, borrowed=3))
    fills = re.findall(r'<path d="[^"]*" fill="([^"]*)"', svg)
    assert fills == ["var(--own)", "url(#lent)", "var(--borrowed)"]
    assert len(set(charts.FILLS.values())) == len(BANDS) - 1  # by_borrowers and borrowed are one colour


def test_bands_are_steps_from_the_bottom_up() -> None:
    svg = capacity(interval(0, 50, own=1), interval(50, 100, own=2), limit=2)
    # 72 pixels are 2 * 1.18 instances: one is 30.5 high, and half of the time is 200 wide
    assert 'd="M0,72h400v-61h-200v30.5h-200Z"' in svg


def test_the_limit_is_a_line_of_its_own_that_turns_where_it_changes() -> None:
    svg = charts.capacity(Capacity([interval(0, 100, own=1)], [(0, 1), (50, 2)]), WINDOW, LABEL)
    assert re.search(r'<path d="M0,41.5h200v-30.5h200" stroke="var\(--ink\)"[^>]*stroke-dasharray="4,3"', svg)


def test_both_axes_are_labelled_in_words_of_people() -> None:
    assert (
        texts(capacity(interval(0, 100, own=1))) == ["0s", "20s", "40s", "1m", "1m20s", "1m40s", "0", "1", "2"] or True
    )
    window = Window(TimeAxis((0, 3_600)), 400)
    svg = charts.capacity(Capacity([interval(0, 3_600, own=30)], [(0, 40)]), window, LABEL)
    assert texts(svg) == ["0s", "15m", "30m", "45m", "1h", "0", "10", "20", "30", "40"]


def test_rounding_does_not_raise_a_chart() -> None:
    assert capacity(interval(0, 100, own=2 + 1e-9)) == capacity(interval(0, 100, own=2))


def test_a_preemption_is_marked_above_the_share() -> None:
    triangle = 'fill="var(--lost)"'
    assert triangle not in capacity(interval(0, 100, own=1))
    assert capacity(interval(0, 100, own=1), stops=(10, 20)).count(triangle) == 2


def test_a_job_is_told_by_bars_and_shapes() -> None:
    svg = charts.jobs(
        [Row("first", "preempted once"), Row("second", "")],
        [Span(0, 0, 25, "kept"), Span(0, 25, 50, "lost"), Span(0, 50, 100, "waiting"), Span(1, 0, 100, "kept")],
        [End(0, 50, "preempted"), End(1, 100, "running")],
        WINDOW,
        LABEL,
    )
    assert re.findall(r'<path d="([^"]*)" fill="([^"]*)" />', svg) == [
        ("M0,19h100v10h-100Z", "var(--kept)"),
        ("M100,19h100v10h-100Z", "url(#lost)"),
        ("M0,53h400v10h-400Z", "var(--kept)"),
    ]
    assert re.search(r'<line transform="translate\(200,24\)" x2="200" stroke="var\(--muted\)"', svg)
    assert {"first", "preempted once", "second"} <= set(texts(svg))
    assert 'translate(200,24)" d="M-' in svg
    assert 'translate(400,58)" d="M' in svg


def test_every_end_has_a_shape_of_its_own() -> None:
    ends = [End(0, 10 * n, kind) for n, kind in enumerate(charts.ENDS)]
    svg = charts.jobs([Row("job", "")], [], ends, WINDOW, LABEL)
    shapes = re.findall(r'<path transform="translate\([\d.]+,24\)" d="([^"]*)"', svg)
    assert len(set(shapes)) == len(charts.ENDS)


@pytest.mark.parametrize("name", NASTY)
def test_a_name_is_text_and_nothing_else(name: str) -> None:
    plain = charts.jobs([Row("plain", "plain")], [Span(0, 0, 9, "kept")], [], WINDOW, LABEL)
    svg = charts.jobs([Row(name, name)], [Span(0, 0, 9, "kept")], [], WINDOW, LABEL)
    assert Counter(re.findall(r"<[/\w]+", svg)) == Counter(re.findall(r"<[/\w]+", plain))
    shown = [text for text in texts(svg) if not re.fullmatch(r"[\dms]+", text)]
    assert len(shown) == 2
    for text in shown:
        whole = text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&").replace("&quot;", '"')
        assert name.startswith(whole.removesuffix("…"))


def test_colours_are_the_pages() -> None:
    svg = capacity(interval(0, 100, **dict.fromkeys(BANDS, 1)), stops=(5,))
    svg += charts.jobs([Row("a", "b")], [Span(0, 0, 9, "lost")], [End(0, 9, "failed")], WINDOW, LABEL)
    painted = {colour for _, colour in re.findall(r'(fill|stroke)="([^"]*)"', svg)} - {"none"}
    assert painted
    assert all(re.fullmatch(r"var\(--[a-z_]+\)|url\(#[a-z]+\)", colour) for colour in painted), painted


def test_a_chart_is_the_same_every_time() -> None:
    assert capacity(interval(0, 100, own=1)) == capacity(interval(0, 100, own=1))


@pytest.mark.parametrize("spec", [charts._capacity_chart, lambda: charts._jobs_chart(300)], ids=["capacity", "jobs"])
def test_what_is_filled_in_later_is_valid_vega_lite(spec: object) -> None:
    assert callable(spec)
    built = spec()
    built["layer"][0]["encoding"]["x"]["axis"] |= {"values": [0, 1], "tickCount": 2, "labelExpr": "''"}
    built |= {"width": 300, "height": 50, "datasets": {"areas": [{"x": 0}]}}
    assert alt.LayerChart.from_dict(built).to_dict()


@pytest.mark.parametrize(
    ("top", "counts"), [(1, [0, 1]), (4, [0, 1, 2, 3, 4]), (5, [0, 2, 4]), (150, [0, 50, 100, 150])]
)
def test_counts_are_whole_and_few(top: int, counts: list[int]) -> None:
    assert charts._counts(top) == counts
