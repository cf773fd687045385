from tests.synthesis import app, snapshot, stack

__all__ = ["app", "snapshot", "stack"]
