"""A reranking model in the place of the built-in reranker."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from fingerpost.decide.conversation import shortened
from fingerpost.errors import BadResponseError
from fingerpost.lanes.base import RerankModel
from fingerpost.types.document import whole_text
from fingerpost.types.evidence import Hit

_LONGEST_QUERY: Final = 2_000


class ModelReranker:
    """A ``rerank`` hook made of a `RerankModel`; each hit's score is the model's.

    Each hit is shown by its headings and its text. Equal scores keep the order of retrieval.

    Args:
        model: Whom to ask.
        query_id: For events.
        deadline: Returns when a call must have ended, in monotonic seconds; ``None`` for no limit.
        max_passage_length: Characters of what is shown of a hit, at least 1; a longer passage
            keeps its beginning and its end.
    """

    def __init__(
        self,
        model: RerankModel,
        query_id: str = "",
        *,
        deadline: Callable[[], float | None] = lambda: None,
        max_passage_length: int = 4_000,
    ) -> None:
        self._model = model
        self._query_id = query_id
        self._deadline = deadline
        self._longest = max_passage_length

    async def __call__(self, question: str, hits: Sequence[Hit], top_n: int) -> list[Hit]:
        """Return the best ``top_n`` hits, best first.

        Raises:
            LaneError: The model gave no score for each of them.
        """
        if not hits:
            return []
        query = shortened(question, _LONGEST_QUERY)
        texts = [shortened(_shown(hit), self._longest) for hit in hits]
        ranking = await self._model.rerank(
            query, texts, deadline=self._deadline(), query_id=self._query_id
        )
        scores = ranking.scores
        if len(scores) != len(hits):
            name = f"{self._model.provider}/{self._model.model}"
            raise BadResponseError(f"{name} gave {len(scores):,} scores for {len(hits):,} texts")
        scored = [replace(hit, score=score) for hit, score in zip(hits, scores, strict=True)]
        return sorted(scored, key=lambda hit: -hit.score)[:top_n]


def _shown(hit: Hit) -> str:
    trail = " > ".join(hit.chunk.heading_path) or hit.document.title
    return f"{trail}\n{whole_text(hit.chunk, hit.document.format)}"
