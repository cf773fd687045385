"""One pass: which move comes next. The steps are those of the specification, each looked for anew."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tests.oracle.victims import Search, Victims, chosen_set
from tests.oracle.world import Books, JobState, Phase, World


@dataclass(frozen=True)
class Move:
    """Start a job, after its victims (if any) have been stopped."""

    job: JobState
    victims: Victims = ()


Step = Callable[[Books, JobState], Move | None]
Order = Callable[[Books, JobState], tuple[object, ...]]


def next_move(world: World) -> Move | None:
    """The first move that exists, or None. Writes ``blocked`` for heads that can never fit."""
    move = _claimant(world)
    if move is not None:
        return move
    books = Books(world)
    lines = [line for share in world.shares if (line := world.line(share))]
    look_at_heads(books, lines)
    able = [[job for job in heads(world, line) if not world.never_fits(job)] for line in lines]
    for step, order in _steps(world):
        offered = [move for jobs in able if (move := _offer(books, jobs, step)) is not None]
        if offered:
            return min(offered, key=lambda move: order(books, move.job))
    return None


def _offer(books: Books, jobs: list[JobState], step: Step) -> Move | None:
    """Of a share's jobs that may move, the first in line that can make this step's move."""
    return next((move for job in jobs if (move := step(books, job)) is not None), None)


def _steps(world: World) -> Iterator[tuple[Step, Order]]:
    if world.choices.reclaim_or_in_share == "reclaim_first":
        yield _own_capacity, share_order
        yield _in_share_inside, share_order
    else:
        yield _start_inside, share_order
        yield _in_share_inside, share_order
        yield _reclaim, share_order
    yield _borrow, borrower_order
    if world.choices.partly_borrowed == "yes":
        yield _reclaim_own_part, share_order
    yield _in_share_else, share_order


# --- heads ---------------------------------------------------------------------------------------


def heads(world: World, line: list[JobState]) -> list[JobState]:
    """The jobs of a share's line that may move, by C5; with those that can never fit."""
    match world.choices.head_of_line:
        case "strict":
            return line[:1]
        case "per_unit":
            return _front_of_units(line)
        case _:
            return line


def _front_of_units(line: list[JobState]) -> list[JobState]:
    """Jobs none of whose units an earlier job of the line asks for."""
    return [job for i, job in enumerate(line) if not any(set(job.job.demand) & set(e.job.demand) for e in line[:i])]


def look_at_heads(books: Books, lines: list[list[JobState]]) -> None:
    """Write ``blocked``, once per job and reason, for jobs at the front that can never fit (R12)."""
    world = books.world
    per_unit = world.choices.head_of_line == "per_unit"
    front = [job for line in lines for job in (_front_of_units(line) if per_unit else line[:1])]
    for job in sorted(front, key=lambda job: share_order(books, job)):
        reason = world.never_fits(job)
        if reason is None:
            continue
        code = reason.partition(" - ")[0]
        if job.stuck is None or job.stuck[0] != code:
            job.stuck = code, world.now
        if reason not in job.reasons:
            job.reasons.add(reason)
            world.write("blocked", job, detail=reason)


def share_order(books: Books, job: JobState) -> tuple[object, ...]:
    """C1, ties in the order given."""
    match books.world.choices.share_order:
        case "oldest_head":
            return job.submitted, job.order
        case "declared":
            return list(books.world.shares).index(job.share), job.order
        case "name":
            return job.share, job.order
        case _:
            return _used(books, job), job.order


def _used(books: Books, job: JobState) -> float:
    """Usage now / limit on the head's unit: the highest of its units, infinite where the limit is 0."""
    limits = {unit: books.world.limit(job.share, unit) for unit in job.job.demand}
    return max(books.now.get((job.share, u), 0) / limit if limit else float("inf") for u, limit in limits.items())


def borrower_order(books: Books, job: JobState) -> tuple[object, ...]:
    """C2, ties in the order given."""
    return job.submitted if books.world.choices.idle_assignment == "submitted" else job.runnable_since, job.order


# --- steps ---------------------------------------------------------------------------------------


def _claimant(world: World) -> Move | None:
    """0: a claimant whose victims have all stopped, oldest claim first."""
    claimants = [j for j in world.jobs if j.phase is Phase.CLAIMING and not j.victims]
    for job in sorted(claimants, key=lambda j: j.claim):
        if Books(world, claimant=job).claimant_can_start(job):
            return Move(job)
    return None


def _own_capacity(books: Books, job: JobState) -> Move | None:
    """1: it starts if it can; it waits if it will fit; else other shares' jobs are stopped."""
    return _start_inside(books, job) or _reclaim(books, job)


def _start_inside(books: Books, job: JobState) -> Move | None:
    return Move(job) if books.inside(job) and books.can_start(job) else None


def _reclaim(books: Books, job: JobState) -> Move | None:
    if not books.inside(job) or not _needs_victims(books, job):
        return None
    return _stop(job, chosen_set(Search(books, job, others=True, own=False)))


def _in_share_inside(books: Books, job: JobState) -> Move | None:
    """2: its share's own jobs are stopped, where that leaves it inside the limit."""
    if not books.world.shares[job.share].in_share or not _needs_victims(books, job):
        return None
    victims = chosen_set(Search(books, job, others=False, own=True))
    return _stop(job, victims) if victims and Books(books.world, victims).inside(job) else None


def _borrow(books: Books, job: JobState) -> Move | None:
    """3: it starts beyond its own limit."""
    borrows = books.world.shares[job.share].strategy == "LEND_AND_BORROW"
    return Move(job) if borrows and not books.inside(job) and books.can_start(job) else None


def _reclaim_own_part(books: Books, job: JobState) -> Move | None:
    """C10: a job larger than the limit takes back what of it is its share's own; the rest must be there."""
    larger = any(count > books.world.limit(job.share, unit) for unit, count in job.job.demand.items())
    if not larger or not _needs_victims(books, job):
        return None
    for unit in books.short_of(job):
        count = job.job.demand[unit]
        own_part = min(count, -books.excess(job.share, unit))
        if own_part <= 0 or books.room_after(job, unit) < count - own_part:
            return None
    return _stop(job, chosen_set(Search(books, job, others=True, own=False, partly_borrowed=True)))


def _in_share_else(books: Books, job: JobState) -> Move | None:
    """4: its share's own jobs on borrowed capacity or, where there is no such set, a mixed one."""
    if not books.world.shares[job.share].in_share or not _needs_victims(books, job):
        return None
    own = chosen_set(Search(books, job, others=False, own=True))
    return _stop(job, own or chosen_set(Search(books, job, others=True, own=True)))


def _needs_victims(books: Books, job: JobState) -> bool:
    return not books.can_start(job) and not books.will_fit(job)


def _stop(job: JobState, victims: Victims | None) -> Move | None:
    return Move(job, victims) if victims else None
