"""AWS Batch in the process of a test: your own submission code against your own shares.

    with LocalBatch("policy.yaml") as batch:
        submit_nightly_run()                     # any boto3 client that it makes is answered here
        batch.advance("2h")
        jobs = batch.client().list_service_jobs(jobQueue="training", jobStatus="SUCCEEDED")

pytest users have it as the fixture ``quota_batch``. Needs the extra ``serve``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Final, Self
from unittest import mock

from policy_engine.endpoint import Application, ClientError, Endpoint, Pace, Settings
from policy_engine.endpoint.in_process import InProcess
from policy_engine.errors import InputError
from policy_engine.policy import Policy
from policy_engine.scheduler.jobs import Timing
from policy_engine.sources import Source, load
from policy_engine.workload.durations import parse_duration

if TYPE_CHECKING:
    from policy_engine.running import PolicySource

EPOCH: Final = 1767225600.0
"""2026-01-01T00:00:00Z: when the clock of a test stands at 0, the same in every run."""
_CREDENTIALS: Final = {
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing",
    "AWS_SESSION_TOKEN": "testing",
    "AWS_SECURITY_TOKEN": "testing",
}
"""Nothing that a test does may be done with somebody's real ones."""
_REGION: Final = "us-east-1"


class LocalBatch:
    """A context in which every new botocore or boto3 client for AWS Batch is answered in process.

    No socket is opened. Clients of other services are left alone, but that the credentials are dummies.
    """

    def __init__(
        self,
        policy: PolicySource | None = None,
        *,
        duration: float | str = "1h",
        stop_seconds: float | str = 0,
        start_seconds: float | str = 0,
        step: bool = False,
    ) -> None:
        """Begin with the queues of ``policy``, or with nothing.

        Args:
            policy: where a policy comes from, as every command takes it, or a policy.
            duration: how long a job runs that does not say how long.
            stop_seconds: from a preemption to the release of its capacity.
            start_seconds: from SCHEDULED to RUNNING.
            step: move by ``step()`` alone, so that every state on the way is seen.

        Raises:
            InputError: the policy cannot be read.
        """
        timing = Timing(stop_seconds=parse_duration(stop_seconds), start_seconds=parse_duration(start_seconds))
        settings = Settings(duration=parse_duration(duration), pace=Pace(timing, stepped=step), epoch=EPOCH, seed=0)
        self.endpoint = Endpoint(settings)
        self._in_process = InProcess(Application(self.endpoint))
        self._context = ExitStack()
        if policy is not None:
            self.load(policy)

    def __enter__(self) -> Self:
        region = {} if "AWS_DEFAULT_REGION" in os.environ else {"AWS_DEFAULT_REGION": _REGION}
        self._context.enter_context(mock.patch.dict(os.environ, {**_CREDENTIALS, **region}))
        self._context.enter_context(self._in_process.answering())
        return self

    def __exit__(self, *_: object) -> None:
        self._context.close()

    def load(
        self, policy: PolicySource, *, queue: str | None = None, parameters: Mapping[str, str] | None = None
    ) -> None:
        """Add the queues of a policy, or the one that is called ``queue``. Raises InputError."""
        for declared in _policies(policy, queue, parameters):
            try:
                self.endpoint.declare(declared)
            except ClientError as error:
                raise InputError(error.message, key=declared.queue) from None

    def client(self, region: str | None = None) -> Any:
        """A botocore client for AWS Batch, which is what ``boto3.client("batch")`` makes."""
        return self._in_process.client(region or os.environ.get("AWS_DEFAULT_REGION") or _REGION)

    def attach(self, client: Any) -> None:
        """Answer a client that was made before the context was entered, such as when a module was imported."""
        self._in_process.attach(client)

    @property
    def now(self) -> float:
        """Seconds that the virtual clock shows."""
        return self.endpoint.now

    def advance(self, time: float | str) -> None:
        """Let so much time go by: seconds, or ``1h30m``."""
        self.endpoint.advance(parse_duration(time))

    def step(self) -> None:
        """With ``step=True``: every job and resource goes one state on."""
        self.endpoint.step()


def _policies(policy: PolicySource, queue: str | None, parameters: Mapping[str, str] | None) -> Sequence[Policy]:
    if isinstance(policy, Policy):
        return (policy,)
    source = policy if isinstance(policy, Source) else load(policy, parameters=parameters)
    return source.policies(queue)
