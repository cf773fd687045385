"""Two runs of the same jobs, before and after, on one time axis: beside each other where there is room."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import Final

from policy_engine.outcome import JobOutcome
from policy_engine.report import tables
from policy_engine.report.blocks import Block, Columns, Details, Group, Lane, Text
from policy_engine.report.both import NEW, OLD, Both
from policy_engine.report.html.lanes import Drawing, legends, time_axis
from policy_engine.report.story import Story
from policy_engine.report.times import TimeAxis

MOST_DRAWN: Final = 16
"""Jobs that are drawn on each side."""
_WIDTHS: Final = {"wide": 420, "narrow": 280}
"""Pixels of a chart that has half of the page, and of one on a phone."""


def beside(both: Both) -> Iterator[Block]:
    """The queue as a whole and every share, both runs; then each run's tables, folded away."""
    axis = _axis(both)
    sides = ((both.old, both.new), (both.new, both.old))
    drawings = [Drawing(story, axis, _WIDTHS, other) for story, other in sides]
    shown = _telling(both)
    pairs = list(zip(drawings, shown, strict=True))
    seen = set().union(*(drawing.seen() for drawing in drawings))
    yield from legends(seen, set().union(*(drawing.drawn(jobs) for drawing, jobs in pairs)))
    if not axis.is_to_scale:
        yield Text("Time is not to scale: all stretches between two instants are equally wide, on both sides.")
    if len(shown[0]) < len(both.old.jobs) or len(shown[1]) < len(both.new.jobs):
        yield Text(f"Of the jobs, the {MOST_DRAWN} that fare most otherwise are drawn; the tables count all of them.")
    yield _columns("The whole queue", [_open(drawing.queue_lane()) for drawing in drawings])
    for number, share in enumerate(_shares(both)):
        lanes: list[list[Block]] = [
            _open(drawing.share_lane(f"{drawing.story.ident}-{number}", share, [j for j in jobs if j.share == share]))
            if share in drawing.run.policy.shares
            else [Text("There is no such share.")]
            for drawing, jobs in pairs
        ]
        yield _columns(share, lanes)
    for title, story in ((OLD, both.old), (NEW, both.new)):
        what = "jobs" if story.is_measured else "jobs, shares, preemptions, events"
        yield Details(f"{title}: {what}", list(_tables(story)))


def _telling(both: Both) -> list[list[JobOutcome]]:
    """Of each side the jobs to draw: all, or those that fare most otherwise."""
    sides = [{job.name: job for job in story.jobs} for story in (both.old, both.new)]

    def weight(name: str) -> tuple[float, float]:
        old, new = (side.get(name) for side in sides)
        if old is None or new is None:
            return (inf, inf)
        waits = [inf if job.wait_seconds is None else job.wait_seconds for job in (old, new)]
        moved = 0.0 if waits[0] == waits[1] else abs(waits[1] - waits[0])
        return (moved + abs(new.requeued_seconds - old.requeued_seconds), abs(new.preemptions - old.preemptions))

    names = dict.fromkeys(name for side in sides for name in side)
    chosen = set(sorted(names, key=weight, reverse=True)[:MOST_DRAWN])
    return [[job for name, job in side.items() if name in chosen] for side in sides]


def _columns(title: str, sides: list[list[Block]]) -> Group:
    return Group(title, [Columns(list(zip((OLD, NEW), sides, strict=True)))])


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
    yield Group("Jobs", list(tables.jobs(story)))
    if story.is_measured:
        return
    for title, blocks in (
        ("Shares", tables.shares(story)),
        ("Preemptions", tables.preemptions(story)),
        ("Events", tables.log(story)),
    ):
        yield Group(title, list(blocks))
