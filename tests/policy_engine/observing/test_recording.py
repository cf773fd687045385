"""A history is written line by line, goes on where it was broken off, and is what ``replay`` takes."""

import json
from pathlib import Path
from typing import Any

import pytest

import policy_engine
from policy_engine.errors import InputError
from policy_engine.observing import record
from policy_engine.observing.recording import history_lines, kept
from policy_engine.sources.live import open_queue
from tests.policy_engine.sources.live.account import Account, RefusalError, job

START = 1_790_000_000_000
SECRET = json.dumps(
    {
        "ResourceConfig": {"InstanceType": "ml.g5.xlarge", "InstanceCount": 1},
        "StoppingCondition": {"MaxRuntimeInSeconds": 60},
        "Environment": {"TOKEN": "secret"},
        "HyperParameters": {"lr": "secret"},
        "RoleArn": "secret",
    }
)


def ran(name: str, **more: Any) -> dict[str, Any]:
    return job(name, "SUCCEEDED", startedAt=START + 60_000, stoppedAt=START + 3_660_000, **more)


@pytest.fixture
def jobs(account: Account) -> Account:
    account.jobs = [ran(f"j{number}") for number in range(5)] + [job("waits", "RUNNABLE")]
    return account


def written(path: Path) -> list[str]:
    return [json.loads(line)["jobName"] for line in path.read_text(encoding="utf-8").splitlines()]


def test_replay_takes_it(jobs: Account, tmp_path: Path) -> None:
    path = tmp_path / "jobs.jsonl"
    assert record(open_queue("queue:training"), path, rate=1e6) == (6, 0)
    history = policy_engine.read_history(path)
    assert [one.name for one in history.jobs] == [f"j{number}" for number in range(5)]
    assert {one.duration for one in history.jobs} == {3600.0}
    policy = policy_engine.load_policy("queue:training")
    assert len(policy_engine.replay(policy, history).fitted.jobs) == 5
    assert jobs.asked["batch:ListServiceJobs"] == 9 + 2, "eight states, RUNNABLE twice; five jobs are three pages"


def test_what_has_ended_is_not_asked_for_again(jobs: Account, tmp_path: Path) -> None:
    path = tmp_path / "jobs.jsonl"
    record(open_queue("queue:training"), path, rate=1e6)
    jobs.asked.clear()
    jobs.jobs.append(ran("new"))

    assert record(open_queue("queue:training"), path, rate=1e6) == (2, 5)
    assert jobs.asked["batch:DescribeServiceJob"] == 2, "the one that waited, and the new one"
    assert written(path)[6:] == ["waits", "new"]


def test_it_goes_on_where_it_was_broken_off(jobs: Account, tmp_path: Path) -> None:
    path = tmp_path / "jobs.jsonl"
    jobs.refuse["DescribeServiceJob"] = [RefusalError("ClientException", "stop")]
    answer = jobs._DescribeServiceJob

    def breaking(asked: Any) -> Any:
        if asked["jobId"] == "id-j2":
            raise RefusalError("AccessDeniedException", "", 403)
        return answer(asked)

    jobs.refuse.clear()
    jobs._DescribeServiceJob = breaking  # type: ignore[method-assign]
    with pytest.raises(InputError, match="the credentials lack batch:DescribeServiceJob"):
        record(open_queue("queue:training"), path, rate=1e6)
    assert written(path) == ["waits", "j0", "j1"]
    with path.open("a", encoding="utf-8") as file:
        file.write('{"jobId":"id-j2","sta')

    jobs._DescribeServiceJob = answer  # type: ignore[method-assign]
    assert record(open_queue("queue:training"), path, rate=1e6) == (4, 2)
    assert written(path) == ["waits", "j0", "j1", "waits", "j2", "j3", "j4"]
    assert len(policy_engine.read_history(path).jobs) == 5


@pytest.mark.parametrize("content", ["a,b\n1,2\n", "[]\n", '{"jobs": []}\n'])
def test_a_file_of_something_else_is_left_alone(jobs: Account, tmp_path: Path, content: str) -> None:
    path = tmp_path / "jobs.jsonl"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=r"jobs\.jsonl:1: is no line of a history; name a new file"):
        record(open_queue("queue:training"), path, rate=1e6)
    assert path.read_text(encoding="utf-8") == content
    assert jobs.asked["batch:DescribeServiceJob"] == 0


def test_what_a_job_did_is_not_kept() -> None:
    told = ran("a", serviceRequestPayload=SECRET, tags={"owner": "secret"}, ResponseMetadata={"secret": 1})
    line = json.dumps(kept(told))
    assert "secret" not in line
    assert json.loads(kept(told)["serviceRequestPayload"]) == {
        "ResourceConfig": {"InstanceType": "ml.g5.xlarge", "InstanceCount": 1},
        "StoppingCondition": {"MaxRuntimeInSeconds": 60},
    }


@pytest.mark.usefixtures("jobs")
def test_lines_alone_and_progress() -> None:
    heard: list[str] = []
    lines = list(history_lines(open_queue("queue:training"), rate=1e6, tell=lambda what, _: heard.append(what)))
    assert len(lines) == 6
    assert heard[-1] == "job 6 of 6"


@pytest.mark.usefixtures("jobs")
def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written: no such file or directory"):
        record(open_queue("queue:training"), tmp_path / "gone" / "jobs.jsonl")
