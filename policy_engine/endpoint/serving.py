"""The endpoint on a socket."""

from __future__ import annotations

import ipaddress
import logging
import socket
from threading import Event
from typing import TYPE_CHECKING, Final

from waitress.server import create_server
from waitress.wasyncore import close_all

from policy_engine.endpoint.application import MAX_BODY

if TYPE_CHECKING:
    from wsgiref.types import WSGIApplication

LOOPBACK: Final = "127.0.0.1"
THREADS: Final = 4
"""Requests that are read and answered at once; the operations themselves go one after the other."""


class Server:
    """Listens as soon as it is made; answers while it runs. Raises OSError where it cannot listen."""

    def __init__(
        self, application: WSGIApplication, host: str = LOOPBACK, port: int = 0, max_body: int = 16 * MAX_BODY
    ) -> None:
        """``port`` 0 takes one that is free; a request of more than ``max_body`` bytes is refused."""
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listening = socket.create_server((host, port), family=family)
        self.host = host
        self.address, self.port = listening.getsockname()[:2]
        # a client that keeps more requests under way than there are threads is no cause for a warning
        logging.getLogger("waitress.queue").setLevel(logging.ERROR)
        self._server = create_server(
            application, sockets=[listening], threads=THREADS, ident=None, max_request_body_size=max_body
        )

    @property
    def url(self) -> str:
        """Where it answers."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"

    @property
    def is_local(self) -> bool:
        """Can it be reached from this machine alone?"""
        return ipaddress.ip_address(self.address).is_loopback

    def run(self) -> None:
        """Answer until it is stopped, or the process interrupted."""
        self._server.run()
        self._server.task_dispatcher.shutdown()

    def stop(self) -> None:
        """Make ``run`` return, in whatever thread that is."""
        pulled = Event()

        def close() -> None:
            pulled.wait()  # the trigger itself is closed too, and it may have been pulled by another thread before
            close_all(self._server._map)

        self._server.trigger.pull_trigger(close)
        pulled.set()
