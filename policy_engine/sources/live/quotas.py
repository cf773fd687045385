"""What an account's queues may use together, against what SageMaker lets the account use.

Sources: API Reference page ``DescribeServiceEnvironments``; Service Quotas API page ``ListServiceQuotas``, service code
``sagemaker``, quotas named ``ml.g5.xlarge for training job usage``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from policy_engine.sources.live.access import Access

_TRAINING: Final = re.compile(r"(ml\.\S+) for training job usage")
ANY_TYPE: Final = "NUM_INSTANCES"
"""Capacity unit of an environment without quota management (API CapacityLimit)."""


@dataclass(frozen=True, slots=True)
class Environment:
    """A service environment of the account, of any queue or of none."""

    name: str
    is_enabled: bool
    limits: Mapping[str, int]
    """Capacity unit to instances; ``NUM_INSTANCES`` where it has no quota management."""


@dataclass(frozen=True, slots=True)
class Account:
    """What the queues of an account and region may use, and what SageMaker lets the account use."""

    environments: tuple[Environment, ...]
    quotas: Mapping[str, float]
    """Instance type to the instances of it that all training jobs may use at once."""

    def declared(self, unit: str) -> dict[str, int]:
        """Enabled environments that have the instance type, with their capacity of it."""
        return {one.name: one.limits[unit] for one in self.environments if one.is_enabled and unit in one.limits}

    @property
    def of_any_type(self) -> dict[str, int]:
        """Enabled environments without quota management, whose instances may be of any type."""
        return self.declared(ANY_TYPE)


def read_account(access: Access) -> Account:
    """Every service environment and every training quota of the account and region. Raises InputError."""
    return Account(tuple(list_environments(access)), training_quotas(access))


def list_environments(access: Access) -> Iterator[Environment]:
    """Every service environment of the account and region. Raises InputError."""
    for told in access.pages("batch", "DescribeServiceEnvironments", "serviceEnvironments"):
        if told.get("status") != "DELETED":
            yield _environment(told)


def _environment(told: Mapping[str, Any]) -> Environment:
    limits = {str(entry["capacityUnit"]): int(entry["maxCapacity"]) for entry in told.get("capacityLimits") or ()}
    return Environment(str(told["serviceEnvironmentName"]), told.get("state") != "DISABLED", limits)


def training_quotas(access: Access) -> dict[str, float]:
    """Instance type to the instances of it that all training jobs of the account may use at once.

    On-demand training alone: spot training, warm pools and endpoints have quotas of their own. Raises InputError.
    """
    quotas: dict[str, float] = {}
    for quota in access.pages("service-quotas", "ListServiceQuotas", "Quotas", ServiceCode="sagemaker"):
        named = _TRAINING.fullmatch(str(quota.get("QuotaName", "")))
        if named is not None and "Value" in quota:
            quotas[named[1]] = float(quota["Value"])
    return quotas
