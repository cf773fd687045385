from collections.abc import Iterator

import pytest

from tests.policy_engine.sources.live.account import Account


@pytest.fixture
def account() -> Iterator[Account]:
    """The account that every call reaches."""
    account = Account()
    with account.reached():
        yield account
