"""What ``watch`` shows: a live queue in a terminal, and the same as data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from policy_engine._version import __version__
from policy_engine.errors import visible
from policy_engine.observing.watching import Front, Row, Sight
from policy_engine.report.wording import plural
from policy_engine.scheduler.log import Event, Kind
from policy_engine.workload.durations import duration_text

if TYPE_CHECKING:
    from rich.console import RenderableType

_NOTE: Final = (
    "expected by the rules that AWS documents, under the default answers to what it leaves open; a job is taken to run"
    " as long as it says or may"
)


def render(sight: Sight) -> RenderableType:
    """The queue, for a terminal of any width."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    shares = Table(box=None, pad_edge=False, title_justify="left")
    for title in ("Share", "Instance type"):
        shares.add_column(title, overflow="fold")
    for title in ("Limit", "Used", "Own", "Borrowed", "Waiting"):
        shares.add_column(title, justify="right", no_wrap=True)
    for row in sight.rows:
        shares.add_row(*(Text(visible(cell)) for cell in _cells(row)))
    fronts = Table(box=None, pad_edge=False)
    for title in ("First in line", "Asks for", "Waits for"):
        fronts.add_column(title, overflow="fold")
    for front in sight.fronts:
        fronts.add_row(*(Text(visible(cell)) for cell in _front_cells(front)))
    blank = Text("")
    parts: list[RenderableType] = [Text(_head(sight)), blank, shares, blank]
    parts += [fronts if sight.fronts else Text("nobody waits"), blank, Text("Expected next")]
    parts += [Text(f"  {line}") for line in expected(sight)]
    return Group(*parts, Text(f"  ({_NOTE})", style="dim"))


def _head(sight: Sight) -> str:
    held = sight.held
    counts = f"{plural(held.running, 'job')} running, {held.waiting} waiting"
    return visible(f"{sight.description}, {sight.at:%Y-%m-%d %H:%M:%S} UTC: {counts}")


def _cells(row: Row) -> tuple[str, ...]:
    waiting = f"{row.waiting} ({plural(row.waiting_jobs, 'job')})" if row.waiting else "0"
    return (row.share, row.unit, f"{row.limit}", f"{row.used}", f"{row.own}", f"{row.borrowed}", waiting)


def _front_cells(front: Front) -> tuple[str, ...]:
    since = "" if front.since is None else f", {duration_text(round(front.since))} so far"
    asks = ", ".join(f"{count} {unit}" for unit, count in front.demand.items()) or "?"
    priority = "" if front.priority is None else f", priority {front.priority}"
    return (f"{front.share}: {front.job}", f"{asks}{priority}", f"{front.why or '?'}{since}")


def expected(sight: Sight) -> Iterator[str]:
    """A line for each event that the engine expects."""
    if sight.is_endless:
        yield "jobs that stop each other over and over, for all that AWS documents"
        return
    if not sight.expected:
        yield "nothing until jobs come"
    for event in sight.expected:
        yield visible(f"{_when(event)} {_what(event)}")


def _when(event: Event) -> str:
    return "now" if event.at <= 0 else f"in {duration_text(round(event.at))}"


def _what(event: Event) -> str:
    match event.kind:
        case Kind.STARTED:
            return f"{event.job} starts in {event.share}"
        case Kind.PREEMPTED:
            return f"{event.job} is preempted for {event.by}" if event.by else f"{event.job} is preempted"
        case Kind.BLOCKED:
            return f"{event.job} can never run: {event.reason}"
    return f"{event.job} has {event.kind.value}" if event.kind is Kind.FAILED else f"{event.job} is {event.kind.value}"


def data(sight: Sight) -> dict[str, Any]:
    """The same for scripts. Times in seconds from ``at``."""
    return {
        "schema": "policy-engine/1",
        "command": "watch",
        "queue": sight.name,
        "at": f"{sight.at:%Y-%m-%dT%H:%M:%SZ}",
        "shares": [_row(row) for row in sight.rows],
        "first_in_line": [_front(front) for front in sight.fronts],
        "expected": [_event(event) for event in sight.expected],
        "jobs": {"running": sight.held.running, "waiting": sight.held.waiting},
        "rests_on": {"engine": __version__, "live_service_consulted": True},
    }


def _row(row: Row) -> Mapping[str, Any]:
    return {
        "name": row.share,
        "unit": row.unit,
        "limit": row.limit,
        "used": row.used,
        "own": row.own,
        "borrowed": row.borrowed,
        "waiting": row.waiting,
        "waiting_jobs": row.waiting_jobs,
    }


def _front(front: Front) -> Mapping[str, Any]:
    return {
        "share": front.share,
        "job": front.job,
        "since_seconds": front.since,
        "demand": dict(front.demand),
        "priority": front.priority,
        "why": front.why or None,
    }


def _event(event: Event) -> Mapping[str, Any]:
    return {"at": event.at, "kind": event.kind.value, "job": event.job, "by": event.by, "share": event.share}
