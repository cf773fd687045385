"""What the constructs cost: 480 quota shares in 24 queues, against the same template written with L1s alone.

    python benchmarks/synth_shares.py [--rounds 7] [--limit 1.1]

Both ways run in processes of their own, in turn (and in the other order every second round), with the same settings:
CDK's own validation off, as it would swamp the difference. The L1s stand at the same paths, in plain scopes, since a
logical id is made of the path: only so is it the same template. That it is, is checked before anything is timed.

Prints the ratio of the medians for the work (declare and synthesise), the whole process (interpreter, imports and
kernel included) and its processor time. Exits 1 where the last is above the limit: on a machine with other things to
do, it alone says something.
"""

import argparse
import importlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
QUEUES, SHARES, STACKS = 24, 20, 2
"""CloudFormation takes at most 500 resources a stack, and these are 552."""
UNIT = "ml.g5.xlarge"


def stacks(app: Any) -> list[Any]:
    import aws_cdk as cdk

    return [cdk.Stack(app, f"Shares{n}", synthesizer=cdk.BootstraplessSynthesizer()) for n in range(STACKS)]


def with_constructs(app: Any) -> None:
    from constructs_quota import QuotaShareOptions, QuotaTrainingQueue, ResourceSharing

    places = stacks(app)
    for number in range(QUEUES):
        QuotaTrainingQueue(
            places[number % STACKS],
            f"Training{number}",
            capacity_limits={UNIT: 2 * SHARES},
            quota_shares={
                f"team-{share}": QuotaShareOptions(
                    capacity_limits={UNIT: 2},
                    resource_sharing=ResourceSharing.lend_and_borrow(borrow_limit=100),
                    in_share_preemption=True,
                )
                for share in range(SHARES)
            },
        )


def with_l1s(app: Any) -> None:
    from constructs import Construct

    places = stacks(app)
    for number in range(QUEUES):
        l1_queue(Construct(places[number % STACKS], f"Training{number}"))


def l1_queue(queue_scope: Any) -> None:
    """What one QuotaTrainingQueue makes, with L1s."""
    from aws_cdk import aws_batch as batch
    from constructs import Construct

    environment = batch.CfnServiceEnvironment(
        queue_scope,
        "ServiceEnvironment",
        capacity_limits=[
            batch.CfnServiceEnvironment.CapacityLimitProperty(capacity_unit=UNIT, max_capacity=2 * SHARES)
        ],
        service_environment_type="SAGEMAKER_TRAINING",
        state="ENABLED",
    )
    policy = batch.CfnSchedulingPolicy(
        queue_scope,
        "SchedulingPolicy",
        quota_share_policy=batch.CfnSchedulingPolicy.QuotaSharePolicyProperty(idle_resource_assignment_strategy="FIFO"),
    )
    queue = batch.CfnJobQueue(
        queue_scope,
        "JobQueue",
        job_queue_type="SAGEMAKER_TRAINING",
        job_state_time_limit_actions=[
            batch.CfnJobQueue.JobStateTimeLimitActionProperty(
                action="TERMINATE", max_time_seconds=86400, reason=f"MISCONFIGURATION:{reason}", state="RUNNABLE"
            )
            for reason in ("SERVICE_ENVIRONMENT_MAX_RESOURCE", "QUOTA_MANAGEMENT_LIMIT_EXCEEDED")
        ],
        priority=1,
        scheduling_policy_arn=policy.ref,
        service_environment_order=[
            batch.CfnJobQueue.ServiceEnvironmentOrderProperty(order=1, service_environment=environment.ref)
        ],
        state="ENABLED",
    )
    queue_arn = queue.ref
    share_scope = Construct(queue_scope, "QuotaShares")
    for share in range(SHARES):
        batch.CfnQuotaShare(
            share_scope,
            f"team-{share}",
            capacity_limits=[batch.CfnQuotaShare.QuotaShareCapacityLimitProperty(capacity_unit=UNIT, max_capacity=2)],
            job_queue=queue_arn,
            preemption_configuration=batch.CfnQuotaShare.QuotaSharePreemptionConfigurationProperty(
                in_share_preemption="ENABLED"
            ),
            quota_share_name=f"team-{share}",
            resource_sharing_configuration=batch.CfnQuotaShare.QuotaShareResourceSharingConfigurationProperty(
                strategy="LEND_AND_BORROW", borrow_limit=100
            ),
            state="ENABLED",
        )


WAYS: dict[str, Callable[[Any], None]] = {"constructs": with_constructs, "l1s": with_l1s}


def work(way: str, out: Path) -> float:
    """Seconds to declare and synthesise, in this process, imports not counted."""
    import aws_cdk as cdk

    importlib.import_module("aws_cdk.aws_batch" if way == "l1s" else "constructs_quota")
    start = time.perf_counter()
    app = cdk.App(outdir=str(out), analytics_reporting=False)
    WAYS[way](app)
    app.synth()
    return time.perf_counter() - start


def run(way: str, folder: Path) -> tuple[float, float, float]:
    """Seconds of the work, of the whole process, and of processor time (which other programs disturb least)."""
    start, used = time.perf_counter(), os.times()
    done = subprocess.run(
        [sys.executable, __file__, "--way", way, "--out", str(folder / way)],
        check=True,
        capture_output=True,
        text=True,
        env=os.environ | {"CDK_VALIDATION": "false", "PYTHONPATH": str(ROOT)},
    )
    spent = os.times()
    processor = spent.children_user + spent.children_system - used.children_user - used.children_system
    return float(done.stdout), time.perf_counter() - start, processor


def resources(out: Path) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for template in sorted(out.glob("*.template.json")):
        found |= json.loads(template.read_text())["Resources"]
    return found


def measure(rounds: int, folder: Path) -> dict[str, list[tuple[float, float, float]]]:
    """Work and process times of both ways, in turn, after a run of each that is not counted."""
    for way in WAYS:
        run(way, folder)
    if resources(folder / "constructs") != resources(folder / "l1s"):
        sys.exit("the two ways do not give the same template")
    times: dict[str, list[tuple[float, float, float]]] = {way: [] for way in WAYS}
    for number in range(rounds):
        for way in list(WAYS)[:: 1 if number % 2 else -1]:
            times[way].append(run(way, folder))
    return times


def report(times: dict[str, list[tuple[float, float, float]]], limit: float) -> bool:
    """Print the table; does it keep to the limit?"""
    medians = {way: [statistics.median(column) for column in zip(*rows, strict=True)] for way, rows in times.items()}
    ratios = [ours / theirs for ours, theirs in zip(medians["constructs"], medians["l1s"], strict=True)]
    print(f"{QUEUES * SHARES} shares in {QUEUES} queues, medians of {len(times['l1s'])} runs each, in seconds")
    print(f"{'':10}  {'work':>7}  {'process':>7}  {'cpu':>7}")
    for way, row in medians.items():
        print(f"{way:10}  {row[0]:7.3f}  {row[1]:7.3f}  {row[2]:7.3f}")
    print(f"{'ratio':10}  {ratios[0]:7.3f}  {ratios[1]:7.3f}  {ratios[2]:7.3f}  <= {limit}")
    return bool(ratios[2] <= limit)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--limit", type=float, default=1.1)
    parser.add_argument("--way", choices=WAYS, help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.way:
        print(work(arguments.way, arguments.out))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        times = measure(arguments.rounds, Path(folder))
    return 0 if report(times, arguments.limit) else 1


if __name__ == "__main__":
    sys.exit(main())
