"""What a reader of a history left out or took with a reservation: counted by reason, with the first few places."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final

MOST_PLACES: Final = 3
"""Places that a remark names; the rest is counted."""


@dataclass(frozen=True, slots=True)
class Remark:
    """One reason, and how often it came up."""

    reason: str
    """A sentence without what the user named, so that it can be shown anonymised."""
    subject: str | None
    """What it is about, in the user's words: a team, an instance type, a status. None where the reason says all."""
    count: int
    """Jobs, or rows of the file where it cannot be told how many jobs they are."""
    places: tuple[str, ...]
    """The first few: ``line 17``, or the job's id."""
    is_loss: bool
    """Are the jobs left out? Else they are there, read as the reason says."""

    @property
    def text(self) -> str:
        """One line: count, reason, subject, places."""
        what = f"{self.reason}: {self.subject}" if self.subject is not None else self.reason
        more = ", ..." if self.count > len(self.places) == MOST_PLACES else ""
        places = f" ({', '.join(self.places)}{more})" if self.places else ""
        return f"{self.count:,} x {what}{places}"


@dataclass(slots=True)
class Remarks:
    """Remarks in the making."""

    _found: dict[tuple[bool, str, str | None], Remark] = field(default_factory=dict)

    def lose(self, reason: str, place: str, subject: str | None = None, count: int = 1) -> None:
        """``count`` jobs are left out."""
        self._add(reason, place, subject, count, is_loss=True)

    def note(self, reason: str, place: str | None = None, subject: str | None = None, count: int = 1) -> None:
        """``count`` jobs are taken as the reason says."""
        self._add(reason, place, subject, count, is_loss=False)

    def _add(self, reason: str, place: str | None, subject: str | None, count: int, *, is_loss: bool) -> None:
        key = (is_loss, reason, subject)
        known = self._found.get(key) or Remark(reason, subject, 0, (), is_loss)
        places = known.places
        if place is not None and len(places) < MOST_PLACES:
            places = (*places, place)
        self._found[key] = replace(known, count=known.count + count, places=places)

    def __iter__(self) -> Iterator[Remark]:
        """Losses first, then in the order in which they came up."""
        return iter(sorted(self._found.values(), key=lambda remark: not remark.is_loss))
