"""An embedding model behind a provider's API, whatever its shape."""

from __future__ import annotations

import json
import random
import time
import weakref
from collections.abc import Awaitable, Callable, Iterator, Sequence
from http import HTTPStatus
from typing import Final, TypeVar

import anyio
import numpy as np
from numpy.typing import NDArray

from fingerpost.config.endpoint import Endpoint
from fingerpost.errors import (
    BadEmbeddingError,
    BadResponseError,
    ProviderError,
    RequestTooLargeError,
)
from fingerpost.lanes.providers.background import release, run_blocking
from fingerpost.lanes.providers.embedding_facts import facts_of, request_limits
from fingerpost.lanes.providers.embedding_shapes import embedding_shape
from fingerpost.lanes.providers.failure import error_for, error_in
from fingerpost.lanes.providers.fields import as_mapping, as_text, parse_json
from fingerpost.lanes.providers.http import Http
from fingerpost.lanes.providers.limits import embedding_limits
from fingerpost.lanes.providers.vectors import Vector, in_order, unit_vector
from fingerpost.text.tokens import estimate_tokens

__all__ = ["RemoteEmbedder"]

E = TypeVar("E", bound=ProviderError)
_ERROR_BYTES: Final = 64 * 1024
_AT_ONCE: Final = 4
_TRIES: Final = 3
_TRIES_BAD: Final = 2
_FIRST_WAIT_S: Final = 0.5
_BLANK: Final = "-"  # an empty text is refused by most


class RemoteEmbedder:
    """An `EmbeddingModel` at one endpoint. At most four requests are under way at once.

    A call that may succeed later (429, 5xx, a broken connection) is tried up to three times
    within its time: 10 seconds for one text, 60 for a batch. A batch that is too large is
    halved; vectors that cannot be used are asked for once more, each alone.

    Args:
        endpoint: Provider, model, address and key.
        revision: Of the model's weights, where the server tells it; empty takes the model's name.
        clock: Monotonic seconds.
        sleep: Waits for so many seconds before another try.

    Attributes:
        batch_size: How many texts are best handed to `embed` at once.

    Raises:
        ConfigError: The provider publishes no embedding model, or address or key cannot be used.
        LaneError: The dimension is not known and the server gave no vector to count.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        revision: str = "",
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
    ) -> None:
        self._endpoint = endpoint
        self._shape = embedding_shape(endpoint)
        self._facts = facts_of(endpoint.model)
        self._limits = request_limits(endpoint.provider)
        self._http = Http(endpoint, clock)
        self._clock = clock
        self._sleep = sleep
        self._revision = revision or endpoint.model
        self._slots = anyio.Semaphore(_AT_ONCE)
        self.batch_size = self._limits.n_texts
        weakref.finalize(self, release, self._http)
        self._dimension = self._facts.dimension
        if not self._dimension:
            self._dimension = len(self.embed([_BLANK])[0])

    @property
    def name(self) -> str:
        """Provider and model."""
        return f"{self._endpoint.provider}/{self._endpoint.model}"

    @property
    def revision(self) -> str:
        """Of the weights where the server tells it, else the model's name."""
        return self._revision

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return self._dimension

    @property
    def max_tokens(self) -> int:
        """Tokens of the longest text that is not cut."""
        return self._facts.max_tokens

    @property
    def languages(self) -> frozenset[str]:
        """Languages that it was made for, as far as is known."""
        return self._facts.languages

    def count_tokens(self, text: str) -> int:
        """Return an estimate: providers publish no tokenizer that we could ship."""
        return estimate_tokens(text)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one unit-length vector per text, in order. See `EmbeddingModel.embed`.

        Raises:
            BadEmbeddingError: One of the texts has no usable vector; `embed_each` gives the rest.
            ProviderError: The provider gave no reply.
        """
        if not texts:
            return np.empty((0, self._dimension), np.float32)
        vectors = []
        for outcome in self.embed_each(texts):
            if isinstance(outcome, BadEmbeddingError):
                raise outcome
            vectors.append(outcome)
        return np.stack(vectors)

    def embed_each(self, texts: Sequence[str]) -> list[Vector | BadEmbeddingError]:
        """Return the vector of each text, in order, or the error that says why it has none.

        Raises:
            ProviderError: The provider gave no reply, so that nothing can be said of any text.
        """
        sent = [self._fitting(text) for text in texts]
        return run_blocking(self._http, lambda: self._all(sent))

    def close(self) -> None:
        """Close the idle connections. The model can still be used."""
        run_blocking(self._http, self._http.close)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name})"

    def _fitting(self, text: str) -> str:
        """Return what the model can read of ``text``, never empty."""
        text = as_text(text)
        while (n_tokens := estimate_tokens(text)) > self._facts.max_tokens:
            text = text[: int(len(text) * min(0.95, self._facts.max_tokens / n_tokens))]
        return text if text.strip() else _BLANK

    def _batches(self, texts: Sequence[str]) -> Iterator[list[str]]:
        """Cut ``texts`` into what one request may hold, in order."""
        batch: list[str] = []
        n_tokens = 0
        for text in texts:
            more = estimate_tokens(text)
            is_full = len(batch) >= self._limits.n_texts or n_tokens + more > self._limits.n_tokens
            if batch and is_full:
                yield batch
                batch, n_tokens = [], 0
            batch.append(text)
            n_tokens += more
        yield batch

    async def _all(self, texts: Sequence[str]) -> list[Vector | BadEmbeddingError]:
        batches = list(self._batches(texts))
        results: list[list[Vector | BadEmbeddingError]] = [[] for _ in batches]
        failures: list[ProviderError] = []

        async def work(place: int) -> None:
            try:
                results[place] = await self._batch(batches[place])
            except ProviderError as error:
                failures.append(error)
                group.cancel_scope.cancel()

        async with anyio.create_task_group() as group:
            for place in range(len(batches)):
                group.start_soon(work, place)
        if failures:
            raise failures[0].with_traceback(None)  # the frames hold what the provider said
        return [outcome for result in results for outcome in result]

    async def _batch(self, texts: list[str]) -> list[Vector | BadEmbeddingError]:
        """Embed one batch; what comes back unusable is asked for once more, each text alone."""
        try:
            outcomes = await self._tried(texts)
        except RequestTooLargeError:
            if len(texts) == 1:
                raise
            half = len(texts) // 2
            return await self._batch(texts[:half]) + await self._batch(texts[half:])
        except BadEmbeddingError as error:
            if len(texts) == 1:
                return [error]
            return [outcome for text in texts for outcome in await self._batch([text])]
        for place, outcome in enumerate(outcomes):
            if isinstance(outcome, BadEmbeddingError) and outcome.retryable:
                outcomes[place] = (await self._tried([texts[place]]))[0]
        return outcomes

    async def _tried(self, texts: list[str]) -> list[Vector | BadEmbeddingError]:
        """Ask until there is a reply, up to three times and not past the limit."""
        limits = embedding_limits(len(texts))
        deadline = self._clock() + limits.total_s
        for n_tries in range(1, _TRIES + 1):
            try:
                async with self._slots:
                    return await self._ask(texts, deadline)
            except ProviderError as error:
                wait = error.retry_after_s
                if wait is None:
                    # Not for secrets: so that many callers do not come back at once.
                    wait = _FIRST_WAIT_S * 2**n_tries * random.uniform(0.5, 1.0)  # noqa: S311
                tries = _TRIES_BAD if isinstance(error, BadEmbeddingError) else _TRIES
                is_late = self._clock() + wait >= deadline
                if not error.retryable or n_tries >= tries or is_late:
                    raise
            await self._sleep(wait)
        raise AssertionError("the last try returns or raises")

    async def _ask(self, texts: list[str], deadline: float) -> list[Vector | BadEmbeddingError]:
        endpoint = self._endpoint
        body = json.dumps(self._shape.body(endpoint, texts)).encode()
        reply = await self._http.send(
            self._shape.url(endpoint),
            body,
            lambda: self._shape.headers(endpoint),
            embedding_limits(len(texts)),
            deadline,
        )
        try:
            if reply.status != HTTPStatus.OK:
                beginning = await reply.beginning(_ERROR_BYTES)
                now = time.time()
                raise error_for(reply.status, reply.headers, beginning, endpoint=endpoint, now=now)
            content = await reply.read()
        finally:
            await reply.close()
        return self._checked(content, reply.headers, len(texts))

    def _checked(
        self, content: bytes, headers: dict[str, str], n: int
    ) -> list[Vector | BadEmbeddingError]:
        """Return the vectors of a reply, or raise when it cannot be told which are whose."""
        try:
            data = as_mapping(parse_json(content, is_strict=False))
        except ValueError:
            data = {}
        told = error_in(data, headers, endpoint=self._endpoint)
        if told is not None:
            raise told
        items = self._shape.read(data)
        if not items:
            raise self._error(BadResponseError, "answered without vectors")
        vectors = in_order(items, n)
        if vectors is None:
            raise self._error(BadEmbeddingError, f"gave other than one vector for {n:,} texts each")
        return [self._outcome(vector) for vector in vectors]

    def _outcome(self, told: object) -> Vector | BadEmbeddingError:
        vector = unit_vector(told)
        if isinstance(vector, str):
            return self._error(BadEmbeddingError, f"gave a vector that {vector}")
        if self._dimension and len(vector) != self._dimension:
            error = self._error(
                BadEmbeddingError,
                f"gave a vector of {len(vector):,} dimensions instead of {self._dimension:,}",
            )
            error.retryable = False  # it is another model now
            return error
        return vector

    def _error(self, kind: type[E], what: str) -> E:
        return kind(
            f"{self.name} {what}.",
            provider=self._endpoint.provider,
            model=self._endpoint.model,
            status=int(HTTPStatus.OK),
        )
