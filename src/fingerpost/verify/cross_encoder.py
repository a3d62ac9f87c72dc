"""A judge that reads claim and passage together: a cross-encoder for inference, on onnxruntime."""

from __future__ import annotations

import importlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from anyio import to_thread

from fingerpost.errors import MissingExtraError, VerificationError
from fingerpost.verify.base import ClaimPair, Entailment

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_FILES: Final = ("model.onnx", "tokenizer.json", "config.json")
_PREFIXES: Final = {"entail": "entailed", "neutral": "neutral", "contra": "contradicted"}


class CrossEncoderClaimJudge:
    """Asks a model of your own, in this process. Nothing is loaded before the first claim.

    Args:
        folder: Holds ``model.onnx`` (input ``input_ids`` and, if it has them, ``attention_mask``
            and ``token_type_ids``; first output the logits), ``tokenizer.json`` and
            ``config.json``, whose ``id2label`` names entailment, contradiction and, if the
            model tells it, neutral. Needs the extra ``local``.
        max_tokens: Longest pair. A longer one is not cut: there is no opinion on it.
    """

    name = "cross-encoder"

    def __init__(self, folder: Path, *, max_tokens: int = 512) -> None:
        self._folder = Path(folder)
        self._max_tokens = max_tokens
        self._loaded: _Model | None = None
        self._lock = Lock()

    async def judge(
        self, pairs: Sequence[ClaimPair], *, deadline: float | None = None
    ) -> list[Entailment | None]:
        """Return one opinion per pair; see `ClaimJudge.judge`. The deadline is held between pairs.

        Raises:
            MissingExtraError: onnxruntime or tokenizers is not installed.
            VerificationError: A file is missing, or is not what it should be.
        """
        del deadline  # `opinions` cancels between two pairs
        return [
            await to_thread.run_sync(self._judged, pair, abandon_on_cancel=True) for pair in pairs
        ]

    def _judged(self, pair: ClaimPair) -> Entailment | None:
        with self._lock:
            if self._loaded is None:
                self._loaded = _Model(self._folder)
        try:
            return self._loaded.judged(pair, self._max_tokens)
        except Exception as error:  # onnxruntime has a class per status, none of them public
            raise VerificationError(f"{self._folder} could not judge a claim: {error}") from error


class _Model:
    """The loaded files. Safe in several threads."""

    def __init__(self, folder: Path) -> None:
        runtime, tokenizers = _import("onnxruntime"), _import("tokenizers")
        self._np = importlib.import_module("numpy")
        model, tokenizer, config = (folder / name for name in _FILES)
        try:
            self._labels = _labels(json.loads(config.read_text("utf-8")))
            self._tokenizer = tokenizers.Tokenizer.from_file(str(tokenizer))
            self._session = runtime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
        except Exception as error:
            raise VerificationError(f"{folder} holds no model for inference: {error}") from error
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._inputs = {one.name for one in self._session.get_inputs()}

    def judged(self, pair: ClaimPair, max_tokens: int) -> Entailment | None:
        numpy = self._np
        encoded = self._tokenizer.encode(pair.passage, pair.claim)
        if len(encoded.ids) > max_tokens:
            return None
        given = {
            "input_ids": encoded.ids,
            "attention_mask": encoded.attention_mask,
            "token_type_ids": encoded.type_ids,
        }
        inputs = {
            name: numpy.array([values], dtype=numpy.int64)
            for name, values in given.items()
            if name in self._inputs
        }
        logits: NDArray[np.float64] = self._session.run(None, inputs)[0][0].astype(numpy.float64)
        shares = numpy.exp(logits - logits.max())
        shares /= shares.sum()
        told = dict.fromkeys(_PREFIXES.values(), 0.0)
        for place, kind in self._labels.items():
            told[kind] += float(shares[place])
        return Entailment(told["entailed"], told["neutral"], told["contradicted"])


def _labels(config: Mapping[str, Any]) -> dict[int, str]:
    """Return what each output stands for; one that is not named like the three is neutral.

    Raises:
        ValueError: None stands for entailment.
    """
    found: dict[int, str] = {}
    for place, label in dict(config["id2label"]).items():
        kinds = [
            kind for prefix, kind in _PREFIXES.items() if str(label).lower().startswith(prefix)
        ]
        found[int(place)] = kinds[0] if kinds else "neutral"
    if "entailed" not in found.values():
        raise ValueError("id2label names no entailment")
    return found


def _import(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtraError(
            f"The cross-encoder judge needs {module}, which is not installed.",
            hint="In the repository: pip install '.[local]'",
        ) from error
