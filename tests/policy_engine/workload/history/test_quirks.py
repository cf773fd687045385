"""What real exports have in them: one test for each of the quirks that apply to the formats that are read.

The numbers are those of the study of public traces that the project's specification builds on. Quirk 26 (provenance)
is about data that no reader can tell apart; 24 is about the Standard Workload Format, which is refused by name.
"""

import gzip
import io
import json
import zipfile
from pathlib import Path

import pytest
from pydantic import ValidationError

from policy_engine.errors import InputError
from policy_engine.policy import Policy
from policy_engine.replaying import replay
from policy_engine.scheduler.jobs import Exit
from policy_engine.workload.history import Format, read_history
from tests.policy_engine.workload.history.histories import (
    GPUS,
    HEADER,
    LARGE,
    MEDIUM,
    SACCT,
    SMALL,
    listed,
    psv,
    reading,
    rows,
    short,
    summary,
    told,
    trace,
)
from tests.synthesis import ROOT


def test_01_unsorted_rows_are_put_in_order_of_submission(tmp_path: Path) -> None:
    history = reading(tmp_path, rows(f"300,a,{SMALL},1,5", f"100,b,{SMALL},1,5", f"200,c,{SMALL},1,5"))
    assert [(job.share, job.submit) for job in history.jobs] == [("b", 0), ("c", 100), ("a", 200)]


def test_02_jobs_of_one_second_stay_in_the_order_of_the_file(tmp_path: Path) -> None:
    history = reading(tmp_path, rows(*(f"7,t{n},{SMALL},1,5" for n in range(19))))
    assert [job.share for job in history.jobs] == [f"t{n}" for n in range(19)]


@pytest.mark.parametrize(
    ("unit", "submit", "duration", "seconds"),
    [
        ("ms", 2_868_294_000, 90_000, (2_868_294, 90)),
        ("s", 1_753_718_760, 90, (1_753_718_760, 90)),
        ("m", 10, 1.5, (600, 90)),
        ("h", 25.408055555555556, 0.025, (91_469, 90)),
    ],
)
def test_03_units_are_those_of_the_map(
    tmp_path: Path, unit: str, submit: float, duration: float, seconds: tuple[float, float]
) -> None:
    history = reading(tmp_path, rows(f"{submit},a,{SMALL},1,{duration}"), time_unit=unit)
    assert (history.zero, history.jobs[0].duration) == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("duration", "remark"),
    [
        ("0.5", "2 x half of the durations are below a second: is time_unit right?"),
        ("9000000", "2 x half of the durations are above 30 days: is time_unit right?"),
    ],
)
def test_03_an_implausible_unit_is_pointed_out(tmp_path: Path, duration: str, remark: str) -> None:
    history = reading(tmp_path, rows(f"0,a,{SMALL},1,{duration}", f"1,a,{SMALL},1,{duration}"))
    assert remark in told(history)


def test_03_aws_batch_times_in_seconds_are_read_as_seconds(tmp_path: Path) -> None:
    job = summary("j", createdAt=1_753_718_760, startedAt=1_753_718_800, stoppedAt=1_753_718_860)
    history = reading(tmp_path, listed(job))
    assert (history.zero, history.jobs[0].duration, history.started) == (1_753_718_760, 60, [40])
    assert told(history)[0].endswith("times in seconds, where AWS Batch gives milliseconds: read as seconds (j, j, j)")


def test_04_a_time_without_a_zone_is_in_the_zone_of_the_map(tmp_path: Path) -> None:
    text = rows(f"2017-10-07 01:11:39,a,{SMALL},1,5")
    assert str(reading(tmp_path, text, time_zone="America/Los_Angeles").zero_date) == "2017-10-07 08:11:39+00:00"
    history = reading(tmp_path, text)
    assert str(history.zero_date) == "2017-10-07 01:11:39+00:00"
    assert told(history) == ["1 x times state no zone: read as UTC (line 2)"]


def test_04_a_local_time_that_comes_twice_is_pointed_out(tmp_path: Path) -> None:
    text = rows(f"2017-11-05 01:30:00,a,{SMALL},1,5", f"2017-11-05 03:00:00,b,{SMALL},1,5")
    history = reading(tmp_path, text, time_zone="America/Los_Angeles")
    assert [job.submit for job in history.jobs] == [0, 9000]  # summer time's 01:30 is two and a half hours before 03:00
    twice = "1 x a local time that the clock showed twice or never: the earlier offset is taken (line 2)"
    assert told(history) == [twice]


def test_04_an_offset_in_the_text_is_heeded(tmp_path: Path) -> None:
    text = rows(f"2020-04-01T08:00:00+08:00,a,{SMALL},1,5", f"2020-04-01T00:00:30+00:00,b,{SMALL},1,5")
    history = reading(tmp_path, text, time_zone="America/Los_Angeles")
    assert ([job.submit for job in history.jobs], told(history)) == ([0, 30], [])


@pytest.mark.parametrize("first", [1_356_996_147, 5094, 0])
def test_05_time_begins_with_the_first_submission(tmp_path: Path, first: int) -> None:
    history = reading(tmp_path, rows(f"{first},a,{SMALL},1,5", f"{first + 60},b,{SMALL},1,5"))
    assert ([job.submit for job in history.jobs], history.zero) == ([0, 60], first)
    assert (history.zero_date is None) is (first < 1e8)


def test_06_a_long_empty_head_is_pointed_out(tmp_path: Path) -> None:
    text = rows(f"0,early,{SMALL},1,5", *(f"{86_400 * 100 + n},a,{SMALL},1,5" for n in range(150)))
    history = reading(tmp_path, text)
    assert history.jobs[1].submit == 86_400 * 100
    assert told(history) == ["151 x nearly all jobs come after 100d: measure from there with --warm-up"]


def test_07_run_times_may_reach_past_the_end_of_the_window(tmp_path: Path) -> None:
    history = reading(tmp_path, rows(f"0,a,{SMALL},1,4628226", f"60,a,{SMALL},1,5", f"70,a,{SMALL},1,5"))
    assert ([job.duration for job in history.jobs], told(history)) == ([4_628_226, 5, 5], [])


def test_08_whole_numbers_may_be_written_as_floats(tmp_path: Path) -> None:
    [job] = reading(tmp_path, rows(f"66.0,a,{SMALL},1.0,12537.0")).jobs
    assert short(job) == ("line-2", "a", 0, 12_537, {SMALL: 1})


def test_09_a_job_of_no_length_is_a_job(tmp_path: Path) -> None:
    text = rows(f"0,a,{SMALL},1,0,CANCELLED", f"1,a,{SMALL},1,0,COMPLETED", header=f"{HEADER},status")
    assert [(job.duration, job.exit) for job in reading(tmp_path, text).jobs] == [(0, Exit.FAILED), (0, Exit.SUCCEEDED)]


def test_10_missing_and_negative_durations_are_counted_and_left_out(tmp_path: Path) -> None:
    text = rows(*(f"{n},a,{SMALL},1,{seconds}" for n, seconds in enumerate(("-1", "", "-1359980917", "soon", "60"))))
    history = reading(tmp_path, text)
    assert len(history.jobs) == 1
    assert told(history) == [
        "2 x no duration (line 2, line 3)",
        "1 x a duration below zero (line 4)",
        "1 x a duration that is not a number (line 5)",
    ]
    assert history.lost == 4


NEVER = "never started: how long it would run is not known"


def test_11_jobs_that_never_started_are_left_out(tmp_path: Path) -> None:
    csv = rows(f"0,a,{SMALL},1,,Pending", f"0,a,{SMALL},1,0,Pending", f"0,a,{SMALL},1,5,ok", header=f"{HEADER},status")
    assert f"2 x {NEVER} (line 2, line 3)" in told(reading(tmp_path, csv))
    ran = "3|lab||2024-01-01T00:00:00|2024-01-01T00:00:00|2024-01-01T00:01:00|00:01:00|COMPLETED|gres/gpu=1|x"
    sacct = psv(
        "1|lab||2024-01-01T00:00:00|Unknown|Unknown|00:00:00|PENDING||x",
        "2|lab||2024-01-01T00:00:00|None|2024-01-01T01:00:00|00:00:00|CANCELLED by 38|gres/gpu=1|x",
        ran,
    )
    assert f"2 x {NEVER} (line 2, line 3)" in told(reading(tmp_path, sacct, instances=GPUS))
    batch = listed(
        summary("f", status="FAILED", startedAt=0), summary("r", status="RUNNABLE", startedAt=None), summary("s")
    )
    assert told(reading(tmp_path, batch))[0] == f"2 x {NEVER} (f, r)"


def test_12_jobs_that_still_run_end_with_the_history(tmp_path: Path) -> None:
    header = f"{HEADER},status,start_time_s"
    csv = rows(f"0,a,{SMALL},1,,RUNNING,40", f"10,a,{SMALL},1,90,ok,10", f"20,a,{SMALL},1,30,RUNNING,20", header=header)
    history = reading(tmp_path, csv)
    assert [job.duration for job in history.jobs] == [60, 90, 30]  # the history ends at 100
    running = "still running where the history ends: taken to end there"
    assert f"2 x {running} (line 4, line-2)" in told(history)
    batch = listed(summary("r", status="RUNNING", stoppedAt=None), summary("s", stoppedAt=1_700_000_400_000))
    assert [job.duration for job in reading(tmp_path, batch).jobs] == [300, 300]
    sacct = psv("7|lab||2024-01-01T00:00:00|2024-01-01T00:00:00|Unknown|22:32:22|RUNNING|gres/gpu=1|x")
    history = reading(tmp_path, sacct, instances=GPUS, time_zone="UTC")
    assert [job.duration for job in history.jobs] == [22 * 3600 + 32 * 60 + 22]
    assert told(history) == [f"1 x {running} (line 2)"]


def test_13_of_several_attempts_the_last_is_the_work_and_the_first_the_start(tmp_path: Path) -> None:
    ms = 1_700_000_000_000
    preempted = {"recentPreemptedAttempts": [{"startedAt": ms + 10_000, "stoppedAt": ms + 50_000}]}
    job = summary("p", preemptionSummary=preempted, attempts=[{"startedAt": ms + 100_000, "stoppedAt": ms + 160_000}])
    history = reading(tmp_path, listed(job))
    assert (history.jobs[0].duration, history.started) == (60, [10])
    assert told(history)[0] == "1 x more than one attempt: the run time of the last is taken as the work (p)"
    sacct = psv(
        "5|lab||2024-01-01T00:00:00|2024-01-01T00:00:10|2024-01-01T00:01:10|00:01:00|PREEMPTED|gres/gpu=1|x",
        "5|lab||2024-01-01T00:01:10|2024-01-01T00:02:00|2024-01-01T00:05:00|00:03:00|COMPLETED|gres/gpu=1|x",
    )
    history = reading(tmp_path, sacct, instances=GPUS, time_zone="UTC")
    assert [short(job) for job in history.jobs] == [("5", "lab", 0, 180, {SMALL: 1})]
    assert history.started == [10]
    assert told(history)[0].startswith("1 x rows of one job (sacct --duplicates)")


def test_14_jobs_of_any_size_are_read(tmp_path: Path) -> None:
    text = rows("0,ee9e8c,128,4", header="submit_time_s,team,gpus,duration_s")
    assert reading(tmp_path, text, instances=GPUS).jobs[0].demand == {LARGE: 16}


@pytest.mark.parametrize(
    ("gpus", "demand"),
    [("0.05", {SMALL: 1}), ("0.81", {SMALL: 1}), ("1", {SMALL: 1}), ("2", {MEDIUM: 1}), ("7", {LARGE: 1})],
)
def test_15_a_part_of_a_gpu_is_a_whole_instance(tmp_path: Path, gpus: str, demand: dict[str, int]) -> None:
    text = rows(f"0,a,{gpus},4", header="submit_time_s,team,gpus,duration_s")
    assert reading(tmp_path, text, instances=GPUS).jobs[0].demand == demand


def test_15_a_job_without_gpus_is_counted_and_left_out(tmp_path: Path) -> None:
    text = rows("0,a,0,4", "0,a,,4", "0,a,1,4", header="submit_time_s,team,gpus,duration_s")
    assert told(reading(tmp_path, text, instances=GPUS)) == [
        "1 x asks for no instance or GPU (line 2)",
        "1 x no instance type (line 3)",
    ]


def test_16_gpus_of_each_worker_are_told_from_a_total(tmp_path: Path) -> None:
    header = "submit_time_s,team,instance_type,instance_count,gpus,duration_s"
    text = rows("0,a,,176,8,4", f"0,a,{LARGE},2,16,4", "0,a,,1,16,4", "0,a,,,16,4", header=header)
    history = reading(tmp_path, text, instances=GPUS)
    assert [job.demand for job in history.jobs] == [{LARGE: 176}, {LARGE: 2}, {LARGE: 2}, {LARGE: 2}]
    assert told(history) == [
        "1 x GPUs beside a number of instances and no instance type: taken as those of each instance (line 2)"
    ]


@pytest.mark.parametrize(("gpus", "count"), [(12, 2), (20, 3), (24, 3), (13, 2)])
def test_17_odd_sizes_get_as_many_of_the_largest_as_hold_them(tmp_path: Path, gpus: int, count: int) -> None:
    text = rows(f"0,a,{gpus},4", header="submit_time_s,team,gpus,duration_s")
    assert reading(tmp_path, text, instances=GPUS).jobs[0].demand == {LARGE: count}


def test_18_teams_with_few_jobs_are_teams(tmp_path: Path) -> None:
    text = rows(*(f"{n},big,{SMALL},1,5" for n in range(20)), f"5,tiny,{SMALL},1,5")
    assert {job.share for job in reading(tmp_path, text).jobs} == {"big", "tiny"}


def test_19_jobs_of_a_team_whose_quota_is_zero_are_counted(tmp_path: Path) -> None:
    history = reading(tmp_path, rows(f"0,vcIya,{SMALL},1,5", f"1,vcJ,{SMALL},1,5"))
    share = {"capacity_limits": {SMALL: 1}, "strategy": "LEND", "in_share_preemption": False}
    policy = Policy.of({"service_environment": {"capacity_limits": {SMALL: 1}}, "shares": {"vcJ": share}})
    result = replay(policy, history)
    assert [job.name for job in result.run.workload.jobs] == ["line-3"]
    assert [(remark.subject, remark.count, remark.is_loss) for remark in result.fitted.remarks] == [("vcIya", 1, True)]
    with pytest.raises(ValidationError, match="0 is out of range"):
        Policy.of({"service_environment": {"capacity_limits": {SMALL: 0}}, "shares": {"vcIya": share}})


def test_20_rows_without_an_id_are_jobs_of_their_own_even_where_they_are_equal(tmp_path: Path) -> None:
    history = reading(tmp_path, rows(*[f"7,a,{SMALL},1,5"] * 65))
    assert [job.name for job in history.jobs] == [f"line-{n}" for n in range(2, 67)]
    assert told(history) == []


def test_20_an_id_that_comes_twice_gets_a_number(tmp_path: Path) -> None:
    ids = ["0", "x", "0", "0", "0~2", "x"]
    text = rows(*(f"{n},a,{SMALL},1,5,{job}" for n, job in enumerate(ids)), header=f"{HEADER},job_id")
    history = reading(tmp_path, text)
    assert [job.name for job in history.jobs] == ["0", "x", "0~2", "0~3", "0~2~2", "x~2"]
    assert told(history) == ["4 x an id that another job has too: numbered, not merged (0, 0, 0~2, ...)"]


def test_21_teams_that_look_like_numbers_are_text(tmp_path: Path) -> None:
    text = rows(f"0,6214e9,{SMALL},1,5", f"0,103959,{SMALL},1,5", f"0,0x1f,{SMALL},1,5", f"0,007,{SMALL},1,5")
    assert [job.share for job in reading(tmp_path, text).jobs] == ["6214e9", "103959", "0x1f", "007"]
    mapped = reading(tmp_path, text, teams={"6214e9": "QS1", "*": "QS2"}).jobs
    assert [job.share for job in mapped] == ["QS1", "QS2", "QS2", "QS2"]


@pytest.mark.parametrize(
    ("word", "exit_"),
    [
        ("COMPLETED", Exit.SUCCEEDED),
        ("Pass", Exit.SUCCEEDED),
        ("Succeeded", Exit.SUCCEEDED),
        ("Terminated", Exit.SUCCEEDED),
        ("CANCELLED by 380693", Exit.FAILED),
        ("PREEMPTED", Exit.FAILED),
        ("TIMEOUT", Exit.FAILED),
        ("NODE_FAIL", Exit.FAILED),
        ("OUT_OF_MEMORY", Exit.FAILED),
        ("Killed", Exit.FAILED),
    ],
)
def test_22_statuses_of_many_systems(tmp_path: Path, word: str, exit_: Exit) -> None:
    history = reading(tmp_path, rows(f"0,a,{SMALL},1,5,{word}", header=f"{HEADER},status"))
    assert (history.jobs[0].exit, told(history)) == (exit_, [])


def test_22_an_unknown_status_is_pointed_out(tmp_path: Path) -> None:
    history = reading(tmp_path, rows(f"0,a,{SMALL},1,5,FOO", header=f"{HEADER},status"))
    assert history.jobs[0].exit is Exit.SUCCEEDED
    assert told(history) == ["1 x an unknown status: taken as succeeded: FOO (line 2)"]


RAN = "2024-01-01T00:00:00|2024-01-01T00:00:00|2024-01-01T00:01:00|00:01:00|COMPLETED"


@pytest.mark.parametrize(
    ("tres", "demand"),
    [
        ("billing=12,cpu=12,gres/gpu=2,mem=31000M,node=1", {MEDIUM: 1}),
        ("billing=4,gres/gpu:p100=1,node=1", {SMALL: 1}),
        ("gres/gpu=4,gres/gpu:v100=4", {MEDIUM: 1}),
        ("gres/gpu:a=1,gres/gpu:b=3", {MEDIUM: 1}),
        ("cpu=8,gres/gpu=16,node=2", {LARGE: 2}),
    ],
)
def test_23_gpus_of_a_tres_string(tmp_path: Path, tres: str, demand: dict[str, int]) -> None:
    history = reading(tmp_path, psv(f"1|lab||{RAN}|{tres}|x"), instances=GPUS, time_zone="UTC")
    assert ([job.demand for job in history.jobs], told(history)) == ([demand], [])


def test_23_sacct_rows_that_are_no_jobs(tmp_path: Path) -> None:
    text = psv(
        f"1|lab||{RAN}|gres/gpu=1|x",
        f"1.batch|lab||{RAN}|gres/gpu=1|batch",
        f"1.0|lab||{RAN}|gres/gpu=1|env",
        "4103947_[91,100-102%2]|lab||2024-01-01T00:00:00|Unknown|Unknown|00:00:00|PENDING|gres/gpu=1|array",
        f"4103947_100|lab||{RAN}|gres/gpu=1|array",
        f"2|lab||{RAN}||no gpus",
    )
    history = reading(tmp_path, text, instances=GPUS, time_zone="UTC")
    assert [job.name for job in history.jobs] == ["1", "4103947_100"]
    assert told(history) == [
        f"4 x {NEVER} (line 5)",
        "1 x asks for no GPU (line 7)",
        "2 x a step of a job, not a job (sacct -X leaves them out) (line 3, line 4)",
    ]


@pytest.mark.parametrize(
    ("job", "tasks"), [("7_[1-3]", 3), ("7_[0-10:5]", 3), ("7_[4]", 1), ("7", 1), ("7_[1,3-4]", 3)]
)
def test_23_waiting_tasks_of_an_array_are_counted(tmp_path: Path, job: str, tasks: int) -> None:
    waiting = f"{job}|lab||2024-01-01T00:00:00|Unknown|Unknown|00:00:00|PENDING|gres/gpu=1|x"
    history = reading(tmp_path, psv(waiting, f"1|lab||{RAN}|gres/gpu=1|x"), instances=GPUS)
    assert history.lost == tasks


def test_23_the_job_name_may_hold_the_separator_and_any_letter(tmp_path: Path) -> None:
    text = psv(f"1|lab||{RAN}|gres/gpu=1|a|b à|c", f"2|lab||{RAN}|gres/gpu=1|")
    assert len(reading(tmp_path, text, instances=GPUS).jobs) == 2


def test_23_lines_that_end_with_the_separator(tmp_path: Path) -> None:
    text = psv(f"1|lab||{RAN}|gres/gpu=1|x|", header=f"{SACCT}|")
    assert len(reading(tmp_path, text, instances=GPUS).jobs) == 1


def test_23_days_and_fractions_of_elapsed(tmp_path: Path) -> None:
    header = "JobID|Account|Submit|State|AllocTRES|Elapsed"
    text = psv(
        "1|lab|2024-01-01T00:00:00|COMPLETED|gres/gpu=1|5-01:00:01",
        "2|lab|2024-01-01T00:00:00|COMPLETED|gres/gpu=1|00:15.057",
        "3|lab|2024-01-01T00:00:00|COMPLETED|gres/gpu=1|UNLIMITED",
        header=header,
    )
    history = reading(tmp_path, text, instances=GPUS, time_zone="UTC")
    assert [job.duration for job in history.jobs] == [5 * 86_400 + 3601, 15.057]
    assert told(history)[0] == "1 x no duration that can be read (line 4)"


def test_23_an_elapsed_that_contradicts_start_and_end_is_pointed_out(tmp_path: Path) -> None:
    row = "1|lab||2024-01-01T00:00:00|2024-01-01T00:00:00|2024-01-01T00:01:00|00:09:00|COMPLETED|gres/gpu=1|x"
    history = reading(tmp_path, psv(row), instances=GPUS, time_zone="UTC")
    assert history.jobs[0].duration == 540
    assert told(history) == ["1 x Elapsed is not End less Start: Elapsed is taken (line 2)"]


@pytest.mark.parametrize("text", ["; Version: 2.2\n1 0 -1 60 1\n", "1 0 3 60 4 -1 -1 4 60 -1 1 1 1 -1 -1 -1 -1 -1\n"])
def test_24_the_standard_workload_format_is_refused_by_name(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError, match="the Standard Workload Format is not read; expected CSV with a header"):
        reading(tmp_path, text)


PLAIN = rows(f"0,a,{SMALL},1,5", f"9,b,{SMALL},2,6")


def zipped(text: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("folder/jobs.csv", text)
    return buffer.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        PLAIN.encode(),
        PLAIN.encode() + b"\n\n",
        PLAIN.replace("\n", "\r\n").encode(),
        b"\xef\xbb\xbf" + PLAIN.encode(),
        PLAIN.encode("utf-16"),
        gzip.compress(PLAIN.encode()),
        zipped(PLAIN),
        PLAIN.replace(",", ";").encode(),
        PLAIN.replace(",", "\t").encode(),
        PLAIN.replace("0,a", '"0","a"').encode(),
        "\n".join(f"{n},{line}" for n, line in enumerate(PLAIN.splitlines())).encode(),
    ],
    ids=["as it is", "blank lines", "CRLF", "mark", "UTF-16", "gzip", "zip", "semicolons", "tabs", "quotes", "index"],
)
def test_25_files_as_programs_write_them(tmp_path: Path, content: bytes) -> None:
    history = reading(tmp_path, content)
    assert [short(job)[1:] for job in history.jobs] == [("a", 0, 5, {SMALL: 1}), ("b", 9, 6, {SMALL: 2})]
    assert (history.format, told(history)) == (Format.CSV, [])


# --- the real ones -----------------------------------------------------------------------------------


def test_26_what_cannot_be_found_out_is_said_where_histories_are_explained() -> None:
    page = " ".join((ROOT / "docs" / "replaying.md").read_text(encoding="utf-8").split())
    for word in ("stretched by resampling", "named anew", "random priorities"):
        assert word in page


def test_philly_is_read_whole_and_as_it_is() -> None:
    history = read_history(trace("philly.csv.gz"))
    assert (len(history.jobs), told(history), history.span) == (82_247, [], 9_408_690)
    shares = [job.share for job in history.jobs]
    assert (shares.count("6214e9"), shares.count("103959"), len(set(shares))) == (41_226, 1_934, 15)
    gpus = {SMALL: 1, MEDIUM: 4, LARGE: 8}
    assert max(gpus[unit] * count for job in history.jobs for unit, count in job.demand.items()) == 128


def test_the_day_of_philly_is_part_of_the_week() -> None:
    week, day = read_history(trace("philly_week6.csv")), read_history(trace("philly_1day.csv"))
    assert (len(week.jobs), len(day.jobs)) == (14_724, 1972)
    assert {job.name for job in day.jobs} < {job.name for job in week.jobs}


def test_slurm2sql_sample_has_a_job_a_step_and_no_gpus() -> None:
    with pytest.raises(InputError, match=r"none of 2 jobs can be used: 2 x asks for no GPU \(line 2, line 5\)"):
        read_history(trace("samples/slurm2sql_test-data1.psv"))


def test_sagemaker_sdk_responses_are_understood_and_have_no_quota_share(tmp_path: Path) -> None:
    text = trace("samples/sagemaker-sdk_service_job_responses.json").read_text(encoding="utf-8")
    responses = json.loads(text)
    running = {**responses["DESCRIBE_SERVICE_JOB_RESP_SUCCEEDED"], "quotaShareName": "QS1"}
    running["capacityUsage"] = [{"capacityUnit": SMALL, "quantity": 1.0}]
    history = reading(tmp_path, json.dumps(running))
    assert [short(job) for job in history.jobs] == [("test-training-job", "QS1", 0, 300, {SMALL: 1})]
    with pytest.raises(InputError, match="none of 2 jobs can be used: 2 x no quotaShareName"):
        reading(tmp_path, text)


def test_container_jobs_have_no_quota_share() -> None:
    with pytest.raises(InputError, match=r"no quotaShareName \(a container job, or a queue without quota shares\)"):
        read_history(trace("samples/torchx_list_and_describe_jobs_responses.json"))
