"""Two runs of the same jobs, before and after, on one time axis: beside each other where there is room."""

from __future__ import annotations

from collections.abc import Iterator

from policy_engine.report import tables
from policy_engine.report.blocks import Block, Columns, Details, Group, Lane, Text
from policy_engine.report.both import AFTER, BEFORE, Both
from policy_engine.report.html.lanes import MOST_JOBS, Drawing, legends, time_axis
from policy_engine.report.story import Story, most_telling
from policy_engine.report.times import TimeAxis

_WIDTHS = {"wide": 420, "narrow": 280}
"""Pixels of a chart that has half of the page, and of one on a phone."""


def beside(both: Both) -> Iterator[Block]:
    """The queue as a whole and every share, both runs; then each run's tables, folded away."""
    axis = _axis(both)
    drawings = [Drawing(story, axis, _WIDTHS) for story in (both.old, both.new)]
    shown = [most_telling(story.jobs, MOST_JOBS) for story in (both.old, both.new)]
    pairs = list(zip(drawings, shown, strict=True))
    seen = set().union(*(drawing.seen() for drawing in drawings))
    yield from legends(seen, set().union(*(drawing.drawn(jobs) for drawing, jobs in pairs)))
    if not axis.is_to_scale:
        yield Text("Time is not to scale: all stretches between two instants are equally wide, on both sides.")
    yield _columns("The whole queue", [_open(drawing.queue_lane()) for drawing in drawings])
    for number, share in enumerate(_shares(both)):
        lanes: list[list[Block]] = [
            _open(drawing.share_lane(f"{drawing.story.ident}-{number}", share, [j for j in jobs if j.share == share]))
            if share in drawing.run.policy.shares
            else [Text("There is no such share.")]
            for drawing, jobs in pairs
        ]
        yield _columns(share, lanes)
    for title, story in ((BEFORE, both.old), (AFTER, both.new)):
        yield Details(f"{title}: jobs, shares, preemptions, events", list(_tables(story)))


def _columns(title: str, sides: list[list[Block]]) -> Group:
    return Group(title, [Columns(list(zip((BEFORE, AFTER), sides, strict=True)))])


def _open(lane: Lane) -> list[Block]:
    """What a lane holds, without the column for its title."""
    return [lane.facts, *lane.figures]


def _shares(both: Both) -> dict[str, None]:
    return dict.fromkeys((*both.old.run.policy.shares, *both.new.run.policy.shares))


def _axis(both: Both) -> TimeAxis:
    """One that shows both runs."""
    axes = [time_axis(story) for story in (both.old, both.new)]
    instants = {row[0] for story in (both.old, both.new) for row in story.run.log.rows}
    return TimeAxis.of(instants, min(axis.start for axis in axes), max(axis.end for axis in axes))


def _tables(story: Story) -> Iterator[Block]:
    for title, blocks in (
        ("Jobs", tables.jobs(story)),
        ("Shares", tables.shares(story)),
        ("Preemptions", tables.preemptions(story)),
        ("Events", tables.log(story)),
    ):
        yield Group(title, list(blocks))
