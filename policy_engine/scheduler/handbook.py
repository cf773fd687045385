"""The page of the documentation about the open choices, made of the choices themselves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from policy_engine.scheduler.choices import OpenChoice

_INTRODUCTION: Final = """\
<!-- Made by `python -m policy_engine.scheduler`; change `policy_engine/scheduler/choices.py`, not this page. -->

# What AWS leaves open

AWS documents what quota shares do, and not everything about how: which of several jobs is stopped, for example, is
"a heuristic". The engine never decides such a thing in silence. Each is a choice with a name, a default and
alternatives; a report lists the answers that a run used.

- A scenario answers a choice by name, and the rest keep their defaults: `choices: {victims: newest}`.
- `policy-engine verify` says which of its verdicts another answer to one choice alone would change.
- `policy-engine verify --all-choices` answers all of them in every way; `--open victims,share_order` those alone.

*Source* is where AWS's documentation comes nearest: a page of the AWS Batch User Guide (UG) or API Reference (API).
"""
_NO_END: Final = """
## Where the rules have no end

By these rules jobs can stop each other over and over, at one instant or for ever: most often where limits sum to more
than the service environment has, or with C10 `yes`. AWS does not document how that ends. The engine then stops and says
which jobs stop each other and when; the command exits with 3, undecided. It is neither a mistake in the scenario nor an
answer about AWS: change a priority, a size or a limit, or answer a choice otherwise."""


def markdown(choices: Sequence[OpenChoice]) -> str:
    """The whole page, in Markdown."""
    return "\n".join([_INTRODUCTION, *_table(choices), *(line for one in choices for line in _section(one)), _NO_END])


def _table(choices: Sequence[OpenChoice]) -> Iterator[str]:
    yield "## All choices\n"
    yield "| id | name | default | alternatives |"
    yield "|---|---|---|---|"
    for choice in choices:
        default, others = _answers(choice)
        yield f"| [{choice.id}](#{choice.id.lower()}) | `{choice.name}` | `{default}` | {others} |"


def _answers(choice: OpenChoice) -> tuple[str, str]:
    """The default, and the other answers."""
    if not choice.is_number:
        return str(choice.default), ", ".join(f"`{answer}`" for answer in choice.alternatives)
    most = " or more" if choice.most is None else f" to {choice.most:g}"
    return f"{choice.default:g}", f"{choice.least:g}{most}"


def _section(choice: OpenChoice) -> Iterator[str]:
    yield f"\n## {choice.id}\n"
    yield f"**`{choice.name}`**: {choice.question}?\n"
    for answer in choice.answers:
        default = " (default)" if answer == choice.default else ""
        yield f"- `{answer}`{default}: {choice.meanings[answer]}"
    if choice.is_number:
        default, others = _answers(choice)
        yield f"{default} by default; {others} is allowed."
    yield ""
    if choice.reading:
        yield f"{choice.reading}\n"
    yield f"*Source*: {choice.source}"
