"""The Markdown of a comment on a pull request: the verdict first, details folded, no longer than GitHub takes."""

import re
from pathlib import Path

import pytest
import yaml
from markdown_it import MarkdownIt

from policy_engine.report.blocks import Badge, Column, Details, Group, Name, Page, Section, Table, Text, Tone
from policy_engine.report.markdown import MOST, render
from tests.policy_engine.command import POLICY, folder, run, write

__all__ = ["folder"]

RENDERED = MarkdownIt("gfm-like", {"linkify": False})


def comment(*arguments: str) -> str:
    return run(*arguments, "--format", "markdown").stdout


def headings(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("#")]


def unfolded(text: str) -> str:
    """What is seen before anybody opens anything."""
    return re.sub(r"<details>.*?</details>", "", text, flags=re.DOTALL)


# --- what comes first ----------------------------------------------------------------------------------


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("arguments", "first"),
    [
        (["check", "policy.yaml"], "## ✅ **holds**: 0 errors, 1 warning, 2 for information"),
        (["check", "policy.yaml", "--fail-on", "warning"], "## ❌ **fails**: 0 errors, 1 warning, 2 for information"),
        (["verify", "policy.yaml", "scenario.yaml"], "## ✅ **holds**: 2 of 2 expectations hold"),
        (["verify", "policy.yaml", "failing.yaml"], "## ❌ **fails**: 0 of 1 expectation holds"),
    ],
)
def test_the_verdict_is_the_first_line(arguments: list[str], first: str) -> None:
    assert comment(*arguments).splitlines()[0] == first


@pytest.mark.usefixtures("folder")
def test_a_check_shows_its_findings_and_folds_what_shares_can_count_on() -> None:
    text = comment("check", "policy.yaml")
    assert headings(text)[1:] == ["### Findings", "### What the shares of training can count on"]
    shown = unfolded(text)
    assert "QM108" in shown
    assert "Guaranteed" in text
    assert "Guaranteed" not in shown
    assert "the live service was not consulted" not in shown


def test_an_ignored_finding_stays(folder: Path) -> None:
    write(folder, "p.yaml", f"{POLICY}    ignore: [{{finding: QM108, because: the team watches the queue}}]\n")
    text = unfolded(comment("check", "p.yaml"))
    assert "**ignored**" in text
    assert "ignored because the team watches the queue" in text


@pytest.mark.usefixtures("folder")
def test_where_something_fails_only_that_is_shown(folder: Path) -> None:
    scenario = yaml.safe_load((folder / "failing.yaml").read_text(encoding="utf-8"))
    scenario["expect"].append({"name": "the owner starts", "job": "owner", "starts_within": 0})
    (folder / "mixed.yaml").write_text(yaml.safe_dump(scenario), encoding="utf-8")
    text = comment("verify", "policy.yaml", "mixed.yaml")
    shown = unfolded(text)
    assert "nobody is stopped" in shown
    assert "because it hurts" in shown
    assert "mixed.yaml:" in shown
    assert "the owner starts" not in shown
    assert "<summary>1 expectation that holds</summary>" in text
    assert "the owner starts" in text
    for folded in ("Events", "Jobs", "Shares", "Preemptions", "What this rests on"):
        assert f"<summary>{folded}</summary>" in text


@pytest.mark.usefixtures("folder")
def test_where_all_holds_it_is_shown() -> None:
    assert "owner starts within 0s" in unfolded(comment("verify", "policy.yaml", "scenario.yaml"))


def test_of_many_that_hold_only_the_number_is_shown(folder: Path) -> None:
    expect = [{"name": f"expectation {n}", "job": "a", "preempted": 0} for n in range(21)]
    scenario = {"jobs": [{"name": "a", "share": "QS1"}], "until": 9, "expect": expect}
    (folder / "s.yaml").write_text(yaml.safe_dump(scenario), encoding="utf-8")
    text = comment("verify", "policy.yaml", "s.yaml")
    assert "<summary>21 expectations that hold</summary>" in text
    assert "expectation 3" not in unfolded(text)


# --- nothing is obeyed -----------------------------------------------------------------------------------


@pytest.mark.usefixtures("folder")
def test_nobody_is_notified_wherever_a_name_stands(folder: Path) -> None:
    name = "@octocat #12 </summary>"
    expect = [{"name": name, "because": name, "job": name, "preempted": 1}]
    scenario = {"jobs": [{"name": name, "share": "QS1"}], "until": 9, "expect": expect}
    (folder / "s @octocat.yaml").write_text(yaml.safe_dump(scenario), encoding="utf-8")
    commands = (
        ["verify", "policy.yaml", "s @octocat.yaml", "scenario.yaml"],
        ["simulate", "policy.yaml", "s @octocat.yaml"],
        ["explain", "policy.yaml", "s @octocat.yaml", "--job", name],
    )
    for command in commands:
        text = comment(*command)
        assert "octocat" in text
        assert not re.search(r"@\w|#\d", text)
        html = RENDERED.render(text)
        assert html.count("<details>") == html.count("</summary>") == html.count("</details>")


def test_a_summary_is_shown_as_text() -> None:
    page = Page("x", "t", Badge("holds"), [], [Section("s", "S", [Details("<b>@octocat & co", [Text("y")])])])
    assert "<details><summary>&lt;b&gt;@<!-- -->octocat &amp; co</summary>" in render(page)


# --- how long it may be ----------------------------------------------------------------------------------


def table(rows: int, caption: str = "") -> Table:
    return Table(caption, [Column("Name")], [(Name(f"row {number} {'x' * 90}"),) for number in range(rows)])


def page(*sections: Section) -> Page:
    return Page("verify", "t", Badge("fails", Tone.BAD), [("policy", "p")], sections, [("AWS", "not consulted")])


def test_a_short_report_is_whole() -> None:
    text = render(page(Section("a", "A", [table(10)]), Section("b", "B", [Details("More", [table(10)])])))
    assert text.count("| row ") == 20
    assert "Left out" not in text


def test_what_is_folded_goes_first_and_is_named() -> None:
    long = page(
        Section("a", "A", [table(100), Details("Few", [table(100)])]),
        Section("b", "B", [Details("Many", [table(500)]), Details("More", [table(5)])]),
    )
    text = render(long)
    assert len(text) <= MOST
    assert "Left out, as a comment on GitHub has 65,536 characters: Many, More." in text
    # what is folded in the section before it fits
    assert text.count("| row ") == 200
    assert "<summary>Few</summary>" in text
    assert "AWS: not consulted" in text


def test_then_tables_are_cut_and_say_so() -> None:
    text = render(page(Section("a", "A", [table(2_000, "Failures"), Group("G", [table(3_000)])])))
    assert len(text) <= MOST
    assert "*Failures: the first 187 of 2,000*" in text
    assert "*the first 187 of 3,000*" in text
    assert text.count("| row ") == 2 * 187
    assert text.startswith("## ❌ **fails**: t\n")


def test_a_whole_report_of_a_command_fits(folder: Path) -> None:
    jobs = [{"name": f"job-{n}", "share": "QS1", "submit": n, "duration": 5} for n in range(300)]
    expect = [{"job": f"job-{n}", "starts_within": 0, "because": "x" * 200} for n in range(300)]
    (folder / "s.json").write_text(yaml.safe_dump({"jobs": jobs, "until": 4000, "expect": expect}), encoding="utf-8")
    (folder / "s.json").rename(folder / "s.yaml")
    text = comment("verify", "policy.yaml", "s.yaml")
    assert len(text) <= MOST
    assert "of 298*" in text
    assert "Left out, as a comment on GitHub has 65,536 characters: Events, Jobs, Shares, Preemptions." in text
