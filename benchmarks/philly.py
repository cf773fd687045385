"""The whole of Philly against fifteen shares that contend, beside a plain FIFO of the same jobs in SimPy.

    python benchmarks/philly.py [--runs 5] [--trace ../shared/traces/philly.csv.gz]

Needs the dependency group ``benchmarks`` (requirements-benchmarks.lock), Chromium, and the trace, which is not part of
the project (``POLICY_ENGINE_TRACES`` names its folder too).

- ``replay``: read 82,247 jobs, replay them under the shares and write the JSON result; the whole process.
- ``SimPy``: read the same file, run the jobs first come, first served on the same instances, with no policy at all,
  and write their waits as JSON; the whole process.
- ``page``: the replay's HTML report: its size, and when Chromium first shows something of it.

The first two run in processes of their own, in turn and in the other order every second round. Then two copies of the
trace in a row, and ten perturbed replays with one worker and with one for each core. Prints medians of wall-clock and
processor time, and the largest memory; exits 1 where a figure of ``FIGURES`` is missed. Those of a replay are in
processor time, which says something on a busy machine too.
"""

import argparse
import csv
import gzip
import json
import os
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
CAPACITY = {"ml.g5.xlarge": 150, "ml.g5.12xlarge": 50, "ml.g5.48xlarge": 45}
FIGURES = {
    "replay by SimPy": 1.0,
    "memory of a replay, MB": 300.0,
    "two copies by one": 2.2,
    "page, MB": 2.0,
    "first view of the page, s": 1.0,
    "ten shaken, all cores by one worker": 0.8,
}
"""At most."""
PAINTED = "performance.getEntriesByName('first-contentful-paint')"
GAP = 86_400
"""Seconds between the last submission of a copy and the first of the next."""


@dataclass(frozen=True)
class Spent:
    """What one process took."""

    wall: float
    cpu: float
    """Seconds, of all its processes together."""
    megabytes: float
    """The most that one of its processes held."""


def spent(command: list[str], output: Path) -> Spent:
    """Run the command with its standard output in a file."""
    before = time.perf_counter()
    with output.open("wb") as file:
        child = os.posix_spawn(command[0], command, os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, file.fileno(), 1)])
        _, status, usage = os.wait4(child, 0)
    if status != 0:
        sys.exit(f"{' '.join(command)} ended with {status}")
    return Spent(time.perf_counter() - before, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


# --- what is run -----------------------------------------------------------------------------------


def fifo(trace: str) -> None:
    """The jobs first come, first served: the one of SimPy's ways to do it that takes the least time."""
    simpy = import_module("simpy")
    with gzip.open(trace, "rt", newline="") as file:
        jobs = [
            (float(row["submit_time_s"]), row["instance_type"], int(row["instance_count"]), float(row["duration_s"]))
            for row in csv.DictReader(file)
        ]
    environment = simpy.Environment()
    pools = {unit: simpy.Container(environment, count, init=count) for unit, count in CAPACITY.items()}
    waits = [0.0] * len(jobs)

    def job(number: int, submit: float, unit: str, count: int, duration: float) -> Iterator[Any]:
        yield pools[unit].get(count)
        waits[number] = environment.now - submit
        yield environment.timeout(duration)
        yield pools[unit].put(count)

    def arrivals() -> Iterator[Any]:
        for number, (submit, unit, count, duration) in enumerate(jobs):
            if submit > environment.now:
                yield environment.timeout(submit - environment.now)
            environment.process(job(number, submit, unit, count, duration))

    environment.process(arrivals())
    environment.run()
    json.dump({"waits": waits}, sys.stdout)


def policy(trace: Path) -> dict[str, object]:
    """Fifteen LEND_AND_BORROW shares: of each instance type what the team used of it, and one instance at least."""
    used: Counter[tuple[str, str]] = Counter()
    with gzip.open(trace, "rt", newline="") as file:
        for row in csv.DictReader(file):
            used[row["team"], row["instance_type"]] += int(row["instance_count"]) * int(row["duration_s"])
    teams = sorted({team for team, _ in used})
    limits = {unit: divided(capacity, [used[team, unit] for team in teams]) for unit, capacity in CAPACITY.items()}
    shares = {
        team: {
            "capacity_limits": {unit: limits[unit][number] for unit in CAPACITY},
            "strategy": "LEND_AND_BORROW",
            "borrow_limit": -1,
            "in_share_preemption": False,
        }
        for number, team in enumerate(teams)
    }
    return {"service_environment": {"capacity_limits": CAPACITY}, "shares": shares}


def divided(total: int, weights: Sequence[int]) -> list[int]:
    """The total in proportion to the weights, one at least for each; what rounding leaves goes to the largest."""
    parts = [max(1, total * weight // sum(weights)) for weight in weights]
    while sum(parts) != total:
        largest = parts.index(max(parts))
        parts[largest] += 1 if sum(parts) < total else -1
    return parts


def two_copies(trace: Path, path: Path) -> None:
    """The trace twice in a row."""
    with gzip.open(trace, "rt", newline="") as file:
        rows = list(csv.DictReader(file))
    later = max(int(row["submit_time_s"]) for row in rows) + GAP
    with gzip.open(path, "wt", newline="", compresslevel=1) as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
        writer.writerows(
            {**row, "submit_time_s": int(row["submit_time_s"]) + later, "source_line": f"again-{row['source_line']}"}
            for row in rows
        )


# --- the figures -----------------------------------------------------------------------------------


def main() -> None:
    parser = argparse.ArgumentParser()
    folder = os.environ.get("POLICY_ENGINE_TRACES", str(ROOT.parent / "shared" / "traces"))
    parser.add_argument("--trace", type=Path, default=Path(folder) / "philly.csv.gz")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--fifo", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.fifo:
        fifo(given.fifo)
        return
    simulate = import_module("policy_engine.simulation").simulate  # not at the top: SimPy's process loads none of it
    print(f"engine {'pure Python' if hasattr(simulate, '__code__') else 'compiled'}, median of {given.runs}")
    with tempfile.TemporaryDirectory() as temporary:
        figures = measured(given.trace, Path(temporary), given.runs)
    missed = [name for name, most in FIGURES.items() if figures.get(name, 0.0) > most]
    for name, figure in figures.items():
        most = f"   (at most {FIGURES[name]:g}{': missed' if name in missed else ''})" if name in FIGURES else ""
        print(f"{name:<48}{figure:>10.2f}{most}")
    for name in FIGURES.keys() - figures.keys():
        print(f"{name}: not measured, as Playwright is not installed here")
    sys.exit(1 if missed else 0)


def measured(trace: Path, folder: Path, runs: int) -> dict[str, float]:
    shares, twice, output = folder / "shares.json", folder / "twice.csv.gz", folder / "result.json"
    shares.write_text(json.dumps(policy(trace)), encoding="utf-8")
    two_copies(trace, twice)
    replay = [sys.executable, "-P", "-m", "policy_engine", "replay", str(shares), str(trace), "--format", "json"]
    double = [*replay[:-3], str(twice), "--format", "json"]
    simpy = [sys.executable, __file__, "--fifo", str(trace)]
    pairs = [interleaved(replay, simpy, output, number) for number in range(runs)]
    ours, theirs = ([pair[side] for pair in pairs] for side in (0, 1))
    doubled = [spent(double, output) for _ in range(max(1, runs // 2))]
    page = folder / "page.html"
    spent([*replay, "--html", str(page)], output)
    alone, together = (spent([*replay, "--shake", "10", "--workers", str(n)], output) for n in (1, os.cpu_count() or 1))
    return {
        "replay, s of wall clock": median(ours, "wall"),
        "replay, s of processor": median(ours, "cpu"),
        "SimPy, s of wall clock": median(theirs, "wall"),
        "SimPy, s of processor": median(theirs, "cpu"),
        "replay by SimPy, wall clock": median(ours, "wall") / median(theirs, "wall"),
        "replay by SimPy": median(ours, "cpu") / median(theirs, "cpu"),
        "memory of a replay, MB": max(run.megabytes for run in ours),
        "two copies by one": median(doubled, "cpu") / median(ours, "cpu"),
        "page, MB": page.stat().st_size / 1e6,
        # build/compiled has no browser to look with; the page is the same
        **({"first view of the page, s": first_view(page, runs)} if find_spec("playwright") else {}),
        "ten shaken, all cores by one worker": together.wall / alone.wall,
        "ten shaken, one worker, s of wall clock": alone.wall,
        "ten shaken, a worker for each core, s of wall clock": together.wall,
    }


def first_view(page: Path, runs: int) -> float:
    """Seconds until Chromium first paints text or a picture of the page; the median of several."""
    # by its path: what Ciw installs has a package "tests" too
    spec = spec_from_file_location("browser", ROOT / "tests" / "browser.py")
    assert spec is not None
    assert spec.loader is not None
    browser: Any = module_from_spec(spec)
    spec.loader.exec_module(browser)
    playwright = import_module("playwright.sync_api")
    times = []
    with playwright.sync_playwright() as play:
        running = play.chromium.launch(executable_path=browser.find_chromium(), args=list(browser.FLAGS))
        for _ in range(runs):
            tab = running.new_page(viewport={"width": 1280, "height": 900})
            tab.goto(page.as_uri())
            tab.wait_for_function(f"{PAINTED}.length")
            times.append(tab.evaluate(f"{PAINTED}[0].startTime") / 1000)
            tab.close()
        running.close()
    return float(statistics.median(times))


def interleaved(first: list[str], second: list[str], output: Path, number: int) -> tuple[Spent, Spent]:
    """Both, in the other order every second time."""
    if number % 2:
        after, before = spent(second, output), spent(first, output)
        return before, after
    return spent(first, output), spent(second, output)


def median(runs: Sequence[Spent], what: str) -> float:
    return float(statistics.median(getattr(run, what) for run in runs))


if __name__ == "__main__":
    main()
