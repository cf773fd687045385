"""The report of ``sweep``: many policies, histories and perturbed copies beside each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from policy_engine.outcome.measures import JobMeasures, Measures
from policy_engine.policy import Policy
from policy_engine.replaying import Aliases, Spread, Sweep, Swept
from policy_engine.report import json
from policy_engine.report.basis import rests_on
from policy_engine.report.blocks import Badge, Block, Cell, Column, Details, Facts, Name, Page, Section, Table
from policy_engine.report.replay_data import history_data, queue_data, remark_data, share_data
from policy_engine.report.replay_rows import csv_cell, number
from policy_engine.report.times import rough
from policy_engine.report.wording import plural
from policy_engine.report.writing import write_report
from policy_engine.sources import Source
from policy_engine.workload.history import History

if TYPE_CHECKING:
    from policy_engine.report.junit import Suite
    from policy_engine.report.sarif import Result
    from policy_engine.report.story import Story

T = TypeVar("T")
_NONE: Final = "-"
_HOUR: Final = 3600.0
_COLUMNS_AT_MOST: Final = 6
"""Policies that stand beside each other; of more, each has a row."""


@dataclass(frozen=True, slots=True)
class SweepReport:
    """A sweep, and where its policies were read from."""

    sources: Mapping[str, Source]
    """By the name that the sweep has for the policy."""
    sweep: Sweep

    # --- for people ------------------------------------------------------------------------------

    def summary(self) -> Page:
        """Without what is folded away."""
        return self._page([_unfolded(section) for section in _sections(self.sweep)])

    def page(self) -> Page:
        """All of it."""
        return self._page(list(_sections(self.sweep)))

    def head(self) -> Page:
        """The same: no run is told on its own."""
        return self.page()

    def stories(self) -> list[tuple[str, Story]]:
        """None."""
        return []

    def _page(self, sections: Sequence[Section]) -> Page:
        found, options = self.sweep, self.sweep.options
        policies = [("policy", self.sources[name].description) for name in found.policies]
        histories = [
            ("history", f"{history.description} ({plural(len(history.jobs), 'job')})")
            for history in found.histories.values()
        ]
        copies = f"{found.shakes:,} of each history, every submission moved by up to"
        shaken = [("copies", f"{copies} {rough(found.seconds)}, seed {found.seed}")] if found.shakes else []
        measured = [("measured", f"after a warm-up of {rough(options.warm_up)}")] if options.warm_up else []
        return Page(
            command="sweep",
            title=f"{plural(len(found.runs), 'replay')}; nothing was judged",
            verdict=Badge("replayed"),
            sources=[*policies, *histories],
            sections=sections,
            rests_on=[*measured, *shaken, *rests_on(options.choices, options.timing, *self.sources.values())],
        )

    # --- for machines ----------------------------------------------------------------------------

    def data(self) -> dict[str, Any]:
        """What the JSON holds: every replay, and no job of it."""
        found, options = self.sweep, self.sweep.options
        names = found.policies.items()
        return {
            "schema": json.SCHEMA,
            "command": "sweep",
            "policies": [
                {"name": name, "queue": policy.queue, "read_as": self.sources[name].description}
                for name, policy in names
            ],
            "histories": [
                {"name": name, **history_data(history), "remarks": [remark_data(one) for one in history.remarks]}
                for name, history in found.histories.items()
            ],
            "choices": json.choices(options.choices),
            "verdict": None,
            "warm_up": options.warm_up,
            "copies": found.shakes,
            "seed": found.seed,
            "moved_by_up_to_seconds": found.seconds,
            "runs": [_run(run) for run in found.runs],
            **json.basis(options.choices, options.timing, *self.sources.values()),
        }

    def suites(self) -> list[Suite]:
        """A suite without test cases: nothing was tested."""
        from policy_engine.report.junit import Suite

        told = [("policy", self.sources[name].description) for name in self.sweep.policies]
        return [Suite("sweep", [], told)]

    def findings(self) -> list[Result]:
        """None: nothing was judged."""
        return []


def anonymous(
    sources: Mapping[str, Source], policies: Mapping[str, Policy], histories: Mapping[str, History]
) -> tuple[dict[str, Source], dict[str, Policy], dict[str, History]]:
    """All of them without the names of teams, jobs and files, numbered in their order."""
    aliases = Aliases.of(policies.values(), histories.values())
    told = [replace(source, name=f"policy-{n}", description=f"a {source.kind}") for n, source in _numbered(sources)]
    return (
        {source.name: source for source in told},
        {f"policy-{n}": aliases.policy(policy) for n, policy in _numbered(policies)},
        {(name := f"history-{n}"): aliases.history(history, name) for n, history in _numbered(histories)},
    )


def _numbered(of: Mapping[str, T]) -> Iterator[tuple[int, T]]:
    return enumerate(of.values(), start=1)


def _run(run: Swept) -> dict[str, Any]:
    measures = run.measures
    return {
        **asdict(run.case),
        "measured": {"from": measures.since, "to": measures.end},
        "never_run": run.outcome.never_run,
        "left_out": run.outcome.left_out,
        "queue": queue_data(measures),
        "share_totals": [share_data(share) for share in measures.shares],
    }


# --- sections --------------------------------------------------------------------------------------


def _sections(sweep: Sweep) -> Iterator[Section]:
    for place, history in enumerate(sweep.histories):
        runs = {policy: sweep.of(policy, history) for policy in sweep.policies}
        title = history if len(sweep.histories) > 1 else "The policies"
        yield Section(f"history-{place}", title, list(_blocks(sweep, history, runs)))


def _blocks(sweep: Sweep, history: str, runs: Mapping[str, Sequence[Swept]]) -> Iterator[Block]:
    losses = [remark.text for remark in sweep.histories[history].remarks if remark.is_loss]
    if losses:
        yield Facts([("left out", text) for text in losses])
    columns = ("Policy", "#Mean wait", "#p95", "#Longest", "#Never ran", "#Preempted", "#Work lost", "#In use")
    yield _table("As recorded", columns, [(Name(policy), *_cells(first)) for policy, (first, *_) in runs.items()])
    yield from _by_share(runs)
    if sweep.shakes:
        yield _spread(runs)


def _cells(run: Swept) -> tuple[str, ...]:
    measures, waits = run.measures, run.measures.all.wait_seconds
    told = [_NONE] * 3 if waits is None else [rough(wait) for wait in (waits.mean, waits.p95, waits.max)]
    part = measures.utilization
    return (
        *told,
        f"{run.outcome.never_run + measures.all.never_started:,}",
        f"{measures.preemptions:,}",
        _hours(measures.lost.instance_seconds),
        _NONE if part is None else f"{100 * part:.1f} %",
    )


def _by_share(runs: Mapping[str, Sequence[Swept]]) -> Iterator[Block]:
    """95th percentiles of the waits: policies side by side where there is room for them."""
    of_policy = {policy: {share.name: share for share in first.measures.shares} for policy, (first, *_) in runs.items()}
    shares = list(dict.fromkeys(share for of in of_policy.values() for share in of))
    caption = "95th percentile of the waits, by share"
    if len(runs) <= _COLUMNS_AT_MOST:
        rows: list[tuple[Cell, ...]] = [
            (Name(share), *(_p95(of[share].jobs) if share in of else _NONE for of in of_policy.values()))
            for share in shares
        ]
        yield _table(caption, ("Share", *(f"#{policy}" for policy in runs)), rows)
        return
    told: list[tuple[Cell, ...]] = [
        (Name(policy), Name(share), _p95(of[share].jobs))
        for share in shares
        for policy, of in of_policy.items()
        if share in of
    ]
    yield Details(caption, [_table("", ("Policy", "Share", "#p95"), told)])


def _spread(runs: Mapping[str, Sequence[Swept]]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for policy, (_, *copies) in runs.items():
        for word, values in _numbers([run.measures for run in copies]):
            spread = Spread.of(values)
            rows.append((Name(policy), word, *map(rough, (spread.mean, spread.deviation, spread.least, spread.most))))
    caption = "How much is accident: the perturbed copies"
    return _table(caption, ("Policy", "", "#Mean", "#Deviation", "#Least", "#Most"), rows)


def _numbers(copies: Sequence[Measures]) -> Iterator[tuple[str, list[float]]]:
    waits = [measures.all.wait_seconds for measures in copies]
    for word, which in (("Mean wait", "mean"), ("95th percentile", "p95")):
        values = [float(getattr(wait, which)) for wait in waits if wait is not None]
        if values:
            yield word, values


def _p95(jobs: JobMeasures) -> str:
    return _NONE if jobs.wait_seconds is None else rough(jobs.wait_seconds.p95)


def _hours(instance_seconds: float) -> str:
    return f"{instance_seconds / _HOUR:,.1f}h"


def _table(caption: str, titles: Sequence[str], rows: Sequence[Sequence[Cell]]) -> Table:
    """A table; ``#`` marks the title of a column of figures."""
    return Table(caption, [Column(title.removeprefix("#"), title.startswith("#")) for title in titles], rows)


def _unfolded(section: Section) -> Section:
    return replace(section, blocks=[block for block in section.blocks if not isinstance(block, Details)])


# --- rows ------------------------------------------------------------------------------------------

COLUMNS: Final = (
    *("policy", "history", "copy", "share", "jobs", "never_started", "wait_mean_s", "wait_p50_s"),
    *("wait_p95_s", "wait_max_s", "requeued_s", "preemptions_suffered", "preemptions_caused", "busy_instance_s"),
    *("borrowed_instance_s", "lent_instance_s", "lost_instance_s", "entitlement_while_short"),
)


def write_sweep_rows(path: Path, sweep: Sweep) -> None:
    """Write every share of every replay as CSV. Raises InputError where the file cannot be written."""
    lines = [",".join(COLUMNS), *(row for run in sweep.runs for row in _rows(run))]
    write_report(path, "\n".join(lines) + "\n")


def _rows(run: Swept) -> Iterator[str]:
    measures, case = run.measures, run.case
    named = f"{csv_cell(case.policy)},{csv_cell(case.history)},{case.copy}"
    for share in measures.shares:
        waits = share.jobs.wait_seconds
        told = ("", "", "", "") if waits is None else (waits.mean, waits.p50, waits.p95, waits.max)
        cells = (
            *(share.jobs.jobs, share.jobs.never_started, *told, share.jobs.requeued_seconds),
            *(share.jobs.preemptions_suffered, share.preemptions_caused, share.busy_instance_seconds),
            *(share.borrowed_instance_seconds, share.lent_instance_seconds, share.lost.instance_seconds),
            share.entitlement_while_short,
        )
        written = ("" if cell is None or isinstance(cell, str) else number(cell) for cell in cells)
        yield f"{named},{csv_cell(share.name)},{','.join(written)}"
