"""The walkthrough through the AWS CLI at AWS_ENDPOINT_URL_BATCH, on the queue ``training``.

Its commands as they would be typed, but run in one process: to start the CLI takes longer than all else.
"""

import json
from collections.abc import Sequence
from contextlib import redirect_stdout
from io import StringIO
from typing import TYPE_CHECKING, Any

from awscli.clidriver import create_clidriver  # type: ignore[import-untyped]

if TYPE_CHECKING:
    from tests.policy_engine.endpoint.clients.walkthrough import walk
else:
    from walkthrough import walk  # beside this script, also where there is no package `tests`

PAYLOAD = json.dumps({"ResourceConfig": {"InstanceType": "ml.g5.xlarge", "InstanceCount": 1}})
QUEUE = ("--job-queue", "training")
DRIVER = create_clidriver()


def aws(*arguments: str) -> Any:
    """What ``aws batch`` prints, read as JSON; None where that is nothing."""
    printed = StringIO()
    with redirect_stdout(printed):
        code = DRIVER.main(["batch", *arguments, "--output", "json"])
    assert code == 0, f"{arguments}: exit code {code}"
    return json.loads(printed.getvalue()) if printed.getvalue() else None


class Cli:
    """The AWS CLI as the client of the walkthrough."""

    def submit(self, name: str, share: str, priority: int) -> str:
        return str(
            aws(
                *("submit-service-job", "--job-name", name, *QUEUE, "--quota-share-name", share),
                *("--scheduling-priority", str(priority), "--service-job-type", "SAGEMAKER_TRAINING"),
                *("--service-request-payload", PAYLOAD),
            )["jobArn"]
        )

    def listed(self, share: str, status: str) -> Sequence[str]:
        chosen = ("--job-status", status, "--filters", f"name=QUOTA_SHARE_NAME,values={share}")
        return list(aws("list-service-jobs", *QUEUE, *chosen, "--query", "jobSummaryList[].jobName"))

    def raise_to(self, job: str, priority: int) -> None:
        aws("update-service-job", "--job-id", job, "--scheduling-priority", str(priority))

    def preempted_because(self, job: str) -> str | None:
        reasons = aws(
            *("describe-service-job", "--job-id", job),
            *("--query", "preemptionSummary.recentPreemptedAttempts[].statusReason"),
        )
        return str(reasons[0]) if reasons else None


if __name__ == "__main__":
    jobs = walk(Cli())
    snapshot = aws("get-job-queue-snapshot", *QUEUE)["queueUtilization"]["totalCapacityUsage"]
    assert snapshot == [{"capacityUnit": "ml.g5.xlarge", "quantity": 2.0}], snapshot
    aws("terminate-service-job", "--job-id", jobs["low"], "--reason", "enough")
    assert aws("describe-service-job", "--job-id", jobs["low"], "--query", "[status, statusReason]") == [
        "FAILED",
        "enough",
    ]
