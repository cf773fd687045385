"""The report of ``compare``: what a change does, and for whom."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from policy_engine.changes import Change, Danger
from policy_engine.comparison import (
    STOP_SECONDS,
    ComparedShare,
    Comparison,
    Effect,
    FailOn,
    Judged,
    ReplayComparison,
    ScenarioComparison,
    Witness,
    Word,
    told,
)
from policy_engine.findings import Finding
from policy_engine.outcome import JobOutcome, Waits
from policy_engine.outcome.measures import ShareMeasures
from policy_engine.report.basis import rests_on
from policy_engine.report.blocks import (
    Badge,
    Block,
    Cell,
    Column,
    Columns,
    Details,
    Drawing,
    Group,
    Lines,
    Listing,
    Name,
    Page,
    Section,
    Table,
    Text,
    Tone,
)
from policy_engine.report.both import NEW, OLD, Both
from policy_engine.report.times import instance_time, rough
from policy_engine.report.verification import badge
from policy_engine.report.wording import plural
from policy_engine.scheduler.jobs import Timing
from policy_engine.simulation import Run
from policy_engine.sources.declaration import QueueDeclaration
from policy_engine.workload.durations import duration_text

if TYPE_CHECKING:
    from policy_engine.report.junit import Suite
    from policy_engine.report.sarif import Result
    from policy_engine.report.story import Story

_HISTORY: Final = "history"
"""Begins the idents of runs whose numbers are in tables of their own."""
TONES: Final = {Word.SAME: Tone.PLAIN, Word.BETTER: Tone.GOOD, Word.WORSE: Tone.BAD, Word.MIXED: Tone.UNSURE}
NONE: Final = "-"
"""A cell for which there is nothing."""
MOST_JOBS: Final = 40
"""Jobs that fare otherwise of which each is told; the rest is counted."""


class ComparisonReport:
    """A change, and from where on it fails."""

    def __init__(self, comparison: Comparison, fail_on: FailOn | None = None) -> None:
        self.comparison = comparison
        self.fail_on = fail_on

    @property
    def verdict(self) -> str | None:
        """``fails`` or ``holds``; None where nothing was asked, or it cannot be said."""
        if self.fail_on is None or not self._is_decided:
            return None
        return "fails" if self.comparison.failed(self.fail_on) else "holds"

    @property
    def _is_decided(self) -> bool:
        """Were the guarantees reckoned that the answer needs?"""
        found = self.comparison
        return found.not_reckoned is None or self.fail_on is not FailOn.WORSE or bool(found.destructive)

    # --- for people ------------------------------------------------------------------------------

    def summary(self) -> Page:
        """In few columns, without drawings."""
        return self._page(list(_sections(self.comparison, narrow=True)))

    def page(self) -> Page:
        """What fails first; the rest folded away."""
        return self._page(list(_sections(self.comparison, folded=True)))

    def head(self) -> Page:
        """All of it, old beside new."""
        return self._page(list(_sections(self.comparison)))

    def stories(self) -> list[tuple[str, Both]]:
        """The runs of the scenario and of the history, both policies beside each other."""
        from policy_engine.report import runs
        from policy_engine.report.story import LEAST_INTERVALS

        found = self.comparison
        pairs: list[tuple[str, str, Run, Run]] = []
        if found.scenario is not None:
            pairs.append(("The scenario", "scenario", found.scenario.old.run, found.scenario.new.run))
        if found.held is not None:
            pairs.append(("The jobs that the queue holds", "held", found.held.old.run, found.held.new.run))
        if found.replay is not None:
            pairs.append(("The history", _HISTORY, found.replay.old.run, found.replay.new.run))

        def story(ident: str, run: Run) -> Story:
            told = runs.story(ident, run, is_measured=ident.startswith(_HISTORY))
            return replace(told, most_intervals=LEAST_INTERVALS)

        return [
            (title, Both(story(f"{ident}-old", old), story(f"{ident}-new", new))) for title, ident, old, new in pairs
        ]

    def _page(self, sections: Sequence[Section]) -> Page:
        found = self.comparison
        return Page(
            command="compare",
            title=_title(found),
            verdict=_verdict(found),
            sources=list(_sources(found)),
            sections=sections,
            rests_on=_rests_on(found),
        )

    # --- for machines ----------------------------------------------------------------------------

    def data(self) -> dict[str, Any]:
        """What the JSON holds."""
        from policy_engine.report.comparison_data import data

        return data(self.comparison, self.verdict, self.fail_on)

    def suites(self) -> list[Suite]:
        """A test case for each share, each destructive change, and each expectation."""
        from policy_engine.report.comparison_rows import suites

        return suites(self.comparison, self.fail_on, _rests_on(self.comparison))

    def findings(self) -> list[Result]:
        """What ends jobs or is refused, new findings, and the shares that lose a guarantee."""
        from policy_engine.report.comparison_rows import results

        return results(self.comparison)


def _verdict(found: Comparison) -> Badge:
    if found.destructive:
        return Badge("destructive", Tone.BAD)
    if found.not_reckoned is not None:
        return Badge("not reckoned", Tone.UNSURE)
    return Badge(found.word, TONES[found.word])


def _title(found: Comparison) -> str:
    """``1 share worse, 2 the same; 1 change that ends jobs or is refused``."""
    counted = Counter(share.word for share in found.shares)
    words = [f"{plural(counted[word], 'share')} {word}" for word in _WORST_FIRST if counted[word]]
    parts = [", ".join(words)] if words else []
    if found.destructive:
        count = len(found.destructive)
        parts.append(f"{plural(count, 'change')} that end{'s' if count == 1 else ''} jobs or cannot be done")
    if found.intends and found.hit:
        parts.append(f"hit outside the intent: {', '.join(found.hit)}")
    if not found.changes and not found.dangers:
        parts.append("nothing changes in the declaration")
    return "; ".join(parts) or plural(len(found.changes), "change")


_WORST_FIRST: Final = (Word.WORSE, Word.MIXED, Word.BETTER, Word.SAME)


def _sources(found: Comparison) -> Iterator[tuple[str, str]]:
    yield "old", found.old_source.description + _queue(found.old)
    yield "new", found.new_source.description + _queue(found.new)
    if found.intends:
        yield "intends", ", ".join(found.intends)
    if found.scenario is not None:
        yield "scenario", found.scenario.scenario.source
    if found.replay is not None:
        history = found.replay.history
        yield "history", f"{history.description} ({plural(len(history.jobs), 'job')})"


def _queue(view: QueueDeclaration) -> str:
    return f", queue {view.name}" if isinstance(view.queue.name, str) else ""


def _rests_on(found: Comparison) -> list[tuple[str, str]]:
    """The times are those of the scenario, or else of the history, or else of the witnesses."""
    timing: Timing | None = None
    if found.scenario is not None:
        timing = found.scenario.workload.timing
    elif found.replay is not None:
        timing = found.replay.options.timing
    else:
        timing = next((share.witness.workload.timing for share in found.shares if share.witness), None)
    return [
        ("guarantees", "in closed form; what a share's jobs meet depends on what the others do"),
        ("witnesses", _WITNESSES),
        *rests_on(found.choices, timing, found.old_source, found.new_source),
    ]


_WITNESSES: Final = (
    f"small workloads found by simulating, each run under both policies, with {duration_text(STOP_SECONDS)} from a"
    " preemption to the release of its capacity; that none is found proves nothing"
)


# --- sections --------------------------------------------------------------------------------------


def _sections(found: Comparison, *, narrow: bool = False, folded: bool = False) -> Iterator[Section]:
    fold = _Folder(folded=folded)
    if found.dangers:
        yield Section("dangers", "What ends jobs or cannot be done", list(_dangers(found)))
    yield Section("shares", "Guarantees by share", list(_shares(found, narrow=narrow)))
    if found.hit:
        yield Section("hit", "Who is hit outside the intent", [_hit(found)])
    yield Section("changes", "What changes in the declaration", fold(_declared(found, narrow=narrow), "All changes"))
    for ident, title, run in (
        ("scenario-jobs", "The scenario under both", found.scenario),
        ("held-jobs", "The jobs that the queue holds", found.held),
    ):
        if run is not None:
            yield Section(ident, title, list(_scenario(run, narrow=narrow)))
    if found.replay is not None:
        yield Section("replay", "The history under both", list(_replay(found.replay)))
    witnesses = [share for share in found.shares if share.word.has_losses]
    if witnesses:
        yield Section("witnesses", "Witnesses", list(_witnesses(witnesses, narrow=narrow, folded=folded)))
    if found.new_findings:
        yield Section("findings", "New findings", [_findings(found.new_findings)])


@dataclass(frozen=True, slots=True)
class _Folder:
    """Folds blocks away where a comment has little room."""

    folded: bool

    def __call__(self, blocks: Iterator[Block], summary: str) -> list[Block]:
        found = list(blocks)
        return [Details(summary, found)] if self.folded and found and isinstance(found[0], Table) else found


def _columns(*titles: str) -> list[Column]:
    """Columns by their titles; ``#`` marks one of figures."""
    return [Column(title.removeprefix("#"), title.startswith("#")) for title in titles]


def _dangers(found: Comparison) -> Iterator[Block]:
    for danger in found.dangers:
        yield Group(_headline(danger, found), list(_danger(danger, found)))


def _headline(danger: Danger, found: Comparison) -> str:
    finding = _finding(danger, found)
    ignored = "" if finding is None or not finding.is_ignored else " (accepted)"
    return f"{danger.finding}: {danger.hazard}{ignored}"


def _finding(danger: Danger, found: Comparison) -> Finding | None:
    return next((f for f in found.findings if (f.id, f.message) == (danger.finding, danger.message)), None)


def _danger(danger: Danger, found: Comparison) -> Iterator[Block]:
    finding = _finding(danger, found)
    yield Text(str(danger.place.error(danger.message)))
    if danger.ends_jobs_of:
        yield Text(f"Jobs that end: all of {', '.join(danger.ends_jobs_of)}.")
    if finding is not None and finding.is_ignored:
        yield Text(f"Accepted because {finding.ignored_because}.")
        return
    rows = [(str(number), step) for number, step in enumerate(danger.steps, start=1)]
    yield Table("Instead, each step a deployment or a command of its own", _columns("Step", "What to do"), rows)


def _shares(found: Comparison, *, narrow: bool) -> Iterator[Block]:
    if found.not_reckoned is not None:
        yield Text(f"Not reckoned: {found.not_reckoned}")
        return
    rows: list[tuple[Cell, ...]] = []
    for share in found.shares:
        meant = [] if narrow else ["yes" if share.is_intended else "no"]
        if share.differences or not narrow:
            rows.append((Name(_named(share)), Badge(share.word, TONES[share.word]), *meant, Lines(_told(share))))
    why = "Meant" if found.intends else "Declared otherwise"
    columns = ["Share", "Guarantees", *([] if narrow else [why]), "What is gained (+) and lost (-)"]
    if rows:
        yield Table("", _columns(*columns), rows)
    same = sum(share.word is Word.SAME for share in found.shares)
    if narrow and same:
        yield Text(f"{plural(same, 'share')}: same.")


def _named(share: ComparedShare) -> str:
    if share.new_name is None or share.new_name == share.name:
        return share.name
    return f"{share.name} (now {share.new_name})"


_MARKS: Final = {Word.BETTER: "+", Word.WORSE: "-", Word.MIXED: "±", Word.SAME: ""}


def _told(share: ComparedShare) -> list[str]:
    return [f"{_MARKS[difference.word]} {difference.told}" for difference in share.differences] or [NONE]


def _hit(found: Comparison) -> Table:
    rows = [(Name(name), Lines(how)) for name, how in found.hit.items()]
    return Table("", _columns("Share", "How"), rows)


def _declared(found: Comparison, *, narrow: bool) -> Iterator[Block]:
    if not found.changes:
        yield Text("Nothing.")
        return
    if narrow:
        rows: list[tuple[Cell, ...]] = [
            (
                Lines([_where(change), *([change.effect] if change.effect else [])]),
                _value(change.old),
                _value(change.new),
            )
            for change in found.changes
        ]
        yield Table("", _columns("What, and what it does to jobs", "Old", "New"), rows)
        return
    rows = [
        (_of(change), _field(change), _value(change.old), _value(change.new), change.effect) for change in found.changes
    ]
    yield Table("", _columns("What", "Field", "Old", "New", "To jobs that are there"), rows)


def _where(change: Change) -> str:
    return f"{_of(change)}: {_field(change)}"


def _of(change: Change) -> str:
    return f"{change.what} {change.name}"


def _field(change: Change) -> str:
    return change.field if change.unit is None else f"{change.field} {change.unit}"


def _value(value: object) -> str:
    return NONE if value is None else f"{value:,}" if isinstance(value, int) else str(value)


# --- runs under both --------------------------------------------------------------------------------


def _scenario(run: ScenarioComparison, *, narrow: bool) -> Iterator[Block]:
    if run.is_transition:
        yield Text(
            "The change is made at once, while these jobs are there; shares that are new are left out, as nothing is in"
            " them yet."
        )
    if run.judged:
        yield Table(
            "Expectations", _columns("Expectation", OLD, NEW, "Under the new policy"), list(_judged(run.judged))
        )
    changed = run.changed
    if not changed:
        yield Text(f"Nothing changes for any of {plural(len(run.effects), 'job')}.")
        return
    shown = changed[:MOST_JOBS]
    left = f"; the first {len(shown)} of them" if len(shown) < len(changed) else ""
    caption = f"{len(changed):,} of {plural(len(run.effects), 'job')} fare otherwise{left}"
    rows = [_effect(effect, narrow=narrow) for effect in shown]
    if narrow:
        yield Table(caption, _columns("Job", "Share", OLD, NEW), rows)
    else:
        yield Table(caption, _columns("Job", "Share", "For it", OLD, NEW), rows)


def _judged(judged: Sequence[Judged]) -> Iterator[tuple[Cell, ...]]:
    for one in judged:
        yield one.new.name, badge(one.old.verdict), badge(one.new.verdict), one.new.message


def _effect(effect: Effect, *, narrow: bool) -> tuple[Cell, ...]:
    job, sides = effect.job, (Lines(_fate(effect.old)), Lines(_fate(effect.new)))
    if narrow:
        return Name(job.name), Name(job.share), *sides
    return Name(job.name), Name(job.share), _for_it(effect), *sides


def _for_it(effect: Effect) -> Badge:
    if effect.is_worse and effect.is_better:
        return Badge(Word.MIXED, TONES[Word.MIXED])
    word = Word.WORSE if effect.is_worse else Word.BETTER if effect.is_better else Word.SAME
    return Badge(word, TONES[word])


def _fate(outcome: JobOutcome | None) -> list[str]:
    """What became of a job: when it starts, how long it waits, what stops it."""
    if outcome is None:
        return ["cannot be submitted"]
    if outcome.first_started is None:
        lines = ["never starts"]
    else:
        waited = f", after {duration_text(outcome.wait_seconds)}" if outcome.wait_seconds else ""
        lines = [f"starts at {duration_text(outcome.first_started)}{waited}"]
    if outcome.preemptions:
        lines.append(f"preempted {outcome.preemptions:,} x")
    if outcome.lost_instance_seconds:
        lines.append(f"loses {instance_time(outcome.lost_instance_seconds)}")
    ended = outcome.state if outcome.finished is None else f"{outcome.state} at {duration_text(outcome.finished)}"
    return [*lines, ended, *([outcome.reason] if outcome.reason else [])]


_Figure = tuple[str, Callable[[ShareMeasures], float | None], Callable[[float], str]]


def _wait(which: str) -> Callable[[ShareMeasures], float | None]:
    def number(share: ShareMeasures) -> float | None:
        waits: Waits | None = share.jobs.wait_seconds
        return None if waits is None else float(getattr(waits, which))

    return number


def _hours(instance_seconds: float) -> str:
    return f"{instance_seconds / 3600:,.1f} h"


FIGURES: Final[tuple[_Figure, ...]] = (
    ("Mean wait", _wait("mean"), rough),
    ("95th percentile", _wait("p95"), rough),
    ("Never started", lambda share: share.jobs.never_started, "{:,.0f}".format),
    ("Preempted", lambda share: share.jobs.preemptions_suffered, "{:,.0f}".format),
    ("Work lost", lambda share: share.lost.instance_seconds, _hours),
    ("Borrowed", lambda share: share.borrowed_instance_seconds, _hours),
)
"""What a replay is compared by: a word, the number, and how it is written."""


def _replay(replay: ReplayComparison) -> Iterator[Block]:
    for title, number, written in FIGURES:
        rows = [
            (
                Name(share.name),
                *_sides(
                    None if share.old is None else number(share.old),
                    None if share.new is None else number(share.new),
                    written,
                ),
            )
            for share in replay.shares
        ]
        if any(row[1] != row[2] for row in rows):
            yield Table(title, _columns("Share", f"#{OLD}", f"#{NEW}", "#Difference"), rows)
        else:
            yield Text(f"{title}: the same for every share.")
    rows = [
        (Name(share.name), *_sides(share.not_run[0], share.not_run[1], "{:,.0f}".format))
        for share in replay.shares
        if any(share.not_run)
    ]
    if rows:
        caption = "Jobs that could not run: too large, or no such share or instance type"
        yield Table(caption, _columns("Share", f"#{OLD}", f"#{NEW}", "#Difference"), rows)
    yield Text("One replay is one accident: with replay --shake each policy shows how far such figures move by chance.")


def _sides(old: float | None, new: float | None, written: Callable[[float], str]) -> tuple[str, str, str]:
    texts = [NONE if value is None else written(value) for value in (old, new)]
    if old is None or new is None or texts[0] == texts[1]:
        return texts[0], texts[1], ""
    return texts[0], texts[1], f"{'+' if new > old else '-'}{written(abs(new - old))}"


# --- witnesses and findings -------------------------------------------------------------------------


def _witnesses(shares: Sequence[ComparedShare], *, narrow: bool, folded: bool) -> Iterator[Block]:
    for share in shares:
        if share.witness is None:
            blocks: list[Block] = [Text("None was found among small workloads: that proves nothing.")]
        else:
            blocks = list(_witness(share.witness, narrow=narrow))
        title = f"{share.name}: {share.word}"
        yield Details(title, blocks) if folded else Group(title, blocks)
    if narrow and any(share.witness for share in shares):
        yield Text("--witnesses FOLDER writes each as a scenario file, which compare runs under both policies.")


def _witness(witness: Witness, *, narrow: bool) -> Iterator[Block]:
    for effect in witness.losses:
        yield Text(f"{told(effect)}.")
    if narrow:
        yield Listing("The jobs", [_job(effect) for effect in witness.effects])
    else:
        caption = "What happens, and the instances of each share before and after it"
        sides = [(f"{side} policy", Drawing(caption, witness.drawing(old=side == OLD))) for side in (OLD, NEW)]
        yield Columns([(title, [drawn]) for title, drawn in sides])
        yield Details("The scenario file", [Listing("", witness.text.splitlines())])


def _job(effect: Effect) -> str:
    job = effect.job
    size = ", ".join(f"{count:,} {unit}" for unit, count in job.demand.items())
    return f"{duration_text(job.submit)}: {job.name} of {job.share}, {size}"


def _findings(findings: Sequence[Finding]) -> Table:
    rows = [
        (finding.id, finding.severity.value, str(finding.place.error(finding.message)), finding.rule.remedy)
        for finding in findings
    ]
    return Table("", _columns("Finding", "Severity", "Where and what", "What to change"), rows)
