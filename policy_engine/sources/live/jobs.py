"""The jobs of a live queue, as AWS's API tells of them.

Sources: API Reference pages ``ListServiceJobs``, ``DescribeServiceJob``, ``GetJobQueueSnapshot``; User Guide page
``service-job-status``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from policy_engine.sources.live.access import Access

WAITING: Final = ("SUBMITTED", "PENDING", "RUNNABLE")
HOLDING: Final = ("SCHEDULED", "STARTING", "RUNNING")
"""States in which a job holds its instances."""
ENDED: Final = ("SUCCEEDED", "FAILED")
"""AWS keeps such jobs for seven days or longer (UG job_states)."""
STATES: Final = (*WAITING, *HOLDING, *ENDED)


def list_jobs(access: Access, queue: str, states: Sequence[str] = STATES) -> Iterator[Mapping[str, Any]]:
    """The summary of every job of the queue (its ARN) in one of the states, each job once.

    ListServiceJobs tells of one state at a time, and jobs move on meanwhile: those that go forward are seen again,
    and for those that go back to RUNNABLE (preempted ones) that state is asked for once more at the end.
    Raises InputError.
    """
    asked = [*states, *(["RUNNABLE"] if "RUNNABLE" in states else [])]
    seen: set[str] = set()
    for state in asked:
        for summary in access.pages("batch", "ListServiceJobs", "jobSummaryList", jobQueue=queue, jobStatus=state):
            job = str(summary["jobId"])
            if job not in seen:
                seen.add(job)
                yield summary


def describe_job(access: Access, job: str) -> Mapping[str, Any]:
    """All that AWS tells of one job (its id). Raises InputError."""
    told = access.call("batch", "DescribeServiceJob", jobId=job)
    return {key: value for key, value in told.items() if key != "ResponseMetadata"}


def queue_snapshot(access: Access, queue: str) -> Mapping[str, Any]:
    """What each share uses, and which job is first in its line. Raises InputError."""
    return access.call("batch", "GetJobQueueSnapshot", jobQueue=queue)
