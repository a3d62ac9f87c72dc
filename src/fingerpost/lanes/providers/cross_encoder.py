"""A cross-encoder that runs in this process: an ONNX model and its tokenizer in a folder."""

from __future__ import annotations

import importlib
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import anyio
from anyio import CapacityLimiter, to_thread

from fingerpost.errors import ConfigError, LaneError, MissingExtraError, ProviderTimeoutError
from fingerpost.lanes.providers.onnx import open_session
from fingerpost.lanes.providers.rerank import sigmoid
from fingerpost.types.ranking import Ranking
from fingerpost.types.result import Usage

__all__ = ["CrossEncoder"]

_FILES: Final = ("model.onnx", "tokenizer.json")
_HINT: Final = "In the repository: pip install '.[local]'"
_WINDOW: Final = 512
_LONGEST_QUERY: Final = 1_000  # characters: leaves most of the window to the text
_LONGEST_TEXT: Final = 64 * _WINDOW  # bounds the work of the tokenizer; real windows end before
_PAIR: Final = 2
_MOST_THREADS: Final = 8


class CrossEncoder:
    """A `RerankModel` that reads query and text together, in threads of this process.

    The network must give one number (log odds of relevance), or two (irrelevant, relevant). One
    pair goes through it at a time, on as many cores as there are, up to eight; a call that is
    given up stops after the pairs under way.

    Args:
        folder: Where ``model.onnx`` and ``tokenizer.json`` are.

    Raises:
        MissingExtraError: onnxruntime or tokenizers is not installed.
        ConfigError: A file is missing, cannot be loaded, or is no cross-encoder.
    """

    provider = "local"

    def __init__(self, folder: Path) -> None:
        self.model = folder.name
        runtime, tokenizers = _import("onnxruntime"), _import("tokenizers")
        for name in _FILES:
            if not (folder / name).is_file():
                raise ConfigError(
                    f"rerank_folder = {str(folder)!r}: there is no {name} in it",
                    hint="Name the folder of a cross-encoder exported to ONNX.",
                )
        self._numpy = importlib.import_module("numpy")
        try:
            self._tokenizer = tokenizers.Tokenizer.from_file(str(folder / _FILES[1]))
            self._session = open_session(runtime, folder / _FILES[0])
            self._fit_window()
            self._inputs = frozenset(one.name for one in self._session.get_inputs())
            self._scored("a", "b")
        except Exception as error:  # neither library has a public class for its failures
            raise ConfigError(
                f"rerank_folder = {str(folder)!r}: no cross-encoder could be loaded: {error}"
            ) from error

    async def rerank(
        self,
        query: str,
        texts: Sequence[str],
        *,
        deadline: float | None = None,
        query_id: str = "",  # noqa: ARG002 - it stands in events
    ) -> Ranking:
        """Return the scores. See `RerankModel.rerank`.

        Raises:
            ProviderTimeoutError: The deadline passed.
            LaneError: The network failed on a pair.
        """
        limiter = CapacityLimiter(min(_MOST_THREADS, os.cpu_count() or 1))
        found: dict[int, tuple[float, int]] = {}
        failures: list[Exception] = []

        async def score(place: int, text: str) -> None:
            try:
                found[place] = await to_thread.run_sync(self._scored, query, text, limiter=limiter)
            except Exception as error:  # of onnxruntime, whose classes are not public
                failures.append(error)
                group.cancel_scope.cancel()

        left = None if deadline is None else max(0.0, deadline - time.monotonic())
        with anyio.move_on_after(left) as scope:
            async with anyio.create_task_group() as group:
                for place, text in enumerate(texts):
                    group.start_soon(score, place, text)
        name = f"{self.provider}/{self.model}"
        if failures:
            raise LaneError(f"{name} failed: {failures[0]}") from failures[0]
        if scope.cancelled_caught:
            raise ProviderTimeoutError(
                f"{name} scored {len(found):,} of {len(texts):,} texts in time",
                provider=self.provider,
                model=self.model,
            )
        scores = tuple(found[place][0] for place in range(len(texts)))
        n_tokens = sum(n for _, n in found.values())
        return Ranking(scores, (Usage("rerank", name, n_tokens, cost_usd=0.0),))

    async def close(self) -> None:
        """There is nothing to close."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.model})"

    def _fit_window(self) -> None:
        """Cut pairs at the tokenizer's own limit, and at 512 tokens."""
        told = self._tokenizer.truncation
        window = min(_WINDOW, told["max_length"]) if told else _WINDOW
        self._tokenizer.enable_truncation(window)
        self._tokenizer.no_padding()

    def _scored(self, query: str, text: str) -> tuple[float, int]:
        """Return the probability that the text answers the query, and the tokens of the pair."""
        pair = self._tokenizer.encode(
            _encodable(query[:_LONGEST_QUERY]), _encodable(text[:_LONGEST_TEXT])
        )
        given = {
            "input_ids": pair.ids,
            "attention_mask": [1] * len(pair.ids),
            "token_type_ids": pair.type_ids,
        }
        numpy = self._numpy
        fed = {k: numpy.array([v], numpy.int64) for k, v in given.items() if k in self._inputs}
        odds = self._session.run(None, fed)[0].reshape(-1).tolist()
        if len(odds) > _PAIR:
            raise ValueError(f"the model gives {len(odds):,} numbers for a pair, not one or two")
        return sigmoid(odds[-1] - (odds[0] if len(odds) == _PAIR else 0.0)), len(pair.ids)


def _import(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtraError(
            f"rerank_folder needs {module}, which is not installed.", hint=_HINT
        ) from error


def _encodable(text: str) -> str:
    """Replace lone surrogates, which the tokenizer would refuse."""
    return text.encode("utf-8", "replace").decode("utf-8")
