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
    cap = max(1, -(-3 * k // 5))
    kept: list[Hit] = []
    waiting: list[Hit] = []
    taken: Counter[str] = Counter()
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
    return sorted(kept, key=lambda hit: -hit.score)
