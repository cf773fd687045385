"""The search: from the whole environment down to the fewest instances that meet the goals.

Every question is asked of a batch of points at once, so that all workers have something to do, and what comes of it is
the same whatever their number. Four parts:

1. a ladder of the environment's size, limits divided by work, of three borrow limits; between its rungs again,
2. where no rung meets the goals: instances are added for the teams that miss theirs, or taken from those with most to
   spare, and borrow limits are lowered where too much work is lost,
3. limits are cut team by team and type by type, by half, a quarter and so on, all together where that still holds; then
   borrow limits likewise, from what was borrowed at most; then cheaper points that nearly meet the goals are repaired,
4. the sizes around the answer, for the frontier.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from math import ceil, inf
from typing import Final

from policy_engine.policy import UNLIMITED
from policy_engine.replaying.outcome import Outcome
from policy_engine.replaying.sweeping import Replays
from policy_engine.suggesting.goals import Goals
from policy_engine.suggesting.judging import LOST_WORK, Judged, judge
from policy_engine.suggesting.space import Point, Space

RUNGS: Final = (0.0, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0)
BORROWS: Final = (UNLIMITED, 100, 0)
BETWEEN: Final = 3
"""Points between two rungs."""
AROUND: Final = (0.0, 0.15, 0.3, 0.45, 0.6, 0.8, 1.0)
"""Sizes with the answer's proportions, for the frontier."""
ROUNDS: Final = 40
"""Repairs at most."""
TRADES: Final = 12
"""Rounds of trading at most."""
STEP: Final = 5
"""Percent: borrow limits are multiples of it."""
MOST_TEAMS: Final = 3
"""So many of the teams that miss their goal most are helped at a time."""

Told = Callable[[str, int], None]
"""Takes what is being looked for, and how many replays were made."""


@dataclass(frozen=True, slots=True)
class Cut:
    """A smaller limit of a team, or a smaller borrow limit."""

    team: int
    unit: int | None
    """None: the borrow limit."""
    value: int
    saves: float

    def of(self, point: Point) -> Point:
        """The point with it."""
        if self.unit is None:
            return point.with_borrow(self.team, self.value)
        return point.with_limit(self.team, self.unit, self.value)


class Search:
    """Points of a space, judged by replays, of which there are no more than the budget."""

    def __init__(self, space: Space, goals: Goals, run: Replays, budget: int, told: Told | None = None) -> None:
        self.space = space
        self.goals = goals
        self.run = run
        self.budget = budget
        self.told = told
        self.judged: dict[Point, Judged] = {}
        self._doing = ""

    # --- what is known -----------------------------------------------------------------------------

    @property
    def is_spent(self) -> bool:
        """Is there no replay left?"""
        return len(self.judged) >= self.budget

    def best(self) -> Judged:
        """The cheapest point that meets the goals; where none does, the nearest to them."""
        return min(self.judged.values(), key=self.rank)

    def rank(self, found: Judged) -> tuple[float, ...]:
        """The smaller the better: what is missed, the price, what may be borrowed, what is nearly missed."""
        return found.score.excess, self.space.price(found.point), borrowed(found.point), found.score.worst[1]

    def judge(self, points: Sequence[Point]) -> list[Judged]:
        """The points judged, as far as the budget goes; those that are known cost nothing."""
        new = [point for point in dict.fromkeys(points) if point not in self.judged]
        new = new[: max(0, self.budget - len(self.judged))]
        before = len(self.judged)
        done = 0

        def tell() -> None:
            nonlocal done
            done += 1
            if self.told is not None:
                self.told(self._doing, before + done)

        outcomes = self.run([(self.space.policy(point), "", 0) for point in new], tell)
        for point, outcome in zip(new, outcomes, strict=True):
            found = outcome if isinstance(outcome, Outcome) else None
            self.judged[point] = judge(self.space, self.goals, point, found)
        return [self.judged[point] for point in points if point in self.judged]

    # --- the parts -----------------------------------------------------------------------------------

    def go(self) -> Judged:
        """All of it, and the answer."""
        around = min(len(AROUND), self.budget // 4)
        self.budget -= around
        self._climb_ladder()
        self._repair()
        if self.best().is_met:
            self._descend("cutting limits", self._limit_cuts)
            self._lower_to_what_was_borrowed()
            self._descend("cutting borrow limits", self._borrow_cuts)
            self._trade()
            self._descend("cutting limits again", self._limit_cuts)
        answer = self.best()
        self.budget += around
        self._doing = "the frontier"
        sizes = [self.space.scaled(part, answer.point.limits) for part in AROUND]
        self.judge([Point(size.limits, answer.point.borrow) for size in sizes])
        return self.best()

    def _climb_ladder(self) -> None:
        self._doing = "how many instances"
        self.judge([self.space.scaled(part, borrow=borrow) for borrow in BORROWS for part in RUNGS])
        borrow = self.best().point.borrow[0]
        below, above = 0.0, 1.0
        rungs: Sequence[float] = RUNGS
        for _ in range(2):
            met = [part for part in rungs if self._is_met(self.space.scaled(part, borrow=borrow))]
            above = min(met, default=above)
            below = max((part for part in rungs if part < above), default=below)
            rungs = [below + (above - below) * n / (BETWEEN + 1) for n in range(BETWEEN + 2)]
            self.judge([self.space.scaled(part, borrow=borrow) for part in rungs])

    def _is_met(self, point: Point) -> bool:
        return point in self.judged and self.judged[point].is_met

    def _repair(self) -> None:
        self._doing = "who needs more"
        for _ in range(ROUNDS):
            current = self.best()
            if current.is_met or self.is_spent:
                return
            if not any(self.rank(found) < self.rank(current) for found in self.judge(list(self._helps(current)))):
                return

    def _helps(self, current: Judged) -> Iterator[Point]:
        """Points that may miss the goals by less."""
        by_part = sorted(current.score.parts, key=lambda part: (-part[1], part[0]))
        needy = [self.space.teams.index(name) for name, part in by_part if part > 1 and name != LOST_WORK]
        spare = [self.space.teams.index(name) for name, part in reversed(by_part) if part <= 1 and name != LOST_WORK]
        spare += [number for number, team in enumerate(self.space.teams) if self.goals.wait_of(team) is None]
        for team in needy[:MOST_TEAMS]:
            yield from self._help(current, team, spare)
        if len(needy) > 1:
            yield from self._grow_all(current.point, needy)
        if LOST_WORK in current.score.missed:
            yield from self._lose_less(current)

    def _help(self, current: Judged, team: int, spare: Sequence[int]) -> Iterator[Point]:
        point = current.point
        for unit in self._short_units(current, team):
            limit = point.limits[team][unit]
            free = self.space.capacity(unit) - point.total(unit)
            for more in sorted({1, ceil(limit / 4), limit}):
                if more <= free:
                    yield point.with_limit(team, unit, limit + more)
                yield from islice(self._taken(point, team, unit, more, spare), 2)
        if point.borrow[team] != UNLIMITED:
            yield point.with_borrow(team, UNLIMITED)
            yield point.with_borrow(team, 2 * point.borrow[team] or 100)

    def _taken(self, point: Point, team: int, unit: int, more: int, spare: Sequence[int]) -> Iterator[Point]:
        """The point with so many more for the team, from one that can spare them."""
        for giver in spare:
            left = point.limits[giver][unit] - more
            if giver != team and left >= 1:
                yield point.with_limit(giver, unit, left).with_limit(team, unit, point.limits[team][unit] + more)

    def _grow_all(self, point: Point, needy: Sequence[int]) -> Iterator[Point]:
        grown = point
        for team in needy:
            for unit in range(len(self.space.units)):
                limit = grown.limits[team][unit]
                more = min(ceil(limit / 4), self.space.capacity(unit) - grown.total(unit))
                grown = grown.with_limit(team, unit, limit + max(0, more))
        yield grown

    def _short_units(self, current: Judged, team: int) -> list[int]:
        """The units that the team waits for, the longest first."""
        waits: dict[int, float] = {unit: 0.0 for unit in range(len(self.space.units)) if self.space.uses(team, unit)}
        for cell in () if current.outcome is None else current.outcome.measures.by_unit:
            if cell.name == self.space.teams[team] and cell.unit in self.space.units:
                wait = inf if cell.never_started else 0.0 if cell.wait_seconds is None else cell.wait_seconds.p95
                waits[self.space.units.index(cell.unit)] = wait
        return sorted(waits, key=lambda unit: (-waits[unit], unit))

    def _lose_less(self, current: Judged) -> Iterator[Point]:
        """The shares that lose most borrow less; so do all."""
        point = current.point
        lost = (
            {}
            if current.outcome is None
            else {s.name: s.lost.instance_seconds for s in current.outcome.measures.shares}
        )
        teams = sorted(range(len(self.space.teams)), key=lambda team: (-lost.get(self.space.teams[team], 0.0), team))
        for team in teams[:MOST_TEAMS]:
            for percent in _lower(point.borrow[team]):
                yield point.with_borrow(team, percent)
        halved = tuple(next(_lower(percent), percent) for percent in point.borrow)
        yield Point(point.limits, halved)

    def _trade(self) -> None:
        """Give to those that miss their goal at a cheaper point, as long as it stays cheaper than the answer."""
        self._doing = "trading"
        looked_at: set[Point] = set()
        for _ in range(TRADES):
            price = self.space.price(self.best().point)
            cheaper = [one for one in self.judged.values() if self.space.price(one.point) < price]
            nearest = sorted((one for one in cheaper if one.point not in looked_at), key=self.rank)[:2]
            if self.is_spent or not nearest:
                return
            looked_at |= {one.point for one in nearest}
            helped = [point for one in nearest for point in self._helps(one)]
            self.judge([point for point in helped if self.space.price(point) < price])

    # --- cutting -------------------------------------------------------------------------------------

    def _descend(self, doing: str, cuts_of: Callable[[Judged, float], list[Cut]]) -> None:
        """Cut by ever smaller parts, as long as the goals are met."""
        self._doing = doing
        part = 0.5
        while not self.is_spent:
            current = self.best()
            cuts = cuts_of(current, part)
            tried = [cut for cut in cuts if cut.of(current.point) not in self.judged]
            self.judge([cut.of(current.point) for cut in cuts])
            good = [cut for cut in cuts if self._is_met(cut.of(current.point))]
            self._together(current.point, good)
            if self.best() is current:
                if not tried:
                    return
                part /= 2

    def _together(self, point: Point, cuts: list[Cut]) -> None:
        """Those that save most, as many at once as still meet the goals."""
        cuts = sorted(cuts, key=lambda cut: -cut.saves)
        count, points = len(cuts), []
        while count > 1:
            together = point
            for cut in cuts[:count]:
                together = cut.of(together)
            points.append(together)
            count //= 2
        self.judge(points)

    def _limit_cuts(self, current: Judged, part: float) -> list[Cut]:
        point, space = current.point, self.space
        cuts = []
        for team, unit in space.cells:
            limit = point.limits[team][unit]
            less = min(max(1, int((limit - 1) * part)), limit - 1, point.total(unit) - space.least(unit))
            if less > 0:
                cuts.append(Cut(team, unit, limit - less, less * space.prices[space.units[unit]]))
        return cuts

    def _borrow_cuts(self, current: Judged, part: float) -> list[Cut]:
        cuts = []
        for team, percent in enumerate(current.point.borrow):
            if percent > 0:
                less = max(STEP, percent * part // STEP * STEP)
                cuts.append(Cut(team, None, max(0, int(percent - less)), less))
                cuts.append(Cut(team, None, 0, percent))
        return cuts

    def _lower_to_what_was_borrowed(self) -> None:
        """Borrow limits that are no larger than what was borrowed at most change nothing."""
        self._doing = "cutting borrow limits"
        current = self.best()
        needed = [0.0] * len(self.space.teams)
        for cell in () if current.outcome is None else current.outcome.measures.by_unit:
            team = self.space.teams.index(cell.name)
            if cell.limit:
                needed[team] = max(needed[team], 100 * cell.peak_borrowed / cell.limit)
        percents = (ceil(percent / STEP) * STEP for percent in needed)
        lowered = (
            percent if was == UNLIMITED else min(was, percent)
            for percent, was in zip(percents, current.point.borrow, strict=True)
        )
        self.judge([Point(current.point.limits, tuple(lowered))])


def borrowed(point: Point) -> float:
    """What may be borrowed, in percent of all the limits."""
    return sum(
        inf if percent == UNLIMITED else percent * sum(of)
        for percent, of in zip(point.borrow, point.limits, strict=True)
    )


def _lower(percent: int) -> Iterator[int]:
    """Smaller borrow limits to try."""
    if percent == UNLIMITED:
        yield from (200, 50, 0)
    elif percent > 0:
        yield percent // 2 // STEP * STEP
        yield 0
