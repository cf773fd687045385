"""Two runs of the same jobs that a page shows beside each other: before a change and after it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from policy_engine.report.story import Story

OLD: Final = "Old"
NEW: Final = "New"


@dataclass(frozen=True, slots=True)
class Both:
    """The runs."""

    old: Story
    new: Story
