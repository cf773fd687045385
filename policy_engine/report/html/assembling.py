"""The order of the page: the answer, what happened, the policy, and what all of it rests on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from policy_engine.report import tables
from policy_engine.report.blocks import Block, Details, Group, Page, Section
from policy_engine.report.both import NEW, OLD, Both
from policy_engine.report.check import promises
from policy_engine.report.html.beside import beside
from policy_engine.report.html.lanes import lanes
from policy_engine.report.result import Report
from policy_engine.report.story import Story

MOST_SHARES: Final = 8
"""The policy of more is folded away: on a phone it is as long as all the rest."""


def assembled(report: Report) -> Page:
    """The page of a report, charts drawn."""
    head = report.head()
    stories = report.stories()
    happened: list[Section] = []
    for title, story in stories:
        if isinstance(story, Both):
            happened.append(Section(story.old.ident, title, list(beside(story))))
            continue
        parts = [*_parts(story)]
        if len(stories) == 1:
            sections = [Section(f"{story.ident}-{part.title.lower()}", part.title, part.blocks) for part in parts]
            happened += [Section(story.ident, title, _drawn(story)), *sections]
        else:
            happened.append(Section(story.ident, title, [*_drawn(story), *parts]))
    lead = len(head.sections) if head.lead is None else head.lead
    policies = _policies([story for _, story in stories])
    return replace(head, sections=[*head.sections[:lead], *happened, *head.sections[lead:], *policies])


def _drawn(story: Story) -> list[Block]:
    return [*lanes(story), *tables.steps(story)]


def _parts(story: Story) -> Iterator[Group]:
    yield Group("Jobs", list(tables.jobs(story)))
    if not story.is_measured:
        yield Group("Shares", list(tables.shares(story)))
        yield Group("Preemptions", list(tables.preemptions(story)))
    yield Group("Events", list(tables.log(story)))


def _both_policies(both: Both) -> Iterator[Details]:
    for title, story in ((OLD, both.old), (NEW, both.new)):
        yield Details(title, list(promises(story.run.policy, story.run.choices)))


def _policies(stories: list[Story | Both]) -> Iterator[Section]:
    """Each policy once, under the choices of the first run that it was used in."""
    seen: list[Story] = []
    for story in stories:
        if isinstance(story, Both):
            yield Section("policies", "The policies", [*_both_policies(story)])
            return  # all pairs are of the same two policies
        if any(story.run.policy == earlier.run.policy for earlier in seen):
            continue
        seen.append(story)
    for number, story in enumerate(seen):
        queue = story.run.policy.queue
        title = "The policy" if len(seen) == 1 or queue is None else f"The policy of {queue}"
        told: list[Block] = list(promises(story.run.policy, story.run.choices))
        if len(story.run.policy.shares) > MOST_SHARES:
            told = [Details("What is declared, and what it promises", told)]
        yield Section(f"policy-{number}", title, told)
