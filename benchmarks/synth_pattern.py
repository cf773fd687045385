"""What a queue with grants, monitoring and validation costs, against the same template written with L1s alone.

    python benchmarks/synth_pattern.py [--rounds 7]

One queue with twenty shares, to each of which a role may submit; alarms, a dashboard, and the validation plugin. The
L1s have role, policy, alarms and dashboard as they end up: one policy document, one dashboard body. Both ways run in
processes of their own, in turn, with CDK's own validation off, and give the same template, which is checked before
anything is timed.

Prints the ratio of the whole processes by the clock, and what the plugin takes with ten scenarios. Of each it takes the
best run, which other programs have disturbed least. Exits 1 where the one is above 1.25 or the other above 0.3 s.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
SHARES, SCENARIOS = 20, 10
MOST_RATIO, MOST_SECONDS = 1.25, 0.3
UNIT = "ml.g5.xlarge"


def with_constructs(app: Any, folder: Path, *, scenarios: bool = False) -> None:
    import aws_cdk as cdk
    from aws_cdk import aws_iam as iam

    from constructs_quota import (
        QueueMonitoring,
        QuotaPolicyValidation,
        QuotaShareOptions,
        QuotaTrainingQueue,
        ResourceSharing,
    )

    plugin = QuotaPolicyValidation(scenarios=sorted(folder.glob("*.yaml")) if scenarios else [])
    cdk.Validations.of(app).add_plugins(plugin)
    stack = cdk.Stack(app, "Everything", synthesizer=cdk.BootstraplessSynthesizer())
    options = QuotaShareOptions(
        capacity_limits={UNIT: 2},
        resource_sharing=ResourceSharing.lend_and_borrow(borrow_limit=100),
        in_share_preemption=True,
    )
    queue = QuotaTrainingQueue(
        stack,
        "Training",
        capacity_limits={UNIT: 2 * SHARES},
        quota_shares={f"team-{number}": options for number in range(SHARES)},
    )
    role = iam.Role(stack, "Team", assumed_by=iam.AccountRootPrincipal())
    for share in queue.quota_shares.values():
        share.grants.submit(role, max_priority=50)
    queue.grants.read(role)
    QueueMonitoring(
        stack, "Monitoring", job_queue=queue.job_queue, alarms={"JobsPreempted": {"Warning": 5, "Critical": 20}}
    )


def with_l1s(app: Any, folder: Path) -> None:
    import aws_cdk as cdk
    from constructs import Construct

    from benchmarks.synth_shares import l1_queue

    stack = cdk.Stack(app, "Everything", synthesizer=cdk.BootstraplessSynthesizer())
    l1_queue(Construct(stack, "Training"))
    for logical_id, resource in json.loads((folder / "others.json").read_text()).items():
        l1_of(stack, logical_id, resource["Type"], resource["Properties"])


def l1_of(stack: Any, logical_id: str, kind: str, properties: dict[str, Any]) -> None:
    """The typed L1 of a resource whose properties are known."""
    import aws_cdk as cdk
    from aws_cdk import aws_cloudwatch as cloudwatch
    from aws_cdk import aws_iam as iam

    classes = {
        "AWS::CloudWatch::Alarm": cloudwatch.CfnAlarm,
        "AWS::CloudWatch::Dashboard": cloudwatch.CfnDashboard,
        "AWS::IAM::ManagedPolicy": iam.CfnManagedPolicy,
        "AWS::IAM::Policy": iam.CfnPolicy,
        "AWS::IAM::Role": iam.CfnRole,
    }
    arguments = {re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower(): value for name, value in properties.items()}
    if kind == "AWS::CloudWatch::Alarm":
        arguments["dimensions"] = [
            cloudwatch.CfnAlarm.DimensionProperty(name=dimension["Name"], value=cdk.Token.as_string(dimension["Value"]))
            for dimension in arguments["dimensions"]
        ]
    if kind == "AWS::CloudWatch::Dashboard":
        arguments["dashboard_body"] = cdk.Token.as_string(arguments["dashboard_body"])
    if "roles" in arguments:
        arguments["roles"] = [cdk.Token.as_string(role) for role in arguments["roles"]]
    classes[kind](stack, logical_id, **arguments)


WAYS: dict[str, Callable[[Any, Path], None]] = {
    "constructs": with_constructs,
    "l1s": with_l1s,
    "scenarios": partial(with_constructs, scenarios=True),
}
SCENARIO = """
jobs:
  - {{name: low, share: team-{number}, priority: 1, submit: 0s, duration: 1h, copies: 8, every: 1m}}
  - {{name: high, share: team-{number}, priority: 9, submit: 10m, duration: 1h, copies: 4, every: 1m}}
  - {{name: owner, share: team-{other}, instance_count: 2, submit: 20m, duration: 1h}}
expect:
  - {{job: owner, starts_within: 0s}}
  - {{always: within_bounds}}
"""


def synthesise(way: str, folder: Path) -> None:
    """One run, in this process; prints the seconds that the plugin took."""
    import aws_cdk as cdk

    from constructs_quota import QuotaPolicyValidation

    seconds = [0.0]
    violations = QuotaPolicyValidation._violations

    def timed(*arguments: Any) -> Any:
        start = time.perf_counter()
        found = list(violations(*arguments))
        seconds.append(time.perf_counter() - start)
        return found

    if way == "scenarios":
        QuotaPolicyValidation._violations = timed  # type: ignore[assignment, method-assign]  # to time it
    app = cdk.App(outdir=str(folder / way), analytics_reporting=False)
    WAYS[way](app, folder)
    app.synth()
    print(seconds[-1])


def run(way: str, folder: Path) -> tuple[float, float]:
    """Seconds of a process, and of the plugin in it."""
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, __file__, "--way", way, "--folder", str(folder)],
        check=True,
        capture_output=True,
        text=True,
        env=os.environ | {"CDK_VALIDATION": "false", "PYTHONPATH": str(ROOT)},
    )
    return time.perf_counter() - start, float(done.stdout)


def resources(folder: Path, way: str) -> dict[str, Any]:
    template = json.loads((folder / way / "Everything.template.json").read_text())
    return dict(template["Resources"])


def measure(rounds: int, folder: Path) -> dict[str, list[tuple[float, float]]]:
    for number in range(SCENARIOS):
        (folder / f"scenario{number}.yaml").write_text(SCENARIO.format(number=number, other=number + SCENARIOS))
    run("constructs", folder)
    made = resources(folder, "constructs")
    others = {name: resource for name, resource in made.items() if not resource["Type"].startswith("AWS::Batch::")}
    (folder / "others.json").write_text(json.dumps(others))
    run("l1s", folder)
    if made != resources(folder, "l1s"):
        sys.exit("the two ways do not give the same template")
    times: dict[str, list[tuple[float, float]]] = {way: [] for way in WAYS}
    for number in range(rounds):
        for way in list(WAYS)[:: 1 if number % 2 else -1]:
            times[way].append(run(way, folder))
    return times


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--way", choices=WAYS, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.way:
        synthesise(arguments.way, arguments.folder)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        times = measure(arguments.rounds, Path(folder))
    ours, theirs = (min(seconds for seconds, _ in times[way]) for way in ("constructs", "l1s"))
    plugin = min(seconds for _, seconds in times["scenarios"])
    print(f"one queue of {SHARES} shares, the best of {arguments.rounds} runs each")
    print(f"process: constructs {ours:.3f} s, l1s {theirs:.3f} s, ratio {ours / theirs:.3f} <= {MOST_RATIO}")
    print(f"plugin with {SCENARIOS} scenarios: {plugin:.3f} s <= {MOST_SECONDS}")
    return 0 if ours / theirs <= MOST_RATIO and plugin <= MOST_SECONDS else 1


if __name__ == "__main__":
    sys.exit(main())
