"""What a request is refused with, in AWS's words."""

from __future__ import annotations


class ClientError(Exception):
    """A request that AWS Batch refuses: its ``ClientException``, HTTP status 400."""

    code = "ClientException"
    status = 400

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class UnknownOperationError(ClientError):
    """A request that names no operation of AWS Batch."""

    code = "UnknownOperationException"
    status = 404


def require(problem: str | None, member: str) -> None:
    """Refuse the request where there is a problem with this member of it (a path such as ``filters[0].name``)."""
    if problem is not None:
        raise ClientError(f"{member}: {problem}")
