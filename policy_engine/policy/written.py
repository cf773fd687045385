"""Numbers read from a file that remember how they were written: a share may be called ``6214e9`` or ``007``."""

from typing import Self


class WrittenInt(int):
    """An integer read from a file that remembers how it was written (``007``)."""

    text: str

    def __new__(cls, value: int, text: str) -> Self:
        """The number, and its text in the file."""
        self = super().__new__(cls, value)
        self.text = text
        return self


class WrittenFloat(float):
    """A float read from a file that remembers how it was written (``6214e9``)."""

    text: str

    def __new__(cls, value: float, text: str) -> Self:
        """The number, and its text in the file."""
        self = super().__new__(cls, value)
        self.text = text
        return self
