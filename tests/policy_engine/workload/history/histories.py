"""Small histories for tests, and where the real ones are."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from policy_engine.scheduler.jobs import Job
from policy_engine.workload.history import History, HistoryMap, read_history

SMALL = "ml.g5.xlarge"
MEDIUM = "ml.g5.12xlarge"
LARGE = "ml.g5.48xlarge"
GPUS = {"1": SMALL, "4": MEDIUM, "8": LARGE}

HEADER = "submit_time_s,team,instance_type,instance_count,duration_s"
SACCT = "JobID|Account|QOS|Submit|Start|End|Elapsed|State|AllocTRES|JobName"

TRACES = Path(os.environ.get("POLICY_ENGINE_TRACES", Path(__file__).parents[5] / "shared" / "traces"))


def trace(name: str) -> Path:
    """A file of real histories, which are not part of the project."""
    path = TRACES / name
    if not path.exists():
        pytest.skip(f"{path} is not there; POLICY_ENGINE_TRACES names the folder of real job histories")
    return path


def reading(folder: Path, content: str | bytes, *, strict: bool = False, **given: Any) -> History:
    """The history of a file with this content, read with this map."""
    path = folder / "history"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_history(path, HistoryMap(**given), strict=strict)


def rows(*lines: str, header: str = HEADER) -> str:
    """A CSV."""
    return "\n".join((header, *lines)) + "\n"


def psv(*lines: str, header: str = SACCT) -> str:
    """The output of sacct --parsable2."""
    return "\n".join((header, *lines)) + "\n"


def summary(job: str, **more: Any) -> dict[str, Any]:
    """A job as ListServiceJobs tells of it: SUCCEEDED, 100 to 160 s after 1.7e9."""
    told: dict[str, Any] = {
        "jobId": job,
        "jobName": f"name-{job}",
        "serviceJobType": "SAGEMAKER_TRAINING",
        "status": "SUCCEEDED",
        "quotaShareName": "QS1",
        "capacityUsage": [{"capacityUnit": SMALL, "quantity": 2.0}],
        "createdAt": 1_700_000_000_000,
        "startedAt": 1_700_000_100_000,
        "stoppedAt": 1_700_000_160_000,
    }
    told.update(more)
    return {key: value for key, value in told.items() if value is not None}


def listed(*jobs: Mapping[str, Any]) -> str:
    """A response of ListServiceJobs."""
    return json.dumps({"jobSummaryList": list(jobs), "nextToken": None})


def told(history: History) -> list[str]:
    """Its remarks, in one line each."""
    return [remark.text for remark in history.remarks]


def short(job: Job) -> tuple[str, str, float, float | None, dict[str, int]]:
    """Name, share, submission, duration, demand."""
    return job.name, job.share, job.submit, job.duration, dict(job.demand)
