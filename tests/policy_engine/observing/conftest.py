from tests.policy_engine.sources.live.conftest import account

__all__ = ["account"]
