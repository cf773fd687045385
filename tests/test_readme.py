"""The README and the documentation say what is so."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from policy_engine.workload.scenario import load_scenario
from tests.policy_engine.command import run

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def test_the_report_it_shows_is_the_report(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    [shown] = blocks(README, "text")
    # The README's is of the synthesised assembly: only the first lines name it.
    printed = run("verify", "examples/policy.yaml", "examples/walkthrough.yaml").stdout
    body = printed[printed.index("Expectations") :]
    assert shown[shown.index("Expectations") :] == body
    assert shown.startswith("policy    cloud assembly cdk.out (stack QuotaTraining), queue\n")


def test_its_first_screen_has_the_two_commands() -> None:
    head = README[: README.index("```text")]
    assert blocks(head, "console") == ["$ make report\n$ make test\n"]
    purpose = head.split("\n\n")[1]
    assert len(re.findall(r"\.(?:\s|$)", purpose)) == 3


def test_its_python_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    [code] = [block for block in blocks(README, "python") if block.startswith("import policy_engine")]
    defined: dict[str, Callable[[], None]] = {}
    exec(compile(code.replace("cdk.out", "examples/policy.yaml"), "README.md", "exec"), defined)  # noqa: S102
    monkeypatch.chdir(ROOT)
    tests = [function for name, function in defined.items() if name.startswith("test_")]
    assert len(tests) == 2
    for test in tests:
        test()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_to_a_file(page: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    missing = [link for link in links if "://" not in link and not (page.parent / link).exists()]
    assert missing == []


def test_the_scenario_of_the_documentation_is_one(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "scenarios.md").read_text(encoding="utf-8")
    [example] = blocks(text, "yaml")
    path = tmp_path / "scenario.yaml"
    path.write_text(example, encoding="utf-8")
    scenario = load_scenario(path)
    assert (len(scenario.file.jobs), len(scenario.expect)) == (2, 1)


def test_every_expectation_of_the_documentation_is_one(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "scenarios.md").read_text(encoding="utf-8")
    forms = re.findall(r"^\| `(\{.*?\})` \|", text, re.MULTILINE)
    assert len(forms) == 8
    path = tmp_path / "scenario.yaml"
    path.write_text(yaml.safe_dump({"expect": [yaml.safe_load(form) for form in forms]}), encoding="utf-8")
    assert [wanted.form for wanted in load_scenario(path).expect] == [
        "at", "job", "job", "share", "share", "queue", "always", "never",
    ]  # fmt: skip
