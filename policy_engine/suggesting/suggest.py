"""The answer: a policy, the frontier it lies on, and what stands in its way where there is none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from policy_engine.errors import InputError
from policy_engine.policy import Policy, ServiceEnvironment, Share, SharingStrategy
from policy_engine.replaying.outcome import Outcome
from policy_engine.replaying.replay import ReplayOptions
from policy_engine.replaying.sweeping import Spreading, replays
from policy_engine.suggesting.frontier import frontier
from policy_engine.suggesting.goals import EVERYONE, Goals
from policy_engine.suggesting.judging import LOST_WORK, Judged, judge
from policy_engine.suggesting.searching import Search
from policy_engine.suggesting.space import Space
from policy_engine.workload.history import History

REPLAYS: Final = 300
"""A search makes no more, unless told otherwise."""
Progress = Callable[[str, float], None]
"""Takes what is being done, and the part of it, 0 to 1, that is."""


@dataclass(frozen=True)
class Suggestion:
    """What the search came to."""

    history: History
    goals: Goals
    options: ReplayOptions
    space: Space
    is_priced: bool
    """Were there prices? Without, every instance counts the same."""
    answer: Judged
    """The cheapest point that meets the goals; where none was found, the nearest."""
    policy: Policy
    """Of the answer."""
    frontier: tuple[Judged, ...]
    """What fewer and more instances come to; the answer is one of them."""
    replays: int
    """Made by the search."""
    is_spent: bool
    """Did it end because no replay was left?"""
    alone: Mapping[str, float]
    """Teams that miss their goal even with the whole environment to themselves: their 95th percentile, in seconds."""
    seed: int
    copies: tuple[Judged, ...]
    """The answer on perturbed copies of the history."""

    @property
    def is_met(self) -> bool:
        """Are the goals met?"""
        return self.answer.is_met


def suggest(
    history: History,
    environment: Mapping[str, int],
    goals: Goals | None = None,
    options: ReplayOptions | None = None,
    *,
    prices: Mapping[str, float] | None = None,
    in_share_preemption: bool = False,
    most_replays: int = REPLAYS,
    shakes: int = 0,
    seed: int = 0,
    spreading: Spreading | None = None,
    progress: Progress | None = None,
) -> Suggestion:
    """The smallest limits and borrow limits found that meet the goals.

    Args:
        history: from ``read_history``; its teams become shares.
        environment: instance type to the instances that there are.
        goals: None asks that 95 % of every team's jobs start within an hour.
        options: of every replay; None for the defaults.
        prices: of an hour of one instance by type: the cheapest limits instead of the fewest instances.
        in_share_preemption: may jobs of a team stop others of it with lower priority?
        most_replays: the search ends after so many.
        shakes: the answer is replayed on so many perturbed copies of the history, too.
        seed: of the copies; the search has no chance in it.
        spreading: where the replays are made and kept; it changes no result.
        progress: told as the search goes on.

    Raises:
        InputError: the environment is too small for the teams, or a goal names a team that is not there.
    """
    goals = Goals() if goals is None else goals
    options = ReplayOptions() if options is None else options
    space = Space.of(history, environment, prices, in_share_preemption=in_share_preemption)
    _check(history, space, goals)
    told = None if progress is None else lambda doing, made: progress(f"{doing}: replay {made}", made / most_replays)
    with replays({"": history}, options, seed=seed, spreading=spreading) as run:
        search = Search(space, goals, run, most_replays, told)
        answer = search.go()
        policy = space.policy(answer.point)
        copies = run([(policy, "", number) for number in range(1, shakes + 1)], None)
    return Suggestion(
        history=history,
        goals=goals,
        options=options,
        space=space,
        is_priced=prices is not None,
        answer=answer,
        policy=policy,
        frontier=frontier(space, search.judged.values(), answer),
        replays=len(search.judged),
        is_spent=search.is_spent,
        alone=_alone(history, goals, options, space, answer, spreading),
        seed=seed,
        copies=tuple(judge(space, goals, answer.point, copy if isinstance(copy, Outcome) else None) for copy in copies),
    )


def _check(history: History, space: Space, goals: Goals) -> None:
    for team in goals.wait_p95:
        if team != EVERYONE and team not in space.teams:
            there = ", ".join(space.teams)
            raise InputError(f"no team {team!r} has jobs for the environment; there are {there}", file=history.source)


def _alone(
    history: History, goals: Goals, options: ReplayOptions, space: Space, answer: Judged, spreading: Spreading | None
) -> dict[str, float]:
    """The teams that miss their goal whatever the others do."""
    teams = [name for name in answer.score.missed if name != LOST_WORK]
    if not teams:
        return {}
    histories = {team: _only(history, team) for team in teams}
    environment = ServiceEnvironment(capacity_limits=dict(space.environment))
    whole = Share(
        capacity_limits=dict(space.environment),
        strategy=SharingStrategy.RESERVE,
        in_share_preemption=space.in_share_preemption,
    )
    with replays(histories, options, spreading=spreading) as run:
        wanted = [(Policy(service_environment=environment, shares={team: whole}), team, 0) for team in teams]
        outcomes = run(wanted, None)
    found = {}
    for team, outcome in zip(teams, outcomes, strict=True):
        waits = outcome.measures.all.wait_seconds if isinstance(outcome, Outcome) else None
        most = goals.wait_of(team)
        if waits is not None and most is not None and waits.p95 > most:
            found[team] = waits.p95
    return found


def _only(history: History, team: str) -> History:
    places = [place for place, job in enumerate(history.jobs) if job.share == team]
    jobs = tuple(history.jobs[place] for place in places)
    return replace(history, jobs=jobs, started=[history.started[place] for place in places])
