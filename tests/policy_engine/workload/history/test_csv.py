from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.errors import InputError
from policy_engine.workload.history import read_history
from policy_engine.workload.history.assembling import Assembly
from policy_engine.workload.history.csv_reader import read_csv
from policy_engine.workload.history.history import Format, History
from policy_engine.workload.history.mapping import HistoryMap
from tests.policy_engine.workload.history.histories import GPUS, HEADER, SMALL, reading, rows, short, told

NEEDED = "submit_time_s, team, duration_s, instance_type (or gpus, with 'instances' in --map)"
KNOWN = "instance_count, job_id, priority, status, start_time_s, queue, qos, priority_raw"


EXPECTED = (
    "expected CSV with a header (submit_time_s, team, instance_type, instance_count, duration_s), JSON of AWS Batch's"
    " ListServiceJobs and DescribeServiceJob, or the output of sacct --parsable2 with its header"
)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "submit_time,team,instance_type,duration_s\n",
            f"1: no column 'submit_time_s' (is it 'submit_time'?); needed: {NEEDED}; known too: {KNOWN}",
        ),
        (
            "submit_time_s,team,duration_s\n1,a,5\n",
            f"1: no column 'instance_type'; needed: {NEEDED}; known too: {KNOWN}",
        ),
        (f"{HEADER}\n", " no jobs"),
        (
            rows("1,a,4,5", header="submit_time_s,team,gpus,duration_s"),
            " GPUs and no instance type; say in --map which 'instances' they are",
        ),
        (rows(f"x,a,{SMALL},1,5"), " none of 1 jobs can be used: 1 x no time of submission that can be read (line 2)"),
        ("", " the file is empty"),
        ("\x00", " the file is binary, not a job history"),
        ("hello\n", f"1: not a job history; {EXPECTED}"),
        (b"\x1f\x8bnonsense", " cannot be unpacked: Unknown compression method"),
        (b"submit_time_s,team\n\xff", "2: byte 0xff is not UTF-8 text"),
    ],
)
def test_what_is_wrong_with_a_file_is_one_line(tmp_path: Path, content: str | bytes, message: str) -> None:
    with pytest.raises(InputError) as caught:
        reading(tmp_path, content)
    assert str(caught.value) == f"{tmp_path / 'history'}:{message}"


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nothing: no such file$"):
        read_history(tmp_path / "nothing")


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (f"1,,{SMALL},1,5", "no team"),
        (f"1,a,{SMALL},1", "not as many fields as the header"),
        (f"1,a,{SMALL},1,5,9", "not as many fields as the header"),
        (f"1,a,{SMALL},1.5,5", "a number of instances or GPUs that cannot be read"),
        (f"1,a,{SMALL},two,5", "a number of instances or GPUs that cannot be read"),
        (f"1,a,{SMALL},nan,5", "a number of instances or GPUs that cannot be read"),
        (f"1,a,{SMALL},0,5", "asks for no instance or GPU"),
        (f"1,a,{SMALL},-1,5", "asks for no instance or GPU"),
        ("1,a,,1,5", "no instance type"),
        (f"nan,a,{SMALL},1,5", "no time of submission that can be read"),
        (f"1,a,{SMALL},1,inf", "a duration that is not a number"),
    ],
)
def test_a_row_that_cannot_be_used_is_counted(tmp_path: Path, row: str, reason: str) -> None:
    history = reading(tmp_path, rows(row, f"7,good,{SMALL},1,5", row))
    assert [job.share for job in history.jobs] == ["good"]
    assert told(history) == [f"2 x {reason} (line 2, line 4)"]
    with pytest.raises(InputError, match=rf"2 jobs are left out with --strict: 2 x {reason} \(line 2, line 4\)$"):
        reading(tmp_path, rows(row, f"7,good,{SMALL},1,5", row), strict=True)


def test_an_instance_is_the_default(tmp_path: Path) -> None:
    [job] = reading(tmp_path, f"team,submit_time_s,duration_s,instance_type\na,5,6,{SMALL}\n").jobs
    assert short(job) == ("line-2", "a", 0, 6, {SMALL: 1})


def test_lines_within_quotes_are_counted_as_lines(tmp_path: Path) -> None:
    text = rows(f'1,"a\nb",{SMALL},1,5', f"2,c,{SMALL},1,x")
    history = reading(tmp_path, text)
    assert [job.share for job in history.jobs] == ["a\nb"]
    assert told(history) == ["1 x a duration that is not a number (line 4)"]


@pytest.mark.parametrize(
    ("columns", "cells", "priorities", "priority", "remarks"),
    [
        ("priority", "7", {}, 7, []),
        ("priority", "7.0", {}, 7, []),
        ("priority", "", {"*": 3}, None, []),
        ("priority", "urgent", {"urgent": 100}, 100, []),
        ("priority", "7", {"7": 1}, 1, []),
        ("priority", "later", {"*": 3}, 3, []),
        ("priority", "10000", {}, None, ["10000"]),
        ("priority", "urgent", {}, None, ["urgent"]),
        ("qos", "urgent", {}, None, []),
        ("qos", "urgent", {"urgent": 4}, 4, []),
        ("queue,qos", ",urgent", {"urgent": 4}, 4, []),
        ("priority,qos", "2,urgent", {"urgent": 4}, 2, []),
        ("qos", "other", {"urgent": 4}, None, ["other"]),
    ],
)
def test_priorities(
    tmp_path: Path,
    columns: str,
    cells: str,
    priorities: dict[str, int],
    priority: int | None,
    remarks: list[str],
) -> None:
    text = rows(f"1,a,{SMALL},1,5,{cells}", header=f"{HEADER},{columns}")
    history = reading(tmp_path, text, priorities=priorities)
    assert history.jobs[0].priority == priority
    reason = "1 x a priority that is neither 0 to 9999 nor in the map's priorities: taken as none"
    assert told(history) == [f"{reason}: {word} (line 2)" for word in remarks]


@pytest.mark.parametrize(
    ("start", "started", "remarks"),
    [
        ("30", 20, []),
        ("", None, []),
        ("-1", None, []),
        ("soon", None, ["1 x a start that cannot be read: taken as not recorded: soon (line 2)"]),
    ],
)
def test_recorded_starts(tmp_path: Path, start: str, started: float | None, remarks: list[str]) -> None:
    history = reading(tmp_path, rows(f"10,a,{SMALL},1,5,{start}", header=f"{HEADER},start_time_s"))
    assert (list(history.started), told(history)) == ([started], remarks)


def test_teams_that_the_map_leaves_out_are_counted_and_no_loss(tmp_path: Path) -> None:
    text = rows(f"1,a,{SMALL},1,5", f"2,b,{SMALL},1,5", f"3,c,{SMALL},1,5")
    history = reading(tmp_path, text, teams={"b": None, "c": "a"}, strict=True)
    assert [job.share for job in history.jobs] == ["a", "a"]
    assert told(history) == ["1 x the map leaves the team out: b (line 3)"]


# --- all at once, or one by one ------------------------------------------------------------------------


CELLS = st.tuples(
    st.sampled_from(["0", "7", "7.5", "1e3", "1699999999", "2020-01-01", "x", "-5", "nan"]),
    st.sampled_from(["a", "b", "6214e9", " a", ""]),
    st.sampled_from([SMALL, "ml.g5.48xlarge", ""]),
    st.sampled_from(["1", "2", "1.0", "0", "", "two"]),
    st.sampled_from(["5", "5.25", "0", "", "-1", "inf", "x"]),
    st.sampled_from(["", "", "j1", "j2 "]),
    st.sampled_from(["", "4"]),
)
PLAIN = st.tuples(
    st.sampled_from(["0", "7", "7.5", "1e3"]),
    st.sampled_from(["a", "b", "6214e9"]),
    st.sampled_from([SMALL, "ml.g5.48xlarge", ""]),
    st.sampled_from(["1", "2", "1.0", ""]),
    st.sampled_from(["5", "5.25", "0"]),
    st.sampled_from(["", "j1", "j2 "]),
    st.sampled_from(["3", "16"]),
)


def outcome(text: str, *, plain: bool) -> object:
    """The history, or why there is none."""
    assembly = Assembly("f.csv", Format.CSV, HistoryMap(instances=GPUS, teams={"b": "c"}))
    try:
        read_csv(assembly, text, plain=plain)
        return assembly.history(strict=False)
    except InputError as error:
        return str(error)


TABLES = st.one_of(st.lists(CELLS, max_size=6), st.lists(PLAIN, min_size=1, max_size=6))
LINES = st.sampled_from(["", "", "", ",", "4,a", '5,"a,b",ml.g5.xlarge,1,5,,4', "\r", "6,a,ml.g5.xlarge,1,5,\r,4"])


@given(TABLES, LINES, st.sampled_from(["\n", "\r\n"]))
def test_all_rows_at_once_are_the_same_as_one_by_one(table: Sequence[tuple[str, ...]], last: str, end: str) -> None:
    header = f"{HEADER},job_id,gpus"
    text = rows(*(",".join(row) for row in table), last, header=header).replace("\n", end)
    assert outcome(text, plain=True) == outcome(text, plain=False)


def test_rows_that_need_no_care_are_taken_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("policy_engine.workload.history.csv_reader._Table.add", lambda *_: pytest.fail("one by one"))
    history = outcome(rows(f"3,a,{SMALL},1,5", f"1,b,{SMALL},2,5"), plain=True)
    assert isinstance(history, History)
    assert [short(job) for job in history.jobs] == [
        ("line-3", "c", 0, 5, {SMALL: 2}),
        ("line-2", "a", 2, 5, {SMALL: 1}),
    ]
