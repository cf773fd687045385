"""Replaces what users named, the same name by the same word everywhere: for pages that leave the company."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from policy_engine.policy import Policy
from policy_engine.workload.history import History, Remark


def anonymised(policy: Policy, history: History) -> tuple[Policy, History]:
    """The policy and the history with other names for shares, teams, jobs, queue and file.

    It is done before anything is run, so that no report can hold a name. New names sort like the old ones do
    (C1 ``name`` goes by them), and say nothing else.
    """
    teams = {*policy.shares, *(job.share for job in history.jobs)}
    teams |= {remark.subject for remark in history.remarks if remark.subject is not None}
    shares = _numbered("share", sorted(teams))
    jobs = _numbered("job", [job.name for job in history.jobs])
    return (
        policy.model_copy(
            update={
                "queue": None if policy.queue is None else "queue",
                "shares": {shares[name]: share for name, share in policy.shares.items()},
                "ignore": (),
            }
        ),
        replace(
            history,
            source="history",
            jobs=tuple(replace(job, name=jobs[job.name], share=shares[job.share]) for job in history.jobs),
            remarks=tuple(_without_names(remark, shares) for remark in history.remarks),
        ),
    )


def _numbered(word: str, names: Sequence[str]) -> dict[str, str]:
    """Name to word with a number, all equally long."""
    width = len(str(len(names)))
    return {name: f"{word}-{number:0{width}}" for number, name in enumerate(names, start=1)}


def _without_names(remark: Remark, shares: dict[str, str]) -> Remark:
    subject = None if remark.subject is None else shares.get(remark.subject)
    return replace(remark, subject=subject, places=())
