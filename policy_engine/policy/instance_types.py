"""The instance types that SageMaker trains on, as far as this release knows.

``instance_types.txt`` is made from the SageMaker API model in botocore; a test says when it is behind the installed
botocore, and how to make it anew.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

_FILE: Final = Path(__file__).with_name("instance_types.txt")


@cache
def known() -> frozenset[str]:
    """Every instance type in SageMaker's ``TrainingInstanceType`` (API CreateTrainingJob, ResourceConfig)."""
    lines = _FILE.read_text(encoding="utf-8").splitlines()
    return frozenset(line for line in lines if not line.startswith("#"))


def sizes(family: str) -> list[str]:
    """The sizes of an instance family (``g5``), small ones first; none where the family is not known."""
    prefix = f"ml.{family}."
    found = [unit.removeprefix(prefix) for unit in known() if unit.startswith(prefix)]
    return sorted(found, key=lambda size: (not size.endswith("large"), len(size), size))
