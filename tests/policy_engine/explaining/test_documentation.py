"""The page about explanations has every reason, and shows what the command says."""

from __future__ import annotations

from pathlib import Path

import pytest

from policy_engine.explaining import MEANINGS, Because
from tests.policy_engine.command import run

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "explaining.md").read_text(encoding="utf-8")


def test_the_page_has_every_reason_in_order() -> None:
    rows = [
        f"| `{because}` | {rule} | {text} |{f' {source} ' if source else ' '}|"
        for because, (rule, text, source) in ((because, MEANINGS[because]) for because in Because)
        if because is not Because.SERVED_FIRST
    ]
    assert [line for line in PAGE.splitlines() if line.startswith("| `")] == rows


def test_the_page_shows_what_the_command_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    _, _, block = PAGE.partition("```console\n$ policy-engine ")
    command, _, rest = block.partition("\n")
    shown = [line for line in rest.partition("```")[0].splitlines() if line != "..."]
    said = run(*command.split()).stdout
    assert "\n".join(shown) in said
