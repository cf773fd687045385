"""Where reports go: one to standard output, and any number of files beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from policy_engine.report import json, junit, markdown, runs, sarif
from policy_engine.report.blocks import Section
from policy_engine.report.result import Report
from policy_engine.report.writing import write_report

if TYPE_CHECKING:
    from rich.console import Console


def html(report: Report) -> str:
    """The report as one HTML page. Raises InputError without the extra ``html``."""
    from policy_engine.report.html import require_extra

    require_extra()
    from policy_engine.report.html.lanes import lanes
    from policy_engine.report.html.rendering import render

    page = report.head()
    happened = [
        section
        for title, story in report.stories()
        for section in (Section(story.ident, title, list(lanes(story))), *runs.sections(story))
    ]
    return render(replace(page, sections=[*page.sections, *happened]))


FILES: Final[Mapping[str, Callable[[Report], str]]] = {
    "json": lambda report: json.text(report.data()),
    "markdown": lambda report: markdown.render(report.page()),
    "html": html,
    "junit": lambda report: junit.render(report.suites()),
    "sarif": lambda report: sarif.render(report.findings(), report.summary().rests_on),
}
"""Kind of file to what is written into it."""


def write_files(report: Report, files: Mapping[str, Path]) -> None:
    """Write each kind of file to its path. Raises InputError where one cannot be written."""
    for kind, path in files.items():
        write_report(path, FILES[kind](report))


def shown(report: Report, form: str, console: Callable[[], Console]) -> str:
    """What goes to standard output: ``text``, ``json`` or ``markdown``."""
    if form != "text":
        return FILES[form](report)
    from policy_engine.report import text

    return text.render(report.summary(), console())
