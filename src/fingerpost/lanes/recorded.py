"""Models whose calls are kept in a folder, and models that give them again."""

from __future__ import annotations

import base64
import json
import os
import threading
from collections import Counter
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing, contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from fingerpost.config.secrets import Secret
from fingerpost.errors import ConfigError, LaneError, MissingRecordingError
from fingerpost.lanes.base import ChatModel, DecisionModel, EmbeddingModel, RerankModel
from fingerpost.lanes.record import (
    FORMAT,
    Cleaner,
    Outcome,
    decision_json,
    decision_of,
    error_json,
    error_of,
    key_of,
    outcome_json,
    outcome_of,
    request_json,
)
from fingerpost.lanes.recorded_rerank import RecordedReranker, ReplayedReranker
from fingerpost.lanes.wrapped import WrappedChat, WrappedDecision, WrappedEmbedder
from fingerpost.types.chat import ChatRequest, ChatResponse
from fingerpost.types.question import DecisionInput, DecisionResponse, Question
from fingerpost.types.wire import to_wire

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_FLOATS: Final = "<f4"
_DESCRIPTION: Final = "embedder"


class Recorder:
    """Keeps every call of the models around which it stands, each as one JSON file.

    A file is named after the hash of the whole request, without its deadline and question, and a
    number that tells equal requests apart in the order in which they began. Files of an earlier
    recording with the same names are replaced. Questions and answers are in them; keys are not.

    Args:
        folder: Made when it is missing.
        secrets: Keys to be taken out wherever they stand, besides what is shaped like one.

    Raises:
        ConfigError: The folder cannot be made or written.
    """

    def __init__(self, folder: Path, secrets: Sequence[Secret] = ()) -> None:
        self._cleaner = Cleaner(secrets)
        self._folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise _unwritable(folder, error) from error
        self._names = _Names()

    def around(self, model: ChatModel) -> ChatModel:
        """Return the model, its calls kept."""
        return _RecordedChat(model, self)

    def around_embedder(self, model: EmbeddingModel) -> EmbeddingModel:
        """Return the embedding model, its calls kept."""
        return _RecordedEmbedder(model, self)

    def around_decider(self, model: DecisionModel) -> DecisionModel:
        """Return the decision model, its calls kept."""
        return _RecordedDecision(model, self)

    def around_reranker(self, model: RerankModel) -> RerankModel:
        """Return the reranker, its calls kept."""
        return RecordedReranker(model, self)

    def begin(self, kind: str, model: Sequence[str], asked: object) -> _Kept:
        """Return the place of a call that begins now."""
        name = self._names.next(kind, key_of(kind, model, asked))
        head = {"format": FORMAT, "kind": kind, "model": list(model), "asked": asked}
        return _Kept(self._folder / name, self._cleaner.clean(head))

    def keep(self, kept: _Kept, outcome: Outcome) -> None:
        """Keep how a chat call ended."""
        kept.write(self._cleaner.clean_outcome(outcome_json(outcome)))

    def keep_response(self, kept: _Kept, response: DecisionResponse) -> None:
        """Keep the answers of a decision model."""
        kept.write(self._cleaner.clean({"response": to_wire(response)}))

    def keep_error(self, kept: _Kept, error: LaneError) -> None:
        """Keep a call that was not streamed and failed."""
        kept.write(self._cleaner.clean({"error": error_json(error)}))


class Replayer:
    """Gives recorded calls again, in pieces as they came, and never asks the model.

    Equal requests get the records of equal requests in the order in which they begin.

    Args:
        folder: Of a `Recorder`.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._names = _Names()

    def around(self, model: ChatModel) -> ChatModel:
        """Return a model with the same names that gives the records of ``model``."""
        return _ReplayedChat(model, self)

    def around_embedder(self, model: EmbeddingModel) -> EmbeddingModel:
        """Return the same for an embedding model, with the recorded revision and dimension."""
        return _ReplayedEmbedder(model, self)

    def around_decider(self, model: DecisionModel) -> DecisionModel:
        """Return a decision model with the same names that gives the records of ``model``."""
        return _ReplayedDecision(model, self)

    def around_reranker(self, model: RerankModel) -> RerankModel:
        """Return a reranker with the same names that gives the records of ``model``."""
        return ReplayedReranker(model, self)

    def found(self, kind: str, model: Sequence[str], asked: object) -> dict[str, Any]:
        """Return the record of a call that begins now.

        Raises:
            MissingRecordingError: There is none, or it cannot be read.
        """
        path = self.folder / self._names.next(kind, key_of(kind, model, asked))
        try:
            told = json.loads(path.read_bytes())
        except (OSError, ValueError) as error:
            raise MissingRecordingError(
                f"no record of this call to {model[-1]}: {path} "
                + ("cannot be read" if path.exists() else "does not exist"),
                hint="Record again: the question, a setting, a prompt or a document has changed.",
            ) from error
        if not isinstance(told, dict) or told.get("format") != FORMAT:
            raise MissingRecordingError(f"{path} is no record of format {FORMAT}")
        return told


@contextmanager
def _readable(replayer: Replayer, kind: str) -> Iterator[None]:
    """Say of a record that was changed that it cannot be read."""
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise MissingRecordingError(
            f"a record of the kind {kind!r} in {replayer.folder} was changed and cannot be read",
            hint="Record again.",
        ) from error


class _Names:
    """Numbers equal calls in the order in which they begin."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()

    def next(self, kind: str, key: str) -> str:
        with self._lock:
            self._counts[key] += 1
            return f"{kind}-{key}-{self._counts[key]}.json"


class _Kept:
    """A file to be written once."""

    def __init__(self, path: Path, head: dict[str, Any]) -> None:
        self._path = path
        self._head = head

    def write(self, told: dict[str, Any]) -> None:
        """Put the file in its place whole or not at all."""
        text = json.dumps({**self._head, **told}, indent=1, sort_keys=True)
        half = self._path.with_name(f"{self._path.name}.{os.getpid()}.{threading.get_ident()}")
        try:
            half.write_text(text, encoding="ascii")
            half.replace(self._path)
        except OSError as error:
            raise _unwritable(self._path.parent, error) from error


def _unwritable(folder: Path, error: OSError) -> ConfigError:
    return ConfigError(
        f"record = {str(folder)!r}: {error.strerror or error}",
        hint="Name a folder that can be written.",
    )


def _names_of(model: ChatModel) -> tuple[str, str, str]:
    return model.provider, model.api, model.model


class _RecordedChat(WrappedChat):
    def __init__(self, model: ChatModel, recorder: Recorder) -> None:
        super().__init__(model)
        self._recorder = recorder

    async def complete(self, request: ChatRequest) -> ChatResponse:
        kept = self._recorder.begin("complete", _names_of(self), request_json(request))
        try:
            response = await self._model.complete(request)
        except LaneError as error:
            self._recorder.keep(kept, Outcome((), error))
            raise
        self._recorder.keep(kept, Outcome((), response))
        return response

    async def stream(self, request: ChatRequest) -> AsyncGenerator[str | ChatResponse]:
        kept = self._recorder.begin("stream", _names_of(self), request_json(request))
        pieces: list[str] = []
        end: ChatResponse | LaneError | None = None
        try:
            async with aclosing(self._model.stream(request)) as items:
                async for item in items:
                    if isinstance(item, ChatResponse):
                        end = item
                    else:
                        pieces.append(item)
                    yield item
        except LaneError as error:
            end = error
            raise
        finally:
            self._recorder.keep(kept, Outcome(tuple(pieces), end))


class _ReplayedChat(WrappedChat):
    def __init__(self, model: ChatModel, replayer: Replayer) -> None:
        super().__init__(model)
        self._replayer = replayer

    async def complete(self, request: ChatRequest) -> ChatResponse:
        return self._end(self._outcome("complete", request))

    async def stream(self, request: ChatRequest) -> AsyncGenerator[str | ChatResponse]:
        outcome = self._outcome("stream", request)
        for piece in outcome.pieces:
            yield piece
        yield self._end(outcome)

    def _outcome(self, kind: str, request: ChatRequest) -> Outcome:
        told = self._replayer.found(kind, _names_of(self), request_json(request))
        with _readable(self._replayer, kind):
            return outcome_of(told)

    def _end(self, outcome: Outcome) -> ChatResponse:
        if outcome.end is None:
            raise MissingRecordingError(
                f"the recorded call to {self.provider}/{self.model} was given up here"
            )
        if isinstance(outcome.end, LaneError):
            raise outcome.end
        return outcome.end


class _RecordedDecision(WrappedDecision):
    def __init__(self, model: DecisionModel, recorder: Recorder) -> None:
        super().__init__(model)
        self._recorder = recorder

    async def decide(
        self,
        input: DecisionInput,
        questions: Sequence[Question],
        *,
        deadline: float | None = None,
        query_id: str = "",
    ) -> DecisionResponse:
        names, asked = (self.provider, self.model), decision_json(input, questions)
        kept = self._recorder.begin("decide", names, asked)
        try:
            response = await super().decide(input, questions, deadline=deadline, query_id=query_id)
        except LaneError as error:
            self._recorder.keep_error(kept, error)
            raise
        self._recorder.keep_response(kept, response)
        return response


class _ReplayedDecision(WrappedDecision):
    def __init__(self, model: DecisionModel, replayer: Replayer) -> None:
        super().__init__(model)
        self._replayer = replayer

    async def decide(
        self,
        input: DecisionInput,
        questions: Sequence[Question],
        *,
        deadline: float | None = None,  # noqa: ARG002 - nothing is waited for
        query_id: str = "",  # noqa: ARG002 - a record belongs to no question
    ) -> DecisionResponse:
        names, asked = (self.provider, self.model), decision_json(input, questions)
        told = self._replayer.found("decide", names, asked)
        with _readable(self._replayer, "decide"):
            if "error" not in told:
                return decision_of(told["response"])
            error = error_of(told["error"])
        raise error


class _RecordedEmbedder(WrappedEmbedder):
    def __init__(self, model: EmbeddingModel, recorder: Recorder) -> None:
        super().__init__(model)
        self._recorder = recorder
        self._is_described = False

    @property
    def revision(self) -> str:
        self._describe()
        return super().revision

    @property
    def dimension(self) -> int:
        self._describe()
        return super().dimension

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        import numpy as np  # noqa: PLC0415 - only with embeddings

        kept = self._recorder.begin("embed", (self.name,), list(texts))
        try:
            vectors = self._model.embed(texts)
        except LaneError as error:
            self._recorder.keep_error(kept, error)
            raise
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


class _ReplayedEmbedder(WrappedEmbedder):
    def __init__(self, model: EmbeddingModel, replayer: Replayer) -> None:
        super().__init__(model)
        self._replayer = replayer

    @property
    def revision(self) -> str:
        with _readable(self._replayer, _DESCRIPTION):
            return str(self._description["revision"])

    @property
    def dimension(self) -> int:
        with _readable(self._replayer, _DESCRIPTION):
            return int(self._description["dimension"])

    @cached_property
    def _description(self) -> dict[str, Any]:
        return self._replayer.found(_DESCRIPTION, (self.name,), None)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        import numpy as np  # noqa: PLC0415 - only with embeddings

        told = self._replayer.found("embed", (self.name,), list(texts))
        with _readable(self._replayer, "embed"):
            error = error_of(told["error"]) if "error" in told else None
        if error is not None:
            raise error
        with _readable(self._replayer, "embed"):
            vectors = np.frombuffer(base64.b64decode(told["vectors"]), dtype=_FLOATS)
            return vectors.reshape(len(texts), self.dimension).astype(np.float32)
