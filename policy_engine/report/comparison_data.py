"""A comparison as the data of its JSON. Times are seconds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from policy_engine.changes import Change, Danger
from policy_engine.comparison import (
    ComparedShare,
    Comparison,
    Effect,
    FailOn,
    Judged,
    ReplayComparison,
    ScenarioComparison,
    Witness,
    told,
)
from policy_engine.envelope import head
from policy_engine.outcome import JobOutcome
from policy_engine.outcome.measures import ShareMeasures
from policy_engine.report import json
from policy_engine.report.verification import expectation_data
from policy_engine.sources import Source
from policy_engine.sources.declaration import QueueDeclaration


def data(found: Comparison, verdict: str | None, fail_on: FailOn | None) -> json.Data:
    """All that is said about the change; ``policy`` is the new one."""
    scenario, held, replay = found.scenario, found.held, found.replay
    sources = (found.old_source, found.new_source)
    return {
        **head("compare", found.new_source, _queue(found.new)),
        "old": _source(found.old_source, found.old),
        "choices": json.choices(found.choices),
        "verdict": verdict,
        "fail_on": fail_on,
        "guarantees": None if found.not_reckoned is not None else found.word,
        "not_reckoned": None if found.not_reckoned is None else str(found.not_reckoned),
        "destructive": bool(found.destructive),
        "intends": list(found.intends),
        "hit": [{"share": name, "how": list(how)} for name, how in found.hit.items()],
        "changes": [_change(change) for change in found.changes],
        "dangers": [_danger(danger) for danger in found.dangers],
        "findings": [finding.to_dict() for finding in found.findings],
        "new_findings": [finding.to_dict() for finding in found.new_findings],
        "shares": [_share(share) for share in found.shares],
        "scenario": None if scenario is None else _scenario(scenario, sources),
        "held": None if held is None else _scenario(held, sources),
        "replay": None if replay is None else _replay(replay, sources),
        **json.basis(found.choices, None, *sources),
    }


def _source(source: Source, view: QueueDeclaration) -> dict[str, Any]:
    return {"source": source.name, "queue": _queue(view), "read_as": source.description}


def _queue(view: QueueDeclaration) -> str | None:
    return view.queue.name if isinstance(view.queue.name, str) else None


def _change(change: Change) -> dict[str, Any]:
    line, _ = change.place.position or (None, None)
    return {
        "what": change.what,
        "name": change.name,
        "field": change.field,
        "unit": change.unit,
        "old": change.old,
        "new": change.new,
        "effect": change.effect or None,
        "file": change.place.file,
        "line": line,
        "key": change.place.key,
    }


def _danger(danger: Danger) -> dict[str, Any]:
    return {
        "finding": danger.finding,
        "hazard": danger.hazard,
        "message": danger.message,
        "certain": danger.is_destructive,
        "ends_jobs_of": list(danger.ends_jobs_of),
        "steps": list(danger.steps),
    }


def _share(share: ComparedShare) -> dict[str, Any]:
    return {
        "name": share.name,
        "new_name": share.new_name,
        "word": share.word,
        "declared_otherwise": share.is_declared_otherwise,
        "intended": share.is_intended,
        "differences": [
            {
                "unit": difference.unit,
                "measure": difference.measure,
                "word": difference.word,
                "old": difference.old,
                "new": difference.new,
                "message": difference.told,
            }
            for difference in share.differences
        ],
        "witness": None if share.witness is None else _witness(share.witness),
    }


def _witness(witness: Witness) -> dict[str, Any]:
    return {
        "scenario": witness.scenario,
        "messages": [told(effect) for effect in witness.losses],
        "jobs": [_effect(effect) for effect in witness.effects],
    }


def _effect(effect: Effect) -> dict[str, Any]:
    return {
        "name": effect.job.name,
        "share": effect.job.share,
        "demand": dict(effect.job.demand),
        "worse": effect.is_worse,
        "better": effect.is_better,
        "old": _fate(effect.old),
        "new": _fate(effect.new),
    }


def _fate(outcome: JobOutcome | None) -> dict[str, Any] | None:
    """None: it could not be submitted."""
    if outcome is None:
        return None
    return {
        "state": outcome.state,
        "reason": outcome.reason,
        "first_started": outcome.first_started,
        "finished": outcome.finished,
        "wait_seconds": outcome.wait_seconds,
        "requeued_seconds": outcome.requeued_seconds,
        "preemptions": outcome.preemptions,
        "lost_instance_seconds": outcome.lost_instance_seconds,
    }


def _scenario(run: ScenarioComparison, sources: Sequence[Source]) -> dict[str, Any]:
    return {
        "source": run.scenario.source,
        "transition": run.is_transition,
        "hit": list(run.hit),
        "expectations": [_judged(judged) for judged in run.judged],
        "jobs": [_effect(effect) for effect in run.effects],
        "rests_on": json.basis(run.scenario.choices(), run.workload.timing, *sources)["rests_on"],
    }


def _judged(judged: Judged) -> dict[str, Any]:
    return {"lost": judged.is_lost, **{side: expectation_data(getattr(judged, side), False) for side in ("old", "new")}}


def _replay(replay: ReplayComparison, sources: Sequence[Source]) -> dict[str, Any]:
    history = replay.history
    return {
        "history": history.source,
        "read_as": history.description,
        "jobs": len(history.jobs),
        "hit": list(replay.hit),
        "shares": [
            {
                "name": share.name,
                "hit": share.is_hit,
                "old": _measures(share.old, share.not_run[0]),
                "new": _measures(share.new, share.not_run[1]),
            }
            for share in replay.shares
        ],
        "rests_on": json.basis(replay.options.choices, replay.options.timing, *sources)["rests_on"],
    }


def _measures(share: ShareMeasures | None, not_run: int) -> dict[str, Any] | None:
    if share is None:
        return None
    return {
        **asdict(share.jobs),
        "not_run": not_run,
        "preemptions_caused": share.preemptions_caused,
        "busy_instance_seconds": share.busy_instance_seconds,
        "borrowed_instance_seconds": share.borrowed_instance_seconds,
        "lent_instance_seconds": share.lent_instance_seconds,
        "lost_instance_seconds": share.lost.instance_seconds,
    }
