"""The endpoint on a socket."""

from __future__ import annotations

import ipaddress
import logging
from typing import Final

from waitress.server import create_server

from policy_engine.endpoint.application import MAX_BODY, Application

LOOPBACK: Final = "127.0.0.1"
THREADS: Final = 4
"""Requests that are read and answered at once; the operations themselves go one after the other."""


class Server:
    """Listens as soon as it is made; answers while it runs. Raises OSError where it cannot listen."""

    def __init__(self, application: Application, host: str = LOOPBACK, port: int = 0) -> None:
        """``port`` 0 takes one that is free."""
        # a client that keeps more requests under way than there are threads is no cause for a warning
        logging.getLogger("waitress.queue").setLevel(logging.ERROR)
        self._server = create_server(
            application, host=host, port=port, threads=THREADS, ident=None, max_request_body_size=2 * MAX_BODY
        )
        self.host = host
        self.port = int(self._server.effective_port)

    @property
    def url(self) -> str:
        """Where it answers."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"

    @property
    def is_local(self) -> bool:
        """Can it be reached from this machine alone?"""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"

    def run(self) -> None:
        """Answer until the process is told to end, or the server closed."""
        self._server.run()

    def close(self) -> None:
        """Stop listening."""
        self._server.close()
