"""A replay as the data of its JSON. Times are seconds from the first submission of the history."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any, Final

from policy_engine.outcome.measures import Measures, ShareMeasures
from policy_engine.replaying import Compared, Costs, NeverRun, Shaken
from policy_engine.replaying.replayed import Replayed, Wait
from policy_engine.report import json
from policy_engine.report.replay_rows import job_texts
from policy_engine.sources import Source
from policy_engine.workload.history import History, Remark


def data(source: Source, queue: str | None, replayed: Replayed) -> json.Data:
    """Everything but the log."""
    result = replayed.result
    measures = result.measures
    return {
        **json.head("replay", source, queue),
        "history": {**history_data(result.history), "replayed": len(result.fitted.jobs)},
        "remarks": [remark_data(remark) for remark in replayed.remarks],
        "choices": json.choices(result.options.choices),
        "verdict": None,
        "expectations": [],
        "measured": {"from": measures.since, "to": measures.end},
        "queue": queue_data(measures),
        "shares": [asdict(share) for share in measures.by_unit],
        "share_totals": [share_data(share) for share in measures.shares],
        "sizes": [{"share": size.share, "demand": dict(size.size), **asdict(size.jobs)} for size in measures.sizes],
        "preemptions": [asdict(pair) for pair in measures.pairs],
        "never_run": [_never_run(job) for job in result.fitted.never_run],
        "worst_waits": [_wait(wait) for wait in replayed.worst],
        "fidelity": None if replayed.fidelity is None else asdict(replayed.fidelity),
        "baselines": [_compared(compared) for compared in replayed.baselines] or None,
        "shaken": None if replayed.shaken is None else _shaken(replayed.shaken, measures),
        "costs": None if replayed.costs is None else _costs(replayed.costs),
        "jobs": json.Rows(job_texts(result.run, result.lives)),
        **json.basis(result.options.choices, result.options.timing, source),
    }


def history_data(history: History) -> dict[str, Any]:
    """What was read."""
    return {
        "source": history.source,
        "read_as": history.description,
        "jobs": len(history.jobs),
        "left_out": history.lost,
        "span_seconds": history.span,
        "zero": history.zero,
        "zero_date": None if history.zero_date is None else history.zero_date.isoformat(),
    }


def remark_data(remark: Remark) -> dict[str, Any]:
    """Jobs that were left out, or read with a reservation."""
    return {
        "reason": remark.reason,
        "subject": remark.subject,
        "jobs": remark.count,
        "places": list(remark.places),
        "left_out": remark.is_loss,
    }


def queue_data(measures: Measures) -> dict[str, Any]:
    """Of all shares together."""
    return {
        **asdict(measures.all),
        "utilization": measures.utilization,
        "utilization_to_last_submission": measures.utilization_to_last_submission,
        "evicted_per_requested": measures.evicted_per_claimed,
        "borrowed_instance_seconds": measures.borrowed_instance_seconds,
        "lost_instance_seconds": _lost(measures.lost, measures.checkpoint_seconds),
        "units": [{**asdict(unit), "utilization": unit.utilization} for unit in measures.units],
    }


def _lost(lost: Any, every: float) -> dict[str, float]:
    return {**asdict(lost), "checkpoint_seconds": every}


def share_data(share: ShareMeasures) -> dict[str, Any]:
    """Of one share, all its instance types together."""
    found = asdict(share)
    jobs = found.pop("jobs")
    return {"name": found.pop("name"), **jobs, **found, "evicted_per_requested": share.evicted_per_claimed}


def _never_run(never: NeverRun) -> dict[str, Any]:
    misfit = never.misfit
    return {
        "name": never.job.name,
        "share": never.job.share,
        "demand": dict(never.job.demand),
        "rule": misfit.rule,
        "reason": misfit.reason,
        "unit": misfit.unit,
        "allowed": misfit.allowed,
        "largest": misfit.largest,
        "in_run": never.is_in_run,
    }


def _wait(wait: Wait) -> dict[str, Any]:
    return {
        "name": wait.job.name,
        "share": wait.job.share,
        "demand": dict(wait.job.demand),
        "submitted": wait.job.submit,
        "wait_seconds": wait.to_start,
        "requeued_seconds": wait.after_preemptions,
        "started": wait.has_started,
    }


def _compared(compared: Compared) -> dict[str, Any]:
    measures = compared.measures
    return {
        "name": compared.name,
        **asdict(measures.all),
        "never_run": compared.never_run,
        "utilization": measures.utilization,
        "borrowed_instance_seconds": measures.borrowed_instance_seconds,
        "lost_instance_seconds": measures.lost.instance_seconds,
        "costs": None if compared.costs is None else _costs(compared.costs),
        "teams": [{"name": team, **asdict(jobs)} for team, jobs in compared.of_team.items()],
    }


Number = Callable[[Measures], "float | None"]


def wait_of_all(which: str) -> Number:
    """``mean``, ``p50``, ``p95`` or ``max`` of the waits of all jobs."""

    def number(measures: Measures) -> float | None:
        waits = measures.all.wait_seconds
        return None if waits is None else float(getattr(waits, which))

    return number


def p95_of(share: str) -> Number:
    """The 95th percentile of the waits of a share's jobs."""

    def number(measures: Measures) -> float | None:
        waits = next(of.jobs.wait_seconds for of in measures.shares if of.name == share)
        return None if waits is None else waits.p95

    return number


SPREAD: Final[dict[str, Number]] = {
    **{f"wait_{which}": wait_of_all(which) for which in ("mean", "p50", "p95", "max")},
    "preemptions": lambda measures: float(measures.preemptions),
    "lost_instance_seconds": lambda measures: measures.lost.instance_seconds,
    "borrowed_instance_seconds": lambda measures: measures.borrowed_instance_seconds,
    "utilization": lambda measures: measures.utilization,
}
"""Numbers of the queue of which the spread over perturbed replays is told."""


def _shaken(shaken: Shaken, measures: Measures) -> dict[str, Any]:
    def told(number: Number) -> dict[str, Any] | None:
        spread = shaken.spread(number)
        return None if spread is None else {"unperturbed": number(measures), **asdict(spread)}

    return {
        "replays": len(shaken.runs),
        "seed": shaken.seed,
        "moved_by_up_to_seconds": shaken.seconds,
        "queue": {name: told(number) for name, number in SPREAD.items()},
        "wait_p95_by_share": {share.name: told(p95_of(share.name)) for share in measures.shares},
    }


def _costs(costs: Costs) -> dict[str, Any]:
    return {
        "capacity": costs.capacity,
        "idle": costs.idle,
        "queue": asdict(costs.queue),
        "shares": [{"name": name, **asdict(cost)} for name, cost in costs.shares.items()],
    }
