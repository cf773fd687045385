"""Where reports go: one to standard output, and any number of files beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from policy_engine.report.result import Report
from policy_engine.report.writing import Text, write_report

# Formats are imported where they are asked for: most runs ask for one of six.
if TYPE_CHECKING:
    from rich.console import Console


def text(report: Report, console: Console) -> str:
    """For a terminal, or what reads instead of one."""
    from policy_engine.report.text import render

    return render(report.summary(), console)


def json(report: Report) -> Iterator[str]:
    """For scripts."""
    from policy_engine.report.json import parts

    return parts(report.data())


def markdown(report: Report) -> str:
    """For a comment on a pull request."""
    from policy_engine.report.markdown import render

    return render(report.page())


def html(report: Report) -> str:
    """For a browser. Raises InputError without the extra ``html``."""
    from policy_engine.report.html import render_html

    return render_html(report)


def junit(report: Report) -> str:
    """For a CI server."""
    from policy_engine.report.junit import render

    return render(report.suites())


def sarif(report: Report) -> str:
    """For code scanning."""
    from policy_engine.report.sarif import render

    return render(report.findings(), report.head())


FILES: Final[Mapping[str, Callable[[Report], Text]]] = {
    "json": json,
    "markdown": markdown,
    "html": html,
    "junit": junit,
    "sarif": sarif,
}
"""Kind of file to what is written into it."""


def write_files(report: Report, files: Mapping[str, Path]) -> None:
    """Write each kind of file to its path. Raises InputError where one cannot be written."""
    for kind, path in files.items():
        write_report(path, FILES[kind](report))


def shown(report: Report, form: str, console: Callable[[], Console]) -> Text:
    """What goes to standard output: ``text``, ``json`` or ``markdown``."""
    return text(report, console()) if form == "text" else FILES[form](report)
