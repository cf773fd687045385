"""JUnit's XML, as CI servers read it: one test case for each expectation or finding.

The elements and attributes are those that Jenkins, GitLab and GitHub's test reporters all know. There is no time stamp:
the same result gives the same file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from xml.etree import ElementTree as ET

from policy_engine.report.escaping import visible, xml


class Outcome(StrEnum):
    """What became of a test case; the words are JUnit's elements."""

    PASSED = "passed"
    FAILED = "failure"
    UNDECIDED = "error"
    """No answer: it neither passed nor failed."""
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Case:
    """One test case."""

    name: str
    outcome: Outcome
    message: str
    """In one line."""
    text: str = ""
    """All that a reader of the failure wants to know, its place too: the schema has no attribute for that."""


@dataclass(frozen=True, slots=True)
class Suite:
    """The test cases of one scenario or policy."""

    name: str
    cases: Sequence[Case]
    properties: Sequence[tuple[str, str]]
    """What the results rest on."""


def render(suites: Sequence[Suite]) -> str:
    """The suites as an XML document."""
    counts = _counts(case for suite in suites for case in suite.cases)
    del counts["skipped"]
    root = ET.Element("testsuites", {"name": "policy-engine", **counts})
    for suite in suites:
        root.append(_suite(suite))
    ET.indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _suite(suite: Suite) -> ET.Element:
    element = ET.Element("testsuite", {"name": visible(suite.name), **_counts(suite.cases)})
    properties = ET.SubElement(element, "properties")
    for name, value in suite.properties:
        ET.SubElement(properties, "property", {"name": visible(name), "value": visible(value)})
    for case in suite.cases:
        element.append(_case(case, suite.name))
    return element


def _case(case: Case, classname: str) -> ET.Element:
    element = ET.Element("testcase", {"name": visible(case.name), "classname": visible(classname), "time": "0"})
    if case.outcome is Outcome.PASSED:
        ET.SubElement(element, "system-out").text = xml(case.message)
    else:
        result = ET.SubElement(element, case.outcome.value, {"message": visible(case.message)})
        if case.outcome is not Outcome.SKIPPED:
            result.set("type", case.outcome.value)
            result.text = xml(case.text or case.message)
    return element


def _counts(cases: Iterable[Case]) -> dict[str, str]:
    counted = Counter(case.outcome for case in cases)
    return {
        "tests": str(counted.total()),
        "failures": str(counted[Outcome.FAILED]),
        "errors": str(counted[Outcome.UNDECIDED]),
        "skipped": str(counted[Outcome.SKIPPED]),
        "time": "0",
    }
