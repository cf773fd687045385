"""JUnit's XML keeps to the elements and attributes that every CI server knows."""

from xml.etree import ElementTree as ET

from policy_engine.report.junit import Case, Outcome, Suite, render

# Element to its attributes and children, as in the schema of Jenkins' xUnit plugin, which pytest's own file follows.
KNOWN = {
    "testsuites": ({"name", "tests", "failures", "errors", "time"}, {"testsuite"}),
    "testsuite": ({"name", "tests", "failures", "errors", "skipped", "time"}, {"properties", "testcase"}),
    "properties": (set(), {"property"}),
    "property": ({"name", "value"}, set()),
    "testcase": ({"name", "classname", "time"}, {"failure", "error", "skipped", "system-out"}),
    "failure": ({"message", "type"}, set()),
    "error": ({"message", "type"}, set()),
    "skipped": ({"message"}, set()),
    "system-out": (set(), set()),
}

CASES = [
    Case("holds", Outcome.PASSED, "it did"),
    Case("fails", Outcome.FAILED, "it did not", "it did not\nbecause it hurts\nf.yaml:3"),
    Case("open", Outcome.UNDECIDED, "10 states reached"),
    Case("accepted", Outcome.SKIPPED, "ignored because we know"),
]


def parsed(*suites: Suite) -> ET.Element:
    return ET.fromstring(render(suites).encode())  # noqa: S314


def test_every_element_and_attribute_is_known() -> None:
    root = parsed(Suite("s.yaml", CASES, [("engine", "1")]), Suite("t.yaml", [], []))
    for element in root.iter():
        attributes, children = KNOWN[element.tag]
        assert set(element.keys()) <= attributes, element.tag
        assert {child.tag for child in element} <= children, element.tag
    assert {element.tag for element in root.iter()} == KNOWN.keys()


def test_counts_are_those_of_the_cases() -> None:
    root = parsed(Suite("s.yaml", CASES, []), Suite("t.yaml", CASES[:2], []))
    counts = [{key: suite.get(key) for key in ("tests", "failures", "errors", "skipped")} for suite in root]
    assert counts == [
        {"tests": "4", "failures": "1", "errors": "1", "skipped": "1"},
        {"tests": "2", "failures": "1", "errors": "0", "skipped": "0"},
    ]
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("6", "2", "1")


def test_a_failure_has_a_message_and_the_whole_text() -> None:
    holds, fails, undecided, accepted = parsed(Suite("s.yaml", CASES, [])).iter("testcase")
    assert [child.tag for child in holds] == ["system-out"]
    assert (fails[0].get("message"), fails[0].text) == ("it did not", "it did not\nbecause it hurts\nf.yaml:3")
    assert (undecided[0].tag, undecided[0].text) == ("error", "10 states reached")
    assert (accepted[0].tag, accepted[0].get("message")) == ("skipped", "ignored because we know")


def test_what_xml_cannot_hold_is_written_out() -> None:
    hostile = "a\x1b[31m\x00\ufffe\ud800 <b>&amp;]]> \"'"
    case = Case(hostile, Outcome.FAILED, hostile, f"{hostile}\n{hostile}")
    [element] = parsed(Suite(hostile, [case], [(hostile, hostile)])).iter("testcase")
    written = "a\\x1b[31m\\x00\\ufffe\\ud800 <b>&amp;]]> \"'"
    assert (element.get("name"), element[0].get("message")) == (written, written)
    assert element[0].text == f"{written}\n{written}"
