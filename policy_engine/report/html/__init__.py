"""One self-contained HTML page, for people: works offline, on a phone, in the dark, on paper and read aloud.

The page loads nothing and runs nothing; its Content-Security-Policy lets its own style sheet through and no more. It
is the same, byte for byte, for the same result. Charts and template come with the extra ``html``, which is imported
only when a page is asked for.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from policy_engine.errors import InputError

if TYPE_CHECKING:
    from policy_engine.report.result import Report

EXTRA: Final = ("altair", "jinja2", "vl_convert")
"""What the extra ``html`` brings."""


def require_extra() -> None:
    """Raises InputError where the extra is not installed; to be called before anything long is begun."""
    if any(find_spec(module) is None for module in EXTRA):
        raise InputError("--html needs the extra: pip install 'constructs-quota[html]'")


def render_html(report: Report) -> str:
    """The report as one page. Raises InputError where the extra is not installed."""
    require_extra()
    from policy_engine.report.html.assembling import assembled
    from policy_engine.report.html.rendering import render

    return render(assembled(report))
