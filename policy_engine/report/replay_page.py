"""What the report of ``replay`` tells people: what the shares would have done to the jobs of a history."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from policy_engine.outcome import Waits
from policy_engine.outcome.measures import JobMeasures, Measures, ShareMeasures
from policy_engine.outcome.tolls import Size
from policy_engine.replaying import Compared, Cost, Costs, Fidelity, NeverRun, Shaken, Spread
from policy_engine.replaying.replayed import Replayed, Wait
from policy_engine.report.basis import rests_on
from policy_engine.report.blocks import (
    Badge,
    Block,
    Cell,
    Column,
    Details,
    Facts,
    Lines,
    Name,
    Page,
    Section,
    Table,
    Text,
)
from policy_engine.report.replay_data import SPREAD, Number, p95_of
from policy_engine.report.times import rough
from policy_engine.report.wording import plural, why
from policy_engine.sources import Source
from policy_engine.workload.durations import duration_text

NONE: Final = "-"
"""A cell for which there is no number."""
_HOUR: Final = 3600.0
LEAD: Final = ("in-short", "remarks", "baselines")
"""Sections that come before the pictures."""
MOST_PAIRS: Final = 10
"""Of who stopped whom, so many are always shown; the rest is folded away."""
MOST_CELLS: Final = 20
"""Rows by share and instance type; more are folded away on a page."""
MOST_NEVER_RUN: Final = 10
"""Jobs too large to run of which each is told; the rest is counted."""


def summary(source: Source, replayed: Replayed) -> Page:
    """In few columns."""
    return _page(source, replayed, [_unfolded(section) for section in _sections(replayed, is_narrow=True)])


def page(source: Source, replayed: Replayed) -> Page:
    """All of it."""
    return _page(source, replayed, list(_sections(replayed)))


def _page(source: Source, replayed: Replayed, sections: Sequence[Section]) -> Page:
    result = replayed.result
    queue = f", queue {result.policy.queue}" if result.policy.queue else ""
    measured = _measured(result.measures)
    options = [("measured", measured)] if result.measures.since else []
    return Page(
        command="replay",
        title=f"{plural(len(result.fitted.jobs), 'job')} over {rough(result.history.span)}; nothing was judged",
        verdict=Badge("replayed"),
        sources=[("policy", source.description + queue), ("history", _described(replayed))],
        sections=sections,
        lead=sum(1 for section in sections if section.ident in LEAD),
        rests_on=[*options, *rests_on(result.options.choices, result.options.timing, source)],
    )


def _described(replayed: Replayed) -> str:
    history = replayed.result.history
    since = "" if history.zero_date is None else f", from {history.zero_date:%Y-%m-%d %H:%M} UTC on"
    return f"{history.description} ({plural(len(history.jobs), 'job')}{since})"


def _measured(measures: Measures) -> str:
    return f"from {duration_text(measures.since)}, after the warm-up, to {rough(measures.end)}"


# --- sections --------------------------------------------------------------------------------------


def _sections(replayed: Replayed, *, is_narrow: bool = False) -> Iterator[Section]:
    result, measures = replayed.result, replayed.result.measures
    yield Section("in-short", "In short", [_in_short(measures, len(result.fitted.never_run))])
    if remarks := list(replayed.remarks):
        yield Section("remarks", "How the history was read", [_remarks(remark.text for remark in remarks)])
    if replayed.baselines:
        yield Section("baselines", "What sharing buys and costs", list(_baselines(replayed.baselines)))
    yield Section("waits", "Waits to the first start", list(_waits(measures)))
    yield Section(
        "capacity", "Capacity by share (2h is two instance-hours)", list(_capacity(measures, is_narrow=is_narrow))
    )
    yield Section("preemptions", "Preemptions", list(_preemptions(measures)))
    if replayed.costs is not None:
        yield Section("money", "In money, at the prices given", list(_money(replayed.costs)))
    if result.fitted.never_run:
        yield Section("never-run", "Jobs that can never run", list(_never_run(result.fitted.never_run)))
    if replayed.worst:
        yield Section("worst", "The longest waits", [_worst(replayed.worst)])
    if replayed.shaken is not None:
        yield Section("spread", "How much is accident", list(_spread(replayed.shaken, measures)))
    if replayed.fidelity is not None:
        yield Section("fidelity", "Against the recorded starts", list(_fidelity(replayed.fidelity)))


def _unfolded(section: Section) -> Section:
    """The section without what is folded away on a page."""
    return replace(section, blocks=[block for block in section.blocks if not isinstance(block, Details)])


def _in_short(measures: Measures, never_run: int) -> Facts:
    everyone = measures.all
    pairs: list[tuple[str, Cell]] = [
        ("jobs", f"{everyone.jobs:,}"),
        ("waited", _told_waits(everyone.wait_seconds)),
        ("never started", f"{everyone.never_started:,}"),
        ("too large to run", f"{never_run:,}"),
        ("utilisation", _utilization(measures)),
        ("preemptions", f"{measures.preemptions:,}"),
        ("evicted", f"{_ratio(measures.evicted_per_claimed)} instances per instance asked for"),
        ("work lost", _lost(measures)),
        ("borrowed", _hours(measures.borrowed_instance_seconds)),
    ]
    return Facts(pairs)


def _utilization(measures: Measures) -> str:
    """Where the last jobs run for weeks after the last one came, the whole run says little."""
    return f"{_percent(measures.utilization)}; {_percent(measures.utilization_to_last_submission)} while jobs came"


def _told_waits(waits: Waits | None) -> str:
    if waits is None:
        return NONE
    return f"{rough(waits.mean)} on average, 95 % up to {rough(waits.p95)}, at most {rough(waits.max)}"


def _lost(measures: Measures) -> str:
    lost = measures.lost
    every = rough(measures.checkpoint_seconds)
    return (
        f"{_hours(lost.instance_seconds)}; without any checkpoint {_hours(lost.without_checkpoints)}, with one every"
        f" {every} {_hours(lost.with_checkpoints)}"
    )


def _remarks(texts: Iterator[str]) -> Block:
    return Facts([("", text) for text in texts])


def _waits(measures: Measures) -> Iterator[Block]:
    columns = ("#Jobs", "#Mean", "#p50", "#p95", "#Longest", "#Never started")
    rows: list[tuple[Cell, ...]] = [(Name(share.name), *_wait_cells(share.jobs)) for share in measures.shares]
    yield _table("", ("Share", *columns), [*rows, ("all", *_wait_cells(measures.all))])
    sizes = [(_size(size.size), *_wait_cells(size.jobs)) for size in measures.sizes if size.share is None]
    yield _table("By size of job", ("Size", *columns), sizes)
    by_both: list[tuple[Cell, ...]] = [
        (Name(size.share), _size(size.size), *_wait_cells(size.jobs))
        for size in measures.sizes
        if size.share is not None
    ]
    yield Details("By share and size", [_table("", ("Share", "Size", *columns), by_both)])


def _wait_cells(jobs: JobMeasures) -> tuple[str, ...]:
    waits = jobs.wait_seconds
    told = [NONE] * 4 if waits is None else [rough(wait) for wait in (waits.mean, waits.p50, waits.p95, waits.max)]
    return (f"{jobs.jobs:,}", *told, f"{jobs.never_started:,}")


def _capacity(measures: Measures, *, is_narrow: bool) -> Iterator[Block]:
    columns = ("Share", "Instance type", "#Limit", "#In use", "#Borrowed", "#Lent", "#Most in use")
    rows = [
        (
            Name(cell.name),
            cell.unit or "",
            f"{cell.limit:,}",
            _hours(cell.busy_instance_seconds),
            _hours(cell.borrowed_instance_seconds),
            _hours(cell.lent_instance_seconds),
            f"{cell.peak_usage:,}",
        )
        for cell in measures.by_unit
    ]
    by_type = _table("", columns, rows)
    if is_narrow or len(rows) <= MOST_CELLS:
        yield by_type
    else:
        yield _table("", ("Share", "#In use", "#Borrowed", "#Lent"), [_used(share) for share in measures.shares])
        yield Details("By share and instance type", [by_type])
    owed = ("Share", "#Jobs waited for capacity lent", "#Mean", "#p95", "#Longest", "#Had while waiting")
    yield _table("Getting back what is lent", owed, [_owed(share) for share in measures.shares])
    yield Text(
        "Waited for capacity lent: jobs that were first in line inside their share's own limit and could not start. Had"
        " while waiting: instances in use by the share's own limit, over the time in which any of its jobs waited;"
        " above 100 % it had borrowed."
    )
    units = [
        (
            unit.unit,
            _percent(unit.utilization),
            *map(_hours, (unit.capacity_instance_seconds, unit.busy_instance_seconds)),
        )
        for unit in measures.units
    ]
    yield _table("The queue", ("Instance type", "#Utilisation", "#Capacity", "#In use"), units)


def _used(share: ShareMeasures) -> tuple[Cell, ...]:
    hours = (share.busy_instance_seconds, share.borrowed_instance_seconds, share.lent_instance_seconds)
    return (Name(share.name), *map(_hours, hours))


def _owed(share: ShareMeasures) -> tuple[Cell, ...]:
    waits = share.reclaim_seconds
    told = [NONE] * 3 if waits is None else [rough(wait) for wait in (waits.mean, waits.p95, waits.max)]
    return Name(share.name), f"{share.reclaims:,}", *told, _percent(share.entitlement_while_short)


def _preemptions(measures: Measures) -> Iterator[Block]:
    if not measures.preemptions:
        yield Text("No job was preempted.")
        return
    every = rough(measures.checkpoint_seconds)
    columns = ("Share", "#Suffered", "#Caused", "#Evicted per asked", "#Lost", f"#with checkpoints every {every}")
    rows = [
        (
            Name(share.name),
            f"{share.jobs.preemptions_suffered:,}",
            f"{share.preemptions_caused:,}",
            _ratio(share.evicted_per_claimed),
            _hours(share.lost.without_checkpoints),
            _hours(share.lost.with_checkpoints),
        )
        for share in measures.shares
    ]
    yield _table(
        "Lost: had no job kept anything, and had every job kept what it had at its last checkpoint", columns, rows
    )
    yield from _who_stopped_whom(measures)


def _who_stopped_whom(measures: Measures) -> Iterator[Block]:
    columns = ("A job of", "stopped a job of", "Kind", "#Times", "#Work lost")
    pairs: list[tuple[Cell, ...]] = [
        (Name(pair.by), Name(pair.of), why(pair.kind), f"{pair.preemptions:,}", _hours(pair.lost_instance_seconds))
        for pair in measures.pairs
    ]
    if len(pairs) <= MOST_PAIRS:
        yield _table("Who stopped whom", columns, pairs)
        return
    yield _table(f"Who stopped whom: the {MOST_PAIRS} most frequent of {len(pairs)} pairs", columns, pairs[:MOST_PAIRS])
    rest = _table("", columns, pairs[MOST_PAIRS:])
    yield Details(f"The other {len(pairs) - MOST_PAIRS} pairs", [rest])


def _never_run(jobs: Sequence[NeverRun]) -> Iterator[Block]:
    aside = sum(1 for job in jobs if not job.is_in_run)
    if aside:
        yield Text(
            f"{plural(aside, 'job')} set aside: on AWS each would hold its share until somebody ends it, as the policy"
            " has no job state time limit for its reason."
        )
    if aside < len(jobs):
        yield Text(f"{plural(len(jobs) - aside, 'job')} held the share until a job state time limit ended it.")
    rows = [
        (
            Name(never.job.name),
            Name(never.job.share),
            f"{never.misfit.count:,} {never.misfit.unit}",
            f"{never.misfit.largest:,}",
            Lines([never.misfit.rule, never.misfit.reason]),
        )
        for never in jobs[:MOST_NEVER_RUN]
    ]
    caption = f"the first {MOST_NEVER_RUN} of {len(jobs):,}" if len(jobs) > MOST_NEVER_RUN else ""
    yield _table(caption, ("Job", "Share", "Asks for", "#Largest that runs", "Why"), rows)


def _worst(waits: Sequence[Wait]) -> Table:
    rows = [
        (
            Name(wait.job.name),
            Name(wait.job.share),
            _size(wait.job.demand.items()),
            duration_text(round(wait.job.submit)),
            rough(wait.to_start) if wait.has_started else f"{rough(wait.to_start)}, never started",
            rough(wait.after_preemptions) if wait.after_preemptions else NONE,
        )
        for wait in waits
    ]
    return _table("", ("Job", "Share", "Size", "#Submitted", "#Waited", "#After preemptions"), rows)


# --- beside other runs -----------------------------------------------------------------------------


def _baselines(baselines: Sequence[Compared]) -> Iterator[Block]:
    names = [compared.name for compared in baselines]
    columns = ("", *(f"#{name}" for name in names))
    lines = [
        ("Mean wait", [_wait(compared, "mean") for compared in baselines]),
        ("95th percentile", [_wait(compared, "p95") for compared in baselines]),
        ("Longest wait", [_wait(compared, "max") for compared in baselines]),
        ("Never started", [f"{compared.measures.all.never_started:,}" for compared in baselines]),
        ("Too large to run", [f"{compared.never_run:,}" for compared in baselines]),
        ("Utilisation", [_percent(compared.measures.utilization) for compared in baselines]),
        ("Borrowed", [_hours(compared.measures.borrowed_instance_seconds) for compared in baselines]),
        ("Preemptions", [f"{compared.measures.preemptions:,}" for compared in baselines]),
        ("Work lost", [_hours(compared.measures.lost.instance_seconds) for compared in baselines]),
    ]
    priced = [compared.costs for compared in baselines if compared.costs is not None]
    if priced:
        lines.append(("Idle, in money", [f"{cost.idle:,.2f}" for cost in priced]))
        lines.append(("Work lost, in money", [f"{cost.queue.lost:,.2f}" for cost in priced]))
    rows: list[tuple[Cell, ...]] = [(word, *cells) for word, cells in lines]
    yield _table("The same jobs three times", columns, rows)
    teams = list(dict.fromkeys(team for compared in baselines for team in compared.of_team))
    rows = [(Name(team), *(_p95(compared.of_team.get(team)) for compared in baselines)) for team in teams]
    yield _table("95th percentile of the waits, by share", ("Share", *columns[1:]), rows)
    yield Text(
        "Hard partitions: every share RESERVE, so what lending buys is the difference to it. Open queue: one share with"
        " the whole environment, first come, first served, without priorities and preemption."
    )


def _wait(compared: Compared, which: str) -> str:
    waits = compared.measures.all.wait_seconds
    return NONE if waits is None else rough(getattr(waits, which))


def _p95(jobs: JobMeasures | None) -> str:
    return NONE if jobs is None or jobs.wait_seconds is None else rough(jobs.wait_seconds.p95)


_SPREAD: Final = {
    "wait_mean": ("Mean wait", rough),
    "wait_p50": ("Median wait", rough),
    "wait_p95": ("95th percentile", rough),
    "wait_max": ("Longest wait", rough),
    "preemptions": ("Preemptions", lambda count: f"{count:,.1f}".removesuffix(".0")),
    "lost_instance_seconds": ("Work lost", lambda seconds: _hours(seconds)),
    "borrowed_instance_seconds": ("Borrowed", lambda seconds: _hours(seconds)),
    "utilization": ("Utilisation", lambda part: f"{100 * part:.2f} %"),
}


def _spread(shaken: Shaken, measures: Measures) -> Iterator[Block]:
    columns = ("", "#This replay", "#Mean", "#Deviation", "#Least", "#Most")
    rows: list[tuple[Cell, ...]] = []
    for name, number in SPREAD.items():
        word, told = _SPREAD[name]
        spread = shaken.spread(number)
        if spread is not None:
            rows.append((word, *(told(value) for value in _five(number, measures, spread))))
    moved = f"every submission moved by up to {rough(shaken.seconds)}, seed {shaken.seed}"
    yield _table(f"{plural(len(shaken.runs), 'replay')}, {moved}", columns, rows)
    by_share: list[tuple[Cell, ...]] = []
    for share in measures.shares:
        spread = shaken.spread(p95_of(share.name))
        if spread is not None:
            by_share.append((Name(share.name), *map(rough, _five(p95_of(share.name), measures, spread))))
    yield _table("95th percentile of the waits, by share", ("Share", *columns[1:]), by_share)


def _five(number: Number, measures: Measures, spread: Spread) -> tuple[float, ...]:
    return number(measures) or 0.0, spread.mean, spread.deviation, spread.least, spread.most


def _fidelity(fidelity: Fidelity) -> Iterator[Block]:
    yield Facts(
        [
            ("compared", plural(fidelity.jobs, "job")),
            ("mean wait", f"{rough(fidelity.replayed_mean_wait)}; recorded {rough(fidelity.recorded_mean_wait)}"),
            ("starts apart", f"{rough(fidelity.mean_error)} on average, 95 % up to {rough(fidelity.p95_error)}"),
            ("within a minute", _percent(fidelity.close)),
            ("deviation", f"{_percent(fidelity.deviation)} of the time from submission to end"),
        ]
    )
    yield Text("A history does not show why: another policy, machines that were down, jobs that people held back.")


def _money(costs: Costs) -> Iterator[Block]:
    yield Facts([("capacity", f"{costs.capacity:,.2f}"), ("idle", f"{costs.idle:,.2f}")])
    rows: list[tuple[Cell, ...]] = [(Name(name), *_amounts(cost)) for name, cost in costs.shares.items()]
    rows.append(("all", *_amounts(costs.queue)))
    yield _table("", ("Share", "#In use", "#Borrowed", "#Lent", "#Work lost", "#Lost to it"), rows)


def _amounts(cost: Cost) -> list[str]:
    return [f"{amount:,.2f}" for amount in (cost.busy, cost.borrowed, cost.lent, cost.lost, cost.caused_lost)]


# --- words -----------------------------------------------------------------------------------------


def _table(caption: str, titles: Sequence[str], rows: Sequence[Sequence[Cell]]) -> Table:
    """A table; ``#`` marks the title of a column of figures."""
    return Table(caption, [Column(title.removeprefix("#"), title.startswith("#")) for title in titles], rows)


def _size(size: Size | Any) -> str:
    return " + ".join(f"{count:,} {unit}" for unit, count in size)


def _hours(instance_seconds: float) -> str:
    """Instance-hours."""
    return f"{instance_seconds / _HOUR:,.1f}h"


def _percent(part: float | None) -> str:
    return NONE if part is None else f"{100 * part:.1f} %"


def _ratio(ratio: float | None) -> str:
    return NONE if ratio is None else f"{ratio:.2f}"
