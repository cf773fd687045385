"""Pages: how many results come at once, and the token with which a client asks for more."""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from typing import Any, Final, TypeVar

from policy_engine.endpoint.errors import ClientError, require
from policy_engine.policy import whole_number_problem
from policy_engine.policy.rules import MAX_PAGE

T = TypeVar("T")

_TOKEN: Final = re.compile(r"after-([0-9]{1,15})")


def last_seen(request: Mapping[str, Any]) -> int | None:
    """The number of the last result that the client has; None where it asks for the first page."""
    token = request.get("nextToken")
    if not token:
        return None
    try:
        match = _TOKEN.fullmatch(urlsafe_b64decode(token.encode("ascii")).decode("ascii"))
    except ValueError:
        match = None
    if match is None:
        raise ClientError("nextToken: is not one that an answer held")
    return int(match[1])


def page(request: Mapping[str, Any], found: Iterable[T], number: Callable[[T], int]) -> tuple[list[T], dict[str, str]]:
    """The next results, and ``nextToken`` where there are more."""
    size = request.get("maxResults")
    if size is None:
        size = MAX_PAGE
    else:
        require(whole_number_problem(size, 1, MAX_PAGE), "maxResults")
    results = list(islice(found, size + 1))
    if len(results) <= size:
        return results, {}
    token = urlsafe_b64encode(f"after-{number(results[size - 1])}".encode("ascii")).decode("ascii")
    return results[:size], {"nextToken": token}


def named(
    request: Mapping[str, Any], wanted: list[T | None] | None, existing: Iterable[T], number: Callable[[T], int]
) -> tuple[list[T], dict[str, str]]:
    """A page of the wanted resources that exist, or of all; in the order of creation."""
    after = last_seen(request)
    found = existing if wanted is None else {number(one): one for one in wanted if one is not None}.values()
    rest = sorted((one for one in found if after is None or number(one) > after), key=number)
    return page(request, rest, number)
