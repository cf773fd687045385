"""Replays a job history under a policy: what would these shares have done to these jobs?

    history = read_history("jobs.csv", load_map("map.yaml"))
    result = replay(policy, history, ReplayOptions(warm_up=21 * 86_400))
    result.measures.shares[0].jobs.wait_seconds.p95

``replay`` is one run and pure: the same policy, history and options give the same result, in any process. ``shake``
replays many perturbed copies, ``sweep`` many policies and histories, ``compare_with_baselines`` the same jobs without
lending and without shares.
"""

from policy_engine.replaying.anonymising import Aliases, anonymised
from policy_engine.replaying.asking import Asked, ask
from policy_engine.replaying.baselines import Baseline, Compared, compare_with_baselines
from policy_engine.replaying.fidelity import Fidelity, fidelity
from policy_engine.replaying.fitting import NeverRun, fit
from policy_engine.replaying.prices import Cost, Costs, Prices, costs, load_prices
from policy_engine.replaying.replay import ReplayOptions, ReplayResult, replay
from policy_engine.replaying.replayed import Replayed
from policy_engine.replaying.shaking import Shaken, shake
from policy_engine.replaying.sweeping import Case, Spread, Spreading, Sweep, Swept, sweep

__all__ = [
    "Aliases",
    "Asked",
    "Baseline",
    "Case",
    "Compared",
    "Cost",
    "Costs",
    "Fidelity",
    "NeverRun",
    "Prices",
    "ReplayOptions",
    "ReplayResult",
    "Replayed",
    "Shaken",
    "Spread",
    "Spreading",
    "Sweep",
    "Swept",
    "anonymised",
    "ask",
    "compare_with_baselines",
    "costs",
    "fidelity",
    "fit",
    "load_prices",
    "replay",
    "shake",
    "sweep",
]
