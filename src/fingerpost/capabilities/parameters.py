"""What a tool takes, from its JSON schema: names, descriptions and values of parameters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

__all__ = ["parameters_of"]

_MAX_DEPTH: Final = 6
_MAX_VALUES: Final = 20
_BRANCHES: Final = ("anyOf", "oneOf", "allOf", "prefixItems")
_NAMED: Final = ("properties", "$defs", "definitions")


def parameters_of(schema: object) -> tuple[tuple[str, str], ...]:
    """Return name and description of each parameter, those of nested objects after their own.

    Allowed values count as description. Definitions are read where they stand, so that no
    reference is followed; what is deeper than six levels is left out. Never raises.
    """
    return tuple(_below(schema, 0))


def _below(schema: object, depth: int) -> Iterator[tuple[str, str]]:
    if not isinstance(schema, Mapping) or depth > _MAX_DEPTH:
        return
    for word in _NAMED:
        named = schema.get(word)
        for name, part in named.items() if isinstance(named, Mapping) else ():
            if word == "properties" and isinstance(name, str):
                yield name, _said(part)
            yield from _below(part, depth + 1)
    yield from _below(schema.get("items"), depth + 1)
    for word in _BRANCHES:
        branches = schema.get(word)
        for part in branches if isinstance(branches, list) else ():
            yield from _below(part, depth + 1)


def _said(part: object) -> str:
    if not isinstance(part, Mapping):
        return ""
    text, values = part.get("description"), part.get("enum")
    allowed = values[:_MAX_VALUES] if isinstance(values, list) else []
    words = [text] if isinstance(text, str) else []
    return " ".join([*words, *(value for value in allowed if isinstance(value, str))])
