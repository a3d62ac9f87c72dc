"""An embedding model behind an API, held to the vectors that it gave an index before."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from fingerpost.errors import EmbeddingDriftError
from fingerpost.lanes.base import EmbeddingModel
from fingerpost.lanes.wrapped import WrappedEmbedder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["LEAST_COSINE", "Probe", "SteadyEmbedder"]

Probe = tuple[str, "NDArray[np.float32]"]
"""A text and the unit vector that the model gave it before."""
LEAST_COSINE: Final = 0.999
"""Of the vectors of one text, then and now. Our eight-bit codes alone stay above 0.9999."""
_CHECKED_EVERY_S: Final = 24 * 3600.0
_DRIFTED_FOR_S: Final = 300.0
_LOG = logging.getLogger("fingerpost.lanes")


class SteadyEmbedder(WrappedEmbedder):
    """Asks for vectors that are known, with the first texts and then daily.

    A provider may change a model under its name. Vectors of two models cannot be compared, and
    nothing else would tell. Once one differs nothing is embedded, so that search goes by words
    and the index keeps vectors of one model; after five minutes the model is asked again.

    Args:
        model: The model.
        probes: Returns up to five known texts with their vectors; none while there are none.
        cure: What to do about it, for people.
        clock: Monotonic seconds.
    """

    def __init__(
        self,
        model: EmbeddingModel,
        probes: Callable[[], Sequence[Probe]],
        *,
        cure: str = "",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(model)
        self._probes = probes
        self._cure = cure
        self._clock = clock
        self._lock = threading.Lock()
        self._next_check = -math.inf
        self._ready: Sequence[Probe] = ()
        self._drift: EmbeddingDriftError | None = None

    @property
    def overhead_tokens(self) -> int:
        """Tokens that the next call sends beside its texts."""
        with self._lock:
            probes = self._due()
        return sum(self.count_tokens(text) for text, _ in probes)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors. See `EmbeddingModel.embed`.

        Raises:
            EmbeddingDriftError: The model gives other vectors than it gave before.
            LaneError: It gave none.
        """
        with self._lock:
            probes = self._due()
            if not probes:
                self._raise_drift()
        vectors = self._model.embed([*(text for text, _ in probes), *texts])
        if probes:  # others ask meanwhile: nobody waits for a provider that is away
            with self._lock:
                self._compare(probes, vectors)
        return vectors[len(probes) :]

    def embed_each(self, texts: Sequence[str]) -> list[Any]:
        """Return the vector of each text, in order, or the error that says why it has none.

        Raises:
            EmbeddingDriftError: The model gives other vectors than it gave before.
            LaneError: It gave none.
        """
        self.embed([])
        each: Callable[[Sequence[str]], list[Any]] | None = getattr(self._model, "embed_each", None)
        return list(self._model.embed(texts)) if each is None else each(texts)

    def close(self) -> None:
        """Close the model where it can be closed."""
        close: Callable[[], None] | None = getattr(self._model, "close", None)
        if close is not None:
            close()

    def _due(self) -> Sequence[Probe]:
        if self._clock() < self._next_check:
            return ()
        if not self._ready:
            self._ready = self._probes()
        return self._ready

    def _compare(self, probes: Sequence[Probe], vectors: NDArray[np.float32]) -> None:
        now = vectors[: len(probes)]
        cosine = min(float(known @ new) for (_, known), new in zip(probes, now, strict=True))
        self._drift, self._ready = None, ()
        self._next_check = self._clock() + _CHECKED_EVERY_S
        if not cosine >= LEAST_COSINE:
            self._next_check = self._clock() + _DRIFTED_FOR_S
            self._drift = EmbeddingDriftError(
                f"{self.name} no longer gives the vectors that the index holds: the same text is "
                f"at a cosine of {cosine:.3f} to what it was",
                hint=self._cure,
            )
            _LOG.warning("%s; search goes by words", self._drift)
        self._raise_drift()

    def _raise_drift(self) -> None:
        if self._drift is not None:
            raise EmbeddingDriftError(str(self._drift), hint=self._drift.hint)
