"""The walkthrough through the SageMaker SDK at AWS_ENDPOINT_URL, on the queue that the command line names.

Runs in the environment of requirements-sagemaker.lock, with moto behind the same address for S3 and SageMaker.
"""

import json
import os
import sys
import urllib.request
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import boto3
from sagemaker.train import ModelTrainer  # type: ignore[import-not-found, unused-ignore]
from sagemaker.train.aws_batch.training_queue import (  # type: ignore[import-not-found, unused-ignore]
    TrainingQueue,
)
from sagemaker.train.configs import (  # type: ignore[import-not-found, unused-ignore]
    Compute,
    SourceCode,
    StoppingCondition,
)

if TYPE_CHECKING:
    from tests.policy_engine.endpoint.clients.walkthrough import expect, walk
else:
    from walkthrough import expect, walk  # beside this script: there is no package `tests` here

BUCKET = "local-bucket"
"""Of the SDK's configuration; it is there."""
IMAGE = "123456789012.dkr.ecr.us-west-2.amazonaws.com/training:latest"
RUN = 600
"""Seconds that a job runs."""


def advance(seconds: float) -> None:
    """Let virtual time go by."""
    body = json.dumps({"seconds": seconds}).encode()
    url = f"{os.environ['AWS_ENDPOINT_URL']}/_sim/advance"
    with urllib.request.urlopen(urllib.request.Request(url, body), timeout=20) as answer:  # noqa: S310
        assert answer.status == 200


def trainer() -> Any:
    """What to train: a script of this folder's that is uploaded and never run."""
    source = Path("source")
    source.mkdir(exist_ok=True)
    (source / "train.py").write_text("print('trained')\n")
    return ModelTrainer(
        training_image=IMAGE,
        source_code=SourceCode(source_dir=str(source), entry_script="train.py"),
        compute=Compute(instance_type="ml.g5.xlarge", instance_count=1),
        stopping_condition=StoppingCondition(max_runtime_in_seconds=RUN),
        hyperparameters={"epochs": 3},
        base_job_name="walkthrough",
    )


class Sdk:
    """The SDK as the client of the walkthrough."""

    def __init__(self, queue: str) -> None:
        self.queue = TrainingQueue(queue)
        self.trainer = trainer()
        self.jobs: dict[str, Any] = {}

    def submit(self, name: str, share: str, priority: int) -> str:
        job = self.queue.submit(self.trainer, inputs=None, job_name=name, priority=priority, quota_share_name=share)
        self.jobs[name] = job
        return name

    def listed(self, share: str, status: str) -> Sequence[str]:
        jobs = self.queue.list_jobs_by_share(status=status, quota_share_name=share)
        assert all(job.quota_share_name == share for job in jobs)
        return [job.job_name for job in jobs]

    def raise_to(self, job: str, priority: int) -> None:
        self.jobs[job].update(priority)
        assert self.jobs[job].describe()["schedulingPriority"] == priority

    def preempted_because(self, job: str) -> str | None:
        summary = self.jobs[job].describe().get("preemptionSummary")
        return None if summary is None else str(summary["recentPreemptedAttempts"][0]["statusReason"])


def finds_jobs_again(client: Sdk) -> None:
    """list_jobs and get_job."""
    assert sorted(job.job_name for job in client.queue.list_jobs()) == ["low", "owner"]
    assert client.queue.get_job("med").job_arn == client.jobs["med"].job_arn
    assert [job.job_name for job in client.queue.list_jobs(status="RUNNABLE")] == ["med", "high"]
    refused(ValueError, lambda: client.queue.get_job("nobody"))


def attaches_the_training_job(client: Sdk) -> None:
    """get_model_trainer: through DescribeTrainingJob."""
    attached = client.jobs["low"].get_model_trainer()
    assert (attached.training_image, attached.compute.instance_type) == (IMAGE, "ml.g5.xlarge")
    assert attached._latest_training_job.training_job_status == "InProgress"
    code = boto3.client("s3").list_objects_v2(Bucket=BUCKET)["Contents"]
    assert any(entry["Key"].endswith("train.py") for entry in code)


def waits_and_terminates(client: Sdk) -> None:
    """wait, result and terminate, of jobs that end each in its own way; no job's end is slept for."""
    assert client.jobs["med"].wait(timeout=0.01)["status"] == "RUNNABLE"
    advance(RUN)
    assert client.jobs["low"].wait()["status"] == "SUCCEEDED"
    assert client.jobs["owner"].result()["status"] == "SUCCEEDED"
    expect(client, QS1_RUNNING="high med")
    client.jobs["med"].terminate("enough")
    error = refused(RuntimeError, client.jobs["med"].result)
    assert str(error) == "enough", error
    expect(client, QS1_RUNNING="high")


def maps(client: Sdk) -> None:
    """Several jobs at once, with priority left out."""
    jobs = client.queue.map(client.trainer, [None, None], ["first", "second"], quota_share_name="QS3")
    assert [job.describe()["status"] for job in jobs] == ["RUNNING", "RUNNABLE"]
    assert all("schedulingPriority" in job.describe() for job in jobs)


def refused(kind: type[Exception], call: Callable[[], Any]) -> Exception:
    """The error of that kind that the call raises."""
    try:
        call()
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__}")


if __name__ == "__main__":
    sdk = Sdk(sys.argv[1])
    walk(sdk)
    finds_jobs_again(sdk)
    attaches_the_training_job(sdk)
    waits_and_terminates(sdk)
    maps(sdk)
