"""ListServiceJobs: by state, share, name or time, page by page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from heapq import merge
from math import inf
from typing import Any, Final

from policy_engine.endpoint.account import Account
from policy_engine.endpoint.errors import ClientError
from policy_engine.endpoint.operations.paging import last_seen, page
from policy_engine.endpoint.operations.service_jobs import summary
from policy_engine.endpoint.resources import Answer, PlacedJob
from policy_engine.endpoint.service_jobs import JobIndex, ServiceJob, Status

_FILTERS: Final = ("JOB_NAME", "BEFORE_CREATED_AT", "AFTER_CREATED_AT", "SHARE_IDENTIFIER", "QUOTA_SHARE_NAME")
"""API ListServiceJobs."""


def list_jobs(account: Account, request: Mapping[str, Any]) -> Answer:
    """ListServiceJobs, the most recent job first; RUNNING ones where neither a state nor a filter is given."""
    if request.get("jobQueue") is None:
        raise ClientError("jobQueue: is missing")
    queue = account.find_queue(request["jobQueue"])
    name, values = _filter(request.get("filters") or ())
    queue.schedule.read()
    index = queue.schedule.index
    after = last_seen(request)
    if after is not None and after >= len(index.jobs):
        raise ClientError("nextToken: is not one that an answer for this queue held")
    status = request.get("jobStatus")
    found = _found(account, index, name, values, status, after)
    jobs, more = page(request, found, lambda job: job.number)
    return {"jobSummaryList": [summary(account, PlacedJob(queue, job)) for job in jobs], **more}


def _filter(filters: Sequence[Mapping[str, Any]]) -> tuple[str | None, list[str]]:
    """The name and the values of the one filter."""
    if not filters:
        return None, []
    if len(filters) > 1:
        raise ClientError(f"filters: {len(filters)} filters; only one can be used at a time")
    name, values = filters[0].get("name"), filters[0].get("values")
    if name not in _FILTERS:
        raise ClientError(f"filters[0].name: {name!r} is not one of {', '.join(_FILTERS)}")
    if not values:
        raise ClientError("filters[0].values: is empty")
    return name, list(dict.fromkeys(values))


def _found(
    account: Account, index: JobIndex, name: str | None, values: list[str], status: str | None, after: int | None
) -> Iterator[ServiceJob]:
    """The jobs that come after the one with number ``after``."""
    match name:
        case None:
            yield from _in_state(index, status or Status.RUNNING, "", after)
        case "QUOTA_SHARE_NAME":
            listed = (
                index.of_share(share, after) if status is None else _in_state(index, status, share, after)
                for share in values
            )
            yield from merge(*listed, key=lambda job: -job.number)
        case "JOB_NAME":
            yield from _named(index, values, after)
        case "BEFORE_CREATED_AT":
            yield from index.created(-inf, min(_instant(account, value) for value in values), after)
        case "AFTER_CREATED_AT":
            yield from index.created(max(_instant(account, value) for value in values), inf, after)


def _in_state(index: JobIndex, status: str, share: str, after: int | None) -> Iterator[ServiceJob]:
    # PENDING is for jobs that wait for others, which service jobs never do
    return iter(()) if status not in set(Status) else index.with_status(Status(status), share, after)


def _named(index: JobIndex, values: list[str], after: int | None) -> Iterator[ServiceJob]:
    if len(values) > 1:
        raise ClientError(f"filters[0].values: {len(values)} names; one is allowed, which may end with an asterisk")
    return index.named(values[0], after)


def _instant(account: Account, value: str) -> float:
    """A time of the virtual clock, from milliseconds since 1970."""
    if not value.isascii() or not value.isdigit() or len(value) > 18:
        raise ClientError(f"filters[0].values: {value!r} is not a number of milliseconds since 1970")
    return int(value) / 1000 - account.epoch
