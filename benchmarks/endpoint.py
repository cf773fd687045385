"""How fast the local endpoint starts and answers, and what it takes, over HTTP from wrk.

    python benchmarks/endpoint.py [--seconds 10] [--jobs 10000] [--server waitress|werkzeug]

Prints seconds from process start to the first answer (a bare Python beside it), requests per second of
SubmitServiceJob and DescribeServiceJob from wrk with 8 connections, then the server's memory and its own time per call
with 100 jobs and with ``--jobs`` of them. Exits 1 where a figure that is aimed at is missed.

Needs wrk on the PATH (Debian, Ubuntu: apt-get install wrk) and the extra serve. Everything stays on the loopback.
"""

from __future__ import annotations

import argparse
import http.client
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

MOST_SECONDS_TO_START = 0.6
LEAST_PER_SECOND = 400
MOST_MEGABYTES = 150
MOST_GROWTH = 1.25
"""Of the time per call from few jobs to many: what two runs of the same differ by on a busy machine."""
CONNECTIONS = 8
ROUNDS = 5
CALLS = 100
"""Of each kind in one round."""
FEW = 100
"""Jobs, beside which many of them are measured."""
QUEUE = "training"
UNIT = "ml.g5.xlarge"
POLICY = {
    "queue": QUEUE,
    "service_environment": {"capacity_limits": {UNIT: 40}},
    "shares": {
        f"team-{number}": {
            "capacity_limits": {UNIT: 2},
            "strategy": "LEND_AND_BORROW",
            "borrow_limit": 100,
            "in_share_preemption": True,
        }
        for number in range(20)
    },
}
REQUEST = {
    "TrainingJobName": "nightly",
    "AlgorithmSpecification": {
        "TrainingImage": "123456789012.dkr.ecr.us-west-2.amazonaws.com/pytorch-training:2.5",
        "TrainingInputMode": "File",
    },
    "HyperParameters": {f"parameter_{number}": json.dumps(f"value {number}") for number in range(12)},
    "RoleArn": "arn:aws:iam::123456789012:role/Training",
    "ResourceConfig": {"InstanceType": UNIT, "InstanceCount": 1, "VolumeSizeInGB": 30},
    "StoppingCondition": {"MaxRuntimeInSeconds": 86400},
    "OutputDataConfig": {"S3OutputPath": "s3://checkpoints/nightly"},
}
"""As large as what the SageMaker SDK sends, about a kilobyte."""
SIGNED = (
    "AWS4-HMAC-SHA256 Credential=AKIA/20260101/us-west-2/batch/aws4_request, SignedHeaders=host, Signature=" + "0" * 64
)
LUA = """
local thread_count = 0
function setup(thread) thread:set("id", thread_count); thread_count = thread_count + 1 end
local bodies, n = {}, 0
function init(args) for line in io.lines(args[1]) do bodies[#bodies + 1] = line end end
function request()
  n = n + 1
  local body = bodies[n % #bodies + 1]:gsub("@", id .. "-" .. n)
  return wrk.format("POST", wrk.path, {["Content-Type"] = "application/json", ["Authorization"] = "SIGNED"}, body)
end
"""


def job(name: str, number: int) -> dict[str, Any]:
    """A SubmitServiceJob as the SageMaker SDK makes it."""
    return {
        "jobName": name,
        "jobQueue": QUEUE,
        "quotaShareName": f"team-{number % 20}",
        "serviceJobType": "SAGEMAKER_TRAINING",
        "serviceRequestPayload": json.dumps(REQUEST),
        "schedulingPriority": number % 5,
        "retryStrategy": {"attempts": 1, "evaluateOnExit": [{"action": "EXIT", "onStatusReason": "*"}]},
        "timeoutConfig": {"attemptDurationSeconds": 86400},
        "tags": {"sagemaker:project": "nightly"},
        "clientToken": f"token-{name}",
    }


# --- the server ----------------------------------------------------------------------------------


class Served:
    """A server process, and one connection to it."""

    def __init__(self, process: subprocess.Popen[str], url: str) -> None:
        self.process, self.url = process, url
        self.connection = http.client.HTTPConnection(url.removeprefix("http://"))

    def __call__(self, path: str, request: dict[str, Any]) -> Any:
        self.connection.request("POST", path, json.dumps(request), {"Authorization": SIGNED})
        answer = self.connection.getresponse()
        told = json.loads(answer.read())
        assert answer.status == 200, told
        return told

    def cpu_seconds(self) -> float:
        """What its threads have used: what else runs on the machine does not count."""
        tasks = Path(f"/proc/{self.process.pid}/task").glob("*/schedstat")
        return sum(int(task.read_text().split()[0]) for task in tasks) / 1e9

    def megabytes(self) -> float:
        """Resident memory at its highest."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.findall(r"VmHWM:\s+(\d+)", status)[0]) / 1024


WERKZEUG = (
    "import sys; from werkzeug.serving import WSGIRequestHandler, make_server;"
    "from policy_engine.endpoint import Application, Endpoint; from policy_engine.sources import load;"
    "WSGIRequestHandler.protocol_version = 'HTTP/1.1'; WSGIRequestHandler.log_request = lambda *_: None;"
    "server = make_server('127.0.0.1', 0, Application(Endpoint(policies=load(sys.argv[1]).policies())), threaded=True);"
    "print(f'http://127.0.0.1:{server.server_port}', flush=True); server.serve_forever()"
)


@contextmanager
def served(policy: Path, server: str) -> Iterator[tuple[Served, float]]:
    """The server, and the seconds from its start to its first answer."""
    command = ["-P", "-m", "policy_engine", "serve", str(policy), "--port", "0"]
    if server == "werkzeug":
        command = ["-c", WERKZEUG, str(policy)]
    began = perf_counter()
    process = subprocess.Popen([sys.executable, *command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert process.stdout is not None
        answering = Served(process, process.stdout.readline().strip())
        answering("/v1/describejobqueues", {})
        yield answering, perf_counter() - began
    finally:
        process.terminate()
        process.wait()


# --- what is measured ----------------------------------------------------------------------------


def starts(policy: Path, server: str) -> tuple[float, float]:
    """Median seconds from process start to the first answer, and of a bare Python."""
    bare, first = [], []
    for _ in range(ROUNDS):
        began = perf_counter()
        subprocess.run([sys.executable, "-c", "pass"], check=True)
        bare.append(perf_counter() - began)
        with served(policy, server) as (_, seconds):
            first.append(seconds)
    return median(first), median(bare)


def per_second(url: str, path: str, bodies: list[str], folder: Path, seconds: int) -> float:
    """Requests per second from wrk; ``@`` in a body is another text each time. Every answer has to be a 200."""
    (folder / "bodies").write_text("\n".join(bodies) + "\n")
    (folder / "wrk.lua").write_text(LUA.replace("SIGNED", SIGNED))
    command = ["wrk", "-t2", f"-c{CONNECTIONS}", f"-d{seconds}s", "-s", str(folder / "wrk.lua"), url + path]
    told = subprocess.run([*command, "--", str(folder / "bodies")], check=True, capture_output=True, text=True).stdout
    assert "Non-2xx" not in told, told
    assert "Socket errors" not in told, told
    return float(re.findall(r"Requests/sec:\s+([0-9.]+)", told)[0])


def kinds(server: Served, ids: list[str], label: str) -> dict[str, Callable[[int], object]]:
    """Each kind of call, as a function of a number."""
    runnable = {"jobQueue": QUEUE, "jobStatus": "RUNNABLE", "maxResults": 20}
    by_share = {"jobQueue": QUEUE, "filters": [{"name": "QUOTA_SHARE_NAME", "values": ["team-3"]}], "maxResults": 5}
    by_name = {"jobQueue": QUEUE, "filters": [{"name": "JOB_NAME", "values": ["first-1*"]}], "maxResults": 5}

    def submit_and_describe(number: int) -> object:
        submitted = server("/v1/submitservicejob", job(f"{label}-{number}", number))
        return server("/v1/describeservicejob", {"jobId": submitted["jobId"]})

    return {
        "describe": lambda n: server("/v1/describeservicejob", {"jobId": ids[n % len(ids)]}),
        "list RUNNABLE": lambda _: server("/v1/listservicejobs", runnable),
        "list by share": lambda _: server("/v1/listservicejobs", by_share),
        "list by name": lambda _: server("/v1/listservicejobs", by_name),
        "snapshot": lambda _: server("/v1/getjobqueuesnapshot", {"jobQueue": QUEUE}),
        "update and describe": lambda n: (
            server("/v1/updateservicejob", {"jobId": ids[n % len(ids)], "schedulingPriority": n % 7}),
            server("/v1/describeservicejob", {"jobId": ids[n % len(ids)]}),
        ),
        "submit and describe": submit_and_describe,
    }


def per_call(few: Served, many: Served, few_ids: list[str], many_ids: list[str]) -> dict[str, tuple[float, float]]:
    """Milliseconds of the server's own time for each kind of call, with few jobs and with many; both take turns."""
    measured = {}
    of_few, of_many = kinds(few, few_ids, "few"), kinds(many, many_ids, "many")
    for name in of_few:
        times: tuple[list[float], list[float]] = ([], [])
        for round_ in range(ROUNDS):
            for server, act, found in ((few, of_few[name], times[0]), (many, of_many[name], times[1])):
                before = server.cpu_seconds()
                for number in range(CALLS):
                    act(round_ * CALLS + number)
                found.append((server.cpu_seconds() - before) / CALLS * 1000)
        measured[name] = min(times[0]), min(times[1])
    return measured


def main() -> None:
    """Measure, print and judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=10, help="of wrk, for each operation")
    parser.add_argument("--jobs", type=int, default=10_000)
    parser.add_argument("--server", choices=["waitress", "werkzeug"], default="waitress")
    options = parser.parse_args()
    if shutil.which("wrk") is None:
        sys.exit("wrk is not on the PATH: apt-get install wrk")
    missed = []

    def judge(what: str, fine: bool) -> None:
        print(what)
        if not fine:
            missed.append(what)

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        policy = folder / "policy.json"
        policy.write_text(json.dumps(POLICY))
        first, bare = starts(policy, options.server)
        judge(
            f"start to first answer {first:.2f} s (at most {MOST_SECONDS_TO_START}), a bare Python {bare:.2f} s",
            first <= MOST_SECONDS_TO_START,
        )
        with served(policy, options.server) as (server, _):
            bodies = [json.dumps(job("wrk-@", number)) for number in range(20)]
            submits = per_second(server.url, "/v1/submitservicejob", bodies, folder, options.seconds)
            listed = server("/v1/listservicejobs", {"jobQueue": QUEUE, "jobStatus": "RUNNABLE"})["jobSummaryList"]
            bodies = [json.dumps({"jobId": one["jobId"]}) for one in listed]
            describes = per_second(server.url, "/v1/describeservicejob", bodies, folder, options.seconds)
        for operation, rate in (("SubmitServiceJob", submits), ("DescribeServiceJob", describes)):
            judge(f"{operation} {rate:.0f}/s (at least {LEAST_PER_SECOND})", rate >= LEAST_PER_SECOND)
        with served(policy, options.server) as (few, _), served(policy, options.server) as (many, _):
            few_ids, many_ids = (
                [server("/v1/submitservicejob", job(f"first-{number}", number))["jobId"] for number in range(count)]
                for server, count in ((few, FEW), (many, options.jobs))
            )
            for server in (few, many):
                server("/v1/getjobqueuesnapshot", {"jobQueue": QUEUE})
            megabytes = many.megabytes()
            measured = per_call(few, many, few_ids, many_ids)
        judge(
            f"memory {megabytes:.0f} MB with {options.jobs} jobs (at most {MOST_MEGABYTES})",
            megabytes <= MOST_MEGABYTES,
        )
        for call, (before, after) in measured.items():
            judge(
                f"{call}: {before:.2f} ms with {FEW} jobs, {after:.2f} ms with {options.jobs}"
                f" (at most {MOST_GROWTH:g} times as much)",
                after <= MOST_GROWTH * before,
            )
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
