"""Every snippet of docs/replaying.md does what the page says."""

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

import policy_engine
from policy_engine.cli import main
from policy_engine.workload import generator
from policy_engine.workload.history import load_map
from tests.synthesis import ROOT

PAGE = (ROOT / "docs" / "replaying.md").read_text(encoding="utf-8")
HISTORY = "submit_time_s,team,gpus,duration_s,queue\n0,6214e9,12,60,urgent\n1,legacy,1,60,\n2,other,2,60,\n"


def snippet(language: str, number: int = 0) -> str:
    """A fenced block of the page."""
    found: list[str] = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    return found[number]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The page's map and a history that it is for."""
    (tmp_path / "map.yaml").write_text(snippet("yaml"), encoding="utf-8")
    (tmp_path / "jobs.csv.gz").write_text(HISTORY, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_the_map_does_what_its_comments_say() -> None:
    history = policy_engine.read_history("jobs.csv.gz", load_map("map.yaml"))
    assert [(job.share, dict(job.demand), job.priority) for job in history.jobs] == [
        ("research", {"ml.g5.48xlarge": 2}, 100),
        ("product", {"ml.g5.12xlarge": 1}, None),
    ]
    assert [remark.subject for remark in history.remarks] == ["legacy"]


def test_the_python_prints_the_waits_of_each_share(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    share = "{capacity_limits: {ml.g5.12xlarge: 1, ml.g5.48xlarge: 2}, strategy: LEND, in_share_preemption: true}"
    (folder / "policy.yaml").write_text(
        "service_environment: {capacity_limits: {ml.g5.12xlarge: 2, ml.g5.48xlarge: 4}}\n"
        f"shares: {{research: {share}, product: {share}}}\n",
        encoding="utf-8",
    )
    code = snippet("python", 1).replace("cdk.out", "policy.yaml").replace("warm_up=21 * 86_400", "warm_up=1")
    exec(compile(code, "docs/replaying.md", "exec"), {})  # noqa: S102
    assert capsys.readouterr().out == "research None\nproduct Waits(mean=0.0, p50=0.0, p95=0.0, max=0.0)\n"


def test_the_first_command_shows_what_sharing_buys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    program, *arguments = shlex.split(snippet("sh").splitlines()[0])
    result = CliRunner().invoke(main, arguments)
    assert (program, result.exit_code) == ("policy-engine", 0)
    assert "What sharing buys and costs" in result.stdout


@pytest.fixture
def months(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two policies and the jobs of two months."""
    monkeypatch.chdir(tmp_path)
    policy = (ROOT / "examples" / "teams.yaml").read_text(encoding="utf-8")
    for name, text in (("old", policy), ("new", policy.replace("borrow_limit: 100", "borrow_limit: 10"))):
        (tmp_path / f"{name}.yaml").write_text(text, encoding="utf-8")
    for seed, name in enumerate(("may", "june")):
        jobs = generator.generate(generator.Shape(jobs=60, days=1), seed)
        (tmp_path / f"{name}.csv").write_text(generator.history_csv(jobs), encoding="utf-8")
    return tmp_path


@pytest.mark.unwatched
def test_the_sweep_and_its_python_share_their_results(months: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program, *arguments = shlex.split(snippet("sh", 1))
    result = CliRunner().invoke(main, [*arguments, "--workers", "1"])
    assert (program, result.exit_code) == ("policy-engine", 0)
    kept = (months / "sweep.jsonl").read_text(encoding="utf-8")
    assert len(kept.splitlines()) == 2 * 2 * 6
    exec(compile(snippet("python"), "docs/replaying.md", "exec"), {})  # noqa: S102
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["0", "1", "2", "3", "4", "5"]
    assert (months / "sweep.jsonl").read_text(encoding="utf-8") == kept


def test_the_generator_writes_a_history(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command, _, file = snippet("sh", 2).partition(">")
    _, _, module, *arguments = shlex.split(command)
    assert module == generator.__name__
    generator.main([*arguments[:3], "50", *arguments[4:]])
    (folder / file.strip()).write_text(capsys.readouterr().out, encoding="utf-8")
    assert len(policy_engine.read_history(file.strip()).jobs) > 40
