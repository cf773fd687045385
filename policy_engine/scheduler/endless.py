"""The error of a run that would not end."""

from __future__ import annotations

from collections.abc import Sequence


class TooManyMovesError(RuntimeError):
    """By the documented rules jobs stop each other over and over, at one instant or for ever.

    No mistake in the input, and none that the engine could mend: the documentation does not say how it ends.
    """

    def __init__(self, at: float, moves: int, jobs: Sequence[str] = (), since: float | None = None) -> None:
        """``jobs``: those that stop each other; ``since``: when that began, where it goes on over time. Seconds."""
        super().__init__(at, moves, jobs, since)
        self.at = at
        self.moves = moves
        self.jobs = tuple(jobs)
        self.since = at if since is None else since

    def __str__(self) -> str:
        who = f"{', '.join(self.jobs[:-1])} and {self.jobs[-1]}" if len(self.jobs) > 1 else "".join(self.jobs)
        when = f"at {self.at:g} s" if self.since == self.at else f"from {self.since:g} s to {self.at:g} s"
        return (
            f"{when}: {who or 'jobs'} stop each other over and over ({self.moves} moves); AWS's documented rules do not"
            " say how this ends, which is no mistake in the input: for an answer change a priority, a size or a limit,"
            " or answer an open choice otherwise"
        )
