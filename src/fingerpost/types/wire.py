"""Values as plain JSON-ready objects."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum


def to_wire(value: object) -> object:
    """Return a value made of dicts, lists, strings, finite numbers, booleans and ``None``.

    Dataclasses become dicts by field name, enums their value, mappings dicts with text keys,
    other sequences lists, anything else its ``str``; NaN and infinities become ``None``.
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, int):
        return value
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: to_wire(getattr(value, f.name)) for f in fields(value)}
    return _container(value)


def _container(value: object) -> object:
    if isinstance(value, Mapping):
        return {str(key): to_wire(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [to_wire(item) for item in value]
    return str(value)
