"""How fast the scheduler is, beside simulators that people know, on the same jobs and with the same answers.

    python benchmarks/scheduler.py [fifo|preemption|shares|growth|memory|accasim ...] [--jobs N] [--rounds N]

Each figure is the median of the rounds, in processor time: the engines use one thread and read and write nothing, and
other programs on the machine disturb it less than the clock on the wall. Every measurement is a process of its own, the
engines take turns, and the start (or finish) times of all jobs are compared before anything is printed: a fast wrong
engine is no engine.

Needs the dependency group ``benchmarks`` (SimPy, Ciw). ``accasim`` is measured only when it is named, in an environment
that has accasim 1.1.3 beside this package; see docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import collections
import hashlib
import json
import platform
import random
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

from policy_engine.policy import Policy
from policy_engine.scheduler.jobs import Job, Workload
from policy_engine.scheduler.log import Kind
from policy_engine.simulation import Run, simulate

UNIT = "ml.g5.xlarge"
Jobs = list[tuple[float, int, float, int]]
"""(submit, instances, duration, priority), by submit time."""


def fifo_jobs(count: int) -> Jobs:
    """1-8 instances, lognormal durations, load 0.9 on 100 instances."""
    return _jobs(count, sizes=(1, 8), capacity=100, load=0.9, priorities=1)


def fifo_jobs_in_seconds(count: int) -> Jobs:
    """The same in whole seconds, as AccaSim counts."""
    return [(round(submit), size, max(1, round(duration)), p) for submit, size, duration, p in fifo_jobs(count)]


def preemption_jobs(count: int) -> Jobs:
    """Single instances, 5 priorities, load 0.95 on 50 instances."""
    return _jobs(count, sizes=(1, 1), capacity=50, load=0.95, priorities=5)


def _jobs(count: int, sizes: tuple[int, int], capacity: int, load: float, priorities: int) -> Jobs:
    rng = random.Random(1)  # noqa: S311 - a workload, not a secret
    durations = [rng.lognormvariate(5.0, 1.0) for _ in range(count)]
    instances = [rng.randint(*sizes) for _ in range(count)]
    gap = sum(d * n for d, n in zip(durations, instances, strict=True)) / count / (capacity * load)
    at, jobs = 0.0, []
    for duration, size in zip(durations, instances, strict=True):
        at += rng.expovariate(1 / gap)
        jobs.append((at, size, duration, rng.randrange(priorities)))
    return jobs


# --- the engines: seconds, and one time per job ----------------------------------------------------


def _one_share(jobs: Jobs, capacity: int, in_share: bool) -> tuple[Policy, Workload]:
    limits = {UNIT: capacity}
    share = {"capacity_limits": limits, "strategy": "RESERVE", "in_share_preemption": in_share}
    policy = Policy.of({"service_environment": {"capacity_limits": limits}, "shares": {"s": share}})
    named = [
        Job(f"j{number}", "s", {UNIT: size}, priority, submit, duration)
        for number, (submit, size, duration, priority) in enumerate(jobs)
    ]
    return policy, Workload(tuple(named))


def _timed(policy: Policy, workload: Workload) -> tuple[float, Run]:
    began = process_time()
    run = simulate(policy, workload)
    return process_time() - began, run


def _last(run: Run, kind: Kind) -> list[float]:
    times = [0.0] * len(run.workload.jobs)
    for at, what, job, *_ in run.log.rows:
        if what is kind:
            times[job] = at
    return times


def ours_fifo(jobs: Jobs) -> tuple[float, list[float]]:
    """The engine, full event log on."""
    seconds, run = _timed(*_one_share(jobs, 100, in_share=False))
    return seconds, _last(run, Kind.STARTED)


def simpy_fifo(count: int) -> tuple[float, list[float]]:
    """SimPy's Container, first come, first served."""
    simpy: Any = import_module("simpy")

    jobs = fifo_jobs(count)
    starts = [0.0] * count
    began = process_time()
    env = simpy.Environment()
    instances = simpy.Container(env, 100, init=100)

    def job(number: int, size: int, duration: float) -> Iterator[Any]:
        yield instances.get(size)
        starts[number] = env.now
        yield env.timeout(duration)
        yield instances.put(size)

    def arrivals() -> Iterator[Any]:
        for number, (submit, size, duration, _) in enumerate(jobs):
            yield env.timeout(submit - env.now)
            env.process(job(number, size, duration))

    env.process(arrivals())
    env.run()
    return process_time() - began, starts


def accasim_fifo(count: int, nodes: int) -> tuple[float, list[float]]:
    """AccaSim on 100 cores in so many nodes, jobs from memory, nothing logged or written."""
    collections.Mapping = Mapping  # type: ignore[attr-defined]  # AccaSim imports it from where Python 3.9 had it last
    simulators: Any = import_module("accasim.base.simulator_class")
    dispatch: Any = import_module("accasim.base.scheduler_class")
    allocators: Any = import_module("accasim.base.allocator_class")
    hooks: Any = import_module("accasim.base.additional_data").AdditionalData

    given = iter(
        [
            {
                "job_id": number,
                "queued_time": submit,
                "duration": duration,
                "requested_nodes": size,
                "requested_resources": {"core": 1},
            }
            for number, (submit, size, duration, _) in enumerate(fifo_jobs_in_seconds(count))
        ]
    )
    starts = [0.0] * count

    def read(reader: Any, current_time: int) -> dict[str, Any] | None:  # noqa: ARG001 - AccaSim's name
        job = next(given, None)
        if job is None:
            reader.stop_submission()
        return job

    def completed(_: Any, jobs: list[Any]) -> None:
        for job in jobs:
            starts[int(job.id)] = job.start_time

    unused = {name: lambda *_: None for name in hooks.__abstractmethods__}
    recorder = type("Recorder", (hooks,), {**unused, "exec_after_completion": completed})
    resources = simulators.ResourceManager(simulators.Resources({"node": {"core": 100 // nodes}}, {"node": nodes}))
    factory = simulators.JobFactory(resources)
    began = process_time()
    with TemporaryDirectory() as folder:
        simulators.Simulator(
            "jobs",
            None,
            dispatch.FirstInFirstOut(allocators.FirstFit()),
            resource_manager=resources,
            reader=type("FromMemory", (simulators.Reader,), {"_read": read})(factory),
            job_factory=factory,
            additional_data=[recorder],
            scheduling_output=False,
            statistics_output=False,
            show_statistics=False,
            LOG_LEVEL="WARNING",
            RESULTS_FOLDER_PATH=folder,
        ).start_simulation()
    return process_time() - began, starts


def ours_preemption(count: int) -> tuple[float, list[float]]:
    """The engine with in-share preemption; a job that is stopped starts anew."""
    seconds, run = _timed(*_one_share(preemption_jobs(count), 50, in_share=True))
    return seconds, _last(run, Kind.FINISHED)


def ciw_preemption(count: int) -> tuple[float, list[float]]:
    """Ciw, priorities with preempt and restart."""
    ciw: Any = import_module("ciw")

    jobs = preemption_jobs(count)

    def duration(_: Any, t: Any = None, ind: Any = None) -> float:  # noqa: ARG001 - Ciw's names
        return jobs[int(ind.id_number) - 1][2]

    given = type("Given", (ciw.dists.Distribution,), {"sample": duration})  # each job's own duration
    arrivals: dict[int, list[float]] = {priority: [] for priority in range(5)}
    before = dict.fromkeys(arrivals, 0.0)
    for submit, _, _, priority in jobs:
        arrivals[priority].append(submit - before[priority])
        before[priority] = submit
    classes = {priority: f"Class {4 - priority}" for priority in arrivals}
    began = process_time()
    network = ciw.create_network(
        arrival_distributions={
            name: [ciw.dists.Sequential([*arrivals[priority], float("inf")])] for priority, name in classes.items()
        },
        service_distributions={name: [given()] for name in classes.values()},
        number_of_servers=[50],
        priority_classes=({name: 4 - priority for priority, name in classes.items()}, ["restart"]),
    )
    simulation = ciw.Simulation(network)
    simulation.simulate_until_max_customers(count, method="Finish")
    seconds = process_time() - began
    finished = [0.0] * count
    for record in simulation.get_all_records(only=["service"]):
        finished[record.id_number - 1] = record.exit_date
    return seconds, finished


def ours_shares(count: int, shares: int) -> tuple[float, list[float]]:
    """LEND_AND_BORROW shares that reclaim from one another, mixed sizes, load 0.95."""
    each = 240 // shares
    declared = {
        f"s{number}": {"capacity_limits": {UNIT: each}, "strategy": "LEND_AND_BORROW", "in_share_preemption": False}
        for number in range(shares)
    }
    policy = Policy.of({"service_environment": {"capacity_limits": {UNIT: each * shares}}, "shares": declared})
    rng = random.Random(2)  # noqa: S311 - a workload, not a secret
    jobs = [
        Job(f"j{number}", f"s{rng.randrange(shares)}", {UNIT: size}, 0, submit, duration, checkpoint_every=10)
        for number, (submit, size, duration, _) in enumerate(_jobs(count, (1, 8), 240, 0.95, 1))
    ]
    seconds, run = _timed(policy, Workload(tuple(jobs)))
    return seconds, _last(run, Kind.FINISHED)


ENGINES: dict[str, Callable[[int], tuple[float, list[float]]]] = {
    "ours_fifo": lambda count: ours_fifo(fifo_jobs(count)),
    "simpy_fifo": simpy_fifo,
    "ours_fifo_in_seconds": lambda count: ours_fifo(fifo_jobs_in_seconds(count)),
    "accasim_100_nodes": lambda count: accasim_fifo(count, 100),
    "accasim_1_node": lambda count: accasim_fifo(count, 1),
    "ours_preemption": ours_preemption,
    "ciw_preemption": ciw_preemption,
    "ours_20_shares": lambda count: ours_shares(count, 20),
    "ours_3_shares": lambda count: ours_shares(count, 3),
}

# --- the figures -----------------------------------------------------------------------------------


def measure(engine: str, jobs: int) -> dict[str, float | str]:
    """One run in a process of its own: seconds, peak memory (MB), and what came out."""
    command = [sys.executable, __file__, "--measure", engine, "--jobs", str(jobs)]
    return dict(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))


def in_turns(engines: Sequence[str], jobs: int, rounds: int, *, same_answers: bool = True) -> dict[str, float]:
    """Engine to its median seconds."""
    seconds: dict[str, list[float]] = {engine: [] for engine in engines}
    answers = set()
    for _ in range(rounds):
        for engine in engines:
            result = measure(engine, jobs)
            seconds[engine].append(float(result["seconds"]))
            answers.add(result["answer"])
    if same_answers and len(answers) > 1:
        raise SystemExit(f"{' and '.join(engines)} do not come to the same times")
    return {engine: median(times) for engine, times in seconds.items()}


def fifo(jobs: int, rounds: int) -> bool:
    """First come, first served, beside SimPy."""
    times = in_turns(["ours_fifo", "simpy_fifo"], jobs, rounds)
    return _ratio(
        f"FIFO, {jobs:,} jobs, SimPy {version('simpy')}", times["simpy_fifo"] / times["ours_fifo"], 2.0, jobs, times
    )


def accasim(jobs: int, rounds: int) -> bool:
    """First come, first served in whole seconds, beside AccaSim: a node for each instance, and one node of them all.

    The second is no model of a cluster but spares AccaSim the search for nodes, which the engine has no part of.
    """
    if find_spec("accasim") is None:
        raise SystemExit(
            "accasim is not installed, and it is in no lock file because it is run once: install it beside this package"
            f" in an environment of its own, pip install accasim==1.1.3 {Path(__file__).parents[1]}"
        )
    times = in_turns(["ours_fifo_in_seconds", "accasim_100_nodes", "accasim_1_node"], jobs, rounds)
    many, one = (times[engine] / times["ours_fifo_in_seconds"] for engine in ("accasim_100_nodes", "accasim_1_node"))
    what = f"FIFO in whole seconds, {jobs:,} jobs, AccaSim {version('accasim')}, one node {one:.2f}, 100 nodes"
    return _ratio(what, many, 25.0, jobs, times)


def preemption(jobs: int, rounds: int) -> bool:
    """Preempt and restart, beside Ciw."""
    times = in_turns(["ours_preemption", "ciw_preemption"], jobs, rounds)
    ratio = times["ciw_preemption"] / times["ours_preemption"]
    return _ratio(f"preempt and restart, {jobs:,} jobs, Ciw {version('ciw')}", ratio, 4.0, jobs, times)


def shares(jobs: int, rounds: int) -> bool:
    """20 shares beside 3."""
    times = in_turns(["ours_20_shares", "ours_3_shares"], 2 * jobs, rounds, same_answers=False)
    ratio = times["ours_3_shares"] / times["ours_20_shares"]
    return _ratio(f"20 shares beside 3, {2 * jobs:,} jobs", ratio, 0.5, 2 * jobs, times)


def growth(jobs: int, rounds: int) -> bool:
    """Ten times the jobs."""
    few = in_turns(["ours_fifo"], jobs // 10, rounds)["ours_fifo"]
    many = in_turns(["ours_fifo"], jobs, rounds)["ours_fifo"]
    print(f"growth: {jobs // 10:,} to {jobs:,} jobs takes {many / few:.1f} times the time (at most 12)")
    return many / few <= 12


def memory(jobs: int, _: int) -> bool:
    """Peak memory of the whole process, log in memory."""
    peak = float(measure("ours_fifo", jobs)["peak_mb"])
    print(f"memory: {peak:.0f} MB for {jobs:,} jobs (at most 250)")
    return peak <= 250


def _ratio(what: str, ratio: float, least: float, jobs: int, times: dict[str, float]) -> bool:
    rates = ", ".join(f"{engine} {jobs / seconds:,.0f} jobs/s" for engine, seconds in times.items())
    print(f"{what}: {ratio:.2f} (at least {least}): {rates}")
    return ratio >= least


ALWAYS = {"fifo": fifo, "preemption": preemption, "shares": shares, "growth": growth, "memory": memory}
FIGURES = {**ALWAYS, "accasim": accasim}


def main() -> None:
    """Measure what is asked for; exit with 1 where a figure is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("figures", nargs="*", choices=[*FIGURES, []], default=[])
    parser.add_argument("--jobs", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--measure", choices=[*ENGINES], help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.measure:
        seconds, times = ENGINES[asked.measure](asked.jobs)
        answer = hashlib.sha256(",".join(f"{time:.3f}" for time in times).encode()).hexdigest()
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(json.dumps({"seconds": seconds, "peak_mb": peak, "answer": answer}))
        return
    engine = "pure Python" if hasattr(simulate, "__code__") else "compiled"
    print(f"Python {platform.python_version()}, {platform.machine()}, engine {engine}, median of {asked.rounds}")
    met = [FIGURES[name](asked.jobs, asked.rounds) for name in asked.figures or ALWAYS]
    sys.exit(0 if all(met) else 1)


if __name__ == "__main__":
    main()
