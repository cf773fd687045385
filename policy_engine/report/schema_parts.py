"""What the JSON Schemas of the results are made of."""

from __future__ import annotations

from typing import Any, Final

Schema = dict[str, Any]

TEXT: Final[Schema] = {"type": "string"}
TEXT_OR_NULL: Final[Schema] = {"type": ["string", "null"]}
TEXTS: Final[Schema] = {"type": "array", "items": TEXT}
COUNT: Final[Schema] = {"type": "integer", "minimum": 0}
FLAG: Final[Schema] = {"type": "boolean"}
SECONDS: Final[Schema] = {"type": "number", "minimum": 0}
SECONDS_OR_NULL: Final[Schema] = {"type": ["number", "null"], "minimum": 0}


def object_of(properties: Schema, description: str = "") -> Schema:
    """An object with exactly these keys."""
    said = {"description": description} if description else {}
    return {
        "type": "object",
        **said,
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def list_of(properties: Schema, description: str = "") -> Schema:
    """A list of objects with exactly these keys."""
    return {"type": "array", "items": object_of(properties, description)}


def or_null(schema: Schema) -> Schema:
    """The same, or null."""
    return {"anyOf": [schema, {"type": "null"}]}
