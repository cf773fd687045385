"""AWS's walkthrough (golden result 1), for whatever client. Imports nothing that only some environments have."""

from collections.abc import Sequence
from typing import Protocol

SHARES = ("QS1", "QS2", "QS3")
CROSS_SHARE = "Cross-share preemption"
IN_SHARE = "In-share preemption"


class Client(Protocol):
    """A client of AWS Batch, and the queue of the walkthrough."""

    def submit(self, name: str, share: str, priority: int) -> str:
        """Submit a job of one instance; what the client knows it by."""

    def listed(self, share: str, status: str) -> Sequence[str]:
        """Names of the share's jobs in that state."""

    def raise_to(self, job: str, priority: int) -> None:
        """Give the job another priority."""

    def preempted_because(self, job: str) -> str | None:
        """Why the job was preempted the last time."""


def expect(client: Client, **names: str) -> None:
    """Every share's jobs are in these states, those that are not named in none: ``QS1_RUNNING="high med"``."""
    for share in SHARES:
        for status in ("RUNNING", "RUNNABLE"):
            wanted = names.get(f"{share}_{status}", "").split()
            found = sorted(client.listed(share, status))
            assert found == sorted(wanted), f"{share}: {status}: {found}, not {wanted}"


def walk(client: Client) -> dict[str, str]:
    """Borrow, reclaim by the owner, in-share preemption after the raise. Name to job of those left.

    Raises AssertionError where a state is another one.
    """
    jobs = {name: client.submit(name, "QS1", priority) for name, priority in (("high", 3), ("med", 2), ("low", 1))}
    expect(client, QS1_RUNNING="high med", QS1_RUNNABLE="low")

    jobs["owner"] = client.submit("owner", "QS2", 1)
    expect(client, QS1_RUNNING="high", QS1_RUNNABLE="med low", QS2_RUNNING="owner")
    reason = client.preempted_because(jobs["med"])
    assert reason is not None
    assert reason.startswith(CROSS_SHARE), reason

    client.raise_to(jobs["low"], 4)
    expect(client, QS1_RUNNING="low", QS1_RUNNABLE="high med", QS2_RUNNING="owner")
    reason = client.preempted_because(jobs["high"])
    assert reason is not None
    assert reason.startswith(IN_SHARE), reason
    assert client.preempted_because(jobs["low"]) is None
    return jobs
