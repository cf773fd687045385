"""Where a policy comes from: a cloud assembly, a template, a document."""

from policy_engine.sources.loading import Kind, Source, load, load_policy

load_source = load
"""Its name among the public ones of the engine."""

__all__ = ["Kind", "Source", "load", "load_policy", "load_source"]
