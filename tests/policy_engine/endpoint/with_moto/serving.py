"""One server of all services, in a thread of this process."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Any
from unittest import mock

import boto3

from policy_engine.endpoint import Application, Endpoint, Settings
from policy_engine.endpoint.serving import Server
from policy_engine.endpoint.with_moto import MAX_BODY, WithMoto
from tests.policy_engine.endpoint.calling import EPOCH

REGION = "us-west-2"
ACCOUNT = "123456789012"


class Services:
    """Clients of every service at one address."""

    def __init__(self, url: str, endpoint: Endpoint) -> None:
        self.url = url
        self.endpoint = endpoint
        self._session = boto3.Session("testing", "testing", region_name=REGION)
        self._clients: dict[str, Any] = {}

    def __call__(self, service: str) -> Any:
        if service not in self._clients:
            self._clients[service] = self._session.client(service, endpoint_url=self.url)
        return self._clients[service]


@contextmanager
def services(**settings: Any) -> Iterator[Services]:
    """The services on a free port of the loopback."""
    endpoint = Endpoint(Settings(epoch=EPOCH, seed=0, **settings))
    with mock.patch.dict(os.environ):
        server = Server(WithMoto(Application(endpoint)), max_body=MAX_BODY)
        thread = Thread(target=server.run)
        thread.start()
        try:
            yield Services(server.url, endpoint)
        finally:
            server.stop()
            thread.join(10)
            assert not thread.is_alive()
