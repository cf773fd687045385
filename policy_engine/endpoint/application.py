"""The endpoint over HTTP: a WSGI application, and the requests that drive its clock."""

from __future__ import annotations

import json
import logging
import uuid
from collections.abc import Callable, Iterable, Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from policy_engine.endpoint.endpoint import Endpoint
from policy_engine.endpoint.errors import ClientError, UnknownOperationError
from policy_engine.endpoint.service_model import batch_model
from policy_engine.endpoint.shape_checks import is_finite, shown

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIEnvironment

CONTROL: Final = "/_sim/"
"""Before the paths of requests that are ours, not AWS's."""
MAX_BODY: Final = 1 << 20
"""Bytes of a request that are read at most."""
_JSON: Final = "application/json"
_LOG: Final = logging.getLogger(__name__)


class Response(NamedTuple):
    """An answer over HTTP."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes


class Application:
    """Answers requests as AWS Batch does; under ``/_sim/`` those about the virtual clock."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self._controls: Mapping[tuple[str, str], Callable[[dict[str, Any]], None]] = {
            ("GET", "clock"): _look,
            ("POST", "advance"): self._advance,
            ("POST", "step"): self._step,
            ("POST", "reset"): self._reset,
        }

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer one request (PEP 3333)."""
        length = environ.get("CONTENT_LENGTH") or "0"
        size = int(length) if length.isdecimal() else 0
        body = environ["wsgi.input"].read(min(size, MAX_BODY + 1)) if size else b""
        path = environ.get("PATH_INFO", "").encode("latin-1").decode("utf-8", "replace")
        response = self.answer(
            environ["REQUEST_METHOD"],
            path,
            environ.get("QUERY_STRING", ""),
            environ.get("HTTP_AUTHORIZATION"),
            body,
        )
        start_response(f"{response.status} {HTTPStatus(response.status).phrase}", response.headers)
        return [response.body]

    def answer(self, method: str, path: str, query: str, authorization: str | None, body: bytes) -> Response:
        """The answer to one request; ``path`` is decoded."""
        try:
            if len(body) > MAX_BODY:
                raise ClientError(f"the request has more than {MAX_BODY} bytes")
            if path.startswith(CONTROL):
                return _response(200, self._control(method, path.removeprefix(CONTROL), body))
            operation, request = batch_model().request(method, path, query, body)
            scope = self.endpoint.scope(authorization)
            return _response(200, self.endpoint.perform(operation.name, request, scope))
        except ClientError as error:
            return _refusal(error.status, error.code, error.message)
        except Exception as error:
            # a defect of ours: told as AWS tells of its own, so that clients do not stumble over the shape
            _LOG.exception("%s %s", method, path)
            return _refusal(500, "ServerException", f"{type(error).__name__}: a defect of the local endpoint")

    # --- the clock ------------------------------------------------------------------------------

    def _control(self, method: str, name: str, body: bytes) -> Mapping[str, Any]:
        control = self._controls.get((method, name))
        if control is None:
            known = ", ".join(f"{method} {CONTROL}{name}" for method, name in self._controls)
            raise UnknownOperationError(f"{method} {CONTROL}{name} is not one of {known}")
        control(_object(body))
        return self._clock()

    def _clock(self) -> Mapping[str, Any]:
        endpoint = self.endpoint
        return {
            "seconds": endpoint.now,
            "timestamp": round((endpoint.epoch + endpoint.now) * 1000),
            "step": endpoint.settings.pace.stepped,
        }

    def _reset(self, request: dict[str, Any]) -> None:
        _look(request)
        self.endpoint.reset()

    def _advance(self, request: dict[str, Any]) -> None:
        if len(request) != 1 or not request.keys() <= {"seconds", "to"}:
            raise ClientError('{"seconds": n} or {"to": n} is expected, in seconds')
        ((key, value),) = request.items()
        if isinstance(value, bool) or not isinstance(value, int | float) or not is_finite(value):
            raise ClientError(f"{key}: {shown(value)} is not a number of seconds")
        if key == "to":
            self.endpoint.advance_to(float(value))
        else:
            self.endpoint.advance(float(value))

    def _step(self, request: dict[str, Any]) -> None:
        if not self.endpoint.settings.pace.stepped:
            raise ClientError("the endpoint was not started with --step: what can move has moved")
        steps = request.get("steps", 1)
        if isinstance(steps, bool) or not isinstance(steps, int) or not 1 <= steps <= 1000:
            raise ClientError(f"steps: {shown(steps)} is not a whole number from 1 to 1000")
        for _ in range(steps):
            self.endpoint.step()


def _look(request: dict[str, Any]) -> None:
    """Nothing is done, and nothing has to be said."""
    if request:
        raise ClientError(f"{', '.join(request)}: nothing is expected in the request")


def _object(body: bytes) -> dict[str, Any]:
    try:
        request = json.loads(body) if body else {}
    except (ValueError, RecursionError) as error:
        raise ClientError(f"the request is not valid JSON: {error}") from None
    if not isinstance(request, dict):
        raise ClientError("the request is no JSON object")
    return request


def _refusal(status: int, code: str, message: str) -> Response:
    return _response(status, {"message": message}, ("x-amzn-errortype", code))


def _response(status: int, answer: Mapping[str, Any], *headers: tuple[str, str]) -> Response:
    body = json.dumps(answer).encode("ascii")
    fixed = [("Content-Type", _JSON), ("Content-Length", str(len(body))), ("x-amzn-RequestId", str(uuid.uuid4()))]
    return Response(status, [*fixed, *headers], body)
