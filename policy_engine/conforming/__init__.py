"""Which answers to the open choices fit what AWS did: a real history, followed under each of them.

A history records that a job was preempted and when, never for whom. The scheduler is driven by what is recorded and may
go no other way; where the rules under an answer do not allow what happened, that decision refutes the answer.
"""

from policy_engine.conforming.conform import (
    Answer,
    Asked,
    ChoiceConformance,
    Conformance,
    Fit,
    Standing,
    conform,
)
from policy_engine.conforming.following import Contradiction
from policy_engine.conforming.record import Record, read_record

__all__ = [
    "Answer",
    "Asked",
    "ChoiceConformance",
    "Conformance",
    "Contradiction",
    "Fit",
    "Record",
    "Standing",
    "conform",
    "read_record",
]
