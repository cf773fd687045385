import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import jsii
import pytest
from aws_cdk import aws_batch as batch

from constructs_quota import (
    QuotaJobQueue,
    QuotaPolicyValidation,
    QuotaServiceEnvironment,
    QuotaShare,
    QuotaShareOptions,
    QuotaTrainingQueue,
    ResourceSharing,
)
from stacks.training_queue_stack import TrainingQueueStack
from tests.constructs_quota.l1s import l1_queue, l1_share
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


def queue(
    scope: cdk.Stack,
    name: str = "Training",
    *,
    capacity: int | None = None,
    job_queue_name: str | None = None,
    **shares: QuotaShareOptions,
) -> QuotaTrainingQueue:
    limits = {"ml.g5.xlarge": capacity or len(shares)}
    return QuotaTrainingQueue(scope, name, capacity_limits=limits, quota_shares=shares, job_queue_name=job_queue_name)


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

    def test_takes_a_token_beside_an_environment_that_is_imported(self, stack: cdk.Stack) -> None:
        """Its capacity is not known, and that is nobody's error."""
        environment = QuotaServiceEnvironment.from_service_environment_name(stack, "Environment", "gpus")
        shares = {"QS1": options(capacity_limits={"ml.g5.xlarge": number_token()})}
        cdk.CfnParameter(stack, "Number", type="Number")
        QuotaTrainingQueue(stack, "Training", service_environment=environment, quota_shares=shares)

        cdk.App.of(stack).synth()  # type: ignore[union-attr]

    @pytest.mark.parametrize(
        ("change", "problem"),
        [
            (lambda q: setattr(q.quota_shares["QS1"], "state", "PAUSED"), "shares.QS1.state: 'PAUSED': input should"),
            (lambda q: setattr(q.job_queue, "state", "PAUSED"), "state: 'PAUSED': input should be"),
            (
                lambda q: setattr(q.job_queue.service_environment, "capacity_limits", []),
                "service_environment.capacity_limits: 0 capacity limits; 1 to 5 are allowed",
            ),
        ],
        ids=["share", "queue", "environment"],
    )
    def test_refuses_what_was_set_afterwards(
        self, stack: cdk.Stack, change: Callable[[QuotaTrainingQueue], None], problem: str
    ) -> None:
        made = queue(stack, QS1=options())
        change(made)

        with pytest.raises(RuntimeError, match=rf"\[Stack/Training/JobQueue\] policy: {re.escape(problem)}"):
            cdk.App.of(stack).synth()  # type: ignore[union-attr]

    def test_takes_what_was_set_afterwards_and_is_right(self, stack: cdk.Stack) -> None:
        made = queue(stack, QS1=options())
        made.quota_shares["QS1"].state = None
        made.job_queue.job_state_time_limit_actions = None

        cdk.App.of(stack).synth()  # type: ignore[union-attr]

    @pytest.mark.parametrize("acknowledged_at", [None, "stack", "share", "other share"])
    def test_refuses_an_instance_type_that_is_not_known_until_it_is_acknowledged(
        self, stack: cdk.Stack, acknowledged_at: str | None
    ) -> None:
        new = {"ml.g5.3xlarge": 1}
        made = QuotaTrainingQueue(
            stack,
            "Training",
            capacity_limits=ONE | new,
            quota_shares={"QS1": options(capacity_limits=new), "QS2": options()},
        )
        environment = cdk.Acknowledgment(id="Quota-Policy::QM008", reason="new since last week")
        scopes = {"stack": stack, "share": made.quota_shares["QS1"], "other share": made.quota_shares["QS2"]}
        cdk.Validations.of(made.job_queue).acknowledge(environment)
        if acknowledged_at is not None:
            cdk.Validations.of(scopes[acknowledged_at]).acknowledge(environment)

        raised = ""
        try:
            cdk.App.of(stack).synth()  # type: ignore[union-attr]
        except RuntimeError as error:
            raised = str(error)

        refused = "[Stack/Training/JobQueue] quota share QS1: 'ml.g5.3xlarge': SageMaker trains on ml.g5 in" in raised
        assert refused == (acknowledged_at in (None, "other share"))
        assert refused == bool(raised)

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
        stack = new_stack(app)
        l1_share(stack, l1_queue(stack).ref, unit="ml.p5.48xlarge")

        raised, _ = synthesised(app)

        assert "QM004" in raised

    def test_looks_at_a_queue_that_has_no_share_yet(self, app: cdk.App) -> None:
        l1_queue(new_stack(app))

        assert "QM108" in [violation["ruleName"] for violation in synthesised(app)[1]]

    def test_looks_at_shares_of_a_queue_that_is_not_declared(self, app: cdk.App) -> None:
        new_stack(app, "Empty")
        stack = new_stack(app)
        existing = QuotaJobQueue.from_job_queue_name(stack, "Existing", "gpus")
        share = QuotaShare(stack, "Share", job_queue=existing, quota_share_name="QS1", **vars(options()))
        share.add_property_override("State", "PAUSED")

        raised, violations = synthesised(app)

        assert "'PAUSED' is not one of ENABLED, DISABLED" in raised
        assert ("QM011", "error") in {(v["ruleName"], v["severity"]) for v in violations}

    def test_looks_at_nested_stacks(self, app: cdk.App) -> None:
        made = queue(cdk.NestedStack(cdk.Stack(app, "Outer"), "Inner"), QS1=options(), QS2=options())
        made.quota_shares["QS2"].add_property_override("State", "PAUSED")

        _, violations = synthesised(app)

        (found,) = [v for v in violations if v["ruleName"] == "QM011"]
        assert [where["constructPath"] for where in found["violatingConstructs"]] == [
            "Outer/Inner/Training/QuotaShares/QS2"
        ]

    def test_looks_at_every_stage(self, app: cdk.App) -> None:
        for name in ("Dev", "Prod"):
            stack = TrainingQueueStack(cdk.Stage(app, name), "Announced")
        stack.queue.quota_shares["QS2"].add_property_override("State", "PAUSED")

        _, violations = synthesised(app)

        (found,) = [v for v in violations if v["ruleName"] == "QM011"]
        assert [where["constructPath"] for where in found["violatingConstructs"]] == [
            "Prod/Announced/Training/QuotaShares/QS2"
        ]

    @pytest.mark.parametrize(
        ("queue_key", "run_on"),
        [("", {"Stack/Small/JobQueue", "Stack/Stock"}), ("queue: gpus\n", {"Stack/Small/JobQueue"})],
        ids=["no queue: all of them", "a queue: that one"],
    )
    def test_a_scenario_runs_on_every_queue_unless_it_names_one(
        self, app: cdk.App, tmp_path: Path, queue_key: str, run_on: set[str]
    ) -> None:
        """It fails on both small queues and holds on the large one, and one of the small ones is made of L1s."""
        scenario = tmp_path / "two.yaml"
        job = "{name: job, share: QS1, instance_count: 2, duration: 1h}"
        scenario.write_text(f"{queue_key}jobs:\n  - {job}\nexpect:\n  - {{job: job, starts_within: 0s}}\n")
        stack = new_stack(app)
        queue(stack, "Small", QS1=options(), job_queue_name="gpus")
        queue(stack, "Large", QS1=options(capacity_limits={"ml.g5.xlarge": 2}), capacity=2)
        l1_share(stack, l1_queue(stack, name="Stock").ref)

        _, violations = synthesised(app, scenarios=[scenario])

        failed = [v for v in violations if v["ruleName"] == "scenario-two"]
        assert {where["constructPath"] for v in failed for where in v["violatingConstructs"]} == run_on
        assert {v["severity"] for v in failed} == {"error"}

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
        l1_share(stack, l1_queue(stack).ref, unit="ml.p5.48xlarge")
        cdk.Validations.of(stack).acknowledge(cdk.Acknowledgment(id="Quota-Policy::QM004", reason="to come on Monday"))

        raised, violations = synthesised(app)

        assert raised == ""
        assert "QM004" not in [v["ruleName"] for v in violations]
        assert "to come on Monday" in json.dumps(report_of(app)["suppressedViolations"])

    def test_what_the_template_says_to_ignore_stays_in_the_report(self, app: cdk.App) -> None:
        stack = new_stack(app)
        share = l1_share(stack, l1_queue(stack).ref, unit="ml.p5.48xlarge")
        share.add_metadata("PolicyEngine", {"Ignore": [{"Finding": "QM004", "Because": "to come on Monday"}]})

        raised, violations = synthesised(app)

        assert raised == ""
        (found,) = [v for v in violations if v["ruleName"] == "QM004"]
        assert found["severity"] == "info"
        assert found["description"].startswith("ignored, because to come on Monday: ")

    @pytest.mark.parametrize(
        ("fail_on", "acknowledged", "told", "kept"),
        [
            ("error", False, ["warning"], []),
            ("error", True, [], ["submitters have it in their code"]),
            ("warning", False, ["error", "warning"], []),  # the construct's own warning fails nothing
            ("warning", True, [], ["submitters have it in their code"]),
        ],
    )
    def test_a_fixed_name_is_told_once_and_acknowledged_once(
        self, app: cdk.App, fail_on: str, acknowledged: bool, told: list[str], kept: list[str]
    ) -> None:
        stack = new_stack(app)
        queue(stack, QS1=options(resource_sharing=ResourceSharing.reserve()), job_queue_name="gpus")
        if acknowledged:
            reason = "submitters have it in their code"
            cdk.Validations.of(stack).acknowledge(cdk.Acknowledgment(id="Quota-Policy::QM110", reason=reason))

        raised, _ = synthesised(app, fail_on=fail_on)

        reports = json.loads((Path(app.outdir) / "validation-report.json").read_text())["pluginReports"]
        assert [v["severity"] for report in reports for v in report["violations"] if "QM110" in v["ruleName"]] == told
        assert kept == [
            suppression["reason"]
            for report in reports
            for violation in report.get("suppressedViolations", [])
            for suppression in [violation.get("acknowledgement", violation)]
        ]
        assert bool(raised) == ("error" in told)

    def test_a_fixed_name_of_an_l1_is_told_by_the_plugin(self, app: cdk.App) -> None:
        l1_queue(new_stack(app)).job_queue_name = "gpus"

        _, violations = synthesised(app)

        assert ("QM110", "warning") in {(v["ruleName"], v["severity"]) for v in violations}

    @pytest.mark.parametrize("part", ["load_source", "check", "load_scenario", "verify"])
    def test_a_crash_is_fatal_and_cannot_be_acknowledged(
        self, app: cdk.App, part: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def crash(*_: Any, **__: Any) -> None:
            raise ZeroDivisionError("the engine is broken")

        monkeypatch.setattr(f"policy_engine.{part}", crash)
        stack = new_stack(app)
        queue(stack, QS1=options())
        cdk.Validations.of(stack).acknowledge(cdk.Acknowledgment(id="Quota-Policy::engine", reason="never mind"))

        raised, violations = synthesised(app, scenarios=[WALKTHROUGH])

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
