"""What the statuses of histories mean: Slurm, AWS Batch, Kubernetes and the published traces each have their own."""

from __future__ import annotations

from enum import Enum, auto
from typing import Final


class Status(Enum):
    """How a job stood when the history was written."""

    SUCCEEDED = auto()
    FAILED = auto()
    """It ended otherwise: failed, killed, cancelled, timed out, preempted for good."""
    RUNNING = auto()
    WAITING = auto()
    """It had not started."""


_WORDS: Final = {
    Status.SUCCEEDED: ("SUCCEEDED", "COMPLETED", "PASS", "SUCCESS", "TERMINATED", "FINISHED"),
    Status.FAILED: (
        *("FAILED", "CANCELLED", "CANCELED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY", "BOOT_FAIL", "DEADLINE"),
        *("PREEMPTED", "REVOKED", "REQUEUED", "KILLED"),
    ),
    Status.RUNNING: ("RUNNING", "STARTING", "COMPLETING", "SUSPENDED", "RESIZING", "STOPPED", "STAGE_OUT"),
    Status.WAITING: ("PENDING", "RUNNABLE", "SUBMITTED", "SCHEDULED", "QUEUED", "WAITING", "CONFIGURING"),
}
"""sacct's JOB STATE CODES, AWS Batch's ``status``, Kubernetes' pod phases, Philly's and Helios' columns."""
_KNOWN: Final = {word: status for status, words in _WORDS.items() for word in words}


def status_of(text: str) -> Status | None:
    """The status, whatever its case and whatever follows (``CANCELLED by 380693``); None for an unknown one."""
    words = text.split()
    return _KNOWN.get(words[0].upper()) if words else None
