"""``docs/choices.md`` is what the registry of open choices says, and the registry is whole."""

from dataclasses import asdict
from pathlib import Path

import pytest

from policy_engine.scheduler.choices import CHOICES, Choices, OpenChoice
from policy_engine.scheduler.handbook import markdown

PAGE = Path(__file__).parents[3] / "docs" / "choices.md"


def test_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == markdown(CHOICES) + "\n", (
        "run: python -m policy_engine.scheduler > docs/choices.md"
    )


def test_every_specified_choice_is_there_once_with_its_default() -> None:
    assert [choice.id for choice in CHOICES] == [f"C{number}" for number in range(1, 18)]
    defaults = {choice.name: choice.default for choice in CHOICES if choice.name != "stop_seconds"}
    assert defaults == asdict(Choices())


@pytest.mark.parametrize("choice", CHOICES, ids=lambda choice: choice.name)
def test_choice_is_told_in_full(choice: OpenChoice) -> None:
    section = PAGE.read_text(encoding="utf-8").split(f"\n## {choice.id}\n")[1].split("\n## ")[0]
    assert choice.meanings.keys() == set(choice.answers)
    for part in (
        choice.name,
        choice.question,
        choice.source,
        choice.reading,
        *choice.answers,
        *choice.meanings.values(),
    ):
        assert part in section
    assert choice.source
    assert not choice.question.endswith("?")
    assert not any(meaning.endswith(".") for meaning in choice.meanings.values())
    assert not choice.reading or choice.reading.endswith(".")
