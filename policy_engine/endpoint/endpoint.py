"""The endpoint itself: accounts in virtual time, and the one way in to their operations."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from threading import RLock
from typing import Any, Final

from policy_engine.endpoint.account import Account
from policy_engine.endpoint.declaring import declare
from policy_engine.endpoint.errors import ClientError
from policy_engine.endpoint.operations import OPERATIONS
from policy_engine.endpoint.resources import Answer
from policy_engine.endpoint.scope import ACCOUNT, REGION, Scope, signed_scope
from policy_engine.endpoint.service_model import batch_model
from policy_engine.endpoint.settings import Settings
from policy_engine.policy import Policy

LATEST: Final = 1e10
"""Seconds that the virtual clock can show; some three centuries, whose milliseconds every client can read."""


class Endpoint:
    """AWS Batch's quota management for any number of accounts and regions, over one virtual clock.

    Thread-safe. Every account and region that a request names begins with the given policies, each declared as its
    resources: queue, service environment, scheduling policy, quota shares.
    """

    def __init__(self, settings: Settings | None = None, policies: Sequence[Policy] = ()) -> None:
        self.settings = settings if settings is not None else Settings()
        self.policies = tuple(policies)
        self._lock = RLock()
        self.now = 0.0
        """Seconds that the virtual clock shows."""
        self.reset()

    # --- operations -----------------------------------------------------------------------------

    def scope(self, authorization: str | None = None) -> Scope:
        """For whom a request with this header is made; what the settings say comes before what it says."""
        account, region = signed_scope(authorization)
        settings = self.settings
        return Scope(settings.account or account or ACCOUNT, settings.region or region or REGION)

    def call(self, operation: str, request: Mapping[str, Any], scope: Scope | None = None) -> Answer:
        """Do one operation, named as in the service model, and say what it answers.

        Raises ClientError for what AWS Batch would refuse.
        """
        model = batch_model()
        if operation not in model.operations:
            raise ClientError(f"{operation} is no operation of AWS Batch")
        model.check(model.operations[operation])(request, "")
        return deepcopy(self.perform(operation, deepcopy(request), scope))

    def perform(self, operation: str, request: Mapping[str, Any], scope: Scope | None = None) -> Answer:
        """The same of a request that is held to the model already."""
        perform = OPERATIONS.get(operation)
        if perform is None:
            raise ClientError(f"{operation} is not served here: only what quota management of SageMaker jobs needs is")
        with self._lock:
            return perform(self.account(scope), request)

    def account(self, scope: Scope | None = None) -> Account:
        """What the account has in the region."""
        scope = scope if scope is not None else self.scope()
        with self._lock:
            if scope not in self._accounts:
                self._accounts[scope] = account = Account(scope, self.settings, self.epoch, self.now, self._ids)
                for policy in self.policies:
                    declare(account, policy)
            return self._accounts[scope]

    @contextmanager
    def holding(self, scope: Scope) -> Iterator[Account]:
        """What the account has in the region, while nobody else does anything to it."""
        with self._lock:
            yield self.account(scope)

    def declare(self, policy: Policy) -> None:
        """Give every account and region the policy too, those that are named later as well. Raises ClientError."""
        with self._lock:
            for account in self._accounts.values():
                declare(account, policy)
            self.policies = (*self.policies, policy)

    # --- time -----------------------------------------------------------------------------------

    def advance_to(self, at: float) -> None:
        """Let time go on to ``at`` seconds. Raises ClientError for a time that is past, or beyond all bounds."""
        with self._lock:
            if not self.now <= at <= LATEST:
                raise ClientError(f"{at:g} s is out of range: {self.now:g} to {LATEST:g} is allowed")
            self.now = at
            for account in self._accounts.values():
                account.go_to(at)

    def advance(self, seconds: float) -> None:
        """Let time go on by so many seconds."""
        with self._lock:
            self.advance_to(self.now + seconds)

    def step(self) -> None:
        """Where the endpoint is stepped: every job and resource goes one state on."""
        with self._lock:
            for account in self._accounts.values():
                account.step()

    def reset(self) -> None:
        """Forget everything that was created and submitted; the clock is back at 0."""
        with self._lock:
            self.now = 0.0
            self.epoch = self.settings.epoch if self.settings.epoch is not None else float(int(time.time()))
            self._ids = random.Random(self.settings.seed)  # noqa: S311 - ids, not secrets
            self._accounts: dict[Scope, Account] = {}
