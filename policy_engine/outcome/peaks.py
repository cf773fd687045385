"""The most instances that each share had at once, of all types together."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from policy_engine.outcome.history import policies
from policy_engine.policy import Policy
from policy_engine.scheduler.log import RELEASES, Kind
from policy_engine.simulation import Run


@dataclass(slots=True)
class Peak:
    """Of one share, from the scenario's zero on."""

    usage: int = 0
    borrowed: int = 0
    _used: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))

    def change(self, unit: str, more: int) -> None:
        """It uses so many more of the unit."""
        self._used[unit] += more

    def note(self, policy: Policy, name: str, *, in_run: bool) -> None:
        """What it uses now may be the most; of what was before the run, only its last level counts."""
        declared = policy.shares.get(name)
        usage = sum(self._used.values())
        limits = ((used, 0 if declared is None else declared.limit(unit)) for unit, used in self._used.items())
        borrowed = sum(max(0, used - limit) for used, limit in limits)
        self.usage = max(self.usage, usage) if in_run else usage
        self.borrowed = max(self.borrowed, borrowed) if in_run else borrowed


def peaks(run: Run) -> dict[str, Peak]:
    """The peaks of every share of the policy that the run begins with."""
    found = {name: Peak() for name in run.policy.shares}
    (_, policy), *changes = policies(run)
    adopted = dict(changes)
    held: set[int] = set()
    for index, (at, kind, job, _, _, _) in enumerate(run.log.rows):
        if index in adopted:
            policy = adopted[index]
            for name, peak in found.items():
                peak.note(policy, name, in_run=True)
        elif kind is Kind.STARTED or (kind in RELEASES and job in held):
            held.symmetric_difference_update((job,))
            what = run.workload.jobs[job]
            for unit, count in what.demand.items():
                found[what.share].change(unit, count if kind is Kind.STARTED else -count)
            found[what.share].note(policy, what.share, in_run=at >= 0)
    return found
