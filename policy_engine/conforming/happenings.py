"""What was done to a queue while a history was recorded: no history tells it, so the user does."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from policy_engine.conforming.record import Record
from policy_engine.scheduler.jobs import Update
from policy_engine.sources.reading import read
from policy_engine.sources.validation import validated
from policy_engine.workload.scenario_file import ScenarioFile

_VERBS: Final = ("update_priority", "update_share", "update_service_environment")


def load_updates(path: Path, record: Record) -> tuple[Update, ...]:
    """The events of a scenario file; their times count from the first submission of the record.

    An ``update_priority`` before a job comes says with which priority it came, where AWS tells of a later one. What
    ended jobs is in the record. Raises InputError.
    """
    document = read(path)
    file = validated(document, ScenarioFile)
    for key in document.data:
        if key != "events":
            raise document.error((key,), "does not belong here; a file of events has `events` alone")
    jobs = {recorded.job.name for recorded in record.jobs}
    for number, event in enumerate(file.events):
        place = ("events", number, event.verb)
        if event.verb not in _VERBS:
            raise document.error(place, f"is in the history already; allowed are {', '.join(_VERBS)}")
        if event.update_priority is not None and event.update_priority.job not in jobs:
            raise document.error((*place, "job"), f"no job {event.update_priority.job!r} in the history")
        if event.update_share is not None and event.update_share.share not in record.shares:
            raise document.error((*place, "share"), f"no share {event.update_share.share!r} in the policy")
    return tuple(event.update() for event in file.events)
