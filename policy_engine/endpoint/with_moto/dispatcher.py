"""One address for all services: requests for AWS Batch are answered here, all others by moto."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.test import Client

from policy_engine.endpoint.application import CONTROL, Application
from policy_engine.endpoint.scope import ACCOUNT
from policy_engine.endpoint.service_model import batch_model
from policy_engine.endpoint.with_moto.training_jobs import show_training_jobs

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIEnvironment

MAX_BODY: Final = 5 << 30
"""Bytes of a request that are taken: those of the largest object that S3 takes at once (API PutObject)."""
_OUR_RESET: Final = f"{CONTROL}reset"
_MOTOS_RESET: Final = "/moto-api/reset"
_SHOWING: Final = ("SageMaker.DescribeTrainingJob", "SageMaker.ListTrainingJobs", "SageMaker.Search")
"""Requests, as their header ``X-Amz-Target`` names them, whose answers hold training jobs."""


class WithMoto:
    """Answers requests as all the services that moto knows do, and those for AWS Batch as the endpoint does.

    Everything is of one account, the endpoint's, since moto and the endpoint read an account from a request in
    different ways. moto holds its state for the whole process, and so does its CloudFormation the endpoint that it
    deploys to: there is one of these in a process, the last that was made.
    """

    def __init__(self, application: Application) -> None:
        self._ours = application
        self._endpoint = application.endpoint
        os.environ["MOTO_ACCOUNT_ID"] = self._endpoint.settings.account or ACCOUNT
        self._moto = DomainDispatcherApplication(self._application_of)

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer one request (PEP 3333)."""
        method, path = environ["REQUEST_METHOD"], environ.get("PATH_INFO", "")
        if "HTTP_AUTHORIZATION" not in environ and (method, path) in batch_model().fixed:
            return self._ours(environ, start_response)  # moto would take what names no service for S3's
        if path.startswith(CONTROL):
            if (method, path) == ("POST", _OUR_RESET):
                Client(self._moto).post(_MOTOS_RESET)
            return self._ours(environ, start_response)
        if (method, path) == ("POST", _MOTOS_RESET):
            self._endpoint.reset()
        elif environ.get("HTTP_X_AMZ_TARGET") in _SHOWING:
            show_training_jobs(self._endpoint, self._endpoint.scope(environ.get("HTTP_AUTHORIZATION")))
        answer: Iterable[bytes] = self._moto(environ, start_response)
        return answer

    def _application_of(self, service: Any) -> Any:
        """What answers for a service; asked for once, when its first request comes."""
        if service == "batch":
            return self._ours
        if service == "cloudformation":
            # with all that it can deploy it takes longer to load than everything else
            from policy_engine.endpoint.with_moto.cloudformation import deploy_to

            deploy_to(self._endpoint)
        return create_backend_app(service)
