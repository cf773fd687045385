"""How AWS is reached: credentials, region, retries, and every way in which a call fails, in one line.

Sources: API Reference pages of each operation and ``CommonErrors``; botocore guide ``retries``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any, Final

from policy_engine._version import __version__
from policy_engine.errors import InputError

ATTEMPTS: Final = 10
"""Of one call, the first included: throttled ones are sent again after longer and longer waits, up to 20 s each."""
_CONNECT_SECONDS: Final = 10
_READ_SECONDS: Final = 30

_IAM_PREFIXES: Final = {"batch": "batch", "service-quotas": "servicequotas"}
"""Client to the prefix of its IAM actions (Service Authorization Reference)."""
_DENIED: Final = frozenset({"AccessDenied", "AccessDeniedException", "UnauthorizedOperation"})
_THROTTLED: Final = frozenset(
    {"Throttling", "ThrottlingException", "ThrottledException", "TooManyRequestsException", "RequestLimitExceeded"}
)
_BAD_CREDENTIALS: Final = frozenset(
    {
        *("ExpiredToken", "ExpiredTokenException", "InvalidClientTokenId", "UnrecognizedClientException"),
        *("InvalidSignatureException", "SignatureDoesNotMatch", "IncompleteSignature", "MissingAuthenticationToken"),
    }
)
_ACTION: Final = re.compile(r"\bto perform:? ([a-z-]+:[A-Za-z]+)")
_POLICIES: Final = "docs/live.md has the policy that it needs"


@dataclass(frozen=True, slots=True)
class Reach:
    """With whose credentials, and where; None is what AWS's own settings say."""

    profile: str | None = None
    region: str | None = None


_REACH: ContextVar[Reach] = ContextVar("reach", default=Reach())  # noqa: B039 - frozen


@contextmanager
def reaching(**given: str | None) -> Iterator[None]:
    """Within it AWS is reached by this ``profile`` or ``region``; the command line's options."""
    token = _REACH.set(replace(_REACH.get(), **given))
    try:
        yield
    finally:
        _REACH.reset(token)


class Access:
    """Calls to AWS on behalf of one source, each of them a read.

    Every failure is an InputError that begins with the source's name: no credentials, no region, access denied (with
    the IAM action), throttled, not reached.
    """

    def __init__(self, source: str, region: str | None = None, session: Any = None) -> None:
        """Where nothing is called yet.

        Args:
            source: what errors are about: ``queue:training``.
            region: where, if the source says so; else the option, else AWS's own settings.
            session: a boto3 session, instead of one of the options' profile.

        Raises:
            InputError: the extra is not installed, or there is no such profile.
        """
        self.source = source
        self._reach = _REACH.get()
        self._region = region or self._reach.region
        self._session = session if session is not None else self._new_session()
        self._clients: dict[str, Any] = {}

    def _new_session(self) -> Any:
        try:
            import boto3
            from botocore.exceptions import BotoCoreError
        except ModuleNotFoundError:
            raise self.error("boto3 is not installed; pip install 'constructs-quota[live]'") from None
        try:
            return boto3.Session(profile_name=self._reach.profile, region_name=self._region)
        except BotoCoreError as error:
            raise self._unreachable(error) from None

    @property
    def region(self) -> str:
        """The region that is asked."""
        found: str = self._client("batch").meta.region_name
        return found

    def error(self, message: str) -> InputError:
        """An error about the source."""
        return InputError(message, file=self.source)

    def call(self, service: str, operation: str, **given: Any) -> Mapping[str, Any]:
        """One response of an operation, named as the API names it (``DescribeJobQueues``). Raises InputError."""
        from botocore import xform_name

        client = self._client(service)
        with self._told(service, operation):
            response: Mapping[str, Any] = getattr(client, xform_name(operation))(**given)
            return response

    def pages(self, service: str, operation: str, key: str, **given: Any) -> Iterator[Mapping[str, Any]]:
        """The items under the key of every page. Raises InputError."""
        from botocore import xform_name

        client = self._client(service)
        with self._told(service, operation):
            for page in client.get_paginator(xform_name(operation)).paginate(**given):
                yield from page.get(key) or ()

    def _client(self, service: str) -> Any:
        if service not in self._clients:
            from botocore.config import Config

            config = Config(
                retries={"mode": "standard", "total_max_attempts": ATTEMPTS},
                connect_timeout=_CONNECT_SECONDS,
                read_timeout=_READ_SECONDS,
                user_agent_extra=f"policy-engine/{__version__}",
            )
            with self._told(service, ""):
                self._clients[service] = self._session.client(service, region_name=self._region, config=config)
        return self._clients[service]

    # --- failures -------------------------------------------------------------------------------

    @contextmanager
    def _told(self, service: str, operation: str) -> Iterator[None]:
        """Failures of botocore as one line of ours."""
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            yield
        except ClientError as error:
            raise self._refused(error, f"{_IAM_PREFIXES[service]}:{operation}") from None
        except (BotoCoreError, ValueError) as error:  # ValueError: an endpoint that is no URL
            raise self._unreachable(error) from None

    def _refused(self, error: Any, action: str) -> InputError:
        """AWS answered, with an error."""
        told = error.response.get("Error", {})
        code = str(told.get("Code") or "")
        text = _sentence(str(error.response.get("message") or told.get("Message") or code or "no reason given"))
        if code in _DENIED:
            named = _ACTION.search(text)
            return self.error(f"access denied: the credentials lack {named[1] if named else action}; {_POLICIES}")
        if code in _THROTTLED:
            return self.error(
                f"throttled: {action} was refused {ATTEMPTS} times; try again later, or with a lower --rate"
            )
        if code in _BAD_CREDENTIALS:
            return self.error(f"the credentials are not accepted: {text}")
        return self.error(f"{action}: {text}")

    def _unreachable(self, error: Exception) -> InputError:
        """There was no answer, or nothing was asked."""
        from botocore import exceptions as botocore

        if isinstance(error, botocore.ProfileNotFound):
            return self.error(f"no AWS profile {self._reach.profile!r}; `aws configure list-profiles` shows them")
        if isinstance(error, botocore.NoRegionError):
            return self.error("no region: give --region, set AWS_REGION, or name the queue by its ARN")
        if isinstance(error, botocore.NoCredentialsError):
            return self.error("no AWS credentials: give --profile, or sign in (aws sso login, aws configure)")
        if isinstance(error, botocore.ConnectionError | botocore.HTTPClientError):
            return self.error(f"AWS is not reached: {_sentence(str(error))}")
        return self.error(_sentence(str(error)))


def _sentence(text: str) -> str:
    """AWS's words as ours are written: one line, no full stop, and lower case but for a name."""
    line = " ".join(text.split()).removesuffix(".")
    first, _, _ = line.partition(" ")
    return line[:1].lower() + line[1:] if first[1:].islower() else line
