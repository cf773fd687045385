"""Sweeps: the same results wherever they are made, and nothing made twice."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from policy_engine import Policy, Spreading
from policy_engine.errors import InputError, UndecidedError
from policy_engine.replaying import Case, ReplayOptions, Sweep, replay, sweep, sweeping, workers
from policy_engine.replaying.baselines import partitioned
from policy_engine.replaying.sweeping import shaken
from policy_engine.workload.history import History
from tests.policy_engine.replaying.cases import generated, history, job, policy, teams

pytestmark = pytest.mark.unwatched

POLICIES = {"lending": teams(), "partitions": partitioned(teams())}
HISTORIES = {"first": generated(0, 60, 1), "second": generated(1, 60, 1)}


def swept(spreading: Spreading, **changes: Policy) -> Sweep:
    return sweep({**POLICIES, **changes}, HISTORIES, shakes=1, seed=3, spreading=spreading)


@pytest.fixture(scope="module")
def alone() -> Sweep:
    """All of it in this process."""
    return swept(Spreading(1))


def test_a_sweep_is_every_history_and_its_copies_under_every_policy(alone: Sweep) -> None:
    assert [run.case for run in alone.runs] == [
        Case(policy, history, copy) for policy in POLICIES for history in HISTORIES for copy in (0, 1)
    ]
    for run in alone.runs:
        jobs = HISTORIES[run.case.history]
        if run.case.copy:
            jobs = shaken(jobs, 3, run.case.copy, 60)
        assert run.measures == replay(POLICIES[run.case.policy], jobs).measures
    assert [run.case.copy for run in alone.of("partitions", "second")] == [0, 1]


def test_results_are_the_same_from_two_processes(alone: Sweep) -> None:
    assert swept(Spreading(2)).runs == alone.runs


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """The address of a Dask cluster of two worker processes."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as here:
        yield here.scheduler_address


def test_results_are_the_same_from_a_dask_cluster(cluster: str, alone: Sweep) -> None:
    assert swept(Spreading(dask=cluster)).runs == alone.runs


def test_workers_of_a_cluster_need_the_same_engine(cluster: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "__version__", "9.9")
    with pytest.raises(InputError, match=r"the Dask worker tcp://\S+ has policy-engine \S+; here it is 9\.9"):
        swept(Spreading(dask=cluster))


def test_a_cluster_that_is_not_there_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "CONNECT_SECONDS", 0.2)
    with pytest.raises(InputError, match=r"no Dask scheduler at 'tcp://127\.0\.0\.1:1': .*such as tcp://host:8786"):
        swept(Spreading(dask="tcp://127.0.0.1:1"))


# --- what is kept ------------------------------------------------------------------------------------


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The queue of each policy that a replay is made of, in this process."""
    calls: list[str] = []

    def counted(policy: Policy, history: History, options: ReplayOptions) -> object:
        calls.append(next(iter(policy.shares)))
        return replay(policy, history, options)

    monkeypatch.setattr(sweeping, "replay", counted)
    return calls


def test_an_interrupted_sweep_goes_on_where_it_ended(tmp_path: Path, made: list[str], alone: Sweep) -> None:
    spreading = Spreading(1, results=tmp_path / "new" / "results.jsonl")
    told: list[int] = []

    def interrupt() -> None:
        told.append(len(made))
        if len(told) == 3:
            raise KeyboardInterrupt

    with suppress(KeyboardInterrupt):
        sweep(POLICIES, HISTORIES, shakes=1, seed=3, spreading=spreading, tell=interrupt)
    assert len(made) == 3
    made.clear()
    assert swept(spreading).runs == alone.runs
    assert len(made) == 5
    made.clear()
    assert swept(spreading).runs == alone.runs
    assert made == []


def test_what_is_kept_is_found_by_what_decides_it(tmp_path: Path, made: list[str]) -> None:
    spreading = Spreading(1, results=tmp_path / "results.jsonl")
    jobs = {"x": generated(0, 40, 1)}

    def runs(policy: Policy, histories: dict[str, History] = jobs, **asked: object) -> int:
        made.clear()
        sweep({"p": policy}, histories, spreading=spreading, **asked)  # type: ignore[arg-type]
        return len(made)

    assert runs(teams()) == 1
    assert runs(teams().model_copy(update={"queue": "another-name"}), seed=8) == 0  # of no copy
    assert runs(teams(), {"renamed": generated(0, 40, 1)}) == 0
    assert runs(partitioned(teams())) == 1
    assert runs(teams(), {"x": generated(1, 40, 1)}) == 1
    assert runs(teams(), options=ReplayOptions(warm_up=60)) == 1
    assert runs(teams(), shakes=1) == 1
    assert runs(teams(), shakes=2) == 1
    assert runs(teams(), shakes=1, seed=1) == 1
    assert runs(teams(), shakes=1, seconds=5.0) == 1


def test_a_line_that_was_cut_off_is_made_again(tmp_path: Path, made: list[str], alone: Sweep) -> None:
    path = tmp_path / "results.jsonl"
    swept(Spreading(1, results=path))
    text = path.read_text(encoding="utf-8")
    path.write_text(text[:-100], encoding="utf-8")
    made.clear()
    assert swept(Spreading(1, results=path)).runs == alone.runs
    assert len(made) == 1
    assert len(path.read_text(encoding="utf-8").splitlines()) == 8


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"submit_time_s,team\n", ":1: not a result that a sweep has kept"),
        (b'{"key": "a", "result": {}}\n', ":1: not a result that a sweep has kept"),
        (b"precious", ": not a file of results"),
        (b"\xff\xfe", ": not a file of results"),
    ],
)
def test_another_file_is_refused_and_left_as_it_is(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "mine.txt"
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        swept(Spreading(1, results=path))
    assert str(caught.value) == f"{path}{message}"
    assert path.read_bytes() == content


def test_a_folder_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="results cannot be kept: "):
        swept(Spreading(1, results=tmp_path / "file" / "results.jsonl"))


# --- what cannot be replayed ---------------------------------------------------------------------------


def test_a_policy_without_a_place_for_any_job_is_named() -> None:
    jobs = {"h": history([job("x", "nobody", 0, 5)])}
    with pytest.raises(InputError, match=r"jobs\.csv: policy two: the policy has no place for any of 1 jobs"):
        sweep({"one": policy(shares={**policy().shares, "nobody": policy().shares["b"]}), "two": policy()}, jobs)


def test_a_replay_without_an_end_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(*_: object) -> None:
        raise UndecidedError("jobs stop each other over and over")

    monkeypatch.setattr(sweeping, "replay", endless)
    with pytest.raises(UndecidedError, match="policy lending: jobs stop each other over and over"):
        swept(Spreading(1))
