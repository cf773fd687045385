"""Blocks into HTML: the template, the style sheet, and the Content-Security-Policy that lets nothing else through."""

from __future__ import annotations

import base64
import hashlib
import re
from importlib.resources import files
from typing import Final

import jinja2
from markupsafe import Markup, escape

from policy_engine.report.blocks import Page
from policy_engine.report.escaping import visible, visible_line


def render(page: Page) -> str:
    """The page as HTML."""
    css = files("policy_engine.report.html").joinpath("template/page.css").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(css.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'"
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("policy_engine.report.html", "template"),
        autoescape=True,
        finalize=_shown,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"breakable": _breakable, "indented": _indented}
    # our own style sheet; it must reach the page as it was hashed
    style = Markup(css)  # noqa: S704
    template = environment.get_template("page.html.jinja")
    return template.render(page=page, css=style, content_security_policy=Markup(policy))  # noqa: S704


def _shown(value: object) -> object:
    """Text without what a reader cannot see; what is markup already stays as it is."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _indented(line: str) -> Markup:
    """A line of a listing, escaped, with its indentation."""
    return escape(visible_line(line))


_LONG_WORD: Final = re.compile(r"(\S{13,})")
_BREAK: Final = re.compile(r"(?<=[_/.:@-])(?=\w)")


def _breakable(text: str) -> Markup:
    """The text, escaped, with places at which a browser may break its long words."""
    words = _LONG_WORD.split(visible(text))
    return Markup("").join(
        Markup("<wbr>").join(_pieces(word)) if _LONG_WORD.fullmatch(word) else escape(word) for word in words
    )


def _pieces(word: str) -> list[str]:
    """After what joins words, and after every 10 characters where nothing does."""
    return [part[at : at + 10] for part in _BREAK.split(word) for at in range(0, len(part), 10)]
