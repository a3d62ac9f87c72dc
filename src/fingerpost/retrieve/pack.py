"""Which of the ranked hits are kept: not all from one file when others help."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from fingerpost.types.evidence import Hit

HELPS = 0.8


def spread(hits: Sequence[Hit], k: int) -> list[Hit]:
    """Return up to ``k`` hits, best first, at most three fifths of them from one document.

    A document over its share gives way only to a hit at least 0.8 times as good; when no such
    hit is there, its own chunks stay.

    Args:
        hits: Best first.
        k: How many to keep, >= 0.
    """
    return sorted(_dealt(hits, k, most_of_one(k), Counter()), key=lambda hit: -hit.score)


def further(kept: Sequence[Hit], ranked: Sequence[Hit], n: int) -> list[Hit]:
    """Return up to ``n`` hits to stand behind those that are kept, under the rule of `spread`.

    Args:
        kept: Their documents count as well.
        ranked: Best first; those that are kept already are passed over.
        n: How many more, >= 0.
    """
    there = {hit.chunk.id for hit in kept}
    rest = [hit for hit in ranked if hit.chunk.id not in there]
    taken = Counter(hit.document.id for hit in kept)
    return _dealt(rest, n, most_of_one(len(kept) + n), taken)


def most_of_one(k: int) -> int:
    """Return how many of ``k`` hits may come from one document while others help, >= 1."""
    return max(1, -(-3 * k // 5))


def _dealt(hits: Sequence[Hit], k: int, cap: int, taken: Counter[str]) -> list[Hit]:
    kept: list[Hit] = []
    waiting: list[Hit] = []
    for hit in hits:
        if len(kept) == k:
            break
        while waiting and hit.score < HELPS * waiting[0].score and len(kept) < k:
            kept.append(waiting.pop(0))
        if len(kept) == k:
            break
        if taken[hit.document.id] >= cap:
            waiting.append(hit)
        else:
            taken[hit.document.id] += 1
            kept.append(hit)
    kept.extend(waiting[: k - len(kept)])
    return kept
