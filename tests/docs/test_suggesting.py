"""Every snippet of docs/suggesting.md does what the page says."""

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from policy_engine.cli import main
from tests.synthesis import ROOT

pytestmark = pytest.mark.unwatched
PAGE = (ROOT / "docs" / "suggesting.md").read_text(encoding="utf-8")


def snippet(language: str) -> str:
    """The fenced block of the page."""
    [found] = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    return str(found)


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Results for both snippets, which are about the same search; the current folder is the project's."""
    monkeypatch.chdir(ROOT)
    return tmp_path


def test_the_command_and_the_python_come_to_the_same(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program, *arguments = shlex.split(snippet("sh").replace("\\\n", " "))
    arguments[arguments.index("policy.yaml")] = str(kept / "policy.yaml")
    results = str(kept / "results.jsonl")
    result = CliRunner().invoke(main, [*arguments, "--workers", "1", "--results", results])
    assert (program, result.exit_code) == ("policy-engine", 0)
    code = snippet("python").replace("goals)\n", f"goals, spreading=policy_engine.Spreading(1, results={results!r}))\n")
    exec(compile(code, "docs/suggesting.md", "exec"), {})  # noqa: S102
    first, *frontier = capsys.readouterr().out.splitlines()
    assert f"all goals with {first.removeprefix('True ')} of 76 instances" in result.stdout
    assert len(frontier) > 5


def test_every_option_of_the_table_is_one_of_the_command() -> None:
    known = {name for parameter in main.commands["suggest"].params for name in parameter.opts}
    named = set(re.findall(r"`(--[a-z0-9-]+)", PAGE))
    assert named <= known
    assert len(named) > 15
