"""Every report says what it rests on."""

from __future__ import annotations

from policy_engine._version import __version__
from policy_engine.report.basis import rests_on
from policy_engine.scheduler.choices import Choices
from policy_engine.scheduler.jobs import Timing


def test_all_choices_by_default_are_named_with_their_answers() -> None:
    pairs = dict(rests_on(Choices(), None))
    assert pairs["choices"].startswith("all by default: share_order: oldest_head, ")
    assert pairs["choices"].count(": ") == 1 + 16
    assert pairs["engine"] == f"policy-engine {__version__}"
    assert "live service was not consulted" in pairs["AWS"]
    assert "stop_seconds" not in pairs


def test_choices_that_were_set_stand_apart_from_the_defaults() -> None:
    pairs = dict(rests_on(Choices(victims="newest", default_priority=3), None))
    assert pairs["choices"] == "set by the scenario: victims: newest, default_priority: 3"
    assert "victims" not in pairs["by default"]
    assert pairs["by default"].count(": ") == 14


def test_without_timing_stopping_is_instant() -> None:
    pairs = dict(rests_on(Choices(), Timing()))
    assert pairs["stop_seconds"].startswith("0: stopping is instant")
    assert pairs["other times"].startswith("none given")


def test_times_are_named_as_the_scenario_writes_them() -> None:
    pairs = dict(rests_on(Choices(), Timing(20, 90, 5, 600, 120)))
    assert pairs["stop_seconds"] == "20s from a preemption to the release of its capacity"
    assert pairs["other times"] == "start_seconds: 1m30s, queue_latency: 5s, checkpoint_every: 10m, restart_seconds: 2m"
