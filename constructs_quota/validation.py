"""The policy engine, mounted in a CDK app: what constructors cannot know is checked when the app is synthesised.

``ResolvedPolicy`` is added by the constructs themselves, where they were given a token: what it stands for may be known
by then. ``QuotaPolicyValidation`` is added by the user, and looks at the templates: at every quota-managed queue of
the app, whatever it was declared with.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Any, Final

import aws_cdk as cdk
import constructs
import jsii

import policy_engine
from constructs_quota.declared_policy import NotKnownError
from constructs_quota.job_queue import QuotaJobQueue

PLUGIN_NAME: Final = "Quota-Policy"
ENGINE_RULE: Final = "engine"
"""Rule of the violation that says that the engine itself failed."""


@jsii.implements(constructs.IValidation)
class ResolvedPolicy:
    """Refuses a queue whose policy has a finding of severity error, once its tokens are resolved."""

    def __init__(self, queue: QuotaJobQueue) -> None:
        self._queue = queue

    @jsii.member(jsii_name="validate")
    def validate(self) -> list[str]:
        """What is wrong, one text for each; a value that is only known at deployment is not."""
        try:
            policy = self._queue.policy
        except NotKnownError:
            return []
        except ValueError as error:
            return str(error).splitlines()
        found = policy_engine.check(policy).findings
        return [f"{finding.id} {finding.message}" for finding in found if finding.severity == "error"]


@jsii.implements(cdk.IPolicyValidationPlugin)
class QuotaPolicyValidation:
    """A CDK validation plugin: the findings of ``check``, and scenarios, over every quota-managed queue of the app.

        Validations.of(app).add_plugins(QuotaPolicyValidation(scenarios=["examples/walkthrough.yaml"]))

    A finding is a violation of the rule of its id, such as ``Quota-Policy::QM101``, and an expectation that does not
    hold one of ``Quota-Policy::scenario-NAME``, by the name of the scenario's file. Both can be acknowledged with a
    reason (``Validations.of(scope).acknowledge``) and then stay in the report.

    It fails closed: where the engine itself fails, that is a fatal violation, which cannot be acknowledged. (The CDK
    command takes a plugin that raises for one that found nothing.)
    """

    def __init__(self, *, scenarios: Sequence[str | os.PathLike[str]] = (), fail_on: str = "error") -> None:
        """Declare what is checked.

        Args:
            scenarios: Scenario files. One that names a queue runs on that, in every stack that has it; any other runs
                on every queue.
            fail_on: ``error`` or ``warning``: the least severity of a finding that fails the synthesis.

        Raises:
            ValueError: An argument is wrong.
        """
        if fail_on not in ("error", "warning"):
            raise ValueError(f"fail_on: {fail_on!r} is not one of error, warning")
        if isinstance(scenarios, str | os.PathLike):
            raise ValueError(f"scenarios: {scenarios!r} is one file; give a list of files")
        self._scenarios = [Path(scenario) for scenario in scenarios]
        self._fail_on = fail_on
        # The engine takes a quarter of a second to load. Declaring an app is mostly waiting for CDK's kernel.
        Thread(target=_load_engine, args=[bool(self._scenarios)], daemon=True).start()

    @property
    @jsii.member(jsii_name="name")
    def name(self) -> str:
        """What rule ids start with."""
        return PLUGIN_NAME

    @property
    @jsii.member(jsii_name="version")
    def version(self) -> str:
        """The engine's version."""
        return policy_engine.__version__

    @property
    @jsii.member(jsii_name="ruleIds")
    def rule_ids(self) -> list[str]:
        """The rules it may report."""
        return [ENGINE_RULE, *(_rule_of(scenario) for scenario in self._scenarios)]

    @jsii.member(jsii_name="validate")
    def validate(self, context: cdk.IPolicyValidationContext) -> cdk.PolicyValidationPluginReport:
        """The violations of the app's templates."""
        stacks = _stacks(context)
        try:
            violations = list(self._violations(context.template_paths, stacks))
        except Exception as error:
            violations = [_engine_failed(error, stacks)]
        failed = any(violation.severity in ("error", "fatal") for violation in violations)
        return cdk.PolicyValidationPluginReport(
            success=not failed, violations=violations, plugin_version=policy_engine.__version__
        )

    def _violations(
        self, templates: Sequence[str], stacks: list[cdk.PolicyViolatingResource]
    ) -> Iterator[cdk.PolicyViolation]:
        if not self._scenarios and not any("AWS::Batch::QuotaShare" in Path(t).read_text() for t in templates):
            return
        result = policy_engine.check(_assembly_of(templates))
        for finding in result.findings:
            if not finding.is_ignored:
                yield self._of_finding(finding)
        for scenario in self._scenarios:
            yield from self._of_scenario(scenario, result.source, stacks)

    def _of_finding(self, finding: Any) -> cdk.PolicyViolation:
        severity = str(finding.severity)
        if severity == "warning" and self._fail_on == "warning":
            severity = "error"
        return cdk.PolicyViolation(
            rule_name=finding.id,
            description=f"{finding.rule.title}: {finding.message}",
            fix=finding.rule.remedy,
            severity=severity,
            violating_resources=[_resource(finding.place)],
        )

    def _of_scenario(
        self, scenario: Path, source: policy_engine.Source, stacks: list[cdk.PolicyViolatingResource]
    ) -> Iterator[cdk.PolicyViolation]:
        rule = _rule_of(scenario)
        try:
            wanted = policy_engine.load_scenario(scenario).queue
            queues = [queue for queue in source.queues if wanted is None or wanted in _names(queue)]
            if not queues:
                raise policy_engine.InputError(f"no queue {wanted!r} to run it on", file=str(scenario))
            for queue in queues:
                result = policy_engine.verify(source, scenario, queue=_names(queue)[-1], rests_on=False)
                for verdict in result.failed:
                    yield _violation(rule, f"{verdict.name}: {verdict.message}", [_resource(queue.queue.place)])
        except policy_engine.InputError as error:
            yield _violation(rule, str(error), stacks)


def _load_engine(runs_scenarios: bool) -> None:
    """Load what ``validate`` is going to use; should that fail, it is there that it matters."""
    with suppress(Exception):
        _ = policy_engine.check
        if runs_scenarios:
            _ = policy_engine.verify, policy_engine.load_scenario


def _rule_of(scenario: Path) -> str:
    return f"scenario-{scenario.stem}"


def _names(queue: Any) -> list[str]:
    """What a queue is called in a scenario or on the command line; the last one is no other queue's."""
    declared = queue.queue
    unique = f"{declared.template}/{declared.logical_id}" if declared.template else declared.logical_id
    return [declared.name, declared.logical_id, unique]


def _assembly_of(templates: Iterable[str]) -> Path:
    """The cloud assembly that holds the templates of an app or a stage."""
    folder = Path(os.path.commonpath([str(Path(template).parent) for template in templates]))
    while not (folder / "manifest.json").exists() and folder != folder.parent:
        folder = folder.parent
    return folder


def _resource(place: Any) -> cdk.PolicyViolatingResource:
    """Where it is, in the words of the report; ``path`` starts at the top of the template: Resources, logical id."""
    locations = ["/".join(str(step) for step in place.path[2:])] if len(place.path) > 2 else []
    return cdk.PolicyViolatingResource(
        resource_logical_id=place.logical_id, template_path=place.file, locations=locations
    )


def _stacks(context: cdk.IPolicyValidationContext) -> list[cdk.PolicyViolatingResource]:
    """All stacks, for what is nobody's in particular: CDK takes a violation of nothing for an acknowledged one."""
    return [
        cdk.PolicyViolatingResource(construct_path=template.stack_construct_path, locations=[])
        for template in context.stack_templates
    ]


def _violation(rule: str, description: str, where: list[cdk.PolicyViolatingResource]) -> cdk.PolicyViolation:
    return cdk.PolicyViolation(rule_name=rule, description=description, severity="error", violating_resources=where)


def _engine_failed(error: Exception, stacks: list[cdk.PolicyViolatingResource]) -> cdk.PolicyViolation:
    return cdk.PolicyViolation(
        rule_name=ENGINE_RULE,
        description=f"the policy engine failed, so nothing is known: {type(error).__name__}: {error}",
        fix="mend what it says, or take the plugin out and know that nothing is checked",
        severity="fatal",
        violating_resources=stacks,
    )
