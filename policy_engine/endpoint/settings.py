"""What a local endpoint is started with."""

from __future__ import annotations

from dataclasses import dataclass, field

from policy_engine.endpoint.schedule import Pace


@dataclass(frozen=True, slots=True)
class Settings:
    """How the endpoint behaves."""

    account: str | None = None
    """Of every request; None: as the request says."""
    region: str | None = None
    """Likewise."""
    duration: float = 3600.0
    """Seconds that a job runs which does not say how long."""
    pace: Pace = field(default_factory=Pace)
    epoch: float | None = None
    """When the virtual clock stands at 0, in seconds since 1970; None: when the endpoint was made."""
    seed: int | None = None
    """Of the ids; None: others each time."""
