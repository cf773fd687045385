"""For whom a request is made: the account and the region, as its signature names them."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

ACCOUNT: Final = "123456789012"
"""The account where neither the request nor a flag names one."""
REGION: Final = "us-east-1"
"""The region likewise."""

_CREDENTIAL: Final = re.compile(r"Credential=([^/,\s]+)/[0-9]{8}/([a-z]{2}[a-z0-9-]{1,30})/[a-z0-9-]+/aws4_request")
_ACCOUNT: Final = re.compile(r"[0-9]{12}")
_PARTITIONS: Final = {"cn-": "aws-cn", "us-gov-": "aws-us-gov"}
"""Where the names of regions begin so, their partition is another than ``aws`` (AWS General Reference, ARNs)."""


class Scope(NamedTuple):
    """An account in a region: what one names the other does not see."""

    account: str
    region: str

    def arn(self, resource: str, service: str = "batch") -> str:
        """The ARN of a resource of a service."""
        partition = next((name for prefix, name in _PARTITIONS.items() if self.region.startswith(prefix)), "aws")
        return f"arn:{partition}:{service}:{self.region}:{self.account}:{resource}"


def signed_scope(authorization: str | None) -> tuple[str | None, str | None]:
    """Account and region that the header ``Authorization`` names (Signature Version 4); None where it names none.

    An access key of 12 digits is the account. The signature itself is not looked at.
    """
    match = _CREDENTIAL.search(authorization or "")
    if match is None:
        return None, None
    key, region = match.groups()
    return (key if _ACCOUNT.fullmatch(key) else None), region
