"""What is wrong with an input, and where: one line, ``FILE:LINE:COLUMN: KEY: message``; and what has no answer."""

from __future__ import annotations

from typing import Final

_LONGEST: Final = 1000
"""Characters of one part of a message; a name or value may be a whole file by mistake."""


def visible(text: str) -> str:
    """The text on one line: what a terminal would not print as a character is escaped."""
    if len(text) > _LONGEST:
        text = text[:_LONGEST] + "..."
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


class InputError(Exception):
    """The input is wrong. The command line prints it as one line and exits with 2."""

    def __init__(
        self,
        message: str,
        *,
        file: str | None = None,
        line: int | None = None,
        column: int | None = None,
        key: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.file = file
        self.line = line
        """From 1; None where the whole file is meant or there is no file."""
        self.column = column
        """From 1, in characters."""
        self.key = key
        """Where in the data: ``shares.QS1.strategy``, ``jobs[3].submit``, or a logical id."""

    def __str__(self) -> str:
        place = [str(part) for part in (self.file, self.line, self.column) if part is not None]
        parts = [":".join(place)] if place else []
        if self.key:
            parts.append(self.key)
        return ": ".join(visible(part) for part in (*parts, self.message))


class UndecidedError(Exception):
    """A bound was reached before the answer. The command line prints it as one line and exits with 3."""

    def __init__(self, message: str, *, file: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.file = file
        """The scenario that has no answer."""

    def __str__(self) -> str:
        return ": ".join(visible(part) for part in (self.file, self.message) if part)
