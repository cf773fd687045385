"""What is seen of a live queue: the jobs that it holds, its history, what differs from the declaration.

``policy_engine.sources.live`` asks AWS; what the answers come to is worked out here. Nothing changes anything at AWS.
"""

from policy_engine.observing.drifting import Difference, Drift, drift
from policy_engine.observing.holding import Held, held_scenario, hold
from policy_engine.observing.recording import Progress, record
from policy_engine.observing.watching import Front, Sight, look

__all__ = [
    "Difference",
    "Drift",
    "Front",
    "Held",
    "Progress",
    "Sight",
    "drift",
    "held_scenario",
    "hold",
    "look",
    "record",
]
