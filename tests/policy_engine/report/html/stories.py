"""Runs and reports that the tests of the page are about."""

import json
from contextlib import chdir
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from policy_engine import check, compare, verify
from policy_engine.comparison import FailOn
from policy_engine.policy import Policy
from policy_engine.replaying import Asked, Spreading, ask
from policy_engine.report import tables
from policy_engine.report.blocks import Badge, Page, Section
from policy_engine.report.check import CheckReport, promises
from policy_engine.report.comparison import ComparisonReport
from policy_engine.report.html import render_html
from policy_engine.report.html.lanes import lanes
from policy_engine.report.html.rendering import render
from policy_engine.report.replay import ReplayReport
from policy_engine.report.runs import story
from policy_engine.report.story import Story
from policy_engine.report.verification import VerificationReport, Verified
from policy_engine.scheduler.jobs import Exit, Job, Terminate, Timing, UpdatePriority, Workload
from policy_engine.simulation import simulate
from policy_engine.sources import load
from policy_engine.workload.history import Format, History

ROOT = Path(__file__).parents[4]
"""A report names its files as they were given: from here, not from where this machine keeps them."""
NASTY = (
    "</script><b>x",
    "</style><img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "datum['kind']",
    "a.b[0].c",
    "${alert(1)} {{ 7 * 7 }} {% raw %}",
    "]]><!--",
    "&lt;already&gt; &amp;",
    "name'with\"quotes\\",
    "x" * 128,
)
"""Names that mean something in HTML, SVG, Vega's expressions or the template."""
XLARGE, BIG = "ml.g5.xlarge", "ml.g5.48xlarge"


@cache
def walkthrough() -> VerificationReport:
    """AWS's walkthrough, verified."""
    with chdir(ROOT):
        result = verify("examples/policy.yaml", "examples/walkthrough.yaml")
    return VerificationReport([Verified(result.source, result.verification)])


def nasty_policy() -> Policy:
    """Shares that are named as no share may be, as only a model that nobody checked can have them."""
    policy = Policy.of(
        {
            "queue": "q",
            "service_environment": {"capacity_limits": {XLARGE: 4, BIG: 1}},
            "shares": {
                "a": {"capacity_limits": {XLARGE: 1}, "strategy": "LEND_AND_BORROW", "in_share_preemption": True},
                "b": {"capacity_limits": {XLARGE: 2, BIG: 1}, "strategy": "LEND", "in_share_preemption": False},
                "c": {"capacity_limits": {XLARGE: 1}, "strategy": "RESERVE", "in_share_preemption": False},
            },
        }
    )
    shares = dict(zip(NASTY[:3], policy.shares.values(), strict=True))
    return policy.model_copy(update={"queue": NASTY[0], "shares": shares})


def nasty_story(ident: str = "run") -> Story:
    """Every kind of attempt and of event, among names that mean something elsewhere."""
    a, b, _ = NASTY[:3]
    one = {XLARGE: 1}
    jobs = [
        Job(NASTY[0], a, one, priority=2, duration=500),
        Job(NASTY[1], a, one, priority=1, duration=500),
        Job(NASTY[2], b, {XLARGE: 2}, submit=100, duration=100, exit=Exit.FAILED),
        Job(NASTY[3], a, one, priority=1, submit=150),
        Job(NASTY[4], b, {BIG: 2}, submit=300),
        *(Job(name, b, one, submit=250 + n) for n, name in enumerate(NASTY[5:])),
    ]
    updates = (UpdatePriority(200, NASTY[3], 9), Terminate(280, NASTY[5]))
    run = simulate(nasty_policy(), Workload(tuple(jobs), updates, Timing(stop_seconds=20), until=400))
    return story(ident, run)


def long_story(jobs: int, shares: int) -> Story:
    """As many jobs as are asked for, over shares of every strategy on two instance types."""
    declared = {
        f"team-{n:02}": {
            "capacity_limits": {XLARGE: 4, BIG: 1},
            "strategy": ("LEND_AND_BORROW", "RESERVE", "LEND")[n % 3],
            "in_share_preemption": n % 2 == 0,
        }
        for n in range(shares)
    }
    limits = {XLARGE: 4 * shares, BIG: shares}
    policy = Policy.of({"queue": "q", "service_environment": {"capacity_limits": limits}, "shares": declared})
    workload = tuple(
        Job(
            f"job-{n}",
            f"team-{n * n % shares:02}",
            {(XLARGE if n % 3 else BIG): 1 + n % 2},
            priority=n % 5,
            submit=n * 37.0 * 20 / shares,
            duration=600.0 + n * 7919 % 9000,
        )
        for n in range(jobs)
    )
    return story("run", simulate(policy, Workload(workload)))


# --- pages, each drawn once for all tests --------------------------------------------------------------------


def page_of(told: Story, title: str = "title") -> str:
    """A page that holds all there is to say about a run, under headings that are given."""
    run = told.run
    sections = [
        Section("run", title, [*lanes(told), *tables.steps(told)]),
        Section("jobs", "Jobs", [*tables.jobs(told), *tables.shares(told), *tables.preemptions(told)]),
        Section("log", "Events", [*tables.log(told)]),
        Section("policy", "The policy", [*promises(run.policy, run.choices)]),
    ]
    return render(Page("simulate", title, Badge("ran"), [("policy", title * 9)], sections, [(title, title * 20)]))


@cache
def many_jobs_story() -> Story:
    """More jobs and more changes than a page draws."""
    return long_story(600, shares=3)


@cache
def walkthrough_page() -> str:
    """The page of AWS's walkthrough."""
    return render_html(walkthrough())


@cache
def check_page() -> str:
    """The page of a check."""
    with chdir(ROOT):
        result = check("examples/policy.yaml")
    return render_html(CheckReport(result.source, result))


@cache
def nasty_page() -> str:
    """The page whose names mean something elsewhere."""
    return page_of(nasty_story(), NASTY[0])


@cache
def many_jobs_page() -> str:
    """The page on which not everything is drawn."""
    return page_of(many_jobs_story())


@cache
def replay_page() -> str:
    """A replay of 20 shares, one of them with a name as long as names may be, and all that can be asked."""
    names = ["a-team-whose-name-has-no-end" * 4, *(f"team-{n:02}" for n in range(1, 20))]
    shares = {
        name: {
            "capacity_limits": {XLARGE: 3, BIG: 1} if n < 3 else {XLARGE: 3},
            "strategy": "LEND_AND_BORROW",
            "borrow_limit": 300,
            "in_share_preemption": n % 2 == 0,
        }
        for n, name in enumerate(names)
    }
    policy = Policy.of({"service_environment": {"capacity_limits": {XLARGE: 60, BIG: 3}}, "shares": shares})
    jobs = [
        Job(
            f"{names[n % 20]}-{n}",
            names[n * n % 20 if n % 9 else 2],
            {XLARGE: 1 + n % 2} if n % 9 else {BIG: 1},
            priority=n % 5,
            submit=n * 60.0,
            duration=600.0 + n * 7919 % 20_000,
        )
        for n in range(800)
    ]
    jobs.append(Job("too-large", names[1], {BIG: 30}, submit=48_000.0, duration=60.0))
    found = History("jobs.csv", Format.CSV, tuple(jobs), [job.submit for job in jobs], 0.0, None, ())
    asked = Asked(baselines=True, shakes=1, spreading=Spreading(1), prices={XLARGE: 1.0, BIG: 15.0})
    return render_html(ReplayReport(load(ROOT / "examples" / "teams.yaml"), ask(policy, found, asked)))


@cache
def counterexample_page() -> str:
    """Two instance types, one of which a share has too many of to draw one by one; its name, and a job's, are long."""
    policy = Policy.of(
        {
            "service_environment": {"capacity_limits": {XLARGE: 100, BIG: 2}},
            "shares": {
                "x" * 60: {"capacity_limits": {XLARGE: 60}, "strategy": "LEND", "in_share_preemption": False},
                "b": {
                    "capacity_limits": {XLARGE: 40, BIG: 2},
                    "strategy": "LEND_AND_BORROW",
                    "in_share_preemption": True,
                },
            },
        }
    )
    asked = {
        "jobs": [
            {"name": NASTY[0], "share": "b", "instance_type": XLARGE, "instance_count": 70},
            {"name": "o" * 60, "share": "x" * 60, "instance_type": XLARGE, "instance_count": 50, "submit": "1m"},
        ],
        "expect": [{"job": NASTY[0], "preempted": 0}],
    }
    with TemporaryDirectory() as folder:
        path = Path(folder) / "scenario.json"
        path.write_text(json.dumps(asked), encoding="utf-8")
        result = verify(policy, path, open=["victims"])
    return render_html(VerificationReport([Verified(result.source, result.verification)]))


@cache
def comparison_page() -> str:
    """A change of eight shares, one of them with a name as long as names may be, with jobs under both policies."""
    long = "a-team-whose-name-has-no-end" * 4

    def policy(limit: int, **more: int) -> Policy:
        names = [long, *(f"team-{n}" for n in range(7 - len(more))), *more]
        share = {"strategy": "LEND_AND_BORROW", "borrow_limit": 100, "in_share_preemption": True}
        shares = {name: {**share, "capacity_limits": {XLARGE: limit}} for name in names}
        return Policy.of({"service_environment": {"capacity_limits": {XLARGE: 16}}, "shares": shares})

    names = [long, "team-0", "team-1", "team-6"]
    jobs = [
        Job(f"{names[n % 4]}-{n}", names[n % 4], {XLARGE: 1 + n % 2}, priority=n % 3, submit=n * 60.0, duration=900.0)
        for n in range(60)
    ]
    found = History("jobs.csv", Format.CSV, tuple(jobs), [None] * 60, 0.0, None, ())
    compared = compare(policy(2), policy(1, other=1), history=found, intends=["team-1"]).comparison
    return render_html(ComparisonReport(compared, FailOn.WORSE))


PAGES = {
    "walkthrough": walkthrough_page,
    "check": check_page,
    "nasty names": nasty_page,
    "many jobs": many_jobs_page,
    "replay": replay_page,
    "comparison": comparison_page,
    "counterexample": counterexample_page,
}
