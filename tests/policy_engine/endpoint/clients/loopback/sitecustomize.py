"""Keeps the processes that have this folder on PYTHONPATH from all hosts but this one.

Every host that they connect to or look up goes, a line each, into the file that LOOPBACK_LOG names: also where whoever
is refused gets over it, as telemetry does.
"""

import ipaddress
import os
import sys
from typing import Any

_LOG = os.environ["LOOPBACK_LOG"]
_ADDRESS = {"socket.connect": 1, "socket.sendto": 1, "socket.sendmsg": 1}
_HOST = {"socket.getaddrinfo": 0, "socket.gethostbyname": 0, "socket.gethostbyaddr": 0}


def _is_local(host: str) -> bool:
    if host in ("", "localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    if event in _ADDRESS:
        address = arguments[_ADDRESS[event]]
        if not isinstance(address, tuple):
            return  # of another process, not of another host
        host = address[0]
    elif event in _HOST:
        host = arguments[_HOST[event]] or ""
    else:
        return
    host = host.decode() if isinstance(host, bytes) else str(host)
    with open(_LOG, "a") as log:  # noqa: PTH123 - as little as can be imported here
        log.write(f"{host}\n")
    if not _is_local(host):
        raise PermissionError(f"{event}: {host} is another host")


sys.addaudithook(_watch)
