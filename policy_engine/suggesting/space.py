"""The policies that a search looks at: one share for each team, of limits and borrow limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from policy_engine.errors import InputError
from policy_engine.policy import (
    MAX_QUOTA_SHARES,
    UNLIMITED,
    Policy,
    ServiceEnvironment,
    Share,
    SharingStrategy,
    name_problem,
)
from policy_engine.workload.history import History

_ONE: Final = 1
"""A share needs an own instance of every type that its team uses: without, it may not even borrow one (C16)."""


@dataclass(frozen=True, slots=True)
class Point:
    """Limits and borrow limits, in the order of the space's teams and units."""

    limits: tuple[tuple[int, ...], ...]
    """Of each team, instances of each unit."""
    borrow: tuple[int, ...]
    """Of each team, percent of its own limits; -1 is unlimited."""

    def total(self, unit: int) -> int:
        """Instances of the unit."""
        return sum(limits[unit] for limits in self.limits)

    @property
    def instances(self) -> int:
        """Of all units."""
        return sum(map(sum, self.limits))

    def with_limit(self, team: int, unit: int, limit: int) -> Point:
        """The same with another limit."""
        of_team = self.limits[team]
        changed = (*of_team[:unit], limit, *of_team[unit + 1 :])
        return Point((*self.limits[:team], changed, *self.limits[team + 1 :]), self.borrow)

    def with_borrow(self, team: int, percent: int) -> Point:
        """The same with another borrow limit."""
        return Point(self.limits, (*self.borrow[:team], percent, *self.borrow[team + 1 :]))


@dataclass(frozen=True)
class Space:
    """What is the same for all of them."""

    teams: tuple[str, ...]
    units: tuple[str, ...]
    """Instance types that jobs of the history use, in the order of the environment."""
    environment: Mapping[str, int]
    """Instances that there are of each type."""
    load: tuple[tuple[float, ...], ...]
    """Of each team, instance-seconds of work on each unit."""
    largest: tuple[int, ...]
    """Of each unit, the most instances that a job asks for which the environment has room for."""
    too_large: int
    """Jobs that ask for more than the environment has: no policy runs them."""
    prices: Mapping[str, float]
    """What an hour of one instance costs; 1 for each where nobody gave prices."""
    in_share_preemption: bool = False

    @classmethod
    def of(
        cls,
        history: History,
        environment: Mapping[str, int],
        prices: Mapping[str, float] | None = None,
        *,
        in_share_preemption: bool = False,
    ) -> Space:
        """The space for the jobs of a history. Raises InputError where the environment is too small for its teams."""
        loads: dict[str, dict[str, float]] = {}
        largest: dict[str, int] = {}
        too_large = 0
        for job in history.jobs:
            if any(unit not in environment for unit in job.demand):
                continue
            load = loads.setdefault(job.share, {})
            fits = all(count <= environment[unit] for unit, count in job.demand.items())
            too_large += not fits
            for unit, count in job.demand.items():
                load[unit] = load.get(unit, 0.0) + count * (job.duration or 0.0)
                if fits:
                    largest[unit] = max(largest.get(unit, 0), count)
        units = tuple(unit for unit in environment if any(unit in load for load in loads.values()))
        teams = tuple(sorted(loads))
        found = cls(
            teams=teams,
            units=units,
            environment=environment,
            load=tuple(tuple(loads[team].get(unit, -1.0) for unit in units) for team in teams),
            largest=tuple(largest.get(unit, 0) for unit in units),
            too_large=too_large,
            prices={unit: 1.0 if prices is None else prices[unit] for unit in environment},
            in_share_preemption=in_share_preemption,
        )
        _check(history, found)
        return found

    def uses(self, team: int, unit: int) -> bool:
        """Do jobs of the team use the unit?"""
        return self.load[team][unit] >= 0

    @cached_property
    def cells(self) -> tuple[tuple[int, int], ...]:
        """Every team with every unit that it uses."""
        return tuple((t, u) for t in range(len(self.teams)) for u in range(len(self.units)) if self.uses(t, u))

    def capacity(self, unit: int) -> int:
        """Instances that there are of the unit."""
        return self.environment[self.units[unit]]

    def least(self, unit: int) -> int:
        """Instances of the unit without which a team has none, or the largest job no room."""
        return max(sum(self.uses(team, unit) for team in range(len(self.teams))), self.largest[unit])

    def price(self, point: Point) -> float:
        """Of all its limits, for an hour."""
        return sum(point.total(number) * self.prices[unit] for number, unit in enumerate(self.units))

    def scaled(self, part: float, weights: Sequence[Sequence[float]] | None = None, borrow: int = UNLIMITED) -> Point:
        """The part, from the least (0) to all that there is (1), divided by the weights; by default by work."""
        weights = self.load if weights is None else weights
        columns = []
        for unit in range(len(self.units)):
            least = self.least(unit)
            total = least + round(part * (self.capacity(unit) - least))
            used = [team for team in range(len(self.teams)) if self.uses(team, unit)]
            parts = divided(total, [weights[team][unit] for team in used])
            of_team = dict(zip(used, parts, strict=True))
            columns.append([of_team.get(team, 0) for team in range(len(self.teams))])
        return Point(tuple(zip(*columns, strict=True)), (borrow,) * len(self.teams))

    def policy(self, point: Point) -> Policy:
        """The policy of the point."""
        shares = {team: self._share(point, number) for number, team in enumerate(self.teams)}
        environment = ServiceEnvironment(capacity_limits=dict(self.environment))
        return Policy(service_environment=environment, shares=shares)

    def _share(self, point: Point, team: int) -> Share:
        borrow = point.borrow[team]
        limits = {self.units[unit]: limit for unit, limit in enumerate(point.limits[team]) if limit}
        lends = SharingStrategy.LEND if borrow == 0 else SharingStrategy.LEND_AND_BORROW
        return Share(
            capacity_limits=limits,
            strategy=lends,
            borrow_limit=borrow or None,
            in_share_preemption=self.in_share_preemption,
        )


def divided(total: int, weights: Sequence[float]) -> list[int]:
    """The total in proportion to the weights, one at least for each; the largest remainders get what is left."""
    free, whole = total - len(weights) * _ONE, sum(max(0.0, weight) for weight in weights)
    shares = [free * max(0.0, weight) / whole if whole else free / len(weights) for weight in weights]
    parts = [int(share) for share in shares]
    by_remainder = sorted(range(len(weights)), key=lambda n: (parts[n] - shares[n], n))
    for number in by_remainder[: free - sum(parts)]:
        parts[number] += 1
    return [part + _ONE for part in parts]


def _check(history: History, space: Space) -> None:
    if not space.teams:
        asked = ", ".join(sorted({unit for job in history.jobs for unit in job.demand})) or "nothing"
        raise InputError(
            f"no job asks for an instance type of the environment; they ask for {asked}", file=history.source
        )
    if len(space.teams) > MAX_QUOTA_SHARES:
        count = f"{len(space.teams)} teams; a queue has at most {MAX_QUOTA_SHARES} quota shares"
        raise InputError(f"{count}: put teams together with 'teams' in --map", file=history.source)
    for team in space.teams:
        problem = name_problem(team)
        if problem is not None:
            raise InputError(f"{problem}: give the team another name with 'teams' in --map", file=history.source)
    for number, unit in enumerate(space.units):
        users = sum(space.uses(team, number) for team in range(len(space.teams)))
        if users > space.capacity(number):
            few = f"{users} teams use {unit}, and the environment has {space.capacity(number)}"
            raise InputError(f"{few}: each needs one at least; put teams together with --map", file=history.source)
