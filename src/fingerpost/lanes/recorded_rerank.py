"""Rerankers whose calls are kept in a folder, and rerankers that give them again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from fingerpost.errors import LaneError, MissingRecordingError
from fingerpost.lanes.base import RerankModel
from fingerpost.lanes.record import error_of
from fingerpost.lanes.wrapped import WrappedReranker
from fingerpost.types.ranking import Ranking
from fingerpost.types.result import Usage

if TYPE_CHECKING:
    from fingerpost.lanes.recorded import Recorder, Replayer


class RecordedReranker(WrappedReranker):
    """A reranker whose calls are kept."""

    def __init__(self, model: RerankModel, recorder: Recorder) -> None:
        super().__init__(model)
        self._recorder = recorder

    async def rerank(
        self,
        query: str,
        texts: Sequence[str],
        *,
        deadline: float | None = None,
        query_id: str = "",
    ) -> Ranking:
        """Return the scores and keep them, or the error. See `RerankModel.rerank`."""
        names = (self.provider, self.model)
        kept = self._recorder.begin("rerank", names, [query, *texts])
        try:
            ranking = await super().rerank(query, texts, deadline=deadline, query_id=query_id)
        except LaneError as error:
            self._recorder.keep_error(kept, error)
            raise
        usage = [asdict(item) for item in ranking.usage]
        kept.write({"scores": list(ranking.scores), "usage": usage})
        return ranking


class ReplayedReranker(WrappedReranker):
    """A reranker that gives the records of another one, which is never asked."""

    def __init__(self, model: RerankModel, replayer: Replayer) -> None:
        super().__init__(model)
        self._replayer = replayer

    async def rerank(
        self,
        query: str,
        texts: Sequence[str],
        *,
        deadline: float | None = None,  # noqa: ARG002 - nothing is waited for
        query_id: str = "",  # noqa: ARG002 - a record belongs to no question
    ) -> Ranking:
        """Return the recorded scores or raise the recorded error. See `RerankModel.rerank`.

        Raises:
            MissingRecordingError: There is no record, or it cannot be read.
        """
        names = (self.provider, self.model)
        told = self._replayer.found("rerank", names, [query, *texts])
        try:
            error = error_of(told["error"]) if "error" in told else None
            if error is None:
                usage = tuple(Usage(**item) for item in told["usage"])
                return Ranking(tuple(map(float, told["scores"])), usage)
        except (KeyError, TypeError, ValueError, AttributeError) as fault:
            raise MissingRecordingError(
                f"a record of the kind 'rerank' in {self._replayer.folder} was changed and "
                "cannot be read",
                hint="Record again.",
            ) from fault
        raise error
