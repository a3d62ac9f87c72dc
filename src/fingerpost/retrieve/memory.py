"""What was said earlier, as a source: notes and turns that a host keeps."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from fingerpost.text.analyse import analyse
from fingerpost.types.plan import ExecutionPlan
from fingerpost.types.source import Passage

_MOST: Final = 1_000


@dataclass(frozen=True, slots=True)
class _Note:
    text: str
    kind: str
    words: frozenset[str]


class TextMemory:
    """Short texts of earlier conversations, searched by their words; a `Retriever`.

    Kept in this process only; the oldest goes when a new one does not fit.

    Args:
        max_notes: Most texts that are kept, >= 1.
    """

    def __init__(self, max_notes: int = _MOST) -> None:
        self._notes: deque[_Note] = deque(maxlen=max_notes)

    def __len__(self) -> int:
        return len(self._notes)

    def add(self, text: str, kind: str = "episodic") -> None:
        """Keep a text. ``kind`` is what a plan's ``memory_types`` may ask for; blank is dropped."""
        if text.strip():
            self._notes.append(_Note(text, kind, frozenset(analyse(text))))

    async def retrieve(
        self, query: str, top_k: int, plan: ExecutionPlan | None = None
    ) -> Sequence[Passage]:
        """Return the notes that share the rarest words with the query, best first.

        Args:
            query: What is asked.
            top_k: Most notes.
            plan: Its ``memory_types`` leave others out; none named takes all.
        """
        kinds = frozenset(plan.memory_types) if plan else frozenset()
        notes = [note for note in self._notes if not kinds or note.kind in kinds]
        asked = frozenset(analyse(query))
        rarity = {
            word: math.log(1 + len(notes) / (0.5 + sum(word in note.words for note in notes)))
            for word in asked
        }
        total = sum(rarity.values())
        if not total:
            return []
        scored = [
            (sum(rarity[word] for word in asked & note.words) / total, place, note)
            for place, note in enumerate(notes)
        ]
        best = sorted(
            (item for item in scored if item[0] > 0), key=lambda item: (-item[0], -item[1])
        )
        return [
            Passage(note.text, title=f"memory ({note.kind})", score=score)
            for score, _, note in best[:top_k]
        ]
