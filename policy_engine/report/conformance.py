"""The report of ``conform``: which answers to the open choices fit a history, and what refutes the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from policy_engine._version import __version__
from policy_engine.conforming import Answer, ChoiceConformance, Conformance, Contradiction, Fit, Standing
from policy_engine.report import json
from policy_engine.report.blocks import Badge, Block, Cell, Column, Lines, Name, Page, Section, Table, Text, Tone
from policy_engine.report.junit import Case, Outcome, Suite
from policy_engine.report.sarif import Result
from policy_engine.report.story import Story
from policy_engine.report.wording import plural
from policy_engine.scheduler.choices import Choices
from policy_engine.sources import Source
from policy_engine.workload.durations import duration_text

_TONES: Final = {
    Fit.CONSISTENT: Tone.GOOD,
    Fit.REFUTED: Tone.BAD,
    Fit.UNDECIDED: Tone.UNSURE,
}
_CAUSES: Final = (
    "No answer to the open choices explains what is recorded. Was the policy another one, or changed meanwhile, or a"
    " job's priority (--events)? Are jobs of the queue missing in the history (--warm-up), or do starts come later than"
    " the tolerance after their decision (--tolerance)? Else AWS does otherwise than it documents."
)


@dataclass(frozen=True, slots=True)
class ConformanceReport:
    """What a history says about the open choices."""

    source: Source
    """Where the policy was read from."""
    found: Conformance

    @property
    def verdict(self) -> str:
        """``holds`` where the history can be explained, ``fails`` where not, else ``undecided``."""
        fit = self.found.anything.fit
        return {Fit.CONSISTENT: "holds", Fit.REFUTED: "fails", Fit.UNDECIDED: "undecided"}[fit]

    # --- for people ------------------------------------------------------------------------------

    def summary(self) -> Page:
        """Each choice that the history puts to the test, and those that it does not."""
        rows = [(Lines([one.choice.id, one.choice.name]), Lines([*self._told(one)])) for one in self._exercised]
        return self._page(Table("", [Column("Choice"), Column("What happened fits")], rows))

    def page(self) -> Page:
        """The same, an answer a row."""
        columns = [Column(title) for title in ("Choice", "Answer", "Fit", "Refuted by")]
        rows: list[tuple[Cell, ...]] = [
            (
                Name(f"{one.choice.id} {one.choice.name}"),
                _called(one, answer),
                Badge(answer.fit.value, _TONES[answer.fit]),
                self._decision(answer.contradiction),
            )
            for one in self._exercised
            for answer in one.answers
        ]
        return self._page(Table("", columns, rows))

    def head(self) -> Page:
        """The same: nothing was run that could be shown."""
        return self.page()

    def stories(self) -> list[tuple[str, Story]]:
        """None."""
        return []

    @property
    def _exercised(self) -> list[ChoiceConformance]:
        return [one for one in self.found.choices if one.standing is not Standing.NOT_EXERCISED]

    def _told(self, one: ChoiceConformance) -> list[str]:
        told = [f"{one.standing.value}: {', '.join(one.fitting) or 'no answer'}"]
        for answer in one.answers:
            if answer.fit is Fit.REFUTED:
                told.append(f"{_called(one, answer)} is refuted {self._decision(answer.contradiction)}")
            elif answer.fit is Fit.UNDECIDED:
                told.append(f"{_called(one, answer)} is undecided: too many combinations")
        return told

    def _decision(self, decision: Contradiction | None) -> str:
        if decision is None:
            return ""
        date = self.found.record.date(decision.at)
        when = f"at {duration_text(decision.at)} ({date:%Y-%m-%d %H:%M:%S} UTC)"
        return f"{when}: {decision.happened}; expected: {decision.expected}"

    def _page(self, table: Table) -> Page:
        found = self.found
        blocks: list[Block] = []
        if found.anything.fit is Fit.REFUTED:
            blocks = [Text(f"Not reachable: {self._decision(found.anything.contradiction)}"), Text(_CAUSES)]
        elif self._exercised:
            blocks = [table]
        else:
            blocks = [Text("The history puts none of the choices to the test.")]
        sections = [Section("choices", "Open choices", blocks), *self._others()]
        untested = [f"{one.choice.id} {one.choice.name}" for one in found.choices if one not in self._exercised]
        if untested:
            told = f"Every answer to these fits, as nothing happened that depends on them: {', '.join(untested)}."
            sections.append(Section("untested", "Never put to the test", [Text(told)]))
        if found.record.remarks:
            remarks = [Text(remark.text) for remark in found.record.remarks]
            sections.append(Section("remarks", "What was left out, and what was read with a reservation", remarks))
        queue = f", queue {found.policy.queue}" if found.policy.queue else ""
        return Page(
            command="conform",
            title=self._title(),
            verdict=Badge(self.verdict, _TONES[found.anything.fit]),
            sources=[("policy", self.source.description + queue), ("history", found.record.source)],
            sections=sections,
            rests_on=self._rests_on(),
        )

    def _others(self) -> Sequence[Section]:
        """Answers that fit together."""
        found = self.found
        if found.default.fit is Fit.CONSISTENT:
            told = "The engine's default answers fit together: what happened is what it would have done."
        elif found.together is not None:
            changed = ", ".join(f"{name}: {answer}" for name, answer in _changed(found.together).items())
            told = f"These fit together, all others by default: {changed}. In a scenario: choices: {{{changed}}}"
            told = f"The default answers do not fit together: {self._decision(found.default.contradiction)}. {told}"
        elif found.anything.fit is Fit.REFUTED:
            return ()
        else:
            told = "No answers were found that fit together for the whole history."
            told = f"{told} The default ones do not: {self._decision(found.default.contradiction)}"
        return [Section("together", "All choices together", [Text(told)])]

    def _title(self) -> str:
        record = self.found.record
        jobs = f"{plural(len(record.jobs), 'job')}, {plural(record.preemptions, 'preemption')}"
        refuted = sum(answer.fit is Fit.REFUTED for one in self.found.choices for answer in one.answers)
        if self.found.anything.fit is Fit.REFUTED:
            return f"{jobs}; no answer to the open choices explains them"
        return f"{jobs}; {plural(refuted, 'answer')} refuted"

    def _rests_on(self) -> list[tuple[str, str]]:
        found = self.found
        times = [duration_text(seconds) for seconds in (found.asked.tolerance, found.asked.stop_within)]
        pairs = [("tolerance", f"up to {times[0]} from a decision to the recorded start, {times[1]} to the stop")]
        if found.judged_from:
            pairs.append(
                ("judged from", f"{duration_text(found.judged_from)}; before, what is recorded is taken as it is")
            )
        pairs.append(
            ("events", f"{len(found.asked.updates)} given; a history tells of no change of priority or policy")
        )
        pairs.append(("others", "each answer was tried with every answer to the other choices"))
        pairs.append(("engine", f"policy-engine {__version__}"))
        pairs.append(("AWS", "what the history records is AWS's; the rules are those that AWS documents"))
        return pairs

    # --- for machines ----------------------------------------------------------------------------

    def data(self) -> dict[str, Any]:
        """What the JSON holds. Times in seconds from the first submission."""
        found = self.found
        return {
            **json.head("conform", self.source, found.policy.queue),
            "history": found.record.source,
            "verdict": self.verdict,
            "jobs": len(found.record.jobs),
            "preemptions": found.record.preemptions,
            "zero": f"{found.record.date(0):%Y-%m-%dT%H:%M:%SZ}",
            "contradiction": _contradiction(found.anything.contradiction),
            "default": _answer(found.default),
            "together": None if found.together is None else _changed(found.together),
            "choices": [
                {
                    "id": one.choice.id,
                    "name": one.choice.name,
                    "standing": one.standing.value,
                    "answers": [_answer(answer) for answer in one.answers],
                }
                for one in found.choices
            ],
            "remarks": [remark.text for remark in found.record.remarks],
            "rests_on": {
                "tolerance_seconds": found.asked.tolerance,
                "stop_within_seconds": found.asked.stop_within,
                "judged_from": found.judged_from,
                "events": len(found.asked.updates),
                "engine": __version__,
                "live_service_consulted": self.source.is_live,
            },
        }

    def suites(self) -> list[Suite]:
        """A test case for each choice, which fails where no answer to it fits."""
        return [Suite(self.found.record.source, [self._case(one) for one in self.found.choices], self._rests_on())]

    def _case(self, one: ChoiceConformance) -> Case:
        outcome = Outcome.PASSED
        if one.standing is Standing.CONTRADICTED:
            outcome = Outcome.FAILED
        elif one.standing is Standing.NOT_EXERCISED:
            outcome = Outcome.SKIPPED
        message = f"{one.standing.value}: {', '.join(one.fitting)}"
        return Case(f"{one.choice.id} {one.choice.name}", outcome, message, "\n".join(self._told(one)))

    def findings(self) -> list[Result]:
        """None: what refutes an answer is no place in a file."""
        return []


def _called(one: ChoiceConformance, answer: Answer) -> str:
    return f"{answer.answer} (default)" if answer.answer == one.choice.default else answer.answer


def _changed(choices: Choices) -> dict[str, Any]:
    """The answers that are not the default."""
    default = asdict(Choices())
    return {name: answer for name, answer in asdict(choices).items() if answer != default[name]}


def _answer(answer: Answer) -> dict[str, Any]:
    return {
        "answer": answer.answer,
        "fit": answer.fit.value,
        "refuted_by": _contradiction(answer.contradiction),
    }


def _contradiction(found: Contradiction | None) -> dict[str, Any] | None:
    return None if found is None else asdict(found)
