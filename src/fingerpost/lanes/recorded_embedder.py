"""Embedding models whose calls are kept in a folder, and such that give them again."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from fingerpost.lanes.base import EmbeddingModel
from fingerpost.lanes.wrapped import WrappedEmbedder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from fingerpost.lanes.recorded import Recorder, Replayer

_FLOATS: Final = "<f4"
_DESCRIPTION: Final = "embedder"


class RecordedEmbedder(WrappedEmbedder):
    """An embedding model whose calls are kept, and once what its vectors are."""

    def __init__(self, model: EmbeddingModel, recorder: Recorder) -> None:
        super().__init__(model)
        self._recorder = recorder
        self._is_described = False

    @property
    def revision(self) -> str:
        """Return the model's revision and keep it."""
        self._describe()
        return super().revision

    @property
    def dimension(self) -> int:
        """Return the model's dimension and keep it."""
        self._describe()
        return super().dimension

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors and keep them, or the error. See `EmbeddingModel.embed`."""
        import numpy as np  # noqa: PLC0415 - only with embeddings

        with self._recorder.kept("embed", (self.name,), list(texts)) as kept:
            vectors = self._model.embed(texts)
        raw = np.ascontiguousarray(vectors, dtype=_FLOATS).tobytes()
        kept.write({"vectors": base64.b64encode(raw).decode("ascii")})
        self._describe()
        return vectors

    def _describe(self) -> None:
        """Keep what the vectors are, which a replay must know without asking the model."""
        if not self._is_described:
            self._is_described = True
            told = {"revision": super().revision, "dimension": super().dimension}
            self._recorder.begin(_DESCRIPTION, (self.name,), None).write(told)


class ReplayedEmbedder(WrappedEmbedder):
    """An embedding model that gives the records of another one, which is never asked."""

    def __init__(self, model: EmbeddingModel, replayer: Replayer) -> None:
        super().__init__(model)
        self._replayer = replayer

    @property
    def revision(self) -> str:
        """Return the recorded revision."""
        with self._replayer.readable(_DESCRIPTION):
            return str(self._description["revision"])

    @property
    def dimension(self) -> int:
        """Return the recorded dimension."""
        with self._replayer.readable(_DESCRIPTION):
            return int(self._description["dimension"])

    @cached_property
    def _description(self) -> dict[str, Any]:
        return self._replayer.found(_DESCRIPTION, (self.name,), None)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the recorded vectors or raise the recorded error. See `EmbeddingModel.embed`.

        Raises:
            MissingRecordingError: There is no record, or it cannot be read.
        """
        import numpy as np  # noqa: PLC0415 - only with embeddings

        def read(told: dict[str, Any]) -> NDArray[np.float32]:
            vectors = np.frombuffer(base64.b64decode(told["vectors"]), dtype=_FLOATS)
            return vectors.reshape(len(texts), self.dimension).astype(np.float32)

        return self._replayer.given("embed", (self.name,), list(texts), read)
