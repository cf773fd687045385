"""Runs the command line in this process, in a folder of files, at 80 columns and without colour."""

import textwrap
from collections.abc import Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from policy_engine.cli import main

PLAIN: Mapping[str, str | None] = {
    "COLUMNS": "80",
    "NO_COLOR": None,
    "FORCE_COLOR": None,
    "TERM": "dumb",
    "POLICY_ENGINE_DEBUG": None,
}

POLICY = """
    queue: training
    service_environment:
      capacity_limits: {ml.g5.xlarge: 3}
    shares:
      QS1: {capacity_limits: {ml.g5.xlarge: 1}, strategy: LEND_AND_BORROW, borrow_limit: 200, in_share_preemption: true}
      QS2: {capacity_limits: {ml.g5.xlarge: 1}, strategy: LEND, in_share_preemption: false}
      QS3: {capacity_limits: {ml.g5.xlarge: 1}, strategy: RESERVE, in_share_preemption: false}
"""
SCENARIO = """
    jobs:
      - {name: med, share: QS1, priority: 2, instance_count: 2}
      - {name: owner, share: QS2, submit: 1m}
    until: 2m
    expect:
      - {job: owner, starts_within: 0s}
      - {job: med, preempted: 1, by: owner}
"""
FAILING = """
    jobs: [{name: med, share: QS1, instance_count: 2}, {name: owner, share: QS2, submit: 1m}]
    until: 2m
    expect: [{name: nobody is stopped, because: it hurts, job: med, preempted: 0}]
"""


def run(*arguments: str, **environment: str) -> Result:
    """The command's exit code, standard output and standard error."""
    return CliRunner().invoke(main, arguments, env={**PLAIN, **environment})


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a policy and a scenario in it."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "policy.yaml", POLICY)
    write(tmp_path, "scenario.yaml", SCENARIO)
    write(tmp_path, "failing.yaml", FAILING)
    return tmp_path


def write(folder: Path, name: str, content: str) -> None:
    """A file of the folder."""
    (folder / name).write_text(textwrap.dedent(content), encoding="utf-8")
