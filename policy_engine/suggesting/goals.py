"""What a policy is to reach."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

EVERYONE: Final = "*"
"""Every team that is not named."""


@dataclass(frozen=True, slots=True)
class Goals:
    """At most so much. None of them says anything about what it leaves out."""

    wait_p95: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({EVERYONE: 3600.0}))
    """Team to seconds: the 95th percentile of how long its jobs wait for their first start; ``*`` is every other."""
    lost_hours: float | None = None
    """Instance-hours of work that preemptions cost, over the measured time of the history."""

    def wait_of(self, team: str) -> float | None:
        """Seconds; None where nothing is asked for the team."""
        return self.wait_p95.get(team, self.wait_p95.get(EVERYONE))
