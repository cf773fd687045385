"""On random scenarios an explanation says what the second engine, which knows nothing of it, finds to be so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise

import pytest

from policy_engine.explaining import About, Because, Diagnosis, Explanation, Reason, What, explain
from policy_engine.outcome import last_rows, state_after
from policy_engine.scheduler.endless import TooManyMovesError
from policy_engine.scheduler.log import Kind
from policy_engine.simulation import Run, simulate
from tests.oracle.engine import Clock
from tests.oracle.generator import Scenario, scenario
from tests.oracle.moves import heads
from tests.oracle.victims import Search, chosen_set
from tests.oracle.world import Books, JobState, Phase, World

SEEDS = range(900, 970)


class Watched(Clock):
    """The second engine, asked after every instant."""

    def __init__(self, of: Scenario, ask: Callable[[World], None]) -> None:
        super().__init__(of.declared(), of.workload, of.choices)
        self.ask = ask

    def _instant(self) -> None:
        super()._instant()
        self.ask(self.world)


Explained = tuple[Scenario, Run, list[Explanation]]
"""A scenario, its run, and the explanations of all its jobs."""


def explanations(seeds: range) -> Iterator[Explained]:
    for seed in seeds:
        made = scenario(seed)
        try:
            run = simulate(made.declared(), made.workload, made.choices)
        except TooManyMovesError:
            continue
        yield made, run, [explain(run, job.name) for job in run.workload.jobs]


@pytest.fixture(scope="module")
def explained() -> list[Explained]:
    return list(explanations(SEEDS))


# --- why it waits ----------------------------------------------------------------------------------


def at_front(world: World, job: JobState) -> bool:
    return job in heads(world, world.line(job.share))


def usage(world: World, job: JobState, unit: str) -> dict[str, int]:
    """What each share uses: after, or now where the job has a claim and its victims have stopped."""
    books = Books(world)
    used = books.now if job.phase is Phase.CLAIMING else books.after
    return {share: used.get((share, unit), 0) for share in world.shares}


def lacks_bound(world: World, job: JobState, reason: Reason) -> bool:
    unit, bound = reason.unit or "", world.bound(job.share, reason.unit or "")
    used, count = usage(world, job, unit)[job.share], job.job.demand[unit]
    told = {"usage": used, "count": count, "limit": world.limit(job.share, unit), "bound": bound}
    return told.items() <= dict(reason.numbers).items() and used + count > bound


def lacks_room(world: World, job: JobState, reason: Reason) -> bool:
    unit = reason.unit or ""
    claims = job.phase is Phase.CLAIMING
    room = Books(world, claimant=job).room_now(job, unit) if claims else Books(world).room_after(job, unit)
    used = {share: count for share, count in usage(world, job, unit).items() if count}
    return (
        reason.numbers["room"] == max(0, room)
        and room < job.job.demand[unit]
        and used == {share: row["usage"] for share, row in reason.shares.items() if row["usage"]}
        and reason.numbers["used"] == sum(used.values())
    )


def will_fit(world: World, job: JobState, _: Reason) -> bool:
    books = Books(world)
    return at_front(world, job) and books.will_fit(job) and not books.can_start(job)


def is_behind(world: World, job: JobState, reason: Reason) -> bool:
    line = world.line(job.share)
    first = next(other for other in line if other.name == reason.jobs[0])
    return (
        not at_front(world, job)
        and reason.numbers["place"] == line.index(job) + 1
        and line.index(first) < line.index(job)
        and reason.numbers["first_priority"] == first.priority >= job.priority
    )


def has_victims(_: World, job: JobState, reason: Reason) -> bool:
    return {victim.name for victim in job.victims} == set(reason.jobs) != set()


Fact = Callable[[World, JobState, Reason], bool]
WAITS: Mapping[Because, Fact] = {
    Because.DECISION_PENDING: lambda world, _, reason: world.now < reason.numbers["decision_at"],
    Because.ITS_VICTIMS_STOP: has_victims,
    Because.ENVIRONMENT_DISABLED: lambda world, _, __: not world.environment_enabled,
    Because.NOT_FIRST: is_behind,
    Because.NEVER_FITS: lambda world, job, reason: world.never_fits(job) == reason.aws_reason,
    Because.OWN_LIMIT: lacks_bound,
    Because.BORROW_LIMIT: lacks_bound,
    Because.LENDERS_LIMITS: lacks_bound,
    Because.STOP_UNDER_WAY: will_fit,
    Because.HELD: will_fit,
    Because.ENVIRONMENT_LOWERED: lacks_room,
    Because.UNOWNED: lacks_room,
    Because.IN_USE: lacks_room,
    Because.RESERVED: lacks_room,
}


# --- why nobody is stopped ---------------------------------------------------------------------------

KINDS = {About.ACROSS_SHARES: (True, False), About.IN_SHARE: (False, True), About.BOTH: (True, True)}


def search(world: World, job: JobState, about: About | None) -> Search:
    others, own = KINDS[about or About.ANYBODY]
    larger = others and not own and any(n > world.limit(job.share, unit) for unit, n in job.job.demand.items())
    return Search(Books(world), job, others=others, own=own, partly_borrowed=larger)


def has_no_set(world: World, job: JobState, reason: Reason) -> bool:
    sought = search(world, job, reason.about)
    candidates = sought.candidates()
    return bool(candidates) and {c.name for c in candidates} == set(reason.jobs) and chosen_set(sought) is None


def has_no_candidates(world: World, job: JobState, reason: Reason) -> bool:
    return not search(world, job, reason.about).candidates()


def goes_beyond(world: World, job: JobState, _: Reason) -> bool:
    return not Books(world).inside(job)


def lowest_is(world: World, job: JobState, reason: Reason) -> bool:
    units = job.job.demand.keys()
    running = [
        other for other in world.jobs if other.running and other.share == job.share and other.job.demand.keys() & units
    ]
    return min(other.priority for other in running) == reason.numbers["lowest_priority"] >= job.priority


NOT_STOPPED: Mapping[Because, Fact] = {
    Because.LARGER_THAN_LIMIT: lambda world, job, _: any(
        count > world.limit(job.share, unit) for unit, count in job.job.demand.items()
    ),
    Because.BEYOND_LIMIT: goes_beyond,
    Because.REST_NOT_IDLE: lambda world, *_: world.choices.partly_borrowed == "yes",
    Because.NOBODY_OVER_LIMIT: has_no_candidates,
    Because.IN_SHARE_OFF: lambda world, job, _: not world.shares[job.share].in_share,
    Because.NOTHING_RUNS: has_no_candidates,
    Because.EQUAL_PRIORITY: lowest_is,
    Because.HIGHER_PRIORITY: lowest_is,
    Because.TOO_LITTLE: has_no_set,
    Because.NO_LEGAL_SET: has_no_set,
}


def untrue(world: World, job: JobState, diagnosis: Diagnosis) -> Iterator[Reason]:
    """The reasons that are not so."""
    if not WAITS[diagnosis.waits.because](world, job, diagnosis.waits):
        yield diagnosis.waits
    for reason in diagnosis.not_stopped:
        if reason.about is not About.ANYBODY and not NOT_STOPPED[reason.because](world, job, reason):
            yield reason
    if diagnosis.ahead is not None:
        ahead = next(other for other in world.jobs if other.name == diagnosis.ahead.job)
        yield from untrue(world, ahead, diagnosis.ahead)


def check(explained: Explained, seen: Counter[Because]) -> None:
    """Every reason is so at the time at which it is given."""
    made, _, explanations = explained
    told: dict[float, list[Diagnosis]] = {}
    for explanation in explanations:
        for chapter in explanation.chapters:
            if chapter.diagnosis is not None:
                told.setdefault(chapter.at, []).append(chapter.diagnosis)
                seen.update(reason.because for reason in chapter.diagnosis.reasons())

    def ask(world: World) -> None:
        jobs = {job.name: job for job in world.jobs}
        for diagnosis in told.pop(world.now, []):
            job = jobs[diagnosis.job]
            assert job.phase in (Phase.WAITING, Phase.CLAIMING)
            assert list(untrue(world, job, diagnosis)) == [], (made, world.now, diagnosis)

    Watched(made, ask).run()
    assert not told


RARE = {
    Because.UNOWNED,
    Because.HELD,
    Because.NO_LEGAL_SET,
    Because.REST_NOT_IDLE,
    Because.TOO_LITTLE,
    Because.STOP_UNDER_WAY,
}
"""The table of reasons has these."""


def test_every_reason_is_so(explained: list[Explained]) -> None:
    seen: Counter[Because] = Counter()
    for one in explained:
        check(one, seen)
    assert {because for because, count in seen.items() if count > 5} >= {*WAITS, *NOT_STOPPED} - RARE


@pytest.mark.nightly
@pytest.mark.parametrize("first", range(10_000, 14_000, 1_000))
def test_every_reason_is_so_in_many(first: int) -> None:
    seen: Counter[Because] = Counter()
    for one in explanations(range(first, first + 1_000)):
        check(one, seen)
    assert {*seen} >= {*WAITS, *NOT_STOPPED} - {Because.HELD, Because.NO_LEGAL_SET}


# --- the log ---------------------------------------------------------------------------------------


def test_the_chapters_are_those_of_the_log(explained: list[Explained]) -> None:
    """Every attempt, every wait and every preemption is told, at its time."""
    for _, run, explanations in explained:
        for explanation in explanations:
            events = [event for event in run.log if event.job == explanation.job]
            told = [(chapter.what, chapter.at) for chapter in explanation.chapters]
            for kind, what in (
                (Kind.STARTED, What.RUNS),
                (Kind.PREEMPTED, What.PREEMPTED),
                (Kind.FINISHED, What.FINISHED),
            ):
                assert [at for w, at in told if w is what] == [event.at for event in events if event.kind is kind]
            lasting = [chapter for chapter in explanation.chapters if chapter.lasts]
            assert all(one.until == other.at for one, other in pairwise(lasting))
            assert lasting[-1].until is None


def test_at_any_time_the_state_is_that_of_the_log(explained: list[Explained]) -> None:
    asked: Counter[What] = Counter()
    for _, run, explanations in explained[::8]:
        times = [0.0, run.end, *(at + 0.5 for at in {row[0] for row in run.log.rows} if 0 <= at < run.end - 1)]
        states = dict(last_rows(run, times))
        for explanation in explanations[::3]:
            number = [job.name for job in run.workload.jobs].index(explanation.job)
            for at, rows in states.items():
                now = explain(run, explanation.job, at)
                row = run.log.rows[rows[number]] if rows[number] >= 0 else None
                expected = state_after(row, at, 0.0)
                assert now.last.state == expected
                lasting = [chapter for chapter in explanation.chapters if chapter.lasts and chapter.at <= at]
                assert lasting[-1].what is now.last.what
                assert now.chapters[-1] is now.last
                if now.last.diagnosis is not None and lasting[-1].diagnosis is not None:
                    assert now.last.diagnosis.key == lasting[-1].diagnosis.key
                asked[now.last.what] += 1
    assert min(asked[what] for what in (What.NOT_SUBMITTED, What.WAITS, What.RUNS, What.FINISHED)) > 20


def test_the_victims_are_those_of_the_log(explained: list[Explained]) -> None:
    seen = 0
    for made, run, explanations in explained:
        log = [(event.at, event.by, event.job) for event in run.log if event.kind is Kind.PREEMPTED and event.by]
        told = [
            (chapter.at, chapter.selection.claimant, victim)
            for explanation in explanations
            for chapter in explanation.chapters
            if chapter.what is What.STOPS_OTHERS and chapter.selection is not None
            for victim in chapter.selection.victims
        ]
        assert sorted(told, key=str) == sorted(log, key=str)
        orders = {
            chapter.selection.order
            for explanation in explanations
            for chapter in explanation.chapters
            if chapter.selection is not None
        }
        assert orders <= {made.choices.victims}
        seen += len(told)
    assert seen > 60
