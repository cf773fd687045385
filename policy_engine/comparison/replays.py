"""A job history under both policies: what becomes of each share's jobs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from policy_engine.comparison.sides import Policies
from policy_engine.outcome.measures import ShareMeasures
from policy_engine.replaying import ReplayOptions, ReplayResult, replay
from policy_engine.workload.history import History


@dataclass(frozen=True, slots=True)
class ReplayedShare:
    """One share in both replays; a side is None where there is no such share."""

    name: str
    old: ShareMeasures | None
    new: ShareMeasures | None
    not_run: tuple[int, int]
    """Jobs of the history that are of this share and could not run, before and after."""

    @property
    def is_hit(self) -> bool:
        """Do more of its jobs not run, or do they wait longer, by more than what is taken for accident?"""
        before, after = _unserved(self.old, self.not_run[0]), _unserved(self.new, self.not_run[1])
        if before != after:
            return after > before
        return _waiting(self.new) > _waiting(self.old) * (1 + ACCIDENT)


ACCIDENT: Final = 0.01
"""Part by which waiting may be longer and nobody is called hit: any change at all moves every wait a little."""


def _unserved(share: ShareMeasures | None, not_run: int) -> int:
    return not_run + (0 if share is None else share.jobs.never_started)


def _waiting(share: ShareMeasures | None) -> float:
    """Seconds that a job waits on average, also after preemptions."""
    if share is None or share.jobs.wait_seconds is None:
        return 0.0
    started = share.jobs.jobs - share.jobs.never_started
    return share.jobs.wait_seconds.mean + share.jobs.requeued_seconds / started


@dataclass(frozen=True)
class ReplayComparison:
    """The same history under both policies."""

    history: History
    options: ReplayOptions
    old: ReplayResult
    new: ReplayResult

    @cached_property
    def shares(self) -> tuple[ReplayedShare, ...]:
        """Every share of either policy that the history has jobs of, or that has jobs in a replay."""
        before, after = ({share.name: share for share in side.measures.shares} for side in (self.old, self.new))
        not_run = [self._not_run(side) for side in (self.old, self.new)]
        return tuple(
            ReplayedShare(name, before.get(name), after.get(name), (not_run[0][name], not_run[1][name]))
            for name in dict.fromkeys((*before, *after))
        )

    def _not_run(self, side: ReplayResult) -> Counter[str]:
        ran = Counter(job.share for job in side.fitted.jobs)
        in_run = Counter(never.job.share for never in side.fitted.never_run if never.is_in_run)
        return Counter(job.share for job in self.history.jobs) - ran + in_run

    @property
    def hit(self) -> tuple[str, ...]:
        """The shares whose jobs fare worse."""
        return tuple(share.name for share in self.shares if share.is_hit)


def replay_both(
    policies: Policies,
    history: History,
    options: ReplayOptions,
    renamed: Mapping[str, str],
    tell: Callable[[str, float], None] | None = None,
) -> ReplayComparison:
    """The history under both policies, by the old names; ``renamed`` leads from them to the new ones.

    Raises InputError and UndecidedError as ``replay``.
    """
    history = _by_old_names(history, {new: old for old, new in renamed.items() if new not in policies.old.shares})
    results = []
    for number, policy in enumerate((policies.old, policies.new)):
        if tell is not None:
            tell(f"replay {number + 1} of 2", number / 2)
        results.append(replay(policy, history, options))
    return ReplayComparison(history, options, *results)


def _by_old_names(history: History, names: Mapping[str, str]) -> History:
    """With jobs of teams by a share's new name under its old one."""
    if not any(job.share in names for job in history.jobs):
        return history
    jobs = tuple(replace(job, share=names[job.share]) if job.share in names else job for job in history.jobs)
    return replace(history, jobs=jobs)
