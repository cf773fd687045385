"""Checks, simulates and verifies AWS Batch quota shares before they are deployed.

    policy = policy_engine.load_policy("cdk.out")
    result = policy_engine.verify(policy, "examples/walkthrough.yaml")
    assert result.verdict == "holds", result.failed

Everything wrong with a file is an ``InputError``: one line that names file, line, column and key.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from policy_engine._version import __version__

if TYPE_CHECKING:
    from policy_engine.checking import CheckResult, check
    from policy_engine.errors import InputError, UndecidedError
    from policy_engine.expectations import Answer, Verdict
    from policy_engine.outcome import JobOutcome, QueueOutcome, ShareOutcome
    from policy_engine.policy import Policy
    from policy_engine.replaying import ReplayOptions, ReplayResult, Spreading, Sweep, replay, sweep
    from policy_engine.running import (
        ComparisonResult,
        ExplanationResult,
        ProofResult,
        SimulationResult,
        VerificationResult,
        compare,
        explain,
        prove,
        simulate,
        verify,
    )
    from policy_engine.scheduler.choices import Choices
    from policy_engine.simulation import Run
    from policy_engine.sources import Source, load_policy, load_source
    from policy_engine.suggesting import Goals, Suggestion, suggest
    from policy_engine.workload.history import History, load_map, read_history
    from policy_engine.workload.scenario import Scenario, load_scenario

__all__ = [
    "Answer",
    "CheckResult",
    "Choices",
    "ComparisonResult",
    "ExplanationResult",
    "Goals",
    "History",
    "InputError",
    "JobOutcome",
    "Policy",
    "ProofResult",
    "QueueOutcome",
    "ReplayOptions",
    "ReplayResult",
    "Run",
    "Scenario",
    "ShareOutcome",
    "SimulationResult",
    "Source",
    "Spreading",
    "Suggestion",
    "Sweep",
    "UndecidedError",
    "Verdict",
    "VerificationResult",
    "__version__",
    "check",
    "compare",
    "explain",
    "load_map",
    "load_policy",
    "load_scenario",
    "load_source",
    "prove",
    "read_history",
    "replay",
    "simulate",
    "suggest",
    "sweep",
    "verify",
]

_MODULES: Final = {
    "checking": ("CheckResult", "check"),
    "errors": ("InputError", "UndecidedError"),
    "expectations": ("Answer", "Verdict"),
    "outcome": ("JobOutcome", "QueueOutcome", "ShareOutcome"),
    "policy": ("Policy",),
    "replaying": ("ReplayOptions", "ReplayResult", "Spreading", "Sweep", "replay", "sweep"),
    "running": (
        "ComparisonResult",
        "ExplanationResult",
        "ProofResult",
        "SimulationResult",
        "VerificationResult",
        "compare",
        "explain",
        "prove",
        "simulate",
        "verify",
    ),
    "scheduler.choices": ("Choices",),
    "simulation": ("Run",),
    "sources": ("Source", "load_policy", "load_source"),
    "suggesting": ("Goals", "Suggestion", "suggest"),
    "workload.history": ("History", "load_map", "read_history"),
    "workload.scenario": ("Scenario", "load_scenario"),
}
"""Where the public names are; a module is loaded when one of its names is asked for."""
_HOME: Final = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
