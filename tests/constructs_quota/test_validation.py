import json
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import jsii
import pytest
from aws_cdk import aws_batch as batch

from constructs_quota import QuotaPolicyValidation, QuotaShareOptions, QuotaTrainingQueue, ResourceSharing
from stacks.training_queue_stack import TrainingQueueStack
from tests.synthesis import ROOT, new_stack, number_token

WALKTHROUGH = ROOT / "examples" / "walkthrough.yaml"
ONE = {"ml.g5.xlarge": 1}


def options(**changes: Any) -> QuotaShareOptions:
    arguments: dict[str, Any] = {
        "capacity_limits": ONE,
        "resource_sharing": ResourceSharing.lend(),
        "in_share_preemption": False,
    }
    return QuotaShareOptions(**{**arguments, **changes})


def queue(scope: cdk.Stack, name: str = "Training", **shares: QuotaShareOptions) -> QuotaTrainingQueue:
    return QuotaTrainingQueue(scope, name, capacity_limits={"ml.g5.xlarge": len(shares)}, quota_shares=shares)


def synthesised(app: cdk.App, **options: Any) -> tuple[str, list[dict[str, Any]]]:
    """What synthesis raised with the plugin, and the violations that are in the report."""
    cdk.Validations.of(app).add_plugins(QuotaPolicyValidation(**options))
    raised = ""
    try:
        app.synth()
    except RuntimeError as error:
        raised = str(error)
    return raised, violations_of(app)


def report_of(app: cdk.App) -> dict[str, Any]:
    """The plugin's part of the report; CDK leaves out a plugin that found nothing."""
    reports = json.loads((Path(app.outdir) / "validation-report.json").read_text())["pluginReports"]
    return next((report for report in reports if report["pluginName"] == "Quota-Policy"), {"violations": []})


def violations_of(app: cdk.App) -> list[dict[str, Any]]:
    return list(report_of(app)["violations"])


@jsii.implements(cdk.IStableNumberProducer)
class Later:
    def __init__(self, value: float) -> None:
        self._value = value

    def produce(self) -> float:
        return self._value


class TestResolvedPolicy:
    @pytest.mark.parametrize("number", [0, 2.5])
    def test_refuses_what_a_token_turns_out_to_be(self, stack: cdk.Stack, number: float) -> None:
        limits: Any = {"ml.g5.xlarge": cdk.Lazy.number(Later(number))}
        queue(stack, QS1=options(capacity_limits=limits))

        with pytest.raises(RuntimeError, match=r"shares\.QS1\.capacity_limits\.ml\.g5\.xlarge: .* whole number|range"):
            cdk.App.of(stack).synth()  # type: ignore[union-attr]

    def test_takes_what_is_right_by_then(self, stack: cdk.Stack) -> None:
        limits: Any = {"ml.g5.xlarge": cdk.Lazy.number(Later(1))}
        queue(stack, QS1=options(capacity_limits=limits))

        cdk.App.of(stack).synth()  # type: ignore[union-attr]

    def test_takes_what_is_only_known_at_deployment(self, stack: cdk.Stack) -> None:
        cdk.CfnParameter(stack, "Number", type="Number")
        queue(stack, QS1=options(capacity_limits={"ml.g5.xlarge": number_token()}))

        cdk.App.of(stack).synth()  # type: ignore[union-attr]

    def test_refuses_an_error_that_no_single_value_is(self, stack: cdk.Stack) -> None:
        """The share's type is a token, and turns out to be none of the environment's."""
        unit = cdk.Lazy.string(Unit())
        queue(stack, QS1=options(capacity_limits={unit: 1}))

        with pytest.raises(RuntimeError, match="QM004"):
            cdk.App.of(stack).synth()  # type: ignore[union-attr]


@jsii.implements(cdk.IStableStringProducer)
class Unit:
    def produce(self) -> str:
        return "ml.p5.48xlarge"


class TestPlugin:
    def test_passes_what_is_right(self, app: cdk.App) -> None:
        TrainingQueueStack(app, "Announced")

        raised, violations = synthesised(app, scenarios=[WALKTHROUGH], fail_on="warning")

        assert raised == ""
        assert {(v["ruleName"], v["severity"]) for v in violations} == {
            ("QM104", "info"),
            ("QM106", "info"),
        }

    def test_has_nothing_to_say_of_an_app_without_quota_shares(self, app: cdk.App) -> None:
        batch.CfnSchedulingPolicy(new_stack(app), "Policy")

        assert synthesised(app) == ("", [])

    @pytest.mark.parametrize(("fail_on", "severity"), [("error", "warning"), ("warning", "error")])
    def test_a_warning_fails_where_it_is_asked_to(self, app: cdk.App, fail_on: str, severity: str) -> None:
        QuotaTrainingQueue(
            new_stack(app), "Training", capacity_limits={"ml.g5.xlarge": 9}, quota_shares={"QS1": options()}
        )

        raised, violations = synthesised(app, fail_on=fail_on)

        assert ("QM102" in raised) == (severity == "error")
        (found,) = [v for v in violations if v["ruleName"] == "QM102"]
        assert found["severity"] == severity

    def test_says_where_it_is(self, app: cdk.App) -> None:
        queue(new_stack(app), QS1=options(resource_sharing=ResourceSharing.lend_and_borrow(borrow_limit=50)))

        _, violations = synthesised(app)

        (found,) = [v for v in violations if v["ruleName"] == "QM105"]
        (where,) = found["violatingConstructs"]
        assert where["constructPath"] == "Stack/Training/QuotaShares/QS1"
        assert where["cloudFormationResource"]["logicalId"] == "TrainingQuotaSharesQS1C8F583EA"
        assert found["suggestedFix"]

    def test_looks_at_queues_made_of_l1s(self, app: cdk.App) -> None:
        l1_queue(new_stack(app), share_unit="ml.p5.48xlarge")

        raised, _ = synthesised(app)

        assert "QM004" in raised

    def test_looks_at_every_stage(self, app: cdk.App) -> None:
        for name in ("Dev", "Prod"):
            TrainingQueueStack(cdk.Stage(app, name), "Announced")

        raised, _ = synthesised(app, scenarios=[WALKTHROUGH])

        assert raised == ""

    def test_an_expectation_that_does_not_hold_is_an_error(self, app: cdk.App) -> None:
        queue(new_stack(app), QS1=options(), QS2=options(), QS3=options())

        raised, violations = synthesised(app, scenarios=[WALKTHROUGH])

        assert "Quota-Policy::scenario-walkthrough" in raised
        failed = [v for v in violations if v["ruleName"] == "scenario-walkthrough"]
        assert any("QS1 runs on its own instance and on a borrowed one" in v["description"] for v in failed)

    def test_a_scenario_that_cannot_run_is_an_error(self, app: cdk.App, tmp_path: Path) -> None:
        queue(new_stack(app), QS1=options())
        scenario = tmp_path / "other.yaml"
        scenario.write_text("queue: other\nexpect:\n  - {always: within_bounds}\n")

        raised, _ = synthesised(app, scenarios=[scenario, tmp_path / "missing.yaml"])

        assert "no queue 'other' to run it on" in raised
        assert "missing.yaml" in raised

    def test_a_token_is_unknown_and_never_a_number(self, app: cdk.App) -> None:
        stack = new_stack(app)
        cdk.CfnParameter(stack, "Number", type="Number")
        queue(stack, QS1=options(capacity_limits={"ml.g5.xlarge": number_token()}))

        raised, violations = synthesised(app)

        assert raised == ""
        assert "QM000" in [v["ruleName"] for v in violations]
        assert "e+289" not in json.dumps(violations)

    def test_what_is_acknowledged_stays_in_the_report(self, app: cdk.App) -> None:
        stack = new_stack(app)
        l1_queue(stack, share_unit="ml.p5.48xlarge")
        cdk.Validations.of(stack).acknowledge(cdk.Acknowledgment(id="Quota-Policy::QM004", reason="to come on Monday"))

        raised, violations = synthesised(app)

        assert raised == ""
        assert "QM004" not in [v["ruleName"] for v in violations]
        assert "to come on Monday" in json.dumps(report_of(app)["suppressedViolations"])

    def test_a_crash_is_fatal_and_cannot_be_acknowledged(self, app: cdk.App, monkeypatch: pytest.MonkeyPatch) -> None:
        def crash(*_: Any, **__: Any) -> None:
            raise ZeroDivisionError("the engine is broken")

        monkeypatch.setattr("policy_engine.check", crash)
        stack = new_stack(app)
        queue(stack, QS1=options())
        cdk.Validations.of(stack).acknowledge(cdk.Acknowledgment(id="Quota-Policy::engine", reason="never mind"))

        raised, violations = synthesised(app)

        assert "ZeroDivisionError: the engine is broken" in raised
        assert [v["severity"] for v in violations] == ["fatal"]

    @pytest.mark.parametrize(
        ("options", "problem"),
        [
            ({"fail_on": "info"}, "fail_on: 'info' is not one of error, warning"),
            ({"scenarios": "walkthrough.yaml"}, "scenarios: 'walkthrough.yaml' is one file; give a list of files"),
        ],
    )
    def test_refuses(self, options: dict[str, Any], problem: str) -> None:
        with pytest.raises(ValueError, match=problem):
            QuotaPolicyValidation(**options)

    def test_jsii_sees_every_member_of_the_interface(self) -> None:
        """jsii does not check that a class has what the interface asks for."""
        plugin = QuotaPolicyValidation(scenarios=["a/nights.yaml"])

        assert plugin.name == "Quota-Policy"
        assert plugin.version
        assert plugin.rule_ids == ["engine", "scenario-nights"]


def l1_queue(stack: cdk.Stack, *, share_unit: str) -> None:
    """A queue with one share, without our constructs."""
    environment = batch.CfnServiceEnvironment(
        stack,
        "Environment",
        capacity_limits=[
            batch.CfnServiceEnvironment.CapacityLimitProperty(capacity_unit="ml.g5.xlarge", max_capacity=1)
        ],
        service_environment_type="SAGEMAKER_TRAINING",
    )
    policy = batch.CfnSchedulingPolicy(
        stack,
        "Policy",
        quota_share_policy=batch.CfnSchedulingPolicy.QuotaSharePolicyProperty(idle_resource_assignment_strategy="FIFO"),
    )
    job_queue = batch.CfnJobQueue(
        stack,
        "Queue",
        job_queue_type="SAGEMAKER_TRAINING",
        priority=1,
        scheduling_policy_arn=policy.ref,
        service_environment_order=[
            batch.CfnJobQueue.ServiceEnvironmentOrderProperty(order=1, service_environment=environment.ref)
        ],
    )
    batch.CfnQuotaShare(
        stack,
        "Share",
        capacity_limits=[batch.CfnQuotaShare.QuotaShareCapacityLimitProperty(capacity_unit=share_unit, max_capacity=1)],
        job_queue=job_queue.ref,
        preemption_configuration=batch.CfnQuotaShare.QuotaSharePreemptionConfigurationProperty(
            in_share_preemption="DISABLED"
        ),
        quota_share_name="QS1",
        resource_sharing_configuration=batch.CfnQuotaShare.QuotaShareResourceSharingConfigurationProperty(
            strategy="RESERVE"
        ),
    )
