"""What a run came to: for each job, each share, and the queue. Computed from the log, in one walk each."""

from policy_engine.outcome.bins import Bins, bins
from policy_engine.outcome.history import PREEMPTIONS, last_rows, policies, state_after
from policy_engine.outcome.jobs import Attempt, JobOutcome, job_outcomes
from policy_engine.outcome.shares import QueueOutcome, ShareOutcome, Waits, queue_outcome, share_outcomes
from policy_engine.outcome.steps import Step, steps

__all__ = [
    "PREEMPTIONS",
    "Attempt",
    "Bins",
    "JobOutcome",
    "QueueOutcome",
    "ShareOutcome",
    "Step",
    "Waits",
    "bins",
    "job_outcomes",
    "last_rows",
    "policies",
    "queue_outcome",
    "share_outcomes",
    "state_after",
    "steps",
]
