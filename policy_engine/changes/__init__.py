"""What a change of a declaration does: field by field, and which changes end jobs or cannot be done.

Nothing is reckoned here: it follows from the two declarations, whether or not all their values are known.
"""

from policy_engine.changes.dangers import Danger, Hazard, dangers
from policy_engine.changes.declared import Change, What, changes
from policy_engine.changes.pairing import Pair, Pairs, paired

__all__ = ["Change", "Danger", "Hazard", "Pair", "Pairs", "What", "changes", "dangers", "paired"]
