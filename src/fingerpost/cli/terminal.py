"""Text that is safe to print."""

from __future__ import annotations

import re

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)


def plain(text: str) -> str:
    """Return text without terminal escapes, control, bidi and zero-width characters.

    Line feeds and tabs stay.
    """
    return _INVISIBLE.sub("", _ESCAPES.sub("", text))


def one_line(text: str, width: int) -> str:
    """Return safe text on one line, cut to ``width`` characters with an ellipsis."""
    flat = " ".join(plain(text).split())
    return flat if len(flat) <= width else flat[: max(1, width - 1)].rstrip() + "…"
