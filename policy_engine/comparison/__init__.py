"""Before and after: what a change of a policy does, and for whom.

    comparison = compare_sources(load("old.yaml"), load("new.yaml"), Asked(intends=("research",)))
    [share.name for share in comparison.losing]

What changes and what that ends follows from the declarations (``policy_engine.changes``); guarantees gained and lost
are reckoned in closed form, and for whoever loses one there is a witness: a small workload, run under both policies.
"""

from policy_engine.comparison.comparing import Asked, ComparedShare, Comparison, FailOn, compare_sources
from policy_engine.comparison.promises import Difference, Measure, Word, differences, word_of
from policy_engine.comparison.replays import ReplayComparison, ReplayedShare
from policy_engine.comparison.scenarios import Judged, ScenarioComparison
from policy_engine.comparison.witnesses import STOP_SECONDS, Search, Witness, told
from policy_engine.comparison.workloads import Effect

__all__ = [
    "STOP_SECONDS",
    "Asked",
    "ComparedShare",
    "Comparison",
    "Difference",
    "Effect",
    "FailOn",
    "Judged",
    "Measure",
    "ReplayComparison",
    "ReplayedShare",
    "ScenarioComparison",
    "Search",
    "Witness",
    "Word",
    "compare_sources",
    "differences",
    "told",
    "word_of",
]
