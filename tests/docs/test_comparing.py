"""Every snippet of docs/comparing.md does what the page says."""

import re
import shlex
from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from policy_engine.cli import main
from policy_engine.comparison import Word, differences
from policy_engine.scheduler.choices import Choices
from policy_engine.sources import load_policy
from tests.policy_engine.command import PLAIN
from tests.synthesis import ROOT

PAGE = (ROOT / "docs" / "comparing.md").read_text(encoding="utf-8")


def snippets(language: str) -> list[str]:
    """The fenced blocks of a language."""
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


COMMANDS = [line for block in snippets("sh") for line in block.replace("\\\n", " ").splitlines()]
NEEDS_MORE = ("queue:", "build/pipeline")
"""An account, or an assembly that the pipeline made: of these the options are looked at alone."""


@cache
def run(command: str) -> Result:
    """What it came to; in whichever test it was run first, the folder is the reader's."""
    program, *arguments = shlex.split(command)
    assert program == "policy-engine"
    return CliRunner().invoke(main, arguments, env=PLAIN)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A reader's folder, with the examples and the page's policy in it."""
    path = tmp_path_factory.mktemp("reader")
    (text,) = snippets("yaml")
    (path / "policy.yaml").write_text(text, encoding="utf-8")
    (path / "examples").symlink_to(ROOT / "examples")
    return path


@pytest.mark.parametrize(
    "command", [command for command in COMMANDS if not any(more in command for more in NEEDS_MORE)]
)
def test_every_command_runs(command: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    result = run(command.split(" --html")[0])
    assert result.exit_code == 0, result.stderr


@pytest.mark.parametrize("command", [command for command in COMMANDS if any(more in command for more in NEEDS_MORE)])
def test_the_options_of_the_others_exist(command: str) -> None:
    _, name, *arguments = shlex.split(command)
    known = {option for parameter in main.commands[name].params for option in parameter.opts}
    assert {argument for argument in arguments if argument.startswith("--")} <= known


def test_the_first_command_shows_what_the_page_shows(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    shown = run(COMMANDS[0]).stdout
    for text in snippets("text"):
        assert text in shown


def test_the_witness_fails_under_the_new_policy(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    run("policy-engine compare examples/teams.yaml examples/teams_changed.yaml --witnesses witnesses")
    assert run("policy-engine verify examples/teams_changed.yaml witnesses/speech.yaml").exit_code == 1


def test_without_lending_the_walkthrough_has_nothing_to_take_back(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    (command,) = [command for command in COMMANDS if "walkthrough" in command]
    shown = run(command).stdout
    assert re.search(r"qs1_job_med +QS1 +starts at 0s +never starts", shown)
    assert re.search(r"QS1 runs on its own instance and +holds +fails", shown)


def test_the_python_prints_words_and_witnesses(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    (code,) = snippets("python")
    exec(compile(code, "docs/comparing.md", "exec"), {})  # noqa: S102
    words, hit, *witnesses = capsys.readouterr().out.splitlines()
    assert words == (
        "{'research': 'worse', 'tests': 'better', 'vision': 'mixed', 'speech': 'worse', 'language': 'worse'}"
    )
    assert hit == "False ['speech', 'language']"
    assert [line.split()[0] for line in witnesses] == ["research", "vision", "speech", "language"]


def test_every_word_and_finding_of_the_page_is_there() -> None:
    assert [word for word in Word if f"| {word} |" not in PAGE] == []
    old, new = (load_policy(ROOT / "examples" / f"{name}.yaml") for name in ("teams", "teams_changed"))
    told = {one.measure for of_share in differences(old, new, Choices()).values() for one in of_share}
    assert len(told) > 3, "the example shows most of what there is"
