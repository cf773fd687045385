"""The policy engine, mounted in a CDK app: what constructors cannot know is checked when the app is synthesised.

``ResolvedPolicy`` is added by the constructs themselves, where their constructors could not judge: a token, whose value
may be known by then, an instance type that this release does not know, an attribute that was set afterwards.
``QuotaPolicyValidation`` is added by the user, and looks at the templates: at every quota-managed queue of the app,
whatever it was declared with.
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
from constructs_quota.declared import FIXED_NAME, PLUGIN_NAME
from constructs_quota.declared_policy import NotKnownError
from constructs_quota.job_queue import QuotaJobQueue
from constructs_quota.scheduling_policy import QuotaSchedulingPolicy
from constructs_quota.service_environment import QuotaServiceEnvironment

ENGINE_RULE: Final = "engine"
"""Rule of the violation that says that the engine itself failed."""


@jsii.implements(constructs.IValidation)
class ResolvedPolicy:
    """Refuses a queue whose policy has a finding of severity error, unless that is acknowledged.

    Nothing else needs it: what has no token, is of known types and stays as it was declared, constructors have judged.
    An override of the template (``add_property_override``) is the plugin's to find, which reads templates.
    """

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
            # CDK says where it is.
            return [line.removeprefix(f"{self._queue.node.path}: ") for line in str(error).splitlines()]
        errors = [finding for finding in policy_engine.check(policy).findings if finding.severity == "error"]
        return [
            f"{'' if finding.share is None else f'quota share {finding.share}: '}{finding.message};"
            f" {finding.rule.remedy} (acknowledge {_id_of(finding)} to keep it)"
            for finding in errors
            if _id_of(finding) not in self._acknowledged(finding.share)
        ]

    def _acknowledged(self, share: str | None) -> set[str]:
        """The ids that are acknowledged at the share, else the queue, or at what contains it."""
        about = self._queue.quota_shares.get(share or "", self._queue)
        return {
            rule
            for scope in about.node.scopes
            for entry in scope.node.metadata
            if entry.type == cdk.Validations.ACKNOWLEDGED_RULES_METADATA_KEY
            for rule in entry.data
        }


def _id_of(finding: Any) -> str:
    return f"{PLUGIN_NAME}::{finding.id}"


@jsii.implements(cdk.IPolicyValidationPlugin)
class QuotaPolicyValidation:
    """A CDK validation plugin: the findings of ``check``, and scenarios, over every quota-managed queue of the app.

        Validations.of(app).add_plugins(QuotaPolicyValidation(scenarios=["examples/walkthrough.yaml"]))

    A finding is a violation of the rule of its id, such as ``Quota-Policy::QM101``, and an expectation that does not
    hold one of ``Quota-Policy::scenario-NAME``, by the name of the scenario's file. Both can be acknowledged with a
    reason (``Validations.of(scope).acknowledge``) and then stay in the report. So does a finding that the template
    itself says to ignore (``Metadata.PolicyEngine.Ignore``), for information.

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
        stacks: list[cdk.PolicyViolatingResource] = []
        try:
            stacks = _stacks(context)
            violations = list(self._violations(context, stacks))
        except Exception as error:
            violations = [_engine_failed(error, stacks)]
        failed = any(violation.severity in ("error", "fatal") for violation in violations)
        return cdk.PolicyValidationPluginReport(
            success=not failed, violations=violations, plugin_version=policy_engine.__version__
        )

    def _violations(
        self, context: cdk.IPolicyValidationContext, stacks: list[cdk.PolicyViolatingResource]
    ) -> Iterator[cdk.PolicyViolation]:
        assembly = _assembly_of(context.template_paths)
        source = None if assembly is None else policy_engine.load_source(assembly)
        if source is not None and (source.queues or source.declaration.stray_shares):
            findings = policy_engine.check(source).findings
            warned = _warned(context.app_construct) if any(map(_is_of_fixed_name, findings)) else set()
            for finding in findings:
                if not (self._fail_on == "error" and _is_of_fixed_name(finding) and _resource_of(finding) in warned):
                    yield self._of_finding(finding)
        for scenario in self._scenarios:
            yield from self._of_scenario(scenario, source, stacks)

    def _of_finding(self, finding: Any) -> cdk.PolicyViolation:
        severity = str(finding.severity)
        if severity == "warning" and self._fail_on == "warning":
            severity = "error"
        description = f"{finding.rule.title}: {finding.message}"
        if finding.is_ignored:
            severity = "info"
            description = f"ignored, because {finding.ignored_because}: {description}"
        return cdk.PolicyViolation(
            rule_name=finding.id,
            description=description,
            fix=finding.rule.remedy,
            severity=severity,
            violating_resources=[_resource(finding.place)],
        )

    def _of_scenario(
        self, scenario: Path, source: policy_engine.Source | None, stacks: list[cdk.PolicyViolatingResource]
    ) -> Iterator[cdk.PolicyViolation]:
        rule = _rule_of(scenario)
        try:
            wanted = policy_engine.load_scenario(scenario).queue
            all_queues = () if source is None else source.queues
            queues = [queue for queue in all_queues if wanted is None or wanted in _names(queue)]
            if source is None or not queues:
                what = "no quota-managed queue" if wanted is None else f"no queue {wanted!r}"
                raise policy_engine.InputError(f"{what} to run it on", file=str(scenario))
            for queue in queues:
                result = policy_engine.verify(source, scenario, queue=_names(queue)[-1], rests_on=False)
                for verdict in result.failed:
                    yield _violation(rule, f"{verdict.name}: {verdict.message}", [_resource(queue.queue.place)])
        except policy_engine.InputError as error:
            yield _violation(rule, str(error), stacks)


def _load_engine(runs_scenarios: bool) -> None:
    """Load what ``validate`` is going to use; should that fail, it is there that it matters."""
    with suppress(Exception):
        _ = policy_engine.check, policy_engine.load_source
        if runs_scenarios:
            _ = policy_engine.verify, policy_engine.load_scenario


def _rule_of(scenario: Path) -> str:
    return f"scenario-{scenario.stem}"


def _names(queue: Any) -> list[str]:
    """What a queue is called in a scenario or on the command line; the last one is no other queue's."""
    declared = queue.queue
    unique = f"{declared.template}/{declared.logical_id}" if declared.template else declared.logical_id
    return [declared.name, declared.logical_id, unique]


def _assembly_of(templates: Iterable[str]) -> Path | None:
    """The cloud assembly that holds the templates of an app or a stage; None where it has nothing of AWS Batch.

    Of nested stacks CDK names no template: they are files of the assembly beside those of their stacks.
    """
    files = [Path(template) for template in templates]
    folder = Path(os.path.commonpath([file.parent for file in files]))
    while not (folder / "manifest.json").exists() and folder != folder.parent:
        folder = folder.parent
    return folder if any(map(_declares_batch, [*files, *folder.rglob("*.nested.template.json")])) else None


def _declares_batch(template: Path) -> bool:
    return "AWS::Batch::" in template.read_text(encoding="utf-8")


def _warned(app: constructs.IConstruct) -> set[tuple[str, str]]:
    """The resources whose construct itself warns of a fixed name, which is not acknowledged: template, logical id."""
    return {
        (construct.stack.template_file, str(construct.stack.resolve(construct.logical_id)))
        for construct in app.node.find_all()
        if isinstance(construct, QuotaJobQueue | QuotaServiceEnvironment | QuotaSchedulingPolicy)
        and any(FIXED_NAME in str(entry.data) for entry in construct.node.metadata if entry.type == "aws:cdk:warning")
    }


def _is_of_fixed_name(finding: Any) -> bool:
    """Is it the finding that our constructs warn of themselves?"""
    return _id_of(finding) == FIXED_NAME


def _resource_of(finding: Any) -> tuple[str, str]:
    return Path(finding.place.file).name, str(finding.place.logical_id)


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
