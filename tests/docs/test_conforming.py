"""Every snippet of docs/conforming.md does what the page says."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from policy_engine.conforming import Standing
from policy_engine.conforming.conform import MOST_TRIES, STOP_WITHIN, TOLERANCE
from policy_engine.conforming.following import MOST_WAYS
from policy_engine.outcome.as_batch import history_text
from policy_engine.scheduler.choices import Choices
from tests.policy_engine.command import POLICY, run, write
from tests.policy_engine.conforming.setups import SETUPS
from tests.policy_engine.sources.live.account import ARN, Account, job
from tests.synthesis import ROOT

PAGE = (ROOT / "docs" / "conforming.md").read_text(encoding="utf-8")
EXAMPLE = """
    jobs:
      - {name: qs1_job_low, share: QS1, priority: 1, duration: 1h}
      - {name: qs1_job_high, share: QS1, priority: 3, submit: 1m, duration: 1h}
    events:
      - {at: 2m, update_priority: {job: qs1_job_low, priority: 4}}
      - {at: 1d, update_share: {share: QS1, capacity_limits: {ml.g5.xlarge: 2}}}
"""


def blocks(language: str) -> list[str]:
    found = re.findall(rf"^( *)```{language}\n(.*?)^\1```$", PAGE, re.MULTILINE | re.DOTALL)
    return [dedent(text) for _, text in found]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "policy.yaml", POLICY)
    write(tmp_path, "scenario.yaml", EXAMPLE)
    [events] = blocks("yaml")
    (tmp_path / events.splitlines()[0].removeprefix("# ")).write_text(events, encoding="utf-8")
    account = Account()
    account.queue |= {"jobQueueName": "gpu-training", "jobQueueArn": f"{ARN}:job-queue/gpu-training"}
    account.jobs = [job("a", "SUCCEEDED", startedAt=1_790_000_060_000, stoppedAt=1_790_003_660_000)]
    with account.reached():
        yield tmp_path


def test_the_commands_from_top_to_bottom(folder: Path) -> None:
    commands = [line.removeprefix("$ ") for block in blocks("console") for line in block.splitlines()]
    made = next(command for command in commands if "--history" in command)
    for command in commands:
        if "--events" in command:  # of a history in which something was done
            run(*shlex.split(made.replace("made.jsonl", "jobs.jsonl"))[1:])
        result = run(*shlex.split(command)[1:])
        assert result.exit_code == 0, f"{command}: {result.stderr}{result.stdout}"
    assert (folder / "made.jsonl").exists()


def test_the_python_prints_every_choice(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("simulate", "policy.yaml", "scenario.yaml", "--history", "made.jsonl").exit_code == 0
    [code] = blocks("python")
    exec(compile(code, "docs/conforming.md", "exec"), {})  # noqa: S102
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("C1 share_order ")
    assert len(lines) == 15
    assert (folder / "made.jsonl").exists()


def test_the_example_is_what_conform_prints(tmp_path: Path) -> None:
    setup = SETUPS["victims"][0]
    path = tmp_path / "jobs.jsonl"
    path.write_text(history_text(setup.run(Choices())), encoding="utf-8")
    write(tmp_path, "policy.yaml", "")
    found = setup.conformed(Choices(), path)
    victims = next(one for one in found.choices if one.choice.name == "victims")
    newest = next(answer.contradiction for answer in victims.answers if answer.answer == "newest")
    assert newest is not None
    shown = " ".join(blocks("text")[0].split())
    assert f"{victims.standing}: {', '.join(victims.fitting)}" in shown
    assert f"{newest.happened}; expected: {newest.expected}" in shown


def test_every_standing_and_every_bound_is_told() -> None:
    for standing in Standing:
        assert re.search(rf"^\| .*{standing.value}", PAGE, re.MULTILINE), standing
    assert f"than {MOST_TRIES}, or more than {MOST_WAYS} ways" in PAGE
    assert f"`--tolerance` ({TOLERANCE / 60:g} minutes" in PAGE
    assert f"`--stop-within` ({STOP_WITHIN / 60:g} minutes" in PAGE
