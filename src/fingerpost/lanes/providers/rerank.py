"""A reranker behind a provider's API, whatever its shape."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from http import HTTPStatus
from typing import Any, Final, TypeVar

from fingerpost.config.endpoint import Endpoint
from fingerpost.errors import BadResponseError, ProviderError, ProviderTimeoutError
from fingerpost.lanes.providers.failure import error_for, error_in
from fingerpost.lanes.providers.fields import as_mapping, as_text, parse_json
from fingerpost.lanes.providers.limits import rerank_limits
from fingerpost.lanes.providers.openai import bearer
from fingerpost.lanes.providers.remote import Remote
from fingerpost.lanes.providers.reply import Reply
from fingerpost.lanes.providers.rerank_shapes import (
    RerankShape,
    read_input_tokens,
    read_scores,
)
from fingerpost.text.tokens import estimate_tokens
from fingerpost.types.ranking import Ranking
from fingerpost.types.result import Usage

__all__ = ["RemoteReranker", "as_shares", "sigmoid"]

E = TypeVar("E", bound=ProviderError)
_ERROR_BYTES: Final = 64 * 1024
_JOB: Final = "rerank"
_FLATTEST: Final = 60.0


class RemoteReranker(Remote):
    """A `RerankModel` at one endpoint. One request per call; a lane decides what is tried again.

    Args:
        endpoint: Provider, model, address and key.
        shape: How its API is spoken.
        clock: Monotonic seconds.
        now: Seconds since the epoch, for ``retry-after`` dates.

    Raises:
        ConfigError: The address or the key cannot be used.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        shape: RerankShape,
        *,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
    ) -> None:
        super().__init__(endpoint, clock=clock, now=now)
        self._shape = shape

    async def rerank(
        self,
        query: str,
        texts: Sequence[str],
        *,
        deadline: float | None = None,
        query_id: str = "",  # noqa: ARG002 - it stands in events, not on the wire
    ) -> Ranking:
        """Return the scores. See `RerankModel.rerank`.

        Raises:
            BadResponseError: There is other than one score for each text.
            ProviderError: There is no reply.
        """
        asked = self._shape.body(self._endpoint, as_text(query), [as_text(text) for text in texts])
        body = json.dumps(asked, ensure_ascii=False).encode("utf-8", "replace")
        reply: Reply | None = None
        try:
            reply = await self._accepted(body, deadline)
            try:
                content = await reply.read()
            finally:
                await reply.close()
            data = self._read(content, reply)
            scores = self._scores(data, len(texts))
        except ProviderError as error:
            is_spent = reply is not None or isinstance(error, ProviderTimeoutError)
            error.usage = (self._usage(body if is_spent else b"", {}, type(error).__name__),)
            raise error.with_traceback(None) from error.__cause__
        return Ranking(scores, (self._usage(body, data, "ok"),))

    async def _accepted(self, body: bytes, deadline: float | None) -> Reply:
        """Return the reply to a request, to be closed, or raise why it was turned away."""
        endpoint = self._endpoint
        reply = await self._http.send(
            self._shape.url(endpoint), body, lambda: bearer(endpoint), rerank_limits(), deadline
        )
        if reply.status == HTTPStatus.OK:
            return reply
        try:
            beginning = await reply.beginning(_ERROR_BYTES)
        finally:
            await reply.close()
        raise error_for(reply.status, reply.headers, beginning, endpoint=endpoint, now=self._now())

    def _read(self, content: bytes, reply: Reply) -> Any:
        data: Any = None
        with suppress(ValueError):
            data = parse_json(content, is_strict=False)
        told = error_in(as_mapping(data), reply.headers, endpoint=self._endpoint, now=self._now())
        if told is not None:
            raise told
        return data

    def _scores(self, data: object, n_texts: int) -> tuple[float, ...]:
        found: dict[int, float] = {}
        for index, score in read_scores(data):
            if not isinstance(index, int) or not 0 <= index < n_texts or index in found:
                raise self._error(BadResponseError, "gave a score for a text that it was not given")
            if isinstance(score, bool) or not isinstance(score, int | float):
                raise self._error(BadResponseError, "gave a score that is no number")
            if not math.isfinite(score):
                raise self._error(BadResponseError, "gave a score that is not finite")
            found[index] = float(score)
        if len(found) != n_texts:
            raise self._error(BadResponseError, f"gave {len(found):,} scores for {n_texts:,} texts")
        return as_shares([found[place] for place in range(n_texts)])

    def _usage(self, sent: bytes, data: object, outcome: str) -> Usage:
        """Return what a request took; what was turned away took nothing, as far as is known."""
        n_tokens = read_input_tokens(data)
        is_estimated = n_tokens is None and bool(sent)
        if n_tokens is None:
            n_tokens = estimate_tokens(sent.decode("utf-8", "replace"))
        return Usage(_JOB, self._name, n_tokens, outcome=outcome, estimated=is_estimated)

    def _error(self, kind: type[E], what: str) -> E:
        return kind(
            f"{self._name} {what}.",
            provider=self.provider,
            model=self.model,
            status=int(HTTPStatus.OK),
        )


def as_shares(scores: Sequence[float]) -> tuple[float, ...]:
    """Return scores of any scale as numbers from 0 to 1, in the same order of size.

    Scores that all lie there stay as they are; else they are taken for log odds, which servers
    give that do not squash the model's output.
    """
    if all(0.0 <= score <= 1.0 for score in scores):
        return tuple(scores)
    return tuple(map(sigmoid, scores))


def sigmoid(odds: float) -> float:
    """Return the probability of log odds."""
    return 1 / (1 + math.exp(-max(-_FLATTEST, min(_FLATTEST, odds))))
