"""What the documents of other libraries are as passages."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

from fingerpost.types.source import Passage
from fingerpost.types.wire import to_wire

_URIS: Final = ("uri", "url", "source", "file_path")
_TITLES: Final = ("title", "file_name")
_SCORES: Final = ("score", "relevance_score")


def passage(text: str, metadata: Mapping[str, object], score: object = None) -> Passage | None:
    """Return a passage, ``None`` for blank text.

    Args:
        text: What was found.
        metadata: Whatever the library keeps; made JSON values. Where it has them, address and
            title are taken from the usual names, and the score when ``score`` is ``None``.
        score: The library's own.
    """
    if not text.strip():
        return None
    known = {str(key): to_wire(value) for key, value in metadata.items()}
    return Passage(
        text=text,
        uri=_first(known, _URIS),
        title=_first(known, _TITLES),
        score=_number(score if score is not None else _scored(known)),
        metadata=known,
    )


def _first(known: Mapping[str, object], names: tuple[str, ...]) -> str:
    given = (known.get(name) for name in names)
    return next((value for value in given if isinstance(value, str) and value), "")


def _scored(known: Mapping[str, object]) -> object:
    return next((known[name] for name in _SCORES if name in known), None)


def _number(value: object) -> float | None:
    try:
        number = float(value)  # type: ignore[arg-type]  # numpy scalars among them
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None
