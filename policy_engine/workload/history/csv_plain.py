"""Takes a CSV in which nothing needs care, column by column: a hundred thousand jobs in a fraction of a second.

What it takes is what ``csv_reader`` would make of the same rows one by one; a test holds that.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import repeat
from operator import add

from policy_engine.scheduler.jobs import Exit
from policy_engine.workload.history.assembling import Assembly
from policy_engine.workload.history.csv_layout import Layout, demand_of


def take_plain(assembly: Assembly, layout: Layout, rows: Sequence[Sequence[str]]) -> bool:
    """Take all rows, of which the first is line 2; False, and nothing taken, where one of them needs care."""
    try:
        columns = list(zip(*rows, strict=True))
        submits, durations = list(map(float, columns[layout.submit])), list(map(float, columns[layout.duration]))
    except (ValueError, IndexError):
        return False
    if len(columns) != layout.width or _needs_care(layout, columns, submits, durations):
        return False
    teams = columns[layout.team]
    shares = {team: assembly.map.share(team) for team in set(teams) if team and team == team.strip()}
    cells = list(zip(*(repeat("", len(rows)) if n is None else columns[n] for n in layout.size), strict=True))
    demands = {cell: demand_of(assembly, *cell) for cell in set(cells)}
    if not all(map(shares.get, set(teams))) or any(isinstance(demand, str) for demand in demands.values()):
        return False
    if (scale := assembly.times.scale) != 1:
        submits, durations = [scale * at for at in submits], [scale * duration for duration in durations]
    assembly.latest = max(map(add, submits, durations))
    entries = zip(
        submits,
        _names(layout, columns, len(rows)),
        map(shares.__getitem__, teams),
        map(demands.__getitem__, cells),
        repeat(None),
        durations,
        repeat(None),
        repeat(Exit.SUCCEEDED),
        repeat(None),
    )
    assembly.extend(entries)
    return True


def _needs_care(
    layout: Layout, columns: Sequence[Sequence[str]], submits: Sequence[float], durations: Sequence[float]
) -> bool:
    """Is there a number that is none of a job's, or anything in a column that is read one by one?"""
    careful = (layout.start, layout.priority, layout.status, *layout.classes)
    if any(any(columns[column]) for column in careful if column is not None):
        return True
    # a sum of what is not finite is not either
    return min(durations) < 0 or not math.isfinite(sum(submits) + sum(durations))


def _names(layout: Layout, columns: Sequence[Sequence[str]], count: int) -> Sequence[str]:
    """The jobs' ids; where there are none, the lines that they come from."""
    if layout.name is not None and any(columns[layout.name]):
        lines = _names_by_line(layout, columns, count)
        return [name.strip() or line for name, line in zip(columns[layout.name], lines, strict=True)]
    return _names_by_line(layout, columns, count)


def _names_by_line(layout: Layout, columns: Sequence[Sequence[str]], count: int) -> Sequence[str]:
    here = [f"line-{number}" for number in range(2, count + 2)]
    if layout.line is None:
        return here
    sources = zip(columns[layout.line], here, strict=True)
    return [f"line-{source}" if (source := text.strip()) else line for text, line in sources]
