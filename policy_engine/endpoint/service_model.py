"""AWS Batch as botocore's service model describes it: which request means what, and what it may say.

Required members, types, enumerations and ranges all come from the model; nothing about them is written here.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import botocore

from policy_engine.endpoint.errors import ClientError, UnknownOperationError
from policy_engine.endpoint.shape_checks import Check, ShapeChecks


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of AWS Batch."""

    name: str
    input_shape: str
    uri_member: str | None
    """The member that the path holds, where there is one."""
    query_lists: Mapping[str, str]
    """Parameter of the query string to the member, a list, that it holds."""


class BatchModel:
    """The operations of AWS Batch by the requests that mean them."""

    def __init__(self, description: Mapping[str, Any]) -> None:
        """``description``: the content of a ``service-2.json``."""
        self._checks = ShapeChecks(description["shapes"])
        self.operations: dict[str, Operation] = {}
        self.fixed: dict[tuple[str, str], Operation] = {}
        """By method and path."""
        self.templated: list[tuple[str, re.Pattern[str], Operation]] = []
        """Those whose path holds a member."""
        for name, described in description["operations"].items():
            shape = described["input"]["shape"]
            operation = _operation(name, shape, description["shapes"][shape]["members"])
            self.operations[name] = operation
            method, uri = described["http"]["method"], described["http"]["requestUri"]
            if operation.uri_member is None:
                self.fixed[method, uri] = operation
            else:
                pattern = re.compile(re.sub(r"\\\{\w+\\\}", "(.+)", re.escape(uri)), re.DOTALL)
                self.templated.append((method, pattern, operation))

    def request(self, method: str, path: str, query: str, body: bytes) -> tuple[Operation, dict[str, Any]]:
        """The operation that a request asks for, and what it says, held to the model.

        ``path`` is decoded. Raises UnknownOperationError, and ClientError for what the model does not allow.
        """
        operation = self.fixed.get((method, path))
        if operation is not None:
            request = _read(body)
        else:
            operation, member = self.find_templated(method, path)
            request = {**_read(body), str(operation.uri_member): member}
            given = parse_qs(query, keep_blank_values=True)
            request.update({member: given[name] for name, member in operation.query_lists.items() if name in given})
        self.check(operation)(request, "")
        return operation, request

    def find_templated(self, method: str, path: str) -> tuple[Operation, str]:
        """The operation of a path that holds a member, and that member. Raises UnknownOperationError."""
        for wanted, pattern, operation in self.templated:
            if wanted == method and (match := pattern.fullmatch(path)):
                return operation, match[1]
        raise UnknownOperationError(f"{method} {path} is no operation of AWS Batch")

    def check(self, operation: Operation) -> Check:
        """What holds a request for the operation to the model."""
        return self._checks.of(operation.input_shape)


@cache
def batch_model() -> BatchModel:
    """The model that the installed botocore has of AWS Batch.

    Read from botocore's data as it is: the modules that botocore reads it with take a third of the time to the first
    answer to load.
    """
    versions = Path(botocore.__file__).with_name("data") / "batch"
    newest = max(folder for folder in versions.iterdir() if folder.is_dir())  # the names are dates
    return BatchModel(json.loads(gzip.decompress((newest / "service-2.json.gz").read_bytes())))


def _operation(name: str, shape: str, members: Mapping[str, Mapping[str, str]]) -> Operation:
    uri_member, query_lists = None, {}
    for member, described in members.items():
        location = described.get("location")
        if location == "uri":
            uri_member = member
        elif location == "querystring":
            query_lists[described.get("locationName", member)] = member
    return Operation(name, shape, uri_member, query_lists)


def _read(body: bytes) -> dict[str, Any]:
    """The JSON object that a body holds; an empty one is an empty object."""
    if not body:
        return {}
    try:
        request = json.loads(body, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise ClientError(f"the request is not valid JSON: {error}") from None
    if not isinstance(request, dict):
        raise ClientError(f"the request is a JSON {type(request).__name__}; an object is expected")
    return request


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")
