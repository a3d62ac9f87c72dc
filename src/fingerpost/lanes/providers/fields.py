"""Fields of a provider's JSON, whatever is in them: a wrong type reads as an absent field."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, Final, NoReturn

__all__ = ["as_count", "as_items", "as_logprob", "as_mapping", "as_text", "parse_json"]

_MOST: Final = 1_000_000_000


def parse_json(body: bytes | str, *, is_strict: bool = True, is_unique: bool = False) -> Any:
    """Return what ``body`` says, a byte-order mark ignored.

    Raises:
        ValueError: It is no JSON, nests too deeply, or, when ``is_strict``, holds NaN or Infinity,
            or, when ``is_unique``, an object has two fields of one name.
    """
    try:
        return json.loads(
            body,
            parse_constant=_refuse_constant if is_strict else None,
            object_pairs_hook=_refuse_twice if is_unique else None,
        )
    except RecursionError:
        reason = "nested too deeply"
    except ValueError:
        reason = "no JSON"
    raise ValueError(reason)  # out here, so that no context holds the body


def as_mapping(value: object) -> Mapping[str, Any]:
    """Return an object's fields, none when it is no object."""
    return value if isinstance(value, dict) else {}


def as_items(value: object) -> Sequence[Any]:
    """Return a list's items, none when it is no list."""
    return value if isinstance(value, list) else ()


def as_text(value: object) -> str:
    """Return a string that can be encoded, empty when it is none; lone surrogates become ``?``."""
    if not isinstance(value, str):
        return ""
    return value if value.isascii() else value.encode("utf-8", "replace").decode()


def as_count(value: object) -> int | None:
    """Return a number of tokens, ``None`` when it is no whole number from 0 to a billion."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST:
        return value
    return None


def as_logprob(value: object) -> float | None:
    """Return a logarithm of a probability, ``None`` when it is no finite number <= 0."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            number = float(value)
        except OverflowError:
            return None
        return number if math.isfinite(number) and number <= 0 else None
    return None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _refuse_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a field stands twice")
    return found
