"""The report of ``explain``: why a job waits, why it was preempted, why nobody was stopped for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from policy_engine.explaining import (
    MEANINGS,
    About,
    Because,
    Candidate,
    Chapter,
    Diagnosis,
    Explanation,
    Fate,
    Reason,
    Selection,
    What,
)
from policy_engine.report import json, runs
from policy_engine.report.basis import rests_on
from policy_engine.report.blocks import Badge, Cell, Column, Details, Facts, Lines, Name, Page, Section, Table, Text
from policy_engine.report.junit import Suite
from policy_engine.report.sarif import Result
from policy_engine.report.story import Story
from policy_engine.report.tables import MOST_ROWS
from policy_engine.report.wording import plural
from policy_engine.scheduler.choices import BY_NAME
from policy_engine.sources import Source
from policy_engine.workload.durations import duration_text

_WHAT: Final[Mapping[What, str]] = {
    What.NOT_SUBMITTED: "to come",
    What.STOPS_OTHERS: "stops others",
    What.STOPS: "is being stopped",
    What.REQUEUED: "waits again",
    What.PRIORITY_UPDATED: "new priority",
}
"""Kinds of chapter whose name is not theirs."""
_NOBODY: Final[Mapping[About | None, str]] = {
    About.ACROSS_SHARES: "nothing taken back from other shares",
    About.IN_SHARE: "nobody of its own share stopped",
    About.BOTH: "nor both together",
}
_FATES: Final[Mapping[Fate, str]] = {
    Fate.STOPPED: "stopped",
    Fate.PUT_BACK: "put back: not needed once later ones were taken",
    Fate.SPARED: "spared: enough were taken before",
    Fate.WITHIN_LIMIT: "safe: its share is within its limit by then",
}


@dataclass(frozen=True, slots=True)
class ExplanationReport:
    """One job of one run, explained."""

    source: Source
    """Where the policy was read from."""
    scenario: str
    """The scenario's file."""
    explanation: Explanation

    # --- for people ------------------------------------------------------------------------------

    def summary(self) -> Page:
        """The chapters, and how victims were chosen, in few columns."""
        return self._page([self._chapters(), *self._selections(narrow=True), self._rules()])

    def page(self) -> Page:
        """The same in full."""
        rules = self._rules()
        folded = Section(rules.ident, rules.title, [Details("What each rule says", rules.blocks)])
        return self._page([self._chapters(), *self._selections(narrow=False), folded])

    def head(self) -> Page:
        """The same; ``stories`` show the run."""
        return self._page([self._chapters(), *self._selections(narrow=False), self._rules()])

    def stories(self) -> list[tuple[str, Story]]:
        """The run."""
        return [("What happened", runs.story("run", self.explanation.run))]

    def _page(self, sections: Sequence[Section]) -> Page:
        told, run = self.explanation, self.explanation.run
        queue = f", queue {run.policy.queue}" if run.policy.queue else ""
        first, *others = rests_on(run.choices, run.workload.timing, self.source)
        return Page(
            command="explain",
            title=f"{told.job} at {self._when()}: {told.last.message}",
            verdict=Badge(told.last.state or ""),
            sources=[("policy", self.source.description + queue), ("scenario", self.scenario)],
            sections=sections,
            rests_on=[first, ("of these", _sensitivity(told.rests_on)), *others],
        )

    def _when(self) -> str:
        at, end = self.explanation.at, self.explanation.run.end
        return f"the end ({duration_text(end)})" if at is None else duration_text(at)

    def _chapters(self) -> Section:
        shown = self.explanation.chapters[-MOST_ROWS:]
        left_out = len(self.explanation.chapters) - len(shown)
        caption = f"the last {len(shown)} of {plural(len(shown) + left_out, 'chapter')}" if left_out else ""
        columns = [Column("When"), Column("What"), Column("Why")]
        rows = [(self._time(chapter), _what(chapter), Lines(list(_why(chapter)))) for chapter in shown]
        when = "" if self.explanation.at is None else f", at {duration_text(self.explanation.at)}"
        return Section("life", f"What became of {self.explanation.job}{when}", [Table(caption, columns, rows)])

    def _time(self, chapter: Chapter) -> str:
        since = duration_text(chapter.at)
        if not chapter.lasts:
            return since
        return f"from {since} on" if chapter.until is None else f"{since} to {duration_text(chapter.until)}"

    def _selections(self, *, narrow: bool) -> Iterator[Section]:
        chosen = [chapter.selection for chapter in self.explanation.chapters if chapter.selection is not None]
        for number, selection in enumerate(chosen[-_MOST_SELECTIONS:]):
            yield Section(
                f"victims-{number}",
                f"Who could be stopped for {selection.claimant} at {duration_text(selection.at)}",
                [Text(_how_chosen(selection)), _candidates(selection, narrow=narrow)],
            )

    def _rules(self) -> Section:
        """Every rule that was named, with what it says and AWS's page."""
        named: dict[tuple[str, Because], None] = {}
        for chapter in self.explanation.chapters:
            named.update(dict.fromkeys((reason.follows_from, reason.because) for reason in _reasons(chapter)))
        pairs: list[tuple[str, Cell]] = []
        for rule, because in named:
            meaning = MEANINGS[because]
            source = f" ({meaning.source})" if meaning.source else ""
            pairs.append((rule, meaning.text + source))
        return Section("rules", "The rules", [Facts(list(dict.fromkeys(pairs)))])

    # --- for machines ----------------------------------------------------------------------------

    def data(self) -> dict[str, Any]:
        """What the JSON holds; there is no verdict."""
        told, run = self.explanation, self.explanation.run
        return {
            **json.head("explain", self.source, run.policy.queue),
            "scenario": self.scenario,
            "choices": json.choices(run.choices),
            "verdict": None,
            "job": told.job,
            "at": told.at,
            "state": told.last.state,
            "answer": told.last.message,
            "depends_on": told.rests_on,
            "chapters": [_chapter_data(chapter) for chapter in told.chapters],
            **json.basis(run.choices, run.workload.timing, self.source),
        }

    def suites(self) -> list[Suite]:
        """A suite without test cases: nothing was tested."""
        run = self.explanation.run
        properties = [("policy", self.source.description), *rests_on(run.choices, run.workload.timing, self.source)]
        return [Suite(self.scenario, [], properties)]

    def findings(self) -> list[Result]:
        """None: nothing was judged."""
        return []


_MOST_SELECTIONS: Final = 20
"""Preemptions of which the candidates are shown; the last ones where there are more."""


def _sensitivity(names: Iterable[str]) -> str:
    told = [f"{name} ({BY_NAME[name].id})" for name in names]
    return f"the answer rests on {', '.join(told)}" if told else "the answer rests on none that AWS leaves open"


# --- chapters ------------------------------------------------------------------------------------


def _what(chapter: Chapter) -> str:
    return _WHAT.get(chapter.what, chapter.what.value.replace("_", " "))


def _why(chapter: Chapter) -> Iterator[str]:
    """All that there is to say, a line each."""
    if chapter.diagnosis is not None:
        yield from _diagnosed(chapter.diagnosis)
        return
    if chapter.reasons:
        yield from (_told(reason) for reason in chapter.reasons)
    else:
        yield chapter.message
    if chapter.selection is not None:
        if chapter.selection.aws_reason is not None:
            yield f"AWS: {chapter.selection.aws_reason}"
        if chapter.selection.rests_on:
            yield _rests_on(chapter.selection.rests_on)


def _diagnosed(diagnosis: Diagnosis) -> Iterator[str]:
    yield _told(diagnosis.waits)
    if diagnosis.waits.aws_reason is not None:
        yield f"AWS: {diagnosis.waits.aws_reason}"
    for reason in diagnosis.not_stopped:
        who = _NOBODY.get(reason.about)
        yield reason.message if who is None else f"{who}: {_told(reason)}"
    yield from (f"besides, {_told(reason)}" for reason in diagnosis.further)
    names = list(dict.fromkeys(name for reason in _own(diagnosis) for name in reason.rests_on))
    if names:
        yield _rests_on(names)
    if diagnosis.ahead is not None:
        first, *others = _diagnosed(diagnosis.ahead)
        yield f"{diagnosis.ahead.job} waits: {first}"
        yield from others


def _own(diagnosis: Diagnosis) -> tuple[Reason, ...]:
    """The reasons of the job itself."""
    return (diagnosis.waits, *diagnosis.not_stopped, *diagnosis.further)


def _told(reason: Reason) -> str:
    return f"{reason.message} ({reason.follows_from})"


def _rests_on(names: Sequence[str]) -> str:
    told = [f"{name} ({BY_NAME[name].id})" for name in names]
    return f"another answer to {' or '.join(told)} could change this"


def _reasons(chapter: Chapter) -> Sequence[Reason]:
    return (*chapter.reasons, *(chapter.diagnosis.reasons() if chapter.diagnosis is not None else ()))


# --- victims -------------------------------------------------------------------------------------


def _how_chosen(selection: Selection) -> str:
    if selection.order not in BY_NAME["victims"].answers:
        return f"{selection.message}; the scenario fixes this move under {selection.order!r}"
    went_on = "; taken in this order alone they led to no legal set, and the search went on" * selection.went_on
    return f"{selection.message}; taken in the order of {selection.order} (C8){went_on}"


def _candidates(selection: Selection, *, narrow: bool) -> Table:
    shown = selection.candidates[:MOST_ROWS]
    left_out = len(selection.candidates) - len(shown)
    caption = f"the first {len(shown)} of {plural(len(selection.candidates), 'candidate')}" if left_out else ""
    if narrow:
        columns = [Column("Candidate"), Column("Priority", True), Column("Above limit"), Column("What became of it")]
        rows: list[Sequence[Cell]] = [
            (Name(one.job), f"{one.priority}", _counted(one.excess), Lines(list(_fate(one)))) for one in shown
        ]
        return Table(caption, columns, rows)
    columns = [
        Column("Candidate"),
        Column("Share"),
        Column("Priority", is_number=True),
        Column("Instances"),
        Column("Started", is_number=True),
        Column("Its share above its limit"),
        Column("What became of it"),
    ]
    rows = [
        (
            Name(one.job),
            Name(one.share),
            f"{one.priority}",
            _counted(one.instances),
            duration_text(one.started),
            _counted(one.excess),
            Lines(list(_fate(one))),
        )
        for one in shown
    ]
    return Table(caption, columns, rows)


def _counted(instances: Mapping[str, int]) -> Cell:
    """Instances by type; of a job of the claimant's own share there is no excess."""
    return Lines([f"{count} {unit}" for unit, count in instances.items()]) if instances else "-"


def _fate(candidate: Candidate) -> Iterator[str]:
    yield _FATES[candidate.fate]
    if candidate.before is not None:
        yield candidate.before


# --- JSON ----------------------------------------------------------------------------------------


def _chapter_data(chapter: Chapter) -> dict[str, Any]:
    return {
        "what": chapter.what,
        "at": chapter.at,
        "until": chapter.until,
        "state": chapter.state,
        "message": chapter.message,
        "reasons": [_reason_data(reason) for reason in chapter.reasons],
        "diagnosis": None if chapter.diagnosis is None else _diagnosis_data(chapter.diagnosis),
        "victims": None if chapter.selection is None else _selection_data(chapter.selection),
    }


def _diagnosis_data(diagnosis: Diagnosis) -> dict[str, Any]:
    return {
        "job": diagnosis.job,
        "waits": _reason_data(diagnosis.waits),
        "not_stopped": [_reason_data(reason) for reason in diagnosis.not_stopped],
        "further": [_reason_data(reason) for reason in diagnosis.further],
        "ahead": None if diagnosis.ahead is None else _diagnosis_data(diagnosis.ahead),
    }


def _reason_data(reason: Reason) -> dict[str, Any]:
    return {
        "because": reason.because,
        "about": reason.about,
        "rule": reason.follows_from,
        "source": reason.because.source,
        "message": reason.message,
        "unit": reason.unit,
        "numbers": reason.numbers,
        "shares": reason.shares,
        "jobs": reason.jobs,
        "reason": reason.aws_reason,
        "depends_on": reason.rests_on,
    }


def _selection_data(selection: Selection) -> dict[str, Any]:
    return {
        "by": selection.claimant,
        "share": selection.share,
        "why": selection.kind,
        "order": selection.order,
        "went_on": selection.went_on,
        "unit": selection.unit,
        "needed": selection.needed,
        "room": selection.room,
        "reason": selection.aws_reason,
        "depends_on": selection.rests_on,
        "candidates": [
            {
                "job": one.job,
                "share": one.share,
                "priority": one.priority,
                "instances": one.instances,
                "started": one.started,
                "excess": one.excess,
                "fate": one.fate,
                "before": one.before,
            }
            for one in selection.candidates
        ],
    }
