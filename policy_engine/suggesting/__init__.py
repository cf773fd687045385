"""The smallest limits and borrow limits under which a job history meets stated goals, by search over replays.

    found = suggest(history, {"ml.g5.xlarge": 40}, Goals({"*": 3600.0}))
    found.is_met, found.policy, found.frontier

The search is a heuristic, the same for the same history, goals and environment: a smaller answer may exist. What it
says of a point comes from a replay of the whole history under exactly that policy.
"""

from policy_engine.suggesting.frontier import frontier
from policy_engine.suggesting.goals import Goals
from policy_engine.suggesting.judging import Judged, Score
from policy_engine.suggesting.space import Point, Space
from policy_engine.suggesting.suggest import Suggestion, suggest

__all__ = ["Goals", "Judged", "Point", "Score", "Space", "Suggestion", "frontier", "suggest"]
