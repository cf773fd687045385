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


Step = Callable[[World, JobState], Move | None]


def next_move(world: World) -> Move | None:
    """The first move that exists, or None. Writes ``blocked`` for heads that can never fit."""
    move = _claimant(world)
    if move is not None:
        return move
    look_at_heads(world)
    for step, order in _steps(world):
        offered = [move for share in world.shares if (move := _offer(world, share, step)) is not None]
        if offered:
            return min(offered, key=lambda move: order(world, move.job))
    return None


def _steps(world: World) -> Iterator[tuple[Step, Callable[[World, JobState], tuple[object, ...]]]]:
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


def heads(world: World, share: str) -> list[JobState]:
    """The jobs of a share that may move, by C5; with those that can never fit."""
    line = world.line(share)
    if world.choices.head_of_line == "strict":
        return line[:1]
    if world.choices.head_of_line == "skip":
        return line
    return _front_of_units(line)


def _front_of_units(line: list[JobState]) -> list[JobState]:
    """Jobs none of whose units an earlier job of the line asks for."""
    return [job for i, job in enumerate(line) if not any(set(job.job.demand) & set(e.job.demand) for e in line[:i])]


def look_at_heads(world: World) -> None:
    """Write ``blocked``, once per job and reason, for jobs at the front that can never fit (R12)."""
    front = [
        job
        for share in world.shares
        for job in (
            _front_of_units(world.line(share)) if world.choices.head_of_line == "per_unit" else world.line(share)[:1]
        )
    ]
    for job in sorted(front, key=lambda job: share_order(world, job)):
        reason = world.never_fits(job)
        if reason is None:
            continue
        code = reason.partition(" - ")[0]
        if job.stuck is None or job.stuck[0] != code:
            job.stuck = code, world.now
        if reason not in job.reasons:
            job.reasons.add(reason)
            world.write("blocked", job, detail=reason)


def _offer(world: World, share: str, step: Step) -> Move | None:
    """The first job in the share's line that can make this step's move."""
    for job in heads(world, share):
        move = None if world.never_fits(job) else step(world, job)
        if move is not None:
            return move
    return None


def share_order(world: World, job: JobState) -> tuple[object, ...]:
    """C1, ties in the order given."""
    match world.choices.share_order:
        case "oldest_head":
            return job.submitted, job.order
        case "declared":
            return list(world.shares).index(job.share), job.order
        case "name":
            return job.share, job.order
        case _:
            return _used(world, job), job.order


def _used(world: World, job: JobState) -> float:
    """Usage now / limit on the head's unit: the highest of its units, infinite where the limit is 0."""
    now = Books(world).now
    limits = {unit: world.limit(job.share, unit) for unit in job.job.demand}
    return max(now.get((job.share, u), 0) / limit if limit else float("inf") for u, limit in limits.items())


def borrower_order(world: World, job: JobState) -> tuple[object, ...]:
    """C2, ties in the order given."""
    return job.submitted if world.choices.idle_assignment == "submitted" else job.runnable_since, job.order


# --- steps ---------------------------------------------------------------------------------------


def _claimant(world: World) -> Move | None:
    """0: a claimant whose victims have all stopped, oldest claim first."""
    claimants = [j for j in world.jobs if j.phase is Phase.CLAIMING and not j.victims]
    for job in sorted(claimants, key=lambda j: j.claim):
        if Books(world, claimant=job).claimant_can_start(job):
            return Move(job)
    return None


def _own_capacity(world: World, job: JobState) -> Move | None:
    """1: it starts if it can; it waits if it will fit; else other shares' jobs are stopped."""
    return _start_inside(world, job) or _reclaim(world, job)


def _start_inside(world: World, job: JobState) -> Move | None:
    books = Books(world)
    return Move(job) if books.inside(job) and books.can_start(job) else None


def _reclaim(world: World, job: JobState) -> Move | None:
    if not Books(world).inside(job) or not _needs_victims(world, job):
        return None
    return _stop(job, chosen_set(Search(world, job, others=True, own=False)))


def _in_share_inside(world: World, job: JobState) -> Move | None:
    """2: its share's own jobs are stopped, where that leaves it inside the limit."""
    if not world.shares[job.share].in_share or not _needs_victims(world, job):
        return None
    victims = chosen_set(Search(world, job, others=False, own=True))
    return _stop(job, victims) if victims and Books(world, victims).inside(job) else None


def _borrow(world: World, job: JobState) -> Move | None:
    """3: it starts beyond its own limit."""
    books = Books(world)
    borrows = world.shares[job.share].strategy == "LEND_AND_BORROW"
    return Move(job) if borrows and not books.inside(job) and books.can_start(job) else None


def _reclaim_own_part(world: World, job: JobState) -> Move | None:
    """C10: a job larger than the limit takes back what of it is its share's own; the rest must be there."""
    limits = {unit: world.limit(job.share, unit) for unit in job.job.demand}
    if all(count <= limits[unit] for unit, count in job.job.demand.items()) or not _needs_victims(world, job):
        return None
    books = Books(world)
    for unit in books.short_of(job):
        own_part = min(job.job.demand[unit], -books.excess(job.share, unit))
        if own_part <= 0 or books.room_after(job, unit) < job.job.demand[unit] - own_part:
            return None
    return _stop(job, chosen_set(Search(world, job, others=True, own=False, partly_borrowed=True)))


def _in_share_else(world: World, job: JobState) -> Move | None:
    """4: its share's own jobs on borrowed capacity or, where there is no such set, a mixed one."""
    if not world.shares[job.share].in_share or not _needs_victims(world, job):
        return None
    own = chosen_set(Search(world, job, others=False, own=True))
    return _stop(job, own) or _stop(job, chosen_set(Search(world, job, others=True, own=True)))


def _needs_victims(world: World, job: JobState) -> bool:
    books = Books(world)
    return not books.can_start(job) and not books.will_fit(job)


def _stop(job: JobState, victims: Victims | None) -> Move | None:
    return Move(job, victims) if victims else None
