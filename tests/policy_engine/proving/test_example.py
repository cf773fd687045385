"""The example of the documentation: one expectation depends on the victims, the others hold."""

from pathlib import Path

import pytest

from tests.policy_engine.command import run

ROOT = Path(__file__).parents[3]


def test_the_example_depends_and_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    result = run("verify", "examples/policy.yaml", "examples/all_choices.yaml", "--all-choices", "--format", "markdown")
    assert (result.exit_code, result.stderr) == (1, "")
    assert "depends on victims" in result.stdout
    assert "depends: 2 of 3 expectations hold" in result.stdout.splitlines()[0].replace("*", "")
    # one run alone, of the default choices, shows nothing of it
    assert run("verify", "examples/policy.yaml", "examples/all_choices.yaml").exit_code == 0
