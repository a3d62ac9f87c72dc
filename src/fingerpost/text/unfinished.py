"""Whether a text stops where something that it began goes on."""

from __future__ import annotations

from typing import Final

__all__ = ["COLONS", "is_unfinished"]

COLONS: Final = (":", "：")
_LISTED: Final = ("|", "- ", "* ", "+ ")


def is_unfinished(text: str) -> bool:
    """Return whether the last line is a lead-in, a list item, a step or a table row."""
    line = text.rstrip().rsplit("\n", 1)[-1].strip().rstrip("*_")
    return line.endswith(COLONS) or line.startswith(_LISTED) or line[:1].isdigit()
