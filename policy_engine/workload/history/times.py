"""Times and durations as histories write them."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime
from typing import Final
from zoneinfo import ZoneInfo

from policy_engine.workload.history.mapping import HistoryMap, TimeUnit
from policy_engine.workload.history.remarks import Remarks

_ELAPSED: Final = re.compile(r"(?:(?:(\d+)-)?(\d+):)?(\d+):(\d+(?:\.\d+)?)")
"""Slurm's ``[DD-]HH:MM:SS`` or ``MM:SS.mmm``."""
_NO_ZONE: Final = "times state no zone: read as UTC"
_TWICE: Final = "a local time that the clock showed twice or never: the earlier offset is taken"


class Times:
    """Reads the times of one file as seconds: since 1970 where they are dates, else as the file counts them."""

    def __init__(self, given: HistoryMap, default: TimeUnit, remarks: Remarks) -> None:
        self.unit = given.time_unit or default
        self.scale = self.unit.seconds
        self.dated = False
        """Was any time a date?"""
        self._zone = None if given.time_zone is None else ZoneInfo(given.time_zone)
        self._remarks = remarks

    def instant(self, text: str, place: str) -> float:
        """Seconds of a time: a number in the unit, or an ISO date. Raises ValueError for what is neither."""
        try:
            seconds = float(text) * self.scale
        except ValueError:
            return self._of_date(text, place)
        if not math.isfinite(seconds):
            raise ValueError(text)
        return seconds

    def _of_date(self, text: str, place: str) -> float:
        date = datetime.fromisoformat(text)
        self.dated = True
        if date.tzinfo is None:
            if self._zone is None:
                self._remarks.note(_NO_ZONE, place)
                return date.replace(tzinfo=UTC).timestamp()
            date = date.replace(tzinfo=self._zone, fold=0)
            if date.utcoffset() != date.replace(fold=1).utcoffset():
                self._remarks.note(_TWICE, place)
        return date.timestamp()


def elapsed(text: str) -> float:
    """Seconds of Slurm's ``[DD-]HH:MM:SS``. Raises ValueError for anything else."""
    match = _ELAPSED.fullmatch(text)
    if match is None:
        raise ValueError(text)
    days, hours, minutes, seconds = match.groups(default="0")
    return int(days) * 86_400 + int(hours) * 3_600 + int(minutes) * 60 + float(seconds)
