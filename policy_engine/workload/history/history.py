"""What is read from a history."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from policy_engine.scheduler.jobs import Job
from policy_engine.workload.history.remarks import Remark


class Format(StrEnum):
    """Formats of a history."""

    CSV = "CSV"
    BATCH = "AWS Batch JSON"
    SACCT = "Slurm sacct"


@dataclass(frozen=True)
class History:
    """Jobs that ran somewhere. Times are seconds from the first submission."""

    source: str
    """The file, as it was given."""
    format: Format
    jobs: tuple[Job, ...]
    """In the order of submission, jobs of one second in the order of the file. Their share is the team's."""
    started: Sequence[float | None]
    """When each job first started, as recorded; None where the history does not say."""
    zero: float
    """The first submission, in seconds as the file counts them."""
    zero_date: datetime | None
    """The same as a date, where the times of the file are dates."""
    remarks: tuple[Remark, ...]
    """What was left out, then what was read with a reservation."""

    @property
    def description(self) -> str:
        """What was read, for reports: ``Slurm sacct jobs.psv``."""
        return f"{self.format} {self.source}"

    @property
    def lost(self) -> int:
        """Jobs that were left out."""
        return sum(remark.count for remark in self.remarks if remark.is_loss)

    @property
    def span(self) -> float:
        """Seconds from the first submission to the last."""
        return self.jobs[-1].submit if self.jobs else 0.0
