"""The history of a live queue, written as JSON lines while AWS is asked job by job, and gone on with after a break."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, Final

from policy_engine.errors import InputError
from policy_engine.sources.live import ENDED, STATES, LiveQueue, Pace, describe_job, list_jobs

Progress = Callable[[str, float], None]
"""Takes what is being done, and the part of it, 0 to 1, that is done."""

RATE: Final = 5.0
"""Calls a second unless told otherwise: AWS publishes no rate of DescribeServiceJob, and this of SubmitServiceJob."""

_KEPT: Final = (
    *("jobId", "jobName", "jobQueue", "serviceJobType", "status", "statusReason", "isTerminated"),
    *("createdAt", "scheduledAt", "startedAt", "stoppedAt", "quotaShareName", "shareIdentifier"),
    *("schedulingPriority", "capacityUsage", "attempts", "preemptionSummary", "preemptionConfiguration"),
    *("retryStrategy", "timeoutConfig"),
)
"""Of DescribeServiceJob; names of people and of data are in the rest."""
_KEPT_OF_REQUEST: Final = ("ResourceConfig", "StoppingCondition")
"""Of the training request: the rest holds hyperparameters, environment variables and roles."""

_Told = Mapping[str, Any]


def record(queue: LiveQueue, path: Path, *, rate: float = RATE, tell: Progress | None = None) -> tuple[int, int]:
    """Write every job of the queue that AWS still knows to a file, a line each, and say how many: new, and known.

    A job of which the file tells that it has ended is not asked for again, so that a run that was broken off goes on
    where it was, and one of a week later adds the week.

    Args:
        queue: from ``open_queue``.
        path: JSON lines; made where it does not exist.
        rate: calls of DescribeServiceJob a second.
        tell: told what is done.

    Raises:
        InputError: AWS cannot be asked, or the file cannot be read or written, or is something else.
    """
    known = _known(path)
    listed = [str(summary["jobId"]) for summary in list_jobs(queue.access, queue.arn, STATES)]
    missing = [job for job in listed if job not in known]
    try:
        with path.open("a", encoding="utf-8", newline="\n") as file:
            _write(queue, missing, file, Pace(rate), tell)
    except OSError as error:
        raise InputError(f"cannot be written: {(error.strerror or str(error)).lower()}", file=str(path)) from error
    return len(missing), len(listed) - len(missing)


def history_lines(queue: LiveQueue, *, rate: float = RATE, tell: Progress | None = None) -> Iterator[str]:
    """The same lines one after the other, for who keeps no file. Raises InputError."""
    pace = Pace(rate)
    listed = [str(summary["jobId"]) for summary in list_jobs(queue.access, queue.arn, STATES)]
    for number, job in enumerate(listed):
        yield _line(queue, job, pace)
        _tell(tell, number + 1, len(listed))


def _write(queue: LiveQueue, jobs: list[str], file: IO[str], pace: Pace, tell: Progress | None) -> None:
    for number, job in enumerate(jobs):
        # each line at once, so that no answer is lost to a break
        file.write(_line(queue, job, pace))
        file.flush()
        _tell(tell, number + 1, len(jobs))


def _line(queue: LiveQueue, job: str, pace: Pace) -> str:
    pace.keep()
    return json.dumps(kept(describe_job(queue.access, job)), separators=(",", ":")) + "\n"


def _tell(tell: Progress | None, done: int, total: int) -> None:
    if tell is not None:
        tell(f"job {done:,} of {total:,}", done / total)


def kept(told: _Told) -> dict[str, Any]:
    """What a history keeps of a job: when it ran and what it asked for, and nothing of what it did."""
    data = {key: told[key] for key in _KEPT if told.get(key) is not None}
    try:
        request = json.loads(told.get("serviceRequestPayload") or "null")
    except ValueError:
        request = None
    if isinstance(request, dict):
        data["serviceRequestPayload"] = json.dumps({k: request[k] for k in _KEPT_OF_REQUEST if k in request})
    return data


def _known(path: Path) -> set[str]:
    """Jobs of which the file tells that they have ended; a last line that was cut short is taken off.

    Raises InputError for a file that holds something else.
    """
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        return set()
    except OSError as error:
        raise InputError(f"cannot be read: {(error.strerror or str(error)).lower()}", file=str(path)) from error
    whole = raw[: raw.rfind(b"\n") + 1]
    ended: set[str] = set()
    for number, line in enumerate(whole.splitlines(), 1):
        try:
            told = json.loads(line)
            if told["status"] in ENDED:
                ended.add(told["jobId"])
        except (ValueError, KeyError, TypeError):
            what = "is no line of a history; name a new file, or one that `history` wrote"
            raise InputError(what, file=str(path), line=number) from None
    if len(whole) < len(raw):
        with path.open("r+b") as file:
            file.truncate(len(whole))
    return ended
