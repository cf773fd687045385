"""The exploration beside Spin, the model checker, on three models that both can express.

    python benchmarks/spin.py [walkthrough|victims|twelve_jobs ...] [--rounds N]

Needs `spin` and `gcc` (Debian, Ubuntu: apt-get install spin gcc). ``queue.pml`` is the scheduler in Promela, written by
hand; the tables in front of it are made from the model's policy and jobs. A state of both is the queue at rest, between
two passes, and without reductions both must come to the same number of them: else nothing is printed but that.

Then, each figure the median of the rounds:

- states per second of processor time without our reductions: of ours, of Spin's verifier as a process, and of its
  search alone, that is with small tables (the usual ones take a sixth of a second to allocate) and less the time of a
  run that is cut off at once. Its own clock has steps of a hundredth of a second, of which a search takes one or two;
- wall time of everything: `spin -a`, `gcc -O2` and the verifier, beside `policy-engine verify` with our reductions.
"""

from __future__ import annotations

import argparse
import platform
import re
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

from policy_engine.exploration.explored import Bounds
from policy_engine.exploration.space import Space
from policy_engine.policy import Policy, SharingStrategy
from policy_engine.proving.watches import watch_for
from policy_engine.scheduler import bounds
from policy_engine.scheduler.choices import Choices
from policy_engine.scheduler.jobs import Job, Workload
from policy_engine.sources import load_policy
from policy_engine.workload.scenario import load_scenario

HERE = Path(__file__).parent
MODELS = ("walkthrough", "victims", "twelve_jobs")
OPEN = ("share_order", "idle_assignment", "victims", "reclaim_or_in_share")


@dataclass(frozen=True)
class Model:
    path: Path
    policy: Policy
    workload: Workload

    @classmethod
    def of(cls, name: str) -> Model:
        path = HERE / "models" / f"{name}.yaml"
        scenario = load_scenario(path)
        assert scenario.policy_path is not None
        policy = load_policy(scenario.policy_path)
        return cls(path, policy, scenario.workload(policy, ranges=True))


# --- in Promela ------------------------------------------------------------------------------------


def promela(model: Model) -> str:
    """The model: tables, and the scheduler over them."""
    ends = [f":: running & {1 << job} -> running = running & ~{1 << job}" for job in range(len(model.workload.jobs))]
    scheduler = (HERE / "queue.pml").read_text(encoding="utf-8")
    return "\n".join(_tables(model)) + "\n\n" + scheduler.replace("ENDS", "\n       ".join(ends))


def _tables(model: Model) -> Iterator[str]:
    """What the scheduler asks of shares ``s``, and of sets of jobs ``m``."""
    policy, jobs = model.policy, model.workload.jobs
    [unit] = policy.units
    of = [_set(job for job, what in enumerate(jobs) if what.share == name) for name in policy.shares]
    limits = [share.limit(unit) for share in policy.shares.values()]
    most = [bounds.Bounds(policy).bound(name, unit) for name in policy.shares]
    capacity = policy.capacity(unit)
    yield f"#define SHARES {len(of)}"
    yield f"#define POOL {min(capacity, sum(limits))}"
    yield f"#define OVERCOMMITTED {max(0, sum(limits) - capacity)}"
    yield _table("OF", of)
    yield _table("LIMIT", limits)
    yield _table("BOUND", most)
    yield _table("MOST", [min(bound, capacity) for bound in most])
    keepers = [n for n, s in enumerate(policy.shares.values()) if s.strategy is SharingStrategy.RESERVE]
    kept = [f"((s) != {n} && using[{n}] < {limits[n]} -> {limits[n]} - using[{n}] : 0)" for n in keepers]
    yield f"#define KEPT_FROM(s) ({' + '.join(kept) or '0'})"
    yield from _tables_of_jobs(policy, jobs, [job.demand[unit] for job in jobs])


def _tables_of_jobs(policy: Policy, jobs: Sequence[Job], sizes: Sequence[int]) -> Iterator[str]:
    numbers = range(len(jobs))
    by_size = [(size, _set(job for job in numbers if sizes[job] == size)) for size in sorted(set(sizes))]
    priority = [job.priority or 0 for job in jobs]
    first = sorted(numbers, key=lambda job: (-priority[job], jobs[job].submit, job))
    below = {
        job: _set(other for other in numbers if jobs[other].share == share and priority[other] < priority[job])
        for job, share in enumerate(job.share for job in jobs)
        if policy.shares[share].in_share_preemption
    }
    coming = groupby(sorted(numbers, key=lambda job: jobs[job].submit), key=lambda job: jobs[job].submit)
    groups = [_set(group) for _, group in coming]
    yield f"#define GROUPS {len(groups)}"
    yield _table("COMING", groups)
    yield "#define SIZE(m) (" + " + ".join(f"(((m) >> {job}) & 1) * {sizes[job]}" for job in numbers) + ")"
    yield "#define SMALLEST(m) " + _first_of([(f"(m) & {jobs}", size) for size, jobs in by_size])
    yield "#define LARGEST(m) " + _first_of([(f"(m) & {jobs}", size) for size, jobs in reversed(by_size)])
    yield "#define HEAD(m) " + _first_of([*((f"(m) & {1 << job}", 1 << job) for job in first), ("", 0)])
    yield "#define BELOW(m) " + _first_of([*((f"(m) == {1 << job}", jobs) for job, jobs in below.items()), ("", 0)])


def _set(jobs: Iterable[int]) -> int:
    return sum(1 << job for job in jobs)


def _table(name: str, values: Sequence[int]) -> str:
    return f"#define {name}(s) " + _first_of([(f"(s) == {number}", value) for number, value in enumerate(values)])


def _first_of(cases: Sequence[tuple[str, int]]) -> str:
    """The value of the first case that is so; of the last, where none before it is."""
    text = str(cases[-1][1])
    for condition, value in reversed(cases[:-1]):
        text = f"({condition} -> {value} : {text})"
    return text


# --- runs ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Verified:
    """What Spin's verifier says, and how long it took, in seconds."""

    states: int
    search: float
    """Of the verifier, without what it takes to start and to allocate large tables."""
    processor: float
    """Of the verifier."""
    wall: float
    """Of `spin -a`, `gcc` and the verifier."""


def spin(model: Model, folder: Path) -> Verified:
    (folder / "queue.pml").write_text(promela(model), encoding="utf-8")
    began = perf_counter()
    _run(folder, "spin", "-a", "queue.pml")
    _run(folder, "gcc", "-O2", "-w", "-DSAFETY", "-DNOREDUCE", "-o", "pan", "pan.c")
    states, processor = _verify(folder, "-m1000000")
    wall = perf_counter() - began
    same, with_small_tables = _verify(folder, "-m10000", "-w16")
    _, cut_off = _verify(folder, "-m3", "-w16")
    assert same == states, "a search of this depth is cut off"
    return Verified(states, with_small_tables - cut_off, processor, wall)


def _verify(folder: Path, *options: str) -> tuple[int, float]:
    """States, and seconds of processor time of the verifier."""
    before = _processor_of_children()
    said = _run(folder, "./pan", *options)
    processor = _processor_of_children() - before
    states = re.search(r"(\d+) states, stored", said)
    if "errors: 0" not in said or states is None:
        sys.exit(f"Spin finds an error in the model:\n{said}")
    return int(states[1]), processor


def _run(folder: Path, *command: str) -> str:
    done = subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def _processor_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def ours(model: Model, *, reduced: bool) -> tuple[int, float]:
    """States, and seconds of processor time."""
    watch = watch_for(load_scenario(model.path).expect[0], model.workload)
    choices = replace(Choices(), reclaim_or_in_share="any")
    space = Space(
        model.policy, model.workload, choices, frozenset(OPEN), watch, symmetry=reduced, partial_order=reduced
    )
    began = process_time()
    explored = space.explore(Bounds(max_states=10_000_000))
    return explored.states, process_time() - began


def whole_command(model: Model) -> float:
    """Seconds of wall time of the command, from its start."""
    began = perf_counter()
    command = ["-P", "-m", "policy_engine", "verify", str(model.path), "--open", ",".join(OPEN)]
    subprocess.run([sys.executable, *command], check=True, capture_output=True)
    return perf_counter() - began


def compare(name: str, rounds: int) -> None:
    model = Model.of(name)
    theirs, plain, whole = [], [], []
    for _ in range(rounds):
        with TemporaryDirectory() as folder:
            theirs.append(spin(model, Path(folder)))
        plain.append(ours(model, reduced=False))
        whole.append(whole_command(model))
    states = theirs[0].states
    if plain[0][0] != states:
        sys.exit(f"{name}: {plain[0][0]} states, and {states} in Spin: one of the two is wrong")
    rate = states / median(seconds for _, seconds in plain)
    process = states / median(run.processor for run in theirs)
    search = states / median(run.search for run in theirs)
    wall, our_wall = median(run.wall for run in theirs), median(whole)
    print(f"{name}: {len(model.workload.jobs)} jobs, {states:,} states in both")
    print(f"  without reductions  {rate:,.0f} states/s; Spin {process:,.0f}, ratio 1/{process / rate:.1f}")
    print(f"                      Spin's search alone {search:,.0f}, ratio 1/{search / rate:.1f}")
    reduced, _ = ours(model, reduced=True)
    print(f"  with reductions     {reduced:,} states; {our_wall:.2f} s in all, Spin {wall:.2f} s:", end=" ")
    print(f"{wall / our_wall:.1f} times as fast")


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("models", nargs="*", default=MODELS, metavar="MODEL", help=", ".join(MODELS))
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    missing = [command for command in ("spin", "gcc") if shutil.which(command) is None]
    if missing:
        sys.exit(f"{' and '.join(missing)} is not installed; Debian, Ubuntu: apt-get install spin gcc")
    versions = [_run(HERE, *command).partition("\n")[0] for command in (("spin", "-V"), ("gcc", "--version"))]
    engine = "pure Python" if hasattr(Space.explore, "__code__") else "compiled"
    print(f"{'; '.join(versions)}; Python {platform.python_version()}, engine {engine}; {asked.rounds} rounds")
    for name in asked.models:
        if name not in MODELS:
            parser.error(f"no model {name!r}; there is {', '.join(MODELS)}")
        compare(name, asked.rounds)


if __name__ == "__main__":
    main()
