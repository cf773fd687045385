"""How the victims of one preemption were chosen: the candidates in the order of C8, each with what decided."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from policy_engine.expectations.wording import listed
from policy_engine.explaining.reasons import Candidate, Fate, Selection
from policy_engine.scheduler.log import CROSS_SHARE_REASON, Why
from policy_engine.scheduler.moves import Move
from policy_engine.scheduler.state import INSIDE, State
from policy_engine.scheduler.victims import Kind, Search
from policy_engine.workload.durations import duration_text

DECISIONS: Final = "decisions"
"""In the place of an answer to C8: the scenario fixes the move."""


def selection(state: State, move: Move, at: float) -> Selection:
    """How the victims of the move were chosen, told on the state before it."""
    return _Choice(state, move).selection(at)


class _Compared(NamedTuple):
    """One comparison of two candidates."""

    value: Callable[[int], float]
    """The lesser is taken first."""
    words: Callable[[int, int], str]
    """What it says of the first and the second."""


class _Choice:
    """One preemption that is about to be made."""

    def __init__(self, state: State, move: Move) -> None:
        self.state, self.move = state, move
        share = state.share_of[move.job]
        own = sum(state.share_of[victim] == share for victim in move.victims)
        self.kind = Kind.OWN if own == len(move.victims) else Kind.MIXED if own else Kind.CROSS
        larger = any(count > state.limit[cell] for cell, _, count in state.demand[move.job])
        self.search = Search(state, move.job, self.kind, partly=larger and self.kind is Kind.CROSS)
        self.by_rule = list(move.victims) == self.search.chosen()

    def selection(self, at: float) -> Selection:
        """All of it."""
        state, job = self.state, self.move.job
        cell, unit, count = next(part for part in state.demand[job] if state.is_short(*part))
        room = max(0, state.room_after(cell, unit, state.pool_for(cell, unit, count)))
        candidates = tuple(self._candidates())
        names = [state.jobs[victim].name for victim in self.move.victims]
        return Selection(
            at=at,
            claimant=state.jobs[job].name,
            share=state.jobs[job].share,
            kind={Kind.CROSS: Why.CROSS_SHARE, Kind.OWN: Why.IN_SHARE}.get(self.kind),
            order=state.choices.victims if self.by_rule else DECISIONS,
            unit=state.unit_names[unit],
            needed=count,
            room=room,
            candidates=candidates,
            message=f"{listed(names)} {'is' if len(names) == 1 else 'are'} stopped for {state.jobs[job].name}"
            f" ({self._why(cell, unit)}): it needs {count} {state.unit_names[unit]} and there are {room} for it",
            went_on=self._went_on(),
            rests_on=tuple(self._rests_on(candidates)),
            aws_reason=CROSS_SHARE_REASON if self.kind is Kind.CROSS else None,
        )

    def _why(self, cell: int, unit: int) -> str:
        """Which right the claimant has."""
        state, share = self.state, self.state.jobs[self.move.job].share
        if self.kind is Kind.OWN:
            return f"in-share, R8: priority {state.priority[self.move.job]} is higher than theirs"
        used, limit = state.after[cell], state.limit[cell]
        told = f"{share} uses {used} {state.unit_names[unit]} of its limit {limit} and takes back what is lent"
        return f"cross-share, R7: {told}" if self.kind is Kind.CROSS else f"both kinds, R7 and R8: {told}"

    def _rests_on(self, candidates: Sequence[Candidate]) -> Iterator[str]:
        """The open choices of which another answer could choose otherwise."""
        state, job = self.state, self.move.job
        if not self.by_rule:
            return
        if len(candidates) > len(self.move.victims):
            yield "victims"
        other = Kind.CROSS if self.kind is Kind.OWN else Kind.OWN
        may = state.in_share[state.share_of[job]] if other is Kind.OWN else state.look(job) & INSIDE
        if self.kind is not Kind.MIXED and may and Search(state, job, other).taken() is not None:
            yield "reclaim_or_in_share"
        if self.search.partly:
            yield "partly_borrowed"

    # --- the walk -------------------------------------------------------------------------------

    def _went_on(self) -> bool:
        """Did the walk in order end without a legal set?"""
        if not self.by_rule or self.state.choices.victims == "fewest_jobs":
            return False
        taken = self.search.taken()
        return taken is not None and taken != list(self._in_order(len(taken)))

    def _in_order(self, most: int) -> Iterator[int]:
        """The first candidates in order, the excess reckoned anew after each."""
        taken: list[int] = []
        while len(taken) < most and (victim := self.search.next_victim(taken, set(taken))) is not None:
            taken.append(victim)
            yield victim

    def _candidates(self) -> Iterator[Candidate]:
        """Those taken, in order; those whose turn did not come; those whose share is within its limit by then."""
        search, kept = self.search, list(self.move.victims)
        taken = (search.taken() if self.by_rule else None) or kept
        for number, victim in enumerate(taken):
            before = taken[:number]
            other = search.next_victim(before, {*before, victim})
            fate = Fate.STOPPED if victim in kept else Fate.PUT_BACK
            yield self._candidate(victim, before, fate, other)
        passed = set(taken)
        while (spared := search.next_victim(taken, passed)) is not None:
            passed.add(spared)
            yield self._candidate(spared, taken, Fate.SPARED, search.next_victim(taken, passed))
        keys = search.cross_candidates() if self.kind & Kind.CROSS else []
        for key in keys:
            if -key[3] not in passed:
                yield self._candidate(-key[3], taken, Fate.WITHIN_LIMIT, None)

    def _candidate(self, job: int, before: Sequence[int], fate: Fate, other: int | None) -> Candidate:
        """The candidate after those ``before`` it; ``other`` would have come in its place."""
        state = self.state
        excess = self._excess(job, before)
        decided = None
        if other is not None and self.by_rule and fate is not Fate.WITHIN_LIMIT:
            decided = self._decided(job, other, before)
        return Candidate(
            job=state.jobs[job].name,
            share=state.jobs[job].share,
            priority=state.priority[job],
            instances=dict(state.jobs[job].demand),
            started=-state.run_key[job][1],
            excess=excess,
            fate=fate,
            before=decided,
        )

    def _excess(self, job: int, before: Sequence[int]) -> dict[str, int]:
        """How far its share is over its limit after those before it, on the units that count."""
        state = self.state
        share = state.share_of[job]
        if share == state.share_of[self.move.job]:
            return {}
        gone: dict[int, int] = {}
        for victim in before:
            for cell, _, count in state.demand[victim]:
                gone[cell] = gone.get(cell, 0) + count
        return {
            state.unit_names[unit]: max(0, state.after[cell] - gone.get(cell, 0) - state.limit[cell])
            for cell, unit in state.cells_of[share]
            if cell in self.search.counted
        }

    # --- what decided ---------------------------------------------------------------------------

    def _decided(self, job: int, other: int, before: Sequence[int]) -> str | None:
        """The first comparison that puts the one before the other."""
        for compared in self._comparisons(before):
            if compared.value(job) != compared.value(other):
                return compared.words(job, other)
        return None

    def _comparisons(self, before: Sequence[int]) -> Iterator[_Compared]:
        """In the order of C8."""
        state, order = self.state, self.state.choices.victims
        own = state.share_of[self.move.job]

        def name(job: int) -> str:
            return state.jobs[job].name

        yield _Compared(
            lambda job: state.share_of[job] == own,
            lambda _, other: f"it is of another share, {name(other)} of its own",
        )
        if order in ("borrowed_first", "fewest_jobs"):
            yield _Compared(
                lambda job: self._is_too_large(job, before),
                lambda _, other: f"it fits into what its share borrows, {name(other)} does not",
            )
        by_start = _Compared(
            lambda job: state.run_key[job][1],
            lambda job, other: f"it started later than {name(other)}: {_started(state, job, other)}",
        )
        if order == "newest":
            yield by_start
        if order == "oldest":
            yield _Compared(
                lambda job: -state.run_key[job][1],
                lambda job, other: f"it started earlier than {name(other)}: {_started(state, job, other)}",
            )
        if order == "largest":
            yield _Compared(
                lambda job: -state.jobs[job].instances,
                lambda job, other: (
                    f"it is larger than {name(other)}:"
                    f" {state.jobs[job].instances} to {state.jobs[other].instances} instances"
                ),
            )
        yield _Compared(
            lambda job: state.priority[job],
            lambda job, other: (
                f"its priority is lower than that of {name(other)}: {state.priority[job]} to {state.priority[other]}"
            ),
        )
        yield by_start
        yield _Compared(
            lambda job: -state.submitted[job],
            lambda job, other: (
                f"it was submitted later than {name(other)}:"
                f" {duration_text(state.submitted[job])} to {duration_text(state.submitted[other])}"
            ),
        )
        yield _Compared(lambda job: -job, lambda _, other: f"it is given after {name(other)}")

    def _is_too_large(self, job: int, before: Sequence[int]) -> bool:
        """Would stopping it take its share below its limit?"""
        state, excess = self.state, self._excess(job, before)
        return any(
            count > excess[state.unit_names[unit]]
            for _, unit, count in state.demand[job]
            if state.unit_names[unit] in excess
        )


def _started(state: State, job: int, other: int) -> str:
    return f"{duration_text(-state.run_key[job][1])} to {duration_text(-state.run_key[other][1])}"
