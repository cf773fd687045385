"""``--prices FILE``: what an hour of an instance costs. None is built in: prices differ by region, contract and day."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

from pydantic import BeforeValidator, TypeAdapter

from policy_engine.errors import InputError
from policy_engine.outcome.measures import Measures
from policy_engine.policy import Unit
from policy_engine.sources.reading import read
from policy_engine.sources.validation import shown, validated

_HOUR: Final = 3600.0

Prices = Mapping[str, float]
"""Instance type to the price of an hour of one instance, in the currency of whoever gave it."""


def _price(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < float("inf"):
        raise ValueError(f"{shown(value)} is not a price; 0 or more is allowed")
    return float(value)


def load_prices(path: str | Path, units: Iterable[str]) -> Prices:
    """The prices of a YAML or JSON file, ``ml.g5.xlarge: 1.5``: of an hour of one instance, for each of the units.

    Raises InputError with file, line, column and key, also where a unit has no price.
    """
    document = read(path)
    prices = validated(document, TypeAdapter(dict[Unit, Annotated[float, BeforeValidator(_price)]]))
    missing = [unit for unit in units if unit not in prices]
    if missing:
        raise InputError(f"no price for {', '.join(missing)}", file=str(path))
    return prices


@dataclass(frozen=True, slots=True)
class Cost:
    """Money, in the currency of the prices; of a share, or of the queue."""

    busy: float
    borrowed: float
    lent: float
    lost: float
    """Work lost by preemptions."""
    caused_lost: float
    """Work that others lost to it."""


@dataclass(frozen=True, slots=True)
class Costs:
    """What a replay comes to in money."""

    shares: Mapping[str, Cost]
    queue: Cost
    capacity: float
    """All that the service environment has, used or not."""

    @property
    def idle(self) -> float:
        """What nobody used."""
        return self.capacity - self.queue.busy


def costs(measures: Measures, prices: Prices) -> Costs:
    """The measures in money."""
    per_second = {unit: price / _HOUR for unit, price in prices.items()}
    shares: dict[str, list[float]] = {}
    for cell in measures.by_unit:
        price = per_second.get(cell.unit or "", 0.0)
        sums = shares.setdefault(cell.name, [0.0] * 5)
        seconds = (
            cell.busy_instance_seconds,
            cell.borrowed_instance_seconds,
            cell.lent_instance_seconds,
            cell.lost_instance_seconds,
            cell.caused_lost_instance_seconds,
        )
        for place, amount in enumerate(seconds):
            sums[place] += amount * price
    queue = [sum(column) for column in zip(*shares.values(), strict=True)]
    capacity = sum(unit.capacity_instance_seconds * per_second.get(unit.unit, 0.0) for unit in measures.units)
    return Costs({name: Cost(*sums) for name, sums in shares.items()}, Cost(*queue), capacity)
