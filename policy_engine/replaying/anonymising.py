"""Replaces what users named, the same name by the same word everywhere: for pages that leave the company."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from policy_engine.policy import Policy
from policy_engine.workload.history import History, Remark


def anonymised(policy: Policy, history: History) -> tuple[Policy, History]:
    """The policy and the history with other names for shares, teams, jobs, queue and file.

    It is done before anything is run, so that no report can hold a name.
    """
    names = Aliases.of([policy], [history])
    return names.policy(policy), names.history(history)


@dataclass(frozen=True)
class Aliases:
    """Other names for the shares and teams of policies and histories.

    New names sort like the old ones do (C1 ``name`` goes by them), and say nothing else.
    """

    shares: Mapping[str, str]

    @classmethod
    def of(cls, policies: Iterable[Policy], histories: Iterable[History]) -> Aliases:
        """Of all their shares and teams together: a team is called the same in each of them."""
        teams = {share for policy in policies for share in policy.shares}
        for history in histories:
            teams |= {job.share for job in history.jobs}
            teams |= {remark.subject for remark in history.remarks if remark.subject is not None}
        return cls(_numbered("share", sorted(teams)))

    def share(self, name: str) -> str:
        """Another name of a share or team; what is none stays as it is."""
        return self.shares.get(name, name)

    def policy(self, policy: Policy) -> Policy:
        """The policy without names and without reasons for ignored findings, which may hold some."""
        shares = {self.shares[name]: share for name, share in policy.shares.items()}
        queue = None if policy.queue is None else "queue"
        return policy.model_copy(update={"queue": queue, "shares": shares, "ignore": ()})

    def history(self, history: History, source: str = "history") -> History:
        """The history without names; ``source`` is what its file is called."""
        names = _numbered("job", [job.name for job in history.jobs])
        jobs = (replace(job, name=names[job.name], share=self.shares[job.share]) for job in history.jobs)
        remarks = (self._remark(remark) for remark in history.remarks)
        return replace(history, source=source, jobs=tuple(jobs), remarks=tuple(remarks))

    def _remark(self, remark: Remark) -> Remark:
        subject = None if remark.subject is None else self.shares[remark.subject]
        return replace(remark, subject=subject, places=())


def _numbered(word: str, names: Sequence[str]) -> dict[str, str]:
    """Name to word with a number, all equally long."""
    width = len(str(len(names)))
    return {name: f"{word}-{number:0{width}}" for number, name in enumerate(names, start=1)}
