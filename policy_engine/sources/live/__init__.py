"""A queue as AWS has it now: its policy, its jobs, its account, read through boto3 (the extra ``live``).

``queue:NAME_OR_ARN`` names one wherever a POLICY is taken. Everything here reads; nothing changes anything at AWS.
botocore is loaded when a client is made.
"""

from policy_engine.sources.live.access import Access, Reach, reaching
from policy_engine.sources.live.jobs import ENDED, HOLDING, STATES, WAITING, describe_job, list_jobs, queue_snapshot
from policy_engine.sources.live.pace import Pace
from policy_engine.sources.live.queue import LiveQueue, access_of, open_queue
from policy_engine.sources.live.quotas import Account, Environment, list_environments, read_account, training_quotas

__all__ = [
    "ENDED",
    "HOLDING",
    "STATES",
    "WAITING",
    "Access",
    "Account",
    "Environment",
    "LiveQueue",
    "Pace",
    "Reach",
    "access_of",
    "describe_job",
    "list_environments",
    "list_jobs",
    "open_queue",
    "queue_snapshot",
    "reaching",
    "read_account",
    "training_quotas",
]
