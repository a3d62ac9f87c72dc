"""A lane of rerankers, of which the next is asked when one fails."""

from __future__ import annotations

from collections.abc import Sequence

from fingerpost.lanes.base import RerankModel
from fingerpost.lanes.lane import Lane, LaneCall
from fingerpost.types.ranking import Ranking


class FailoverReranker(Lane[RerankModel]):
    """A `RerankModel` that asks the next of its models when one fails in a way that may help.

    What each error means is the table of chat models, `faults.FAULTS`: what may pass is tried
    once more, and a provider that keeps failing is not asked for a while. Arguments as `Lane`.
    """

    async def rerank(
        self,
        query: str,
        texts: Sequence[str],
        *,
        deadline: float | None = None,
        query_id: str = "",
    ) -> Ranking:
        """Return the first scores of one of the models. See `RerankModel.rerank`.

        Raises:
            LaneExhaustedError: Several attempts failed, or no endpoint may be asked now.
            ProviderTimeoutError: The deadline had passed before the first attempt.
            LaneError: The only attempt failed, or no other model could cure it.
        """
        return await LaneCall(self, "rerank", deadline, query_id).first_reply(
            lambda model: model.rerank(query, texts, deadline=deadline, query_id=query_id)
        )
