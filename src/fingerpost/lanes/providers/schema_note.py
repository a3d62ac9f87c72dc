"""How the schema of a reply is told to a model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

__all__ = ["is_strict", "schema_note"]


def schema_note(schema: Mapping[str, object]) -> str:
    """Return the sentence for the prompt of a model that has no JSON mode."""
    return (
        "Answer with one JSON object and nothing else. It must follow this JSON schema:\n"
        + json.dumps(schema, ensure_ascii=False, sort_keys=True)
    )


def is_strict(schema: object) -> bool:
    """Return whether each object in ``schema`` is closed and requires all its properties.

    Providers that constrain decoding to a schema accept no other.
    """
    if isinstance(schema, list):
        return all(map(is_strict, schema))
    if not isinstance(schema, Mapping):
        return True
    return _is_closed(schema) and all(map(is_strict, schema.values()))


def _is_closed(schema: Mapping[str, Any]) -> bool:
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return schema.get("type") != "object"
    return schema.get("additionalProperties") is False and set(schema.get("required", ())) == set(
        properties
    )
