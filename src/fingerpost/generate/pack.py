"""Hits packed into the token budget of a context: best first, whole or trimmed at a sentence."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fingerpost.text.sentences import sentences
from fingerpost.types import Hit
from fingerpost.types.document import whole_text

_SHARE = 0.6
# A heading, a lead-in, the head of a table or a rule says nothing without what follows it.
_SAYS_NOTHING = re.compile(r"(?:^[ \t]*\#{1,6}[ \t][^\n]*|^[-=|:+*_ \t]+|[:：])\Z", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class PackedHit:
    """A hit that has its place in the context.

    Attributes:
        hit: The hit.
        text: What is shown of it: its chunk's readable text, behind its prefix.
        trimmed: ``text`` ends before the chunk does.
    """

    hit: Hit
    text: str
    trimmed: bool = False


@dataclass(frozen=True, slots=True)
class Packed:
    """All hits given, parted into what is shown and what is not.

    Attributes:
        kept: In the order given.
        dropped: The rest, in the order given.
        n_tokens: Of the kept texts together, as counted, at most the budget.
    """

    kept: tuple[PackedHit, ...]
    dropped: tuple[Hit, ...]
    n_tokens: int


def pack(hits: Sequence[Hit], *, max_tokens: int, count: Callable[[str], int]) -> Packed:
    """Fill a budget with hits, best first.

    A hit that does not fit is trimmed at the end of a sentence; when not even its first one
    fits it is dropped, and the hits behind it still have their turn. Where hits of several
    documents are given, none of these takes more than three fifths of the budget. A hit
    without text is dropped.

    Args:
        hits: Best first.
        max_tokens: The budget; nothing fits into 0 or less.
        count: Returns the tokens of one kept text, >= 0. It may add what stands around a text
            in the prompt. Called about ten times for a hit that has to be trimmed, else once.
    """
    share = _SHARE if len({hit.document.id for hit in hits}) > 1 else 1.0
    left = max(0, max_tokens)
    document_left = {hit.document.id: int(share * left) for hit in hits}
    kept: list[PackedHit] = []
    dropped: list[Hit] = []
    for hit in hits:
        room = min(left, document_left[hit.document.id])
        found = _fitted(hit, room, count)
        if found is None:
            dropped.append(hit)
            continue
        packed, n_tokens = found
        kept.append(packed)
        left -= n_tokens
        document_left[hit.document.id] -= n_tokens
    return Packed(tuple(kept), tuple(dropped), max(0, max_tokens) - left)


def _fitted(hit: Hit, room: int, count: Callable[[str], int]) -> tuple[PackedHit, int] | None:
    """Return what of a hit fits into the room with its tokens, ``None`` for nothing."""
    text = whole_text(hit.chunk, hit.document.format)
    if not text.strip() or not room:
        return None
    n_tokens = count(text)
    if n_tokens <= room:
        return PackedHit(hit, text), n_tokens
    ends = _ends(text)
    fitting = bisect_right(ends, room, key=lambda end: count(text[:end]))
    if not fitting:
        return None
    text = text[: ends[fitting - 1]]
    return PackedHit(hit, text, trimmed=True), count(text)


def _ends(text: str) -> list[int]:
    """Return the offsets at which a text may end early, ascending."""
    return [
        span.end
        for span in sentences(text)[:-1]
        if not _SAYS_NOTHING.search(text[span.start : span.end])
    ]
