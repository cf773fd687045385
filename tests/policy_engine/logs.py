"""Runs that nobody simulated: a log written by hand says what happened."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from policy_engine.policy import Policy
from policy_engine.scheduler.choices import Choices
from policy_engine.scheduler.jobs import Job, Timing, Update, Workload
from policy_engine.scheduler.log import Kind, Log, Why
from policy_engine.scheduler.state import State
from policy_engine.simulation import Run

UNIT = "ml.g5.xlarge"


def policy_of(shares: Mapping[str, str], capacity: int | None = None, unit: str = UNIT) -> Policy:
    """A policy from lines such as ``"2 LEND"`` or ``"1 LEND_AND_BORROW 200 in_share"``; capacity: sum of the limits."""
    data: dict[str, Any] = {}
    for name, line in shares.items():
        limit, strategy, *rest = line.split()
        data[name] = {
            "capacity_limits": {unit: int(limit)},
            "strategy": strategy,
            "in_share_preemption": "in_share" in rest,
            "borrow_limit": next((int(word) for word in rest if word.lstrip("-").isdecimal()), None),
        }
    total = sum(share["capacity_limits"][unit] for share in data.values())
    return Policy.of({"service_environment": {"capacity_limits": {unit: capacity or total}}, "shares": data})


def run_of(
    policy: Policy,
    jobs: Iterable[Job],
    log: str,
    *,
    end: float,
    updates: tuple[Update, ...] = (),
    timing: Timing | None = None,
    until: float | None = None,
    choices: Choices | None = None,
) -> Run:
    """A run with this log, a line for each event: ``60 preempted a by b cross_share``.

    After job (or share, of ``share_updated``) come in any order: ``by JOB``, a ``Why``, ``lost SECONDS``,
    ``to PRIORITY``, ``because REASON ...``.
    """
    workload = Workload(tuple(jobs), updates, timing or Timing(), until)
    written = Log(workload.jobs)
    number_of = {job.name: number for number, job in enumerate(workload.jobs)}
    for line in filter(None, map(str.strip, log.splitlines())):
        at, kind, *words = line.split()
        said = _said(words[1:])
        written.rows.append(
            (
                float(at),
                Kind(kind),
                -1 if kind in ("share_updated", "environment_updated") else number_of[words[0]],
                number_of[said["by"]] if "by" in said else -1,
                Why(said["why"]) if "why" in said else None,
                words[0] if kind == "share_updated" else said.get("detail", 0.0 if kind == "stopped" else None),
            )
        )
    made = choices or Choices()
    return Run(policy, workload, made, written, end, State(policy, made))


def _said(words: list[str]) -> dict[str, Any]:
    said: dict[str, Any] = {}
    while words:
        word = words.pop(0)
        if word == "by":
            said["by"] = words.pop(0)
        elif word == "lost":
            said["detail"] = float(words.pop(0))
        elif word == "to":
            said["detail"] = int(words.pop(0))
        elif word == "because":
            said["detail"] = " ".join(words)
            return said
        else:
            said["why"] = word
    return said
