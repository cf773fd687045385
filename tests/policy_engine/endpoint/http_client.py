"""A served endpoint, and a client that is as thin as can be."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Any

from policy_engine.endpoint import Application, Endpoint
from policy_engine.endpoint.serving import Server


@contextmanager
def served(endpoint: Endpoint) -> Iterator[Server]:
    """The endpoint on a free port of the loopback, in a thread of this process."""
    server = Server(Application(endpoint))
    thread = Thread(target=server.run)
    thread.start()
    try:
        yield server
    finally:
        server.stop()
        thread.join(10)
        assert not thread.is_alive()


class Client:
    """One connection that is kept."""

    def __init__(self, port: int) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def __call__(self, path: str, request: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
        """Status and answer of a POST."""
        self.connection.request("POST", path, json.dumps(request or {}))
        response = self.connection.getresponse()
        return response.status, json.loads(response.read())

    def do(self, operation: str, **request: Any) -> dict[str, Any]:
        """The answer of an operation that is not refused."""
        status, answer = self(f"/v1/{operation.lower()}", request)
        assert status == 200, answer
        return answer

    def close(self) -> None:
        self.connection.close()
