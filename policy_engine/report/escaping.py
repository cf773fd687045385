"""Text from a policy, scenario or history is shown, never obeyed.

A ``because:`` may hold anything that YAML can hold: terminal escapes, overrides of the writing
direction, Markdown, markup of rich. Each kind of report passes such text through here first. (HTML
has its own, in ``report.html``; JSON needs none.)
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_JOINERS: Final = frozenset("\u200c\u200d")
"""Format characters that Persian, Hindi and emoji need, and that hide nothing."""
_UNSEEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Unicode categories that a reader cannot see, or that move what he sees."""
_LINE_BREAK: Final = re.compile(r"[ ]*(?:\r\n|\r|\n|\t)[ \t\r\n]*")
_MARKDOWN_SPECIAL: Final = re.compile(r"([\\`*_{}\[\]#|~!$])")
_GITHUB_REFERENCE: Final = re.compile(r"(@(?=\w)|#(?=\d)|:(?=(?:[a-z+-](?:[a-z0-9+-]|\\?_)*|100|1234|8ball):))")
"""What GitHub makes a mention, a reference or an emoji; few numbers are one, and places are ``:3:21:``."""
_MARKDOWN_BLOCK: Final = re.compile(r"^(?:([-+=])|(\d+)([.)])(?!\S))")


def visible(text: str) -> str:
    r"""The text on one line, with what could not be seen written out: ``\x1b``, ``\u202e``.

    Line breaks and tabs become one space, as a ``because: |`` has them for good reason.
    """
    line = _LINE_BREAK.sub(" ", text).strip()
    if line.isascii() and line.isprintable():
        return line
    return "".join(_written_out(char) for char in line)


def _written_out(char: str) -> str:
    if char in _JOINERS or unicodedata.category(char) not in _UNSEEN:
        return char
    return char.encode("unicode_escape").decode("ascii")


def visible_line(text: str) -> str:
    """The same with the spaces that it begins with, for text that stands as it was laid out."""
    shown = visible(text)
    return " " * (len(text) - len(text.lstrip(" "))) + shown if shown else ""


def markdown(text: str) -> str:
    """The text for a paragraph, list item or table cell of GitHub's Markdown, as itself."""
    line = visible(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    escaped = _MARKDOWN_BLOCK.sub(_block_escaped, _MARKDOWN_SPECIAL.sub(r"\\\1", line))
    return unlinked(escaped)


def unlinked(escaped: str) -> str:
    """Markdown or HTML in which GitHub finds nobody to notify, no issue to refer to and no emoji.

    GitHub looks for ``@name``, ``#1`` and ``:100:`` in what Markdown has become, where no escape is left; a comment
    between the characters keeps them apart and is not shown.
    """
    return _GITHUB_REFERENCE.sub(r"\1<!-- -->", escaped)


def _block_escaped(match: re.Match[str]) -> str:
    bullet, number, mark = match.groups()
    return f"\\{bullet}" if bullet else f"{number}\\{mark}"


def xml(text: str) -> str:
    """The text without what XML 1.0 forbids; ``<`` and ``&`` are left to the XML writer."""
    return "\n".join(visible_line(line) for line in text.split("\n"))
