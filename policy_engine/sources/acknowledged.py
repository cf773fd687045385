"""CDK's own acknowledgements (``Validations.of(scope).acknowledge``), as a cloud assembly keeps them.

Source: AWS CDK, cloud-assembly-schema: the metadata of a stack, in the manifest or in a file beside it
(``additionalMetadataFile``), with entries of type ``aws:cdk:acknowledged-rules`` and ``aws:cdk:logicalId`` by the path
of a construct.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

_RULES: Final = "aws:cdk:acknowledged-rules"
_LOGICAL_ID: Final = "aws:cdk:logicalId"
_OURS: Final = re.compile(r"(?:Quota-Policy::)?(QM[0-9]{3})")
"""A finding as the plugin of ``constructs_quota`` names it, and as the constructs' own warnings do."""


@dataclass(frozen=True)
class Acknowledgements:
    """What is acknowledged in one stack."""

    rules: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Path of a construct to findings and reasons."""
    paths: Mapping[str, str] = field(default_factory=dict)
    """Logical id to the path of its construct."""

    @classmethod
    def of(cls, metadata: Any) -> Acknowledgements:
        """Those of a stack's metadata; what has another form is none."""
        rules: dict[str, dict[str, str]] = {}
        paths: dict[str, str] = {}
        for path, kind, data in _entries(metadata):
            if kind == _LOGICAL_ID and isinstance(data, str):
                paths[data] = path
            elif kind == _RULES and isinstance(data, dict):
                for rule, reason in data.items():
                    known = _OURS.fullmatch(rule)
                    if known is not None:
                        rules.setdefault(path, {})[known[1]] = str(reason)
        return cls(rules, paths)

    def about(self, logical_id: str, construct_path: str | None) -> Iterator[tuple[str, str]]:
        """Findings on a resource with the reasons: those of its construct, and of every construct around it."""
        path = f"/{construct_path}" if construct_path is not None else self.paths.get(logical_id)
        while path:
            yield from self.rules.get(path, {}).items()
            path = path.rpartition("/")[0]


def _entries(metadata: Any) -> Iterator[tuple[str, Any, Any]]:
    """Path, type and data of every entry."""
    for path, entries in metadata.items() if isinstance(metadata, dict) else ():
        for entry in entries if isinstance(entries, list) else ():
            if isinstance(entry, dict):
                yield path, entry.get("type"), entry.get("data")
