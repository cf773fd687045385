"""Which of a command's arguments is the policy, which are scenarios, and which are job histories."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from policy_engine.errors import InputError
from policy_engine.sources.reading import read
from policy_engine.workload.scenario_file import ScenarioFile

_LIVE: Final = "queue:"
_OF_POLICY: Final = frozenset({"Resources", "service_environment", "shares"})
_OF_SCENARIO: Final = frozenset(ScenarioFile.model_fields) - {"queue"}


def apart(arguments: Sequence[str]) -> tuple[str | None, Sequence[str]]:
    """The policy and the scenarios of ``[POLICY] SCENARIO...``; None where the scenarios have to name it.

    Raises InputError where there is no scenario, where a policy is not the first, and where a file cannot be read.
    """
    first, *others = arguments
    for argument in others:
        if is_policy(argument, in_doubt=False):
            raise InputError("is a policy, not a scenario; one policy is given, before the scenarios", file=argument)
    if not is_policy(first, in_doubt=bool(others)):
        return None, arguments
    if not others:
        raise InputError("is a policy; give a scenario after it", file=first)
    return first, others


def is_scenario(argument: str) -> bool:
    """Is the file a scenario, rather than a job history? By its keys where it may be either; else by its name.

    Raises InputError where it cannot be read.
    """
    suffix = Path(argument).suffix.lower()
    if suffix != ".json":
        return suffix in (".yaml", ".yml")
    try:
        data = read(argument).data
    except InputError:
        return False  # JSON lines, as AWS's command writes them page by page
    return isinstance(data, dict) and not _OF_SCENARIO.isdisjoint(data)


def is_policy(argument: str, *, in_doubt: bool) -> bool:
    """Is it where a policy comes from, rather than a scenario?

    A live queue and a folder are. A file is by its keys; ``in_doubt`` is the answer for one that has none of either
    kind, and the reader of what it is taken for says what is wrong with it. Raises InputError where the file cannot be
    read.
    """
    if argument.startswith(_LIVE) or Path(argument).is_dir():
        return True
    data = read(argument, short_forms=True).data
    keys = frozenset(data) if isinstance(data, dict) else frozenset()
    return not _OF_POLICY.isdisjoint(keys) or (in_doubt and _OF_SCENARIO.isdisjoint(keys))
