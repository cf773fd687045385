"""Checks, simulates and verifies AWS Batch quota shares before they are deployed."""

from policy_engine._version import __version__

__all__ = ["__version__"]
