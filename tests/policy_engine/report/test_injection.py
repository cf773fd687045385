"""Names and reasons of a policy or scenario are shown as text, whatever they hold and wherever they are shown."""

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from markdown_it import MarkdownIt

from tests.policy_engine.command import folder, run

__all__ = ["folder"]

HOSTILE = {
    "HTML": "</script><b>x",
    "an image": "<img src=x onerror=alert(1)>",
    "rich": "[red]x[/red][link=http://a]",
    "a table": "a|b|c",
    "Markdown": "**x** _y_ `z` [l](http://a) ~~s~~ # h",
    "a list": "- x",
    "a fold": "</details></summary>",
    "a workflow command": "::error::x",
    "XML": "]]><failure>&amp;",
}
UNSEEN = {
    "ANSI": ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
    "8-bit ANSI": ("\x9b2Jx", "\\x9b2Jx"),
    "a link of the terminal": ("\x1b]8;;http://a\x07x", "\\x1b]8;;http://a\\x07x"),
    "bidi": ("\u202egnp.exe", "\\u202egnp.exe"),
    "a carriage return": ("fails\rholds", "fails holds"),
    "lines": ("one\n## two", "one ## two"),
    "a null": ("a\x00b", "a\\x00b"),
}
ALL = [*((text, text) for text in HOSTILE.values()), *UNSEEN.values()]
IDS = [*HOSTILE, *UNSEEN]


@pytest.fixture
def written(folder: Path, text: str) -> str:
    """The scenario that has the text as a job's name, and as an expectation's name and reason."""
    expect = [
        {"name": text, "because": text, "job": text, "preempted": 1},
        {"because": text, "at": 0, "running": [text]},
    ]
    scenario = {"jobs": [{"name": text, "share": "QS1"}], "until": 60, "expect": expect}
    # JSON: YAML's own reader refuses control characters before anything is shown
    (folder / "s.json").write_text(json.dumps(scenario), encoding="utf-8")
    policy = {
        "service_environment": {"capacity_limits": {"ml.g5.xlarge": 1}},
        "shares": {
            "QS1": {"capacity_limits": {"ml.g5.xlarge": 1}, "strategy": "RESERVE", "in_share_preemption": False}
        },
        "ignore": [{"finding": "QM108", "because": text}],
    }
    (folder / "p.json").write_text(json.dumps(policy), encoding="utf-8")
    return text


@pytest.mark.parametrize(("text", "shown"), ALL, ids=IDS)
@pytest.mark.usefixtures("written")
def test_the_terminal_shows_text(shown: str) -> None:
    for command in (["verify", "p.json", "s.json"], ["simulate", "p.json", "s.json"], ["check", "p.json"]):
        result = run(*command, FORCE_COLOR="1", TERM="xterm-256color", COLUMNS="200")
        assert shown in result.stdout
        # rich's own colours are all that is left of escapes
        for escape in ("\x1b[31mred", "\x1b]", "\x9b", "\u202e", "\r", "\x00", "\x07"):
            assert escape not in result.stdout


@pytest.mark.parametrize(("text", "shown"), ALL, ids=IDS)
@pytest.mark.usefixtures("written")
def test_markdown_shows_text(shown: str) -> None:
    for command in (["verify", "p.json", "s.json"], ["simulate", "p.json", "s.json"], ["check", "p.json"]):
        html = MarkdownIt("gfm-like", {"linkify": False}).render(run(*command, "--format", "markdown").stdout)
        root = ET.fromstring(f"<r>{html.replace('<br>', '<br/>')}</r>")  # noqa: S314
        cells = [" ".join("".join(cell.itertext()).split()) for cell in root.iter("td")]
        assert any(shown in cell for cell in cells)
        known = {"r", "h2", "h3", "p", "ul", "li", "em", "strong", "br", "details", "summary"}
        assert {element.tag for element in root.iter()} <= known | {"table", "thead", "tbody", "tr", "th", "td"}
        for table in root.iter("table"):
            assert len({len(row) for row in table.iter("tr")}) == 1


@pytest.mark.parametrize(("text", "shown"), ALL, ids=IDS)
@pytest.mark.usefixtures("written")
def test_files_for_machines_hold_text(text: str, shown: str) -> None:
    run("verify", "p.json", "s.json", "--junit", "j.xml", "--json", "r.json", "--sarif", "s.sarif")
    root = ET.parse("j.xml").getroot()  # noqa: S314
    assert next(case.get("name") for case in root.iter("testcase")) == shown
    assert len(list(root.iter("failure"))) == 1
    raw = Path("r.json").read_bytes()
    assert json.loads(raw)["expectations"][0]["because"] == text
    assert raw.isascii()
    [result] = json.loads(Path("s.sarif").read_bytes())["runs"][0]["results"]
    assert result["message"]["text"].startswith(f"{shown}: fails: ")


@pytest.mark.parametrize(("text", "shown"), ALL, ids=IDS)
def test_an_error_shows_text(folder: Path, text: str, shown: str) -> None:
    (folder / "s.json").write_text(json.dumps({"jobs": [{"name": "a", "share": text}]}), encoding="utf-8")
    error = run("simulate", "policy.yaml", "s.json").stderr
    assert error.startswith("s.json:1:25: jobs[0].share: no share ")
    assert error.count("\n") == 1
    assert error[:-1].isprintable()
    if shown == text:
        assert text in error
