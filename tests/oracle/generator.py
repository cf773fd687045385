"""Random scenarios, made to collide: small shares, few instances, many ties, all kinds of events."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from policy_engine.policy import Policy
from policy_engine.scheduler.choices import CHOICES, Choices
from policy_engine.scheduler.jobs import (
    DeleteShare,
    Exit,
    Job,
    Terminate,
    Timing,
    Update,
    UpdatePriority,
    UpdateQueue,
    UpdateServiceEnvironment,
    UpdateShare,
    Workload,
)

UNITS = ("ml.g5.xlarge", "ml.p4d.24xlarge")
NAMES = ("s2", "s0", "s1", "s3")
"""Not in the order of the alphabet: C1 ``declared`` and ``name`` differ."""
DEFAULT = Choices()
EXPLORED_ALONE = {"any"}
"""Answers that no single run can give."""
RARELY_MATTER = {"victims", "partly_borrowed", "freed_capacity", "idle_assignment", "equal_priority"}
"""Choices whose answer seldom changes a run: asked the other way more often."""


@dataclass(frozen=True)
class Scenario:
    """What a run takes: all of it plain data, so that it can be shrunk."""

    policy: dict[str, Any]
    workload: Workload
    choices: Choices = DEFAULT

    def declared(self) -> Policy:
        return Policy.of(self.policy)


def scenario(seed: int) -> Scenario:
    """The scenario of a seed."""
    random = Random(seed)  # noqa: S311 (a test's choice, not a secret)
    units = UNITS if random.random() < 0.25 else UNITS[:1]
    policy = _policy(random, units)
    jobs = _jobs(random, policy, units)
    updates = _updates(random, policy, units, jobs) if random.random() < 0.5 else ()
    workload = Workload(jobs, updates, _timing(random))
    if random.random() < 0.15:
        workload = _with_failures(random, workload)
    return Scenario(policy, workload, _choices(random) if random.random() < 0.5 else Choices())


def _policy(random: Random, units: tuple[str, ...]) -> dict[str, Any]:
    shares = {name: _share(random, units) for name in NAMES[: random.choice((1, 2, 2, 2, 3, 3, 3, 4))]}
    policy: dict[str, Any] = {"service_environment": {"capacity_limits": {}}, "shares": shares}
    for unit in units:
        declared = sum(share["capacity_limits"].get(unit, 0) for share in shares.values())
        policy["service_environment"]["capacity_limits"][unit] = max(1, declared + _commitment(random))
    if random.random() < 0.1:
        reasons = ("SERVICE_ENVIRONMENT_MAX_RESOURCE", "QUOTA_MANAGEMENT_LIMIT_EXCEEDED")
        policy["job_state_time_limits"] = [
            {"reason": f"MISCONFIGURATION:{reason}", "max_seconds": random.choice((600, 610))} for reason in reasons
        ]
    return policy


def _commitment(random: Random) -> int:
    """Environment less the sum of the limits: mostly equal, at times over- or under-committed."""
    return random.choice((0, 0, 0, 0, -1, -2, 1, 2))


def _share(random: Random, units: tuple[str, ...]) -> dict[str, Any]:
    limits = {unit: random.choice((1, 1, 2, 2, 2, 3, 3, 4, 5)) for unit in units if random.random() < 0.8}
    strategy = random.choice((*["LEND_AND_BORROW"] * 4, "LEND", "RESERVE"))
    share: dict[str, Any] = {
        "capacity_limits": limits or {units[0]: random.randint(1, 4)},
        "strategy": strategy,
        "in_share_preemption": random.random() < 0.8,
    }
    if strategy == "LEND_AND_BORROW":
        share["borrow_limit"] = random.choice((-1, -1, -1, 0, 50, 75, 100, 200, 200))
    if random.random() < 0.04:
        share["state"] = "DISABLED"
    return share


def _jobs(random: Random, policy: dict[str, Any], units: tuple[str, ...]) -> tuple[Job, ...]:
    names = list(policy["shares"])
    before = random.randint(1, 3) if random.random() < 0.25 else 0
    jobs = [
        _job(random, f"j{number}", random.choice(names), policy, units)
        for number in range(random.choice((3, 8, 9, 10, 11, 12, 13, 14)))
    ]
    early = [replace(job, started=float(random.choice((-30, -20, -20, 0)))) for job in jobs[:before]]
    return (*early, *jobs[before:])


def _job(random: Random, name: str, share: str, policy: dict[str, Any], units: tuple[str, ...]) -> Job:
    if random.random() < 0.4:
        share = next(iter(policy["shares"]))
    wanted = random.sample(units, len(units)) if random.random() < 0.3 else [random.choice(units)]
    limits = policy["shares"][share]["capacity_limits"]
    submit = random.choice((0, 0, 0, 0, 5, 5, 10, 12, 15, 15, 20, 25, 40))
    # Later jobs more often have the higher priority, or nobody would be preempted for them.
    priority = random.choice((0, 1, 2, 3)) + 2 * (submit >= 10)
    return Job(
        name,
        share,
        {unit: _count(random, limits.get(unit, 0)) for unit in wanted},
        priority=_maybe(random, 0.9, priority),
        submit=float(submit),
        duration=_maybe(random, 0.95, random.choice((0, 5, 10, 30, 60, 60, 60, 90, 90, 90))),
        preemption_retries=_maybe(random, 0.1, random.choice((0, 1, 2))),
        checkpoint_every=_maybe(random, 0.15, random.choice((5, 7, 10))),
    )


def _count(random: Random, limit: int) -> int:
    """Mostly within the share's own limit, at times beyond, rarely beyond all."""
    return random.randint(1, max(1, limit)) if random.random() < 0.9 else random.randint(1, limit + 3)


def _maybe(random: Random, chance: float, value: float) -> Any:
    return value if random.random() < chance else None


def _timing(random: Random) -> Timing:
    return Timing(
        stop_seconds=random.choice((3.0, 10.0, 20.0)) if random.random() < 0.4 else 0.0,
        start_seconds=_maybe(random, 0.1, 5.0) or 0.0,
        queue_latency=_maybe(random, 0.1, random.choice((1.0, 5.0))) or 0.0,
        checkpoint_every=_maybe(random, 0.1, 10.0),
        restart_seconds=_maybe(random, 0.1, 4.0) or 0.0,
    )


def _choices(random: Random) -> Choices:
    answers: dict[str, Any] = {}
    for choice in CHOICES:
        others = [answer for answer in choice.alternatives if answer not in EXPLORED_ALONE]
        if others and random.random() < (0.6 if choice.name in RARELY_MATTER else 0.2):
            answers[choice.name] = random.choice(others)
    return replace(Choices(), **answers, default_priority=random.choice((0, 0, 2)))


# --- updates ---------------------------------------------------------------------------------------


def _updates(
    random: Random, policy: dict[str, Any], units: tuple[str, ...], jobs: tuple[Job, ...]
) -> tuple[Update, ...]:
    updates = [_update(random, policy, units, jobs) for _ in range(random.randint(1, 5))]
    deleted = random.choice(list(policy["shares"])) if random.random() < 0.08 else None
    if deleted is None:
        return tuple(updates)
    others = [u for u in updates if not (isinstance(u, UpdateShare) and u.share == deleted)]
    return (*others, DeleteShare(_time(random), deleted))


def _time(random: Random, least: float = 0.0) -> float:
    return max(least, float(random.choice((0, 5, 10, 15, 20, 30, 35, 60))))


def _update(random: Random, policy: dict[str, Any], units: tuple[str, ...], jobs: tuple[Job, ...]) -> Update:
    kind = random.random()
    if kind < 0.35:
        job = random.choice(jobs)
        return UpdatePriority(_time(random, _submitted(job)), job.name, random.randint(0, 4))
    if kind < 0.5:
        job = random.choice(jobs)
        return Terminate(_time(random, _submitted(job)), job.name)
    if kind < 0.8:
        return _share_update(random, random.choice(list(policy["shares"])), units)
    if kind < 0.95:
        limits = {unit: random.randint(1, 8) for unit in units} if random.random() < 0.7 else None
        return UpdateServiceEnvironment(_time(random), limits, _state(random) if limits is None else None)
    return UpdateQueue(_time(random), _state(random))


def _submitted(job: Job) -> float:
    return job.submit if job.started is None else job.started


def _state(random: Random) -> str:
    return random.choice(("ENABLED", "DISABLED"))


def _share_update(random: Random, share: str, units: tuple[str, ...]) -> UpdateShare:
    update = UpdateShare(_time(random), share)
    match random.randint(0, 5):
        case 0:
            return replace(update, state=_state(random))
        case 1:
            return replace(update, in_share_preemption=random.random() < 0.5)
        case 2:
            strategy = random.choice(("RESERVE", "LEND", "LEND_AND_BORROW"))
            borrow_limit = random.choice((-1, 0, 100)) if strategy == "LEND_AND_BORROW" else None
            return replace(update, strategy=strategy, borrow_limit=borrow_limit)
        case _:
            limits = {unit: random.randint(1, 5) for unit in units if random.random() < 0.8}
            return replace(update, capacity_limits=limits or {units[0]: 1})


def _with_failures(random: Random, workload: Workload) -> Workload:
    """Jobs that fail, time out and find no capacity; the run ends, since the last retry without end."""
    jobs = [
        replace(
            job,
            exit=random.choice((Exit.SUCCEEDED, Exit.FAILED, Exit.CAPACITY_FAILURE))
            if job.duration
            else Exit.SUCCEEDED,
            attempts=random.choice((1, 2, 3)),
            timeout=_maybe(random, 0.3, random.choice((10.0, 20.0, 30.0))),
        )
        for job in workload.jobs
    ]
    return replace(workload, jobs=tuple(jobs), until=float(random.choice((60, 100, 150))))


# --- what came out ---------------------------------------------------------------------------------


def census(scenarios: Iterable[tuple[Scenario, bool]]) -> dict[str, float]:
    """Of scenarios, each with whether it preempts: which part does, and which part takes time to stop."""
    listed = list(scenarios)
    return {
        "preempt": sum(preempts for _, preempts in listed) / len(listed),
        "stop_seconds above 0": sum(s.workload.timing.stop_seconds > 0 for s, _ in listed) / len(listed),
        "default choices": sum(s.choices == Choices() for s, _ in listed) / len(listed),
        "updates": sum(bool(s.workload.updates) for s, _ in listed) / len(listed),
    }
