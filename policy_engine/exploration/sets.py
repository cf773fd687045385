"""Every minimal legal set of victims (C8), jobs that are interchangeable taken for one another, within a time."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from time import monotonic
from typing import Final

from policy_engine.scheduler.victims import Kind, Search

_AT_ONCE: Final = 256
"""Sets looked at before the time is."""


class OutOfTimeError(Exception):
    """There are more sets than there is time for."""


def minimal_sets(search: Search, groups: Sequence[int] | None, until: float) -> Iterator[list[int]]:
    """The inclusion-minimal legal sets, smallest first, in the order in which ``Search.minimal_sets`` has them.

    Sets grow by one job at a time while they are not legal: what has a legal part is not minimal.

    Args:
        search: whose sets.
        groups: of each job a number that is the same for interchangeable ones, of which the first few stand for any;
            None: no two jobs are.
        until: the time (``time.monotonic``) after which OutOfTimeError is raised.
    """
    if not search.possible():
        return
    alike = _alike(search.candidates(), groups)
    found: list[tuple[int, ...]] = []
    growing: deque[tuple[tuple[int, ...], int, list[int]]] = deque([((0,) * len(alike), 0, [])])
    looked_at = 0
    while growing:
        counts, last, smaller = growing.popleft()
        for group in range(last, len(alike)):
            count = counts[group]
            if count == len(alike[group]):
                continue
            larger = (*counts[:group], count + 1, *counts[group + 1 :])
            looked_at += 1
            if looked_at % _AT_ONCE == 0 and monotonic() > until:
                raise OutOfTimeError
            if any(all(map(int.__le__, legal, larger)) for legal in found):
                continue
            chosen = [*smaller, alike[group][count]]
            if not search.legal(chosen):
                growing.append((larger, group, chosen))
            elif search.kind is not Kind.MIXED or not search.one_kind_does(chosen):
                found.append(larger)
                yield chosen


def _alike(candidates: Sequence[int], groups: Sequence[int] | None) -> list[list[int]]:
    """The candidates, interchangeable ones together."""
    if groups is None:
        return [[job] for job in candidates]
    found: dict[int, list[int]] = {}
    for job in candidates:
        found.setdefault(groups[job], []).append(job)
    return list(found.values())
