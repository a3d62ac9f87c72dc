"""Text that is safe to print."""

from __future__ import annotations

import json
import re

# An operating system command that does not end hides nothing but its first two characters.
_ESCAPES = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\r\n]{0,2000}(?:\x07|\x1b\\)|[@-Z\\-_])"
)
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e01ef]"
)
_BREAKS = re.compile("[\t\n\r\v\f\x85\u2028\u2029]")


def plain(text: str) -> str:
    """Return text without terminal escapes, control, bidi and zero-width characters.

    Line feeds and tabs stay.
    """
    return _INVISIBLE.sub("", _ESCAPES.sub("", text))


def unbroken(text: str) -> str:
    """Return safe text on one line; each line break or tab is shown as its escape."""
    return plain(_BREAKS.sub(lambda found: repr(found[0])[1:-1], text))


def one_line(text: str, width: int) -> str:
    """Return safe text on one line, cut to ``width`` characters with an ellipsis."""
    flat = " ".join(plain(text).split())
    return flat if len(flat) <= width else flat[: max(1, width - 1)].rstrip() + "…"


def shown_json(value: object) -> str:
    """Return JSON with indents, its control, bidi and zero-width characters escaped."""
    return _INVISIBLE.sub(
        lambda found: json.dumps(found[0])[1:-1],
        json.dumps(value, ensure_ascii=False, indent=2),
    )
