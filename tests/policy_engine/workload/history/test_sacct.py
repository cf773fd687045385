from pathlib import Path

import pytest

from policy_engine.errors import InputError
from policy_engine.workload.history import Format
from tests.policy_engine.workload.history.histories import GPUS, SACCT, SMALL, psv, reading, short, told

RAN = "2024-01-01T00:00:00|2024-01-01T00:01:00|2024-01-01T00:02:00|00:01:00|COMPLETED"


def test_accounts_are_teams_and_starts_are_recorded(tmp_path: Path) -> None:
    history = reading(
        tmp_path, psv(f"1|lab||{RAN}|gres/gpu=1|x"), instances=GPUS, teams={"lab": "QS1"}, time_zone="UTC"
    )
    assert history.format is Format.SACCT
    assert [short(job) for job in history.jobs] == [("1", "QS1", 0, 60, {SMALL: 1})]
    assert (list(history.started), str(history.zero_date)) == ([60], "2024-01-01 00:00:00+00:00")


@pytest.mark.parametrize(
    ("qos", "priorities", "priority"),
    [
        ("urgent", {"urgent": 100}, 100),
        ("urgent", {}, None),
        ("", {"urgent": 1}, None),
        ("x", {"urgent": 1, "*": 2}, 2),
    ],
)
def test_a_qos_becomes_a_priority(tmp_path: Path, qos: str, priorities: dict[str, int], priority: int | None) -> None:
    history = reading(tmp_path, psv(f"1|lab|{qos}|{RAN}|gres/gpu=1|x"), instances=GPUS, priorities=priorities)
    assert history.jobs[0].priority == priority


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "JobID|Account|State\n",
            "1: no field Submit, ElapsedRaw or Elapsed, AllocTRES or ReqTRES; add it to sacct's --format",
        ),
        (f"1|lab|{RAN}\n", "1: no header that names JobID; run sacct without --noheader"),
        (psv(f"1|lab||{RAN}|gres/gpu=1|x"), " GPUs; say in --map which 'instances' they are"),
        (psv(f"1|lab||{RAN}|gres/gpu=1"), " none of 1 jobs can be used: 1 x not as many fields as the header (line 2)"),
        (psv(f"1|||{RAN}|gres/gpu=1|x"), " none of 1 jobs can be used: 1 x no account (line 2)"),
    ],
)
def test_what_is_wrong_is_one_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        reading(tmp_path, text)
    assert str(caught.value) == f"{tmp_path / 'history'}:{message}"


def test_an_id_that_began_anew_is_another_job(tmp_path: Path) -> None:
    later = RAN.replace("2024", "2025")
    history = reading(tmp_path, psv(f"1|lab||{RAN}|gres/gpu=1|x", f"1|lab||{later}|gres/gpu=1|x"), instances=GPUS)
    assert [job.name for job in history.jobs] == ["1", "1~2"]
    assert "1 x an id that another job has too: numbered, not merged (1)" in told(history)


def test_what_was_asked_for_counts_where_nothing_was_allocated(tmp_path: Path) -> None:
    header = SACCT.replace("AllocTRES", "AllocTRES|ReqTRES")
    history = reading(tmp_path, psv(f"1|lab||{RAN}||gres/gpu=1|x", header=header), instances=GPUS)
    assert history.jobs[0].demand == {SMALL: 1}
