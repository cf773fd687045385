"""Synthetic workloads with the shape of real ones, the same for the same seed.

The defaults have what the published traces of shared GPU clusters have in common (M. Jeon et al., "Analysis of
Large-Scale Multi-Tenant GPU Clusters for DNN Training Workloads", USENIX ATC 2019, and its data, the Philly traces):
nine of ten jobs ask for the smallest machine, half of all jobs come from one team and most of the instance-hours from
others, jobs come in sessions of many that are alike, more in the evening and fewer at weekends, and run times spread
over five orders of magnitude. The numbers beside each default are those of the traces.

``python -m policy_engine.workload.generator --seed 1`` writes a history as CSV.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from math import exp, log
from random import Random
from typing import Final

from policy_engine.scheduler.jobs import Job

_HOUR: Final = 3600.0
_DAY: Final = 86_400.0

SMALL: Final = "ml.g5.xlarge"
MEDIUM: Final = "ml.g5.12xlarge"
LARGE: Final = "ml.g5.48xlarge"


@dataclass(frozen=True, slots=True)
class Size:
    """One size of job, and how often it is asked for."""

    instance_type: str
    instance_count: int
    weight: float


@dataclass(frozen=True, slots=True)
class Team:
    """What one team submits."""

    name: str
    weight: float
    """Its part of the jobs."""
    sizes: tuple[Size, ...]
    median: float
    """Seconds that half of its jobs run at most."""
    spread: float = 1.6
    """Standard deviation of the logarithm of the run time, from session to session."""
    session: float = 5.0
    """Jobs of a session on average: a sweep over parameters is many at once."""
    priorities: tuple[tuple[int, float], ...] = ((0, 1.0),)
    """Priority and weight."""


TEAMS: Final = (
    # half of the jobs, nearly all of the smallest size, hundreds within a minute; median 1,973 s
    Team("research", 50, (Size(SMALL, 1, 99), Size(MEDIUM, 1, 0.5), Size(LARGE, 1, 0.5)), 1973, session=40),
    # a job every few minutes, short ones; median 69 s
    Team("tests", 20, (Size(SMALL, 1, 91), Size(MEDIUM, 1, 9)), 69, session=1.2, priorities=((0, 9), (5, 1))),
    Team("vision", 15, (Size(SMALL, 1, 91), Size(MEDIUM, 1, 4), Size(LARGE, 1, 5)), 1267, priorities=((0, 4), (1, 1))),
    Team("speech", 12, (Size(SMALL, 1, 98), Size(MEDIUM, 1, 1), Size(LARGE, 2, 1)), 1386, session=40),
    # two of a hundred jobs, a quarter of the instance-hours; median 32,750 s
    Team(
        "language",
        3,
        (Size(SMALL, 1, 40), Size(MEDIUM, 1, 25), Size(LARGE, 1, 28), Size(LARGE, 2, 6), Size(LARGE, 4, 1)),
        32_750,
        session=1.5,
        priorities=((0, 3), (10, 1)),
    ),
)


@dataclass(frozen=True, slots=True)
class Shape:
    """The shape of a workload."""

    jobs: int = 1000
    """About so many; sessions are not cut."""
    days: float = 14.0
    teams: tuple[Team, ...] = TEAMS
    hours: tuple[float, ...] = (
        *(2.9, 3.3, 2.5, 2.0, 1.6, 2.5, 2.7, 2.3, 2.6, 3.2, 3.1, 3.6),
        *(3.7, 3.9, 3.5, 3.8, 4.2, 2.6, 3.0, 5.0, 6.7, 4.7, 4.5, 2.9),
    )
    """Weight of each hour of the day; of the traces in thousands of jobs."""
    weekdays: tuple[float, ...] = (10.5, 11.4, 16.9, 15.1, 10.5, 8.4, 7.8)
    """Weight of each day of the week, the first day of the workload first."""
    alike: float = 0.4
    """Standard deviation of the logarithm of the run time within a session."""
    between: float = 10.0
    """Seconds between the jobs of a session on average; half of the jobs of the traces follow within ten."""
    longest: float = 30 * _DAY
    """Seconds; no job runs longer."""


DEFAULT: Final = Shape()


def generate(shape: Shape = DEFAULT, seed: int = 0) -> tuple[Job, ...]:
    """The workload: jobs in the order of submission, in whole seconds, the first at 0. The same for the same seed."""
    random = Random(f"workload/{seed}")  # noqa: S311 - reproducible, not secret
    whole = sum(team.weight for team in shape.teams)
    hours = range(max(1, round(shape.days * 24)))
    weights = list(accumulate(shape.hours[hour % 24] * shape.weekdays[hour // 24 % 7] for hour in hours))
    jobs: list[Job] = []
    for team in shape.teams:
        of_team: list[Job] = []
        while len(of_team) < round(shape.jobs * team.weight / whole):
            # more often at the hours and on the days at which more is submitted
            begins = (random.choices(hours, cum_weights=weights)[0] + random.random()) * _HOUR
            of_team += _session(shape, team, begins, random)
        jobs += of_team
    jobs.sort(key=lambda job: job.submit)
    return tuple(_named(jobs))


def _session(shape: Shape, team: Team, at: float, random: Random) -> Iterator[Job]:
    """Jobs that one person submits at once: of one size and priority, and of similar length."""
    size = random.choices(team.sizes, [size.weight for size in team.sizes])[0]
    priority = random.choices([of for of, _ in team.priorities], [weight for _, weight in team.priorities])[0]
    typical = team.median * exp(random.gauss(0.0, team.spread))
    for _ in range(_length(team.session, random)):
        duration = min(shape.longest, typical * exp(random.gauss(0.0, shape.alike)))
        yield Job(
            name=team.name,
            share=team.name,
            demand={size.instance_type: size.instance_count},
            priority=priority,
            submit=float(round(at)),
            duration=float(max(1, round(duration))),
        )
        at += random.expovariate(1 / shape.between)


def _length(mean: float, random: Random) -> int:
    """Jobs of a session: geometric, 1 at least."""
    if mean <= 1:
        return 1
    return 1 + int(log(1 - random.random()) / log(1 - 1 / mean))


def _named(jobs: Iterable[Job]) -> Iterator[Job]:
    """The jobs from 0 on, named by their team and their place in it."""
    first: float | None = None
    counts: Counter[str] = Counter()
    for job in jobs:
        first = job.submit if first is None else first
        counts[job.share] += 1
        yield replace(job, name=f"{job.share}-{counts[job.share]}", submit=job.submit - first)


def history_csv(jobs: Iterable[Job]) -> str:
    """The jobs as a history that ``replay`` reads; jobs of one instance type each."""
    lines = ["submit_time_s,job_id,team,instance_type,instance_count,duration_s,priority"]
    for job in jobs:
        ((unit, count),) = job.demand.items()
        lines.append(f"{job.submit:.0f},{job.name},{job.share},{unit},{count},{job.duration:.0f},{job.priority}")
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    """Write a workload to standard output, as CSV."""
    parser = argparse.ArgumentParser(description="Write a synthetic job history, as CSV.")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=DEFAULT.jobs, help="about so many")
    parser.add_argument("--days", type=float, default=DEFAULT.days)
    given = parser.parse_args(arguments)
    sys.stdout.write(history_csv(generate(Shape(jobs=given.jobs, days=given.days), given.seed)))


if __name__ == "__main__":
    main()
