"""The stages of the teams' queue: production as it is declared, and development derived from it.

What holds in every stage is written once, in ``TEAMS``; a stage says only where it differs.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from constructs_quota import QuotaShareOptions, ResourceSharing

GPU: Final = "ml.g5.12xlarge"

TEAMS: Final[Mapping[str, QuotaShareOptions]] = {
    "research": QuotaShareOptions(
        capacity_limits={GPU: 4},
        resource_sharing=ResourceSharing.lend_and_borrow(borrow_limit=ResourceSharing.UNLIMITED),
        in_share_preemption=True,
    ),
    "evaluation": QuotaShareOptions(
        capacity_limits={GPU: 1},
        resource_sharing=ResourceSharing.lend_and_borrow(borrow_limit=200),
        in_share_preemption=False,
    ),
    "production": QuotaShareOptions(
        capacity_limits={GPU: 3},
        resource_sharing=ResourceSharing.reserve(),
        in_share_preemption=False,
    ),
}


@dataclass(frozen=True, kw_only=True)
class Stage:
    """What one stage's queue is.

    Attributes:
        quota_shares: Name to quota share.
        termination_protection: Does CloudFormation refuse to delete the stack?
    """

    quota_shares: Mapping[str, QuotaShareOptions]
    termination_protection: bool

    @property
    def capacity_limits(self) -> dict[str, int]:
        """Instance type to what all shares own of it together, so that nothing is left that no share owns."""
        total: Counter[str] = Counter()
        for share in self.quota_shares.values():
            total.update(share.capacity_limits)
        return dict(total)


def one_of_each(share: QuotaShareOptions) -> QuotaShareOptions:
    """The share with one instance of each of its types."""
    return replace(share, capacity_limits=dict.fromkeys(share.capacity_limits, 1))


def development(teams: Mapping[str, QuotaShareOptions]) -> Mapping[str, QuotaShareOptions]:
    """The shares at the least cost; what production reserves is lent here, since nothing depends on it."""
    shares = {name: one_of_each(share) for name, share in teams.items()}
    return shares | {"production": replace(shares["production"], resource_sharing=ResourceSharing.lend())}


STAGES: Final[Mapping[str, Stage]] = {
    "dev": Stage(quota_shares=development(TEAMS), termination_protection=False),
    "prod": Stage(quota_shares=TEAMS, termination_protection=True),
}


def stage_named(name: object) -> Stage:
    """The stage of that name. Raises ValueError: there is none."""
    if not isinstance(name, str) or name not in STAGES:
        raise ValueError(f"stage: {name!r} is not one of {', '.join(STAGES)}; give one of them: -c stage=dev")
    return STAGES[name]
