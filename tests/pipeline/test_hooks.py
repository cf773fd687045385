"""The pre-commit hooks, with the arguments that the documentation shows."""

import shlex
from typing import Any

import pytest
import yaml

from tests.policy_engine.command import run
from tests.synthesis import ROOT

HOOKS = {hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}
PAGE = (ROOT / "docs" / "pipelines.md").read_text(encoding="utf-8")
[SHOWN] = [block for text in PAGE.split("```yaml\n")[1:] if "repos" in (block := yaml.safe_load(text.split("```")[0]))]
USES = SHOWN["repos"][0]["hooks"]


def test_every_hook_is_shown() -> None:
    assert [use["id"] for use in USES] == list(HOOKS)


@pytest.mark.parametrize("use", USES, ids=lambda use: use["id"])
def test_a_hook_runs_as_it_is_shown(use: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    hook = HOOKS[use["id"]]
    monkeypatch.chdir(ROOT)
    program, *command = shlex.split(hook["entry"])

    done = run(*command, *use["args"])

    assert program == "policy-engine"
    assert not hook["pass_filenames"], "the files that changed are not what the command takes"
    assert done.exit_code == 0, done.output
