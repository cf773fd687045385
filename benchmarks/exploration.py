"""How long it takes to look at every schedule, and to find one that breaks what is expected.

    python benchmarks/exploration.py [space|counterexamples ...] [--rounds N]

``space``: twelve jobs of one to three instances over three shares (models/twelve_jobs.yaml), durations open, choices
C1, C2, C8 and C9 open: the whole command, its states, its time and its memory.

``counterexamples``: AWS's walkthrough with eight jobs (models/eight_jobs.yaml): for each property that fails, how long
it takes to find the schedule that breaks it, beside the full space of one that holds. Figures are medians.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from dataclasses import replace
from pathlib import Path
from statistics import median
from subprocess import PIPE, Popen
from time import perf_counter, process_time

from policy_engine.exploration.explored import Bounds, Explored
from policy_engine.exploration.space import Space
from policy_engine.proving.watches import watch_for
from policy_engine.scheduler.choices import Choices
from policy_engine.sources import load_policy
from policy_engine.workload.expected import AnyExpectation
from policy_engine.workload.scenario import Scenario, load_scenario

MODELS = Path(__file__).parent / "models"
OPEN = ("share_order", "idle_assignment", "victims", "reclaim_or_in_share")


def space(rounds: int) -> None:
    runs = [_verify(MODELS / "twelve_jobs.yaml") for _ in range(rounds)]
    states = {states for states, _, _ in runs}
    seconds, most = median(run[1] for run in runs), max(run[2] for run in runs)
    print(f"space: {', '.join(map(str, states))} states, all of them, in {seconds:.1f} s with {most:.0f} MB")
    print("  to reach: 60 s, 1,024 MB")


def _verify(scenario: Path) -> tuple[str, float, float]:
    """States, seconds and megabytes of the whole command."""
    began = perf_counter()
    command = ["-P", "-m", "policy_engine", "verify", str(scenario), "--open", ",".join(OPEN), "--format", "json"]
    with Popen([sys.executable, *command], stdout=PIPE, text=True) as process:
        assert process.stdout is not None
        said = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    seconds = perf_counter() - began
    found = re.search(r"([\d,]+) states", said)
    if process.returncode != 0 or found is None:
        sys.exit(f"{scenario.name}: exit code {process.returncode}\n{said}")
    return found[1], seconds, used.ru_maxrss / 1024


def counterexamples(rounds: int) -> None:
    scenario = load_scenario(MODELS / "eight_jobs.yaml")
    full: float | None = None
    for wanted in scenario.expect:
        runs = [_explored(scenario, wanted) for _ in range(rounds)]
        explored, seconds = runs[0][0], median(run[1] for run in runs)
        if explored.broken is None:
            full = seconds
            print(f"counterexamples: full space {explored.states} states, {seconds * 1000:.1f} ms ({wanted.name})")
        else:
            assert full is not None, "the first property of the model holds"
            print(
                f"  found after {explored.states} states, {seconds * 1000:.1f} ms, {full / seconds:.0f} times as",
                end="",
            )
            print(f" fast as the full space ({wanted.name})")
    print("  to reach: 10 times as fast")


def _explored(scenario: Scenario, wanted: AnyExpectation) -> tuple[Explored, float]:
    assert scenario.policy_path is not None
    policy = load_policy(scenario.policy_path)
    workload, choices = scenario.workload(policy, ranges=True), replace(Choices(), reclaim_or_in_share="any")
    began = process_time()
    explored = Space(policy, workload, choices, frozenset(OPEN), watch_for(wanted, workload)).explore(Bounds())
    return explored, process_time() - began


MEASURES = {"space": space, "counterexamples": counterexamples}


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("measures", nargs="*", default=list(MEASURES), metavar="MEASURE", help=", ".join(MEASURES))
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    for name in asked.measures:
        if name not in MEASURES:
            parser.error(f"no measure {name!r}; there is {', '.join(MEASURES)}")
        MEASURES[name](asked.rounds)


if __name__ == "__main__":
    main()
