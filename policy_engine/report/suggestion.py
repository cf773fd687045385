"""The report of ``suggest``: the limits, the goals, and what fewer or more instances would come to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import isfinite
from typing import TYPE_CHECKING, Any, Final

import yaml

from policy_engine._version import __version__
from policy_engine.policy import UNLIMITED
from policy_engine.report import json
from policy_engine.report.basis import rests_on
from policy_engine.report.blocks import (
    Badge,
    Block,
    Cell,
    Column,
    Details,
    Facts,
    Name,
    Page,
    Section,
    Table,
    Text,
    Tone,
)
from policy_engine.report.replay_data import history_data, remark_data
from policy_engine.report.times import rough
from policy_engine.report.wording import plural
from policy_engine.suggesting import Judged, Suggestion
from policy_engine.suggesting.goals import EVERYONE
from policy_engine.suggesting.judging import LOST_WORK
from policy_engine.workload.durations import duration_text

if TYPE_CHECKING:
    from policy_engine.report.junit import Suite
    from policy_engine.report.sarif import Result
    from policy_engine.report.story import Story

_NONE: Final = "-"
_MONTH: Final = 730.0
"""Hours."""


@dataclass(frozen=True, slots=True)
class SuggestionReport:
    """What a search came to."""

    found: Suggestion

    # --- for people ------------------------------------------------------------------------------

    def summary(self) -> Page:
        """Without what is folded away."""
        return self._page([_unfolded(section) for section in _sections(self.found)])

    def page(self) -> Page:
        """All of it."""
        return self._page(list(_sections(self.found)))

    def head(self) -> Page:
        """The same: no run is told on its own."""
        return self.page()

    def stories(self) -> list[tuple[str, Story]]:
        """None."""
        return []

    def _page(self, sections: Sequence[Section]) -> Page:
        found = self.found
        options = found.options
        there = ", ".join(f"{unit} {count:,}" for unit, count in found.space.environment.items())
        measured = [("measured", f"after a warm-up of {rough(options.warm_up)}")] if options.warm_up else []
        return Page(
            command="suggest",
            title=_title(found),
            verdict=Badge("met", Tone.GOOD) if found.is_met else Badge("not met", Tone.BAD),
            sources=[
                ("history", f"{found.history.description} ({plural(len(found.history.jobs), 'job')})"),
                ("environment", there),
                ("goals", "; ".join(_goals(found))),
            ],
            sections=sections,
            rests_on=[("search", _searched(found)), *measured, *rests_on(options.choices, options.timing)],
        )

    # --- for machines ----------------------------------------------------------------------------

    def data(self) -> dict[str, Any]:
        """What the JSON holds."""
        found = self.found
        return {
            "schema": json.SCHEMA,
            "command": "suggest",
            "history": history_data(found.history),
            "remarks": [remark_data(remark) for remark in found.history.remarks],
            "environment": dict(found.space.environment),
            "goals": {"wait_p95": dict(found.goals.wait_p95), "lost_hours": found.goals.lost_hours},
            "choices": json.choices(found.options.choices),
            "verdict": "holds" if found.is_met else "fails",
            "policy": found.policy.document(),
            "answer": _judged(found, found.answer),
            "frontier": [_judged(found, one) for one in found.frontier],
            "misses_alone": dict(found.alone),
            "copies": [_judged(found, one) for one in found.copies],
            "seed": found.seed,
            "replays": found.replays,
            "search_ended_early": found.is_spent,
            "warm_up": found.options.warm_up,
            **json.basis(found.options.choices, found.options.timing),
        }

    def suites(self) -> list[Suite]:
        """A test case for each goal."""
        from policy_engine.report.junit import Case, Outcome, Suite

        cases = [
            Case(_goal(self.found, name), Outcome.FAILED if part > 1 else Outcome.PASSED, _had(self.found.answer, name))
            for name, part in self.found.answer.score.parts
        ]
        return [Suite(self.found.history.source, cases, [("search", _searched(self.found))])]

    def findings(self) -> list[Result]:
        """None: there is no file to find anything in."""
        return []


def policy_text(found: Suggestion) -> str:
    """The policy as a policy document, with what it is as a comment before it."""
    said = [
        f"suggested by policy-engine {__version__} for {found.history.description}",
        *_goals(found),
        _title(found),
        *([] if found.is_met else [f"misses: {_missed(found.answer)}"]),
    ]
    comment = "".join(f"# {' '.join(line.split())}\n" for line in said)
    return comment + yaml.safe_dump(found.policy.document(), sort_keys=False, default_flow_style=None, width=110)


def _judged(found: Suggestion, one: Judged) -> dict[str, Any]:
    space, score = found.space, one.score
    return {
        "instances": one.point.instances,
        "by_unit": {unit: one.point.total(number) for number, unit in enumerate(space.units)},
        "price_per_hour": space.price(one.point) if found.is_priced else None,
        "is_met": one.is_met,
        "missed": list(score.missed),
        "worst": {"goal": score.worst[0], "part": _finite(score.worst[1])},
        "mean_wait_seconds": _finite(one.mean_wait),
        "lost_hours": _finite(score.lost_hours),
        "shares": [
            {
                "name": team,
                "capacity_limits": {u: count for u, count in zip(space.units, limits, strict=True) if count},
                "borrow_limit": borrow,
                "wait_p95": _finite(score.waits[team]),
            }
            for team, limits, borrow in zip(space.teams, one.point.limits, one.point.borrow, strict=True)
        ],
    }


def _finite(value: float) -> float | None:
    return value if isfinite(value) else None


# --- sections --------------------------------------------------------------------------------------


def _sections(found: Suggestion) -> Iterator[Section]:
    losses = [remark.text for remark in found.history.remarks if remark.is_loss]
    if losses:
        yield Section("left-out", "Left out of the history", [Facts([("", text) for text in losses])])
    title = "The limits" if found.is_met else "The limits that come nearest"
    yield Section("limits", title, list(_limits(found)))
    if not found.is_met:
        yield Section("missed", "What is missed, and why", list(_why(found)))
    yield Section("frontier", "What fewer and more instances come to", list(_frontier(found)))
    if found.copies:
        yield Section("spread", "How much is accident", list(_copies(found)))


def _limits(found: Suggestion) -> Iterator[Block]:
    space, answer = found.space, found.answer
    rows: list[tuple[Cell, ...]] = []
    for number, team in enumerate(space.teams):
        goal = found.goals.wait_of(team)
        rows.append(
            (
                Name(team),
                *(f"{limit:,}" if limit else _NONE for limit in answer.point.limits[number]),
                _borrow(answer.point.borrow[number]),
                _wait(answer.score.waits[team]),
                _NONE if goal is None else rough(goal),
            )
        )
    columns = ("Share", *(f"#{unit}" for unit in space.units), "#Borrow limit", "#p95 wait", "#Goal")
    yield _table("", columns, rows)
    pairs: list[tuple[str, Cell]] = []
    for number, unit in enumerate(space.units):
        total, there = answer.point.total(number), space.capacity(number)
        pairs.append((unit, f"{total:,} of {there:,}; {there - total:,} left over"))
    lost = f"{answer.score.lost_hours:,.1f}h"
    asked = found.goals.lost_hours
    pairs.append(("work lost", lost if asked is None else f"{lost}; goal {asked:,.1f}h"))
    if found.is_priced:
        price = space.price(answer.point)
        pairs.append(("price", f"{price:,.2f} an hour, {price * _MONTH:,.0f} a month"))
    yield Facts(pairs)
    if space.too_large:
        yield Text(f"{plural(space.too_large, 'job')} larger than the environment: no policy runs them.")


def _why(found: Suggestion) -> Iterator[Block]:
    rows: list[tuple[Cell, ...]] = []
    for name in found.answer.score.missed:
        alone = found.alone.get(name)
        told = (
            f"cannot be met: alone in the whole environment its p95 is {rough(alone)}"
            if alone is not None
            else "no point that was tried meets it together with the others"
        )
        rows.append((name if name == LOST_WORK else Name(name), _asked(found, name), _had(found.answer, name), told))
    yield _table("", ("Goal of", "#Asked", "#Nearest", "Why"), rows)


def _frontier(found: Suggestion) -> Iterator[Block]:
    rows: list[tuple[Cell, ...]] = []
    goals = len(found.answer.score.parts)
    buys = ["", *(_buys(*pair) for pair in pairwise(found.frontier))]
    for one, bought in zip(found.frontier, buys, strict=True):
        price = [f"{found.space.price(one.point):,.2f}"] if found.is_priced else []
        name, part = one.score.worst
        rows.append(
            (
                Badge(f"{one.point.instances:,} *", Tone.GOOD if one.is_met else Tone.BAD)
                if one is found.answer
                else f"{one.point.instances:,}",
                *price,
                f"{goals - len(one.score.missed)} of {goals}",
                f"{100 * part:,.0f} % ({name})",
                _wait(one.mean_wait),
                f"{one.score.lost_hours:,.1f}h",
                bought,
            )
        )
    priced = ["#An hour"] if found.is_priced else []
    columns = (
        "Instances",
        *priced,
        "#Goals met",
        "#Of the worst goal",
        "#Mean wait",
        "#Work lost",
        "#Each further buys",
    )
    yield _table("", columns, rows)
    yield Text(
        "* is the answer. Of the worst goal: what is had by what is asked; above 100 % it is missed. Each further"
        " instance buys so much of the mean wait, against the row before."
    )
    units = found.space.units
    by_unit = [
        (f"{one.point.instances:,}", *(f"{one.point.total(number):,}" for number in range(len(units))))
        for one in found.frontier
    ]
    yield Details("By instance type", [_table("", ("Instances", *(f"#{unit}" for unit in units)), by_unit)])


def _buys(before: Judged, after: Judged) -> str:
    more = after.point.instances - before.point.instances
    saved = before.mean_wait - after.mean_wait
    if more <= 0 or not isfinite(saved):
        return _NONE
    return f"{'-' if saved >= 0 else '+'}{rough(abs(saved) / more)}"


def _copies(found: Suggestion) -> Iterator[Block]:
    met = sum(1 for one in found.copies if one.is_met)
    yield Facts(
        [("goals met", f"in {met} of {plural(len(found.copies), 'perturbed copy').replace('copys', 'copies')}")]
    )
    rows = []
    for place, (name, part) in enumerate(found.answer.score.parts):
        parts = [one.score.parts[place][1] for one in found.copies]
        cells = (f"{100 * value:,.0f} %" for value in (part, min(parts), max(parts)))
        rows.append((name if name == LOST_WORK else Name(name), *cells))
    yield _table("Of each goal: what is had by what is asked", ("Goal of", "#This history", "#Least", "#Most"), rows)


# --- words -----------------------------------------------------------------------------------------


def _title(found: Suggestion) -> str:
    there = sum(found.space.environment.values())
    instances = f"{found.answer.point.instances:,} of {there:,} instances"
    if found.is_met:
        return f"all goals with {instances}"
    missed = len(found.answer.score.missed)
    return f"{missed} of {plural(len(found.answer.score.parts), 'goal')}; {instances} come nearest"


def _goals(found: Suggestion) -> list[str]:
    goals = found.goals.wait_p95
    everyone = "every other team" if len(goals) > 1 else "every team"
    told = [
        f"{everyone if team == EVERYONE else team}: 95 % of its jobs start within {duration_text(seconds)}"
        for team, seconds in goals.items()
    ]
    if found.goals.lost_hours is not None:
        told.append(f"at most {found.goals.lost_hours:,g} instance-hours of work lost")
    return told


def _goal(found: Suggestion, name: str) -> str:
    return f"{name}: {_asked(found, name)}" if name == LOST_WORK else f"p95 wait of {name}: {_asked(found, name)}"


def _asked(found: Suggestion, name: str) -> str:
    if name == LOST_WORK:
        return f"{found.goals.lost_hours or 0:,.1f}h"
    return rough(found.goals.wait_of(name) or 0.0)


def _had(one: Judged, name: str) -> str:
    return f"{one.score.lost_hours:,.1f}h" if name == LOST_WORK else _wait(one.score.waits[name])


def _missed(one: Judged) -> str:
    return ", ".join(f"{name} ({_had(one, name)})" for name in one.score.missed)


def _searched(found: Suggestion) -> str:
    told = f"{plural(found.replays, 'replay')} of the history; a smaller answer may exist"
    return f"{told}, and the search ended for want of more: --replays N allows them" if found.is_spent else told


def _borrow(percent: int) -> str:
    return "unlimited" if percent == UNLIMITED else f"{percent} %" if percent else "none (LEND)"


def _wait(seconds: float) -> str:
    return rough(seconds) if isfinite(seconds) else "never started"


def _table(caption: str, titles: Sequence[str], rows: Sequence[Sequence[Cell]]) -> Table:
    """A table; ``#`` marks the title of a column of figures."""
    return Table(caption, [Column(title.removeprefix("#"), title.startswith("#")) for title in titles], rows)


def _unfolded(section: Section) -> Section:
    return replace(section, blocks=[block for block in section.blocks if not isinstance(block, Details)])
