"""What a prompt sees of a conversation and a corpus, bounded."""

from __future__ import annotations

from collections.abc import Sequence

from fingerpost.types.query import Turn

_MAX_TURN_CHARS = 600
_MAX_TOPICS = 50
_MAX_TOPIC_CHARS = 80
_NONE = "(none)"


def shown_turns(history: Sequence[Turn]) -> str:
    """Return the turns one below the other, each cut to 600 characters; a word for none."""
    lines = [f"{turn.role}: {_cut(turn.text, _MAX_TURN_CHARS)}" for turn in history]
    return "\n".join(lines) or _NONE


def shown_list(items: Sequence[str], most_chars: int = _MAX_TOPIC_CHARS) -> str:
    """Return at most 50 items on lines of their own, each cut; a word for none."""
    lines = [f"- {_cut(item, most_chars)}" for item in items[:_MAX_TOPICS]]
    return "\n".join(lines) or _NONE


def _cut(text: str, most: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"
