"""The page of the documentation about findings, made of the rules themselves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from policy_engine.findings.rule import Rule

_INTRODUCTION: Final = """\
<!-- Made by `python -m policy_engine.findings`; change the rules, not this page. -->

# Findings of `policy-engine check`

An id never changes its meaning. **error**: the service would refuse it, or nobody can mean it. **warning**: likely not
what was meant. **info**: worth knowing. `check` exits with 1 where a finding that is not ignored is an error, or a
warning with `--fail-on warning`.

The findings from [QM201](#qm201) on need a scenario as well: `policy-engine check POLICY --scenario FILE`, or
`check(policy, scenario="FILE")` in Python. Those from [QM301](#qm301) on are about a change, and it is
`policy-engine compare OLD NEW` that [finds them](comparing.md). Those from
[QM401](#qm401) on are about the account around a live queue: `policy-engine check queue:NAME --account`.

A rule says nothing about what it cannot know: a value that is known only at deployment is reported as
[QM000](#qm000), and the rules that need it are skipped for it.

## Ignoring a finding, with a reason

An ignored finding stays in every report, with the reason, and counts for nothing else.

- In a policy document, for the queue and everything in it, or for one share:

  ```yaml
  ignore:
    - {finding: QM106, share: QS1, because: the others are about to lend more}
  ```

- In a CloudFormation template, on the resource that the finding is about, or on the job queue for everything that
  belongs to it:

  ```yaml
  Metadata:
    PolicyEngine:
      Ignore:
        - {Finding: QM106, Because: the others are about to lend more}
  ```

- In a CDK app, with CDK's own acknowledgement of `Quota-Policy::` and the id, on the construct that the finding is
  about or one around it. It holds for the checks at synthesis ([QuotaPolicyValidation](constructs.md)) and for
  `policy-engine check cdk.out`:

  ```python
  cdk.Validations.of(queue).acknowledge(
      cdk.Acknowledgment(id="Quota-Policy::QM106", reason="the others are about to lend more")
  )
  ```

## Changing a severity

`policy-engine check --severity QM102=info --severity QM110=error`, or `check(..., severities={"QM102": "info"})` in
Python. It holds for every finding of that id.

## New instance types

[QM008](#qm008) knows the instance types that SageMaker had when the release was made. A size that a known family has
not got is an error, since families rarely grow; a family that is not known at all is a warning. If AWS has it by now,
ignore the finding with the reason; `simulate` and `verify` take any type that is well formed.
"""


def markdown(rules: Sequence[Rule]) -> str:
    """The whole page, in Markdown."""
    return "\n".join([_INTRODUCTION, *_table(rules), *(line for rule in rules for line in _section(rule))])


def _table(rules: Sequence[Rule]) -> Iterator[str]:
    yield "## All findings\n"
    yield "| id | severity | found when |"
    yield "|---|---|---|"
    for rule in rules:
        yield f"| [{rule.id}](#{rule.id.lower()}) | {rule.severity} | {rule.title} |"


def _section(rule: Rule) -> Iterator[str]:
    yield f"\n## {rule.id}\n"
    yield f"**{rule.severity}**: {rule.title}.\n"
    yield f"{rule.why}\n"
    yield f"*What to change*: {rule.remedy}.\n"
    yield f"*Source*: [{rule.source.name}]({rule.source.url})"
