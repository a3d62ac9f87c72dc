"""Both legs of a search, run side by side and never one for the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fingerpost.errors import MissingRecordingError, RetrievalError
from fingerpost.lanes.base import EmbeddingModel
from fingerpost.retrieve.question import Question
from fingerpost.stores.base import Reader, Selection

if TYPE_CHECKING:
    from numpy.typing import NDArray

CANDIDATES = 100
CONTEXT_BLEND = 0.15


@dataclass(frozen=True, slots=True)
class Legs:
    """The candidates of both legs as columns of one table.

    Attributes:
        keys: Chunk keys, ascending, each once.
        lexical: BM25; where the leg did not return the chunk, an estimate below all returned.
        vector: Cosine, completed for lexical candidates; ``nan`` for a chunk without a vector.
        lexical_rank: Place from 1, 0 when the leg did not return the chunk.
        vector_rank: The same for the vector leg.
        query_vector: The question's vector, ``None`` when the leg did not run.
        words_error: Why the lexical leg gave nothing, empty when it ran.
        vectors_error: Why the vector leg gave nothing, empty when it ran.
        fallbacks: Fallback names that follow.
    """

    keys: NDArray[np.int64]
    lexical: NDArray[np.float64]
    vector: NDArray[np.float64]
    lexical_rank: NDArray[np.int64]
    vector_rank: NDArray[np.int64]
    query_vector: NDArray[np.float32] | None = None
    words_error: str = ""
    vectors_error: str = ""
    fallbacks: tuple[str, ...] = ()

    @property
    def n_lexical(self) -> int:
        """Return how many candidates the lexical leg brought."""
        return int(np.count_nonzero(self.lexical_rank))

    @property
    def n_vector(self) -> int:
        """Return how many candidates the vector leg brought."""
        return int(np.count_nonzero(self.vector_rank))


@dataclass(frozen=True, slots=True)
class _Leg:
    found: list[tuple[int, float]]
    error: Exception | None = None


def run_legs(
    reader: Reader,
    question: Question,
    *,
    embedder: EmbeddingModel | None,
    within: Selection | None,
    k: int = CANDIDATES,
) -> Legs:
    """Return the candidates of both legs, each leg up to ``k``.

    A leg that fails is named on the result and the other one answers.

    Raises:
        RetrievalError: No leg could run; the cause holds both failures.
    """
    words = _words(reader, question, within, k)
    vector, leg, fallback = _vectors(reader, question, embedder, within, k)
    if words.error is not None and vector is None:
        failures = [e for e in (words.error, leg.error) if e is not None]
        cause = ExceptionGroup("both legs failed", failures)
        raise RetrievalError("Neither words nor vectors could be searched.") from cause
    table = _table(words.found, leg.found, k)
    if vector is not None:
        _complete(reader, vector, table)
    return Legs(
        *table,
        query_vector=vector,
        words_error=_reason(words.error),
        vectors_error=_reason(leg.error),
        fallbacks=(fallback,) if fallback else (),
    )


def _words(reader: Reader, question: Question, within: Selection | None, k: int) -> _Leg:
    if not question.tokens:
        return _Leg([])
    try:
        return _Leg(reader.search_words(question.words(), k, within))
    except Exception as error:  # any failure of one leg leaves the other
        return _Leg([], error)


def _vectors(
    reader: Reader,
    question: Question,
    embedder: EmbeddingModel | None,
    within: Selection | None,
    k: int,
) -> tuple[NDArray[np.float32] | None, _Leg, str]:
    if embedder is None or not question.text or not reader.info.n_vectors:
        return None, _Leg([]), "keyword-fallback" if question.text else ""
    try:
        vector = embed_question(embedder, question)
        found = reader.search_vectors(vector, k, within)
    except MissingRecordingError:
        raise
    except Exception as error:  # any failure of one leg leaves the other
        return None, _Leg([], error), "keyword-fallback"
    return vector, _Leg(found), "" if found else "vector-empty"


def embed_question(embedder: EmbeddingModel, question: Question) -> NDArray[np.float32]:
    """Return the unit vector of the question, drawn a little towards its context.

    With imagined passages it is the mean of theirs and its own (HyDE).
    """
    rows = embedder.embed([question.text, *question.imagined])
    vector = np.asarray(rows[0], dtype=np.float32)
    if question.imagined:
        vector = _unit(np.asarray(rows, dtype=np.float32).mean(axis=0))
    if question.context:
        earlier = embedder.embed([question.context[-1]])
        vector = _unit(vector + CONTEXT_BLEND * np.asarray(earlier[0], dtype=np.float32))
    if not np.isfinite(vector).all():
        raise RetrievalError("The embedding model gave a vector that is not finite.")
    return vector


def _unit(vector: NDArray[np.float32]) -> NDArray[np.float32]:
    length: NDArray[np.float32] = vector / max(float(np.linalg.norm(vector)), 1e-9)
    return length


_Table = tuple[
    "NDArray[np.int64]",
    "NDArray[np.float64]",
    "NDArray[np.float64]",
    "NDArray[np.int64]",
    "NDArray[np.int64]",
]


def _table(words: list[tuple[int, float]], vectors: list[tuple[int, float]], k: int) -> _Table:
    word_keys = np.array([key for key, _ in words], dtype=np.int64)
    vector_keys = np.array([key for key, _ in vectors], dtype=np.int64)
    keys = np.array(sorted({*word_keys.tolist(), *vector_keys.tolist()}), dtype=np.int64)
    # A full list hides what came after its end: half the last score is the fair guess.
    hidden = words[-1][1] / 2 if len(words) >= k else 0.0
    lexical = np.full(len(keys), hidden)
    vector = np.full(len(keys), np.nan)
    ranks = np.zeros((2, len(keys)), dtype=np.int64)
    at = np.searchsorted(keys, word_keys)
    lexical[at] = [score for _, score in words]
    ranks[0, at] = np.arange(1, len(words) + 1)
    at = np.searchsorted(keys, vector_keys)
    vector[at] = [score for _, score in vectors]
    ranks[1, at] = np.arange(1, len(vectors) + 1)
    return keys, lexical, vector, ranks[0], ranks[1]


def cosines(reader: Reader, query: NDArray[np.float32], keys: Sequence[int]) -> NDArray[np.float64]:
    """Return the cosine of each chunk to the query, ``nan`` for a chunk without a vector."""
    found = np.full(len(keys), np.nan)
    if len(keys):
        rows = reader.vectors(keys)
        present = rows.any(axis=1)
        found[present] = np.vecdot(rows[present], query)  # no BLAS threads
    return found


def _complete(reader: Reader, query: NDArray[np.float32], table: _Table) -> None:
    keys, _, vector, _, _ = table
    missing = np.flatnonzero(np.isnan(vector))
    vector[missing] = cosines(reader, query, keys[missing].tolist())


def _reason(error: Exception | None) -> str:
    return "" if error is None else f"{type(error).__name__}: {error}"
