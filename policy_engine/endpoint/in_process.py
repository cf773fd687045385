"""The endpoint without a socket: botocore's clients are answered in their own process.

Through botocore's hook ``before-send``, so that parsing, signing, retries and errors are a real client's. It is taken
for AWS Batch alone: other services go where they would, such as to moto's ``mock_aws``, which uses the same hook.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from botocore import handlers
from botocore.awsrequest import AWSResponse
from botocore.loaders import create_loader
from botocore.session import Session

from policy_engine.endpoint.application import Application

_EVENT: Final = "before-send.batch"
_ANSWERED: Final = "answered_by_policy_engine"
_ANY: Final = "testing"
"""A key; no signature is verified."""


class InProcess:
    """Answers the requests of botocore's clients for AWS Batch."""

    def __init__(self, application: Application) -> None:
        self.application = application

    def respond(self, request: Any, **_: Any) -> Any:
        """The response to one prepared request: what botocore's hook asks for; None where another one gave it.

        botocore calls every hook, and takes the first response.
        """
        if getattr(request, _ANSWERED, False):
            return None
        setattr(request, _ANSWERED, True)
        url = urlsplit(request.url)
        authorization = request.headers.get("Authorization")
        if isinstance(authorization, bytes):
            authorization = authorization.decode("latin-1")
        body = request.body or b""
        body = body.encode("utf-8") if isinstance(body, str) else body
        answer = self.application.answer(request.method, unquote(url.path), url.query, authorization, body)
        return AWSResponse(request.url, answer.status, dict(answer.headers), _Raw(answer.body))

    def attach(self, client: Any) -> None:
        """Answer a client that was made before ``answering`` began."""
        client.meta.events.register_first(_EVENT, self.respond)

    @contextmanager
    def answering(self) -> Iterator[None]:
        """Answer every client that is made meanwhile, and for as long as it lives: none of them reaches the network."""
        entry = (_EVENT, self.respond)
        handlers.BUILTIN_HANDLERS.insert(0, entry)  # before one that is entered already
        boto3 = sys.modules.get("boto3")
        session = getattr(boto3, "DEFAULT_SESSION", None)
        if boto3 is not None:
            boto3.DEFAULT_SESSION = None  # type: ignore[attr-defined] # one that was made before has no hook
        try:
            yield
        finally:
            handlers.BUILTIN_HANDLERS.remove(entry)
            boto3 = sys.modules.get("boto3")
            if boto3 is not None:
                boto3.DEFAULT_SESSION = session  # type: ignore[attr-defined]

    def client(self, region: str | None = None) -> Any:
        """A client of its own for AWS Batch; None takes the region of the environment."""
        keys = {"aws_access_key_id": _ANY, "aws_secret_access_key": _ANY}
        session = Session()
        session.register_component("data_loader", _loader())
        client = session.create_client("batch", region_name=region, **keys)
        self.attach(client)
        return client


@cache
def _loader() -> Any:
    """To read the models of botocore takes most of the time that a client takes to make: once for all."""
    return create_loader()


class _Raw:
    """A response's body as botocore reads it."""

    def __init__(self, body: bytes) -> None:
        self.body = body

    def stream(self, *_: Any, **__: Any) -> Iterator[bytes]:
        """All of it."""
        yield self.body
