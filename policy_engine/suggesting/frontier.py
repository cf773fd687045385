"""What more instances buy: of the points that were tried, those that no cheaper one is as good as."""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite
from typing import Final

from policy_engine.suggesting.judging import Judged
from policy_engine.suggesting.space import Space

MOST_POINTS: Final = 12
"""Of more, as many are told, spread over the prices."""


def frontier(space: Space, judged: Iterable[Judged], answer: Judged) -> tuple[Judged, ...]:
    """The points, the cheapest first, each nearer to all goals than every cheaper one; the answer is one of them."""
    at = space.price(answer.point)
    others = sorted(
        (one for one in judged if isfinite(one.score.worst[1]) and space.price(one.point) != at),
        key=lambda one: (space.price(one.point), one.score.worst[1], one.point.borrow),
    )
    found: list[Judged] = []
    for one in sorted([*others, answer], key=lambda one: space.price(one.point)):
        if one is answer or not found or one.score.worst[1] < min(before.score.worst[1] for before in found):
            found.append(one)
    return _thinned(space, found, answer)


def _thinned(space: Space, found: list[Judged], answer: Judged) -> tuple[Judged, ...]:
    """Evenly over the prices; the ends, the answer and what is next to it stay."""
    place = found.index(answer)
    kept = {0, len(found) - 1, place, max(0, place - 1), min(len(found) - 1, place + 1)}
    first, last = space.price(found[0].point), space.price(found[-1].point)
    for step in range(1, MOST_POINTS):
        if len(kept) < MOST_POINTS:
            wanted = first + (last - first) * step / MOST_POINTS
            kept.add(min(range(len(found)), key=lambda n: abs(space.price(found[n].point) - wanted)))
    return tuple(found[number] for number in sorted(kept))
