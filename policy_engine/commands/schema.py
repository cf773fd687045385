"""The command `schema`."""

from __future__ import annotations

import click

from policy_engine.program import HOLDS, put_out


@click.command(short_help="JSON Schemas of the files.")
@click.argument("name", type=click.Choice(["policy", "scenario", "result"]))
def schema(name: str) -> int:
    """Print the JSON Schema of a policy document, a scenario file or the JSON result.

    \b
    Example:
      policy-engine schema scenario > scenario.schema.json
    """  # noqa: D301
    import json

    from policy_engine.schema import SCHEMAS

    put_out(json.dumps(SCHEMAS[name](), indent=2) + "\n")
    return HOLDS
