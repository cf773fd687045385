"""Replays a job history under a policy: what would these shares have done to these jobs?

    history = read_history("jobs.csv", load_map("map.yaml"))
    result = replay(policy, history, ReplayOptions(warm_up=21 * 86_400))
    result.measures.shares[0].jobs.wait_seconds.p95

``replay`` is one run and pure: the same policy, history and options give the same result, in any process. ``shake``
replays many perturbed copies, ``baselines`` the same jobs without lending and without shares.
"""

from policy_engine.replaying.fitting import NeverRun, fit
from policy_engine.replaying.replay import ReplayOptions, ReplayResult, replay

__all__ = ["NeverRun", "ReplayOptions", "ReplayResult", "fit", "replay"]
