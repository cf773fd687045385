"""The report of ``verify``: every expectation with its verdict, and what happened."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from policy_engine.expectations import Answer, Verdict, Verification
from policy_engine.report import counterexamples, json, runs
from policy_engine.report.basis import INSTANT, rests_on, rests_on_every_schedule
from policy_engine.report.blocks import Badge, Block, Column, Details, Lines, Page, Section, Table, Text, Tone
from policy_engine.report.junit import Case, Outcome, Suite
from policy_engine.report.sarif import Result, Rule
from policy_engine.report.story import Story
from policy_engine.report.wording import plural
from policy_engine.sources import Source
from policy_engine.workload.expected import AlwaysExpectation, AnyExpectation

_WORST_FIRST: Final = (Answer.FAILS, Answer.DEPENDS, Answer.UNDECIDED, Answer.HOLDS)
_TONES: Final = {
    Answer.HOLDS: Tone.GOOD,
    Answer.FAILS: Tone.BAD,
    Answer.DEPENDS: Tone.UNSURE,
    Answer.UNDECIDED: Tone.UNSURE,
}
_OUTCOMES: Final = {
    Answer.HOLDS: Outcome.PASSED,
    Answer.FAILS: Outcome.FAILED,
    Answer.DEPENDS: Outcome.FAILED,
    Answer.UNDECIDED: Outcome.UNDECIDED,
}
_RULE: Final = Rule(
    "expectation",
    "an expectation of a scenario does not hold",
    "Somebody wrote down what the quota shares are for, and by AWS's documented rules they do not do it.",
    "change the policy until it holds, or the expectation where it asks for what nobody needs",
)
_TIMED: Final = frozenset(
    ("at", "starts_within", "finishes_within", "lost_work", "wait", "lost_instance_hours", "queue", "owner_reclaims")
)
"""Keys of an expectation that make its verdict depend on how long things take."""
_MARK: Final = " *"
_FEW: Final = 20
"""Expectations that all hold and are shown all the same, where there is little room."""


Judged: TypeAlias = tuple[Verdict, bool]
"""A verdict, and whether it rests on stopping being instant because nobody said how long it takes."""


@dataclass(frozen=True, slots=True)
class Verified:
    """One scenario, verified."""

    source: Source
    """Where its policy was read from."""
    verification: Verification

    @property
    def scenario(self) -> str:
        """The scenario's file."""
        return self.verification.scenario.source

    def judged(self) -> Iterator[Judged]:
        """Every verdict."""
        instant = not self.verification.run.workload.timing.stop_seconds
        for expectation, verdict in zip(self.verification.scenario.expect, self.verification.verdicts, strict=True):
            yield verdict, instant and _is_timed(expectation)


def _is_timed(expectation: AnyExpectation) -> bool:
    keys = expectation.model_fields_set
    if isinstance(expectation, AlwaysExpectation):
        keys = expectation.always.model_fields_set
    return not _TIMED.isdisjoint(keys)


class VerificationReport:
    """One scenario or several, each verified under its policy."""

    def __init__(self, verified: Sequence[Verified]) -> None:
        self.verified = verified

    @property
    def verdict(self) -> Answer:
        """The worst of all."""
        return min((one.verification.verdict for one in self.verified), key=_WORST_FIRST.index)

    # --- for people ------------------------------------------------------------------------------

    def summary(self) -> Page:
        """The verdicts."""
        return self._page([*self._verdict_sections(narrow_verdict_table), *self._counterexamples()])

    def head(self) -> Page:
        """The verdicts, name and message side by side."""
        return self._page([*self._verdict_sections(verdict_table), *self._counterexamples()])

    def page(self) -> Page:
        """The verdicts, those that do not hold alone where there are any; the rest and what happened folded away."""
        happened = [Section(story.ident, title, list(runs.folded(story))) for title, story in self.stories()]
        broken = self._counterexamples(folded=True)
        return self._page([*self._verdict_sections(verdict_table, folded=True), *broken, *happened])

    def stories(self) -> list[tuple[str, Story]]:
        """What happened in each scenario."""
        return [
            (self._title(_happening(one.verification), one), runs.story(f"run-{number}", one.verification.run))
            for number, one in enumerate(self.verified)
        ]

    def _page(self, sections: Sequence[Section]) -> Page:
        verdicts = [verdict for one in self.verified for verdict in one.verification.verdicts]
        holding = sum(verdict.verdict is Answer.HOLDS for verdict in verdicts)
        return Page(
            command="verify",
            title=f"{holding} of {plural(len(verdicts), 'expectation')} hold{'s' if len(verdicts) == 1 else ''}",
            verdict=badge(self.verdict),
            sources=list(dict.fromkeys(source for one in self.verified for source in _sources(one))),
            sections=sections,
            rests_on=self._basis(),
        )

    def _verdict_sections(self, table: Callable[[Iterable[Judged]], Table], *, folded: bool = False) -> list[Section]:
        blocks = _worst_shown if folded else _all_shown
        return [
            Section(f"verdicts-{number}", self._title("Expectations", one), [*blocks(one, table), *_notes(one)])
            for number, one in enumerate(self.verified)
        ]

    def _counterexamples(self, *, folded: bool = False) -> list[Section]:
        return [
            section
            for number, one in enumerate(self.verified)
            for section in counterexamples.sections(
                f"counterexamples-{number}",
                self._title("Counterexamples", one),
                one.verification.verdicts,
                folded=folded,
            )
        ]

    def _title(self, what: str, one: Verified) -> str:
        return what if len(self.verified) == 1 else f"{what} of {one.scenario}"

    def _basis(self) -> list[tuple[str, str]]:
        """What all rest on; where scenarios differ, each line says which it is about."""
        bases = [_basis(one) for one in self.verified]
        if all(basis == bases[0] for basis in bases):
            return bases[0]
        return [
            (f"{one.scenario}: {word}", text)
            for one, basis in zip(self.verified, bases, strict=True)
            for word, text in basis
        ]

    # --- for machines ----------------------------------------------------------------------------

    def data(self) -> dict[str, Any]:
        """One scenario's result; of several, all their expectations, and the results one by one."""
        results = [_data(one) for one in self.verified]
        if len(results) == 1:
            return results[0]
        return {
            "schema": json.SCHEMA,
            "command": "verify",
            "verdict": self.verdict,
            "expectations": [
                {"scenario": one.scenario, **expectation}
                for one, result in zip(self.verified, results, strict=True)
                for expectation in result["expectations"]
            ],
            "scenarios": results,
        }

    def suites(self) -> list[Suite]:
        """A suite for each scenario, a test case for each expectation."""
        return [
            Suite(
                name=one.scenario,
                cases=[case(verdict, instant) for verdict, instant in one.judged()],
                properties=[("policy", one.source.description), *self._basis()],
            )
            for one in self.verified
        ]

    def findings(self) -> list[Result]:
        """The expectations that do not hold."""
        return results(judged for one in self.verified for judged in one.judged())


def results(judged: Iterable[Judged]) -> list[Result]:
    """What SARIF has of those that do not hold."""
    return [
        Result(
            rule=_RULE,
            level="error" if _OUTCOMES[verdict.verdict] is Outcome.FAILED else "warning",
            message=f"{verdict.name}: {verdict.verdict}: {_told(verdict, instant)}",
            file=verdict.file,
            line=verdict.line,
            logical=verdict.name,
        )
        for verdict, instant in judged
        if verdict.verdict is not Answer.HOLDS
    ]


def _sources(one: Verified) -> list[tuple[str, str]]:
    queue = one.verification.policy.queue
    named = f", queue {queue}" if queue else ""
    return [("policy", one.source.description + named), ("scenario", one.scenario)]


def _basis(one: Verified) -> list[tuple[str, str]]:
    verification, run = one.verification, one.verification.run
    if verification.open_choices is not None:
        scenario = verification.scenario
        timings, priority = scenario.timings(), scenario.default_priority
        return rests_on_every_schedule(run.choices, verification.open_choices, timings, priority, one.source)
    first, *others = rests_on(run.choices, run.workload.timing, one.source)
    return [first, ("sensitivity", _sensitivity(verification.verdicts)), *others]


def _sensitivity(verdicts: Sequence[Verdict]) -> str:
    """Which other answers to the open choices, one at a time, change a verdict."""
    looked_into = [verdict.rests_on for verdict in verdicts if verdict.rests_on is not None]
    if not looked_into:
        return "not looked into: the run is too long to try every other answer"
    names = list(dict.fromkeys(name for rests_on in looked_into for name in rests_on))
    if not names:
        return "no other answer to one of these choices, by itself, changes a verdict"
    return f"another answer to {' or '.join(names)}, by itself, changes a verdict"


def _happening(verification: Verification) -> str:
    return "What happened" if verification.open_choices is None else "One of the schedules"


def badge(answer: Answer, mark: str = "") -> Badge:
    """The verdict as a word that stands out."""
    return Badge(answer.value + mark, _TONES[answer])


def verdict_table(judged: Iterable[Judged]) -> Table:
    """Name, verdict and message side by side."""
    rows = [
        (Lines(_expected(verdict)), badge(verdict.verdict, _MARK * instant), Lines(_happened(verdict)))
        for verdict, instant in judged
    ]
    return Table("", [Column("Expectation"), Column("Verdict"), Column("What happened")], rows)


def narrow_verdict_table(judged: Iterable[Judged]) -> Table:
    """The verdict, and the rest beside it: three columns of prose do not fit into 80 characters."""
    rows = [
        (badge(verdict.verdict, _MARK * instant), Lines([verdict.name, *_happened(verdict), *_expected(verdict)[1:]]))
        for verdict, instant in judged
    ]
    return Table("", [Column("Verdict"), Column("Expectation, what happened, and why it matters")], rows)


def _all_shown(one: Verified, table: Callable[[Iterable[Judged]], Table]) -> Iterator[Block]:
    yield table(one.judged())


def _worst_shown(one: Verified, table: Callable[[Iterable[Judged]], Table]) -> Iterator[Block]:
    """Those that do not hold, and how many hold, folded; all where all hold and are few."""
    judged = list(one.judged())
    holding = [(verdict, instant) for verdict, instant in judged if verdict.verdict is Answer.HOLDS]
    if len(holding) == len(judged) <= _FEW:
        yield table(judged)
        return
    if len(holding) < len(judged):
        yield table(verdict for verdict in judged if verdict not in holding)
    if holding:
        yield Details(
            f"{plural(len(holding), 'expectation')} that hold{'s' if len(holding) == 1 else ''}", [table(holding)]
        )


def _notes(one: Verified) -> Iterator[Block]:
    if any(instant for _, instant in one.judged()):
        yield Text(f"{_MARK.strip()} {INSTANT}")


def _expected(verdict: Verdict) -> list[str]:
    return [verdict.name, *([f"because {verdict.because}"] if verdict.because else [])]


def _happened(verdict: Verdict) -> list[str]:
    lines = [verdict.message]
    if verdict.depends_on:
        lines.append(f"depends on {', '.join(verdict.depends_on)}")
    if verdict.rests_on:
        lines.append(f"another answer to {' or '.join(verdict.rests_on)} changes this")
    if verdict.looked_at is not None:
        lines.append(f"looked at {verdict.looked_at}")
    if verdict.verdict is not Answer.HOLDS and verdict.file is not None:
        lines.append(f"{verdict.file}:{verdict.line}")
    return lines


def _told(verdict: Verdict, instant: bool) -> str:
    return f"{verdict.message} ({INSTANT})" if instant else verdict.message


def case(verdict: Verdict, instant: bool) -> Case:
    """The verdict as a test case."""
    lines = [_told(verdict, instant)]
    if verdict.depends_on:
        lines.append(f"depends on {', '.join(verdict.depends_on)}")
    if verdict.because:
        lines.append(f"because {verdict.because}")
    if verdict.file is not None:
        lines.append(f"{verdict.file}:{verdict.line}")
    if verdict.looked_at is not None:
        lines.append(f"looked at {verdict.looked_at}")
    lines += counterexamples.lines(verdict)
    return Case(verdict.name, _OUTCOMES[verdict.verdict], verdict.message, "\n".join(lines))


def _data(one: Verified) -> dict[str, Any]:
    verification = one.verification
    run = verification.run
    return {
        **json.head("verify", one.source, verification.policy.queue),
        "scenario": one.scenario,
        "choices": json.choices(run.choices),
        "open_choices": [] if verification.open_choices is None else verification.open_choices,
        "verdict": verification.verdict,
        "expectations": [expectation_data(verdict, instant) for verdict, instant in one.judged()],
        **runs.data(run),
        **json.basis(run.choices, run.workload.timing, one.source),
    }


def expectation_data(verdict: Verdict, instant: bool) -> dict[str, Any]:
    """The verdict as JSON has it."""
    return {
        "name": verdict.name,
        "verdict": verdict.verdict,
        "depends_on": verdict.depends_on,
        "message": verdict.message,
        "note": INSTANT if instant else None,
        "because": verdict.because,
        "rests_on": verdict.rests_on,
        "looked_at": verdict.looked_at,
        "file": verdict.file,
        "line": verdict.line,
        "counterexample": None if verdict.counterexample is None else verdict.counterexample.scenario,
    }
