"""What models are to the rest of the product."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import TYPE_CHECKING, Protocol

from fingerpost.types.chat import ChatRequest, ChatResponse
from fingerpost.types.question import DecisionInput, DecisionResponse, Question
from fingerpost.types.ranking import Ranking

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class AnyModel(Protocol):
    """What every model has that is called over a lane, whatever it is asked."""

    @property
    def provider(self) -> str:
        """The word that routes it."""
        ...

    @property
    def model(self) -> str:
        """The provider's name of the model."""
        ...

    async def close(self) -> None:
        """Close idle connections of the running event loop. The model can still be used."""
        ...


class ChatModel(AnyModel, Protocol):
    """Answers messages. May be used from several event loops at once.

    Attributes:
        provider: The word that routes it, ``openai``; ``lane`` for models made of others.
        api: The API shape it speaks: ``openai``, ``anthropic``, ``gemini``, ``ollama``.
        model: The provider's name of the model.
    """

    @property
    def api(self) -> str: ...

    async def complete(self, request: ChatRequest) -> ChatResponse:
        """Return the whole reply.

        Raises:
            LaneError: There is none; its ``usage`` tells what was spent all the same.
        """
        ...

    def stream(self, request: ChatRequest) -> AsyncGenerator[str | ChatResponse]:
        """Yield the pieces of the reply, none empty, then once the whole `ChatResponse`.

        Closing the generator early closes the call.

        Raises:
            StreamTruncatedError: The stream broke after a piece had been yielded.
            LaneError: It failed before any piece.
        """
        ...


class EmbeddingModel(Protocol):
    """Turns text into vectors. Thread-safe; calls release the GIL where they can.

    Attributes:
        name: Provider and model, ``local/minilm-l6-v2-int8``.
        revision: Changes whenever the same text may get another vector (a hash of the
            weights for local models).
        dimension: Length of each vector.
        max_tokens: Longest text that is embedded without being cut.
        languages: ISO 639-1 codes it was made for.
    """

    @property
    def name(self) -> str: ...
    @property
    def revision(self) -> str: ...
    @property
    def dimension(self) -> int: ...
    @property
    def max_tokens(self) -> int: ...
    @property
    def languages(self) -> frozenset[str]: ...

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one unit-length vector per text, in order: shape (len(texts), dimension).

        An empty text gets a vector like any other. The vector of a text does not depend on
        the others in the call.

        Raises:
            EmbeddingError: No usable vector (wrong dimension, NaN).
        """
        ...

    def count_tokens(self, text: str) -> int:
        """Return the number of tokens the model sees for ``text``, special tokens excluded."""
        ...


class DecisionModel(AnyModel, Protocol):
    """Answers typed questions with probabilities instead of writing text.

    Callers go through `asked.ask`, which checks the answers and holds the deadline. A model may
    also take the keywords ``deadline`` (monotonic seconds) and ``query_id``; it is then told.

    Attributes:
        provider: The word that routes it, ``typesafe``; ``lane`` for models made of others.
        model: The provider's name of the model.
    """

    async def decide(self, input: DecisionInput, questions: Sequence[Question]) -> DecisionResponse:
        """Return an answer to each question, all about the one input.

        Args:
            input: What the questions are about.
            questions: At least one; ids are unique. The model does not see the ids.

        Raises:
            LaneError: There is none; its ``usage`` tells what was spent all the same.
        """
        ...


class RerankModel(AnyModel, Protocol):
    """Says how well texts answer a query, looking at both together.

    Attributes:
        provider: The word that routes it, ``cohere``; ``local`` for one that runs here.
        model: The provider's name of the model.
    """

    async def rerank(
        self,
        query: str,
        texts: Sequence[str],
        *,
        deadline: float | None = None,
        query_id: str = "",
    ) -> Ranking:
        """Return a score for each text, in order.

        Args:
            query: The question.
            texts: At least one; a long one may be cut.
            deadline: When the call must have ended, in monotonic seconds.
            query_id: For events.

        Raises:
            LaneError: There is none; its ``usage`` tells what was spent all the same.
        """
        ...
