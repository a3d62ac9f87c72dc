"""Parts of a question: which ones are real, and how they are named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fingerpost.generate.plain import plain_text
from fingerpost.generate.units import Unit
from fingerpost.text.analyse import query_tokens
from fingerpost.types import Evidence

_SAME = 0.8
_ANSWERED = 0.6
_PAIRS = {")": "(", "]": "[", "}": "{", "）": "（", "】": "【"}


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a question with the units that answer it.

    Attributes:
        text: The sub-question.
        units: Best first, at least one.
        left_out: See `fingerpost.generate.select.Choice`.
    """

    text: str
    units: list[Unit]
    left_out: Mapping[tuple[int, int], int]


def real_parts(question: str, evidence: Evidence) -> list[str]:
    """Return the sub-questions for which something was found; none when they are not several."""
    whole = set(query_tokens(question))
    parts = [
        part
        for part in evidence.sub_queries
        if part not in evidence.uncovered and not _is_whole(part, whole)
    ]
    return parts if len(parts) > 1 else []


def _is_whole(part: str, whole: set[str]) -> bool:
    own = set(query_tokens(part))
    return not own or own == whole


def answered(part: str, question: str, units: Sequence[Unit]) -> bool:
    """Return whether a part needs no word of its own: it is the question, or was answered."""
    own = query_tokens(part)
    whole = set(query_tokens(question))
    if not own or len(own.keys() & whole) >= max(_SAME * len(whole), 1):
        return True
    held = {token for unit in units for token in unit.tokens}
    share = sum(weight for token, weight in own.items() if token in held)
    return share >= _ANSWERED * sum(own.values())


def readable(part: str) -> str:
    """Return a part as a heading: plain, on one line, no bracket that has lost its other half."""
    text = plain_text(part)
    lonely: list[int] = []
    closed: list[int] = []
    for at, letter in enumerate(text):
        if letter in _PAIRS.values():
            lonely.append(at)
        elif letter in _PAIRS:
            if lonely and text[lonely[-1]] == _PAIRS[letter]:
                lonely.pop()
            else:
                closed.append(at)
    drop = {*lonely, *closed}
    return "".join(letter for at, letter in enumerate(text) if at not in drop).strip()
