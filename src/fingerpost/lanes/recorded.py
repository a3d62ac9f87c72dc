"""Models whose calls are kept in a folder, and models that give them again."""

from __future__ import annotations

import json
import os
import threading
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

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
    ranking_of,
    request_json,
)
from fingerpost.lanes.recorded_embedder import RecordedEmbedder, ReplayedEmbedder
from fingerpost.lanes.web.counted import KIND, WebLane, recorded, replayed
from fingerpost.lanes.wrapped import M, Wrapped, WrappedChat, WrappedDecision
from fingerpost.types.chat import ChatRequest, ChatResponse
from fingerpost.types.question import DecisionInput, DecisionResponse, Question
from fingerpost.types.ranking import Ranking
from fingerpost.types.wire import to_wire

T = TypeVar("T")

_OURS = 0o600
_OURS_TO_ENTER = 0o700


class Recorder:
    """Keeps every call of the models around which it stands, each as one JSON file.

    A file is named after the hash of the whole request, without its deadline and question, and a
    number that tells equal requests apart in the order in which they began. Files of an earlier
    recording with the same names are replaced. Questions and answers are in them, so that only
    their owner may read them; keys are not.

    Args:
        folder: Made when it is missing, then for its owner alone.
        secrets: Keys to be taken out wherever they stand, besides what is shaped like one.

    Raises:
        ConfigError: The folder cannot be made or written.
    """

    def __init__(self, folder: Path, secrets: Sequence[Secret] = ()) -> None:
        self.cleaner = Cleaner(secrets)
        self._folder = folder
        try:
            folder.mkdir(mode=_OURS_TO_ENTER, parents=True, exist_ok=True)
        except OSError as error:
            raise _unwritable(folder, error) from error
        self._names = _Names()

    def around(self, model: ChatModel) -> ChatModel:
        """Return the model, its calls kept."""
        return _RecordedChat(model, self)

    def around_embedder(self, model: EmbeddingModel) -> EmbeddingModel:
        """Return the embedding model, its calls kept."""
        return RecordedEmbedder(model, self)

    def around_decider(self, model: DecisionModel) -> DecisionModel:
        """Return the decision model, its calls kept."""
        return _RecordedDecision(model, self)

    def around_reranker(self, model: RerankModel) -> RerankModel:
        """Return the reranker, its calls kept."""
        return _RecordedReranker(model, self)

    def around_web(self, lane: WebLane) -> WebLane:
        """Return the web search, its calls kept."""
        return WebLane(recorded(lane.ask, self, lane.name), lane.name)

    def begin(self, kind: str, model: Sequence[str], asked: object) -> _Kept:
        """Return the place of a call that begins now."""
        name = self._names.next(kind, key_of(kind, model, asked))
        head = {"format": FORMAT, "kind": kind, "model": list(model), "asked": asked}
        return _Kept(self._folder / name, self.cleaner.clean(head))

    def keep(self, kept: _Kept, outcome: Outcome) -> None:
        """Keep how a chat call ended."""
        kept.write(self.cleaner.clean_outcome(outcome_json(outcome)))

    @contextmanager
    def kept(self, kind: str, model: Sequence[str], asked: object) -> Iterator[_Kept]:
        """Give the place of a call that is not streamed and begins now; keep its failure there."""
        kept = self.begin(kind, model, asked)
        try:
            yield kept
        except LaneError as error:
            kept.write(self.cleaner.clean({"error": error_json(error)}))
            raise


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
        return ReplayedEmbedder(model, self)

    def around_decider(self, model: DecisionModel) -> DecisionModel:
        """Return a decision model with the same names that gives the records of ``model``."""
        return _ReplayedDecision(model, self)

    def around_reranker(self, model: RerankModel) -> RerankModel:
        """Return a reranker with the same names that gives the records of ``model``."""
        return _ReplayedReranker(model, self)

    def web(self, name: str) -> WebLane | None:
        """Return what gives the recorded searches again, ``None`` where none was recorded."""
        was_asked = next(self.folder.glob(f"{KIND}-*.json"), None) is not None
        return WebLane(replayed(self, name), name) if was_asked else None

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

    def given(
        self, kind: str, model: Sequence[str], asked: object, read: Callable[[dict[str, Any]], T]
    ) -> T:
        """Return what ``read`` makes of the record of a call that begins now, or raise its error.

        Raises:
            MissingRecordingError: There is none, or it cannot be read.
            LaneError: The call failed.
        """
        told = self.found(kind, model, asked)
        with self.readable(kind):
            error = error_of(told["error"]) if "error" in told else None
            if error is None:
                return read(told)
        raise error

    @contextmanager
    def readable(self, kind: str) -> Iterator[None]:
        """Say of a record that was changed that it cannot be read."""
        try:
            yield
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise MissingRecordingError(
                f"a record of the kind {kind!r} in {self.folder} was changed and cannot be read",
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
            half.unlink(missing_ok=True)  # of a process that died and had our number
            descriptor = os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _OURS)
            with os.fdopen(descriptor, "w", encoding="ascii") as file:
                file.write(text)
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


class _Recorded(Wrapped[M]):
    def __init__(self, model: M, recorder: Recorder) -> None:
        super().__init__(model)
        self._recorder = recorder


class _Replayed(Wrapped[M]):
    def __init__(self, model: M, replayer: Replayer) -> None:
        super().__init__(model)
        self._replayer = replayer


class _RecordedChat(_Recorded[ChatModel], WrappedChat):
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


class _ReplayedChat(_Replayed[ChatModel], WrappedChat):
    async def complete(self, request: ChatRequest) -> ChatResponse:
        return self._end(self._outcome("complete", request))

    async def stream(self, request: ChatRequest) -> AsyncGenerator[str | ChatResponse]:
        outcome = self._outcome("stream", request)
        for piece in outcome.pieces:
            yield piece
        yield self._end(outcome)

    def _outcome(self, kind: str, request: ChatRequest) -> Outcome:
        told = self._replayer.found(kind, _names_of(self), request_json(request))
        with self._replayer.readable(kind):
            return outcome_of(told)

    def _end(self, outcome: Outcome) -> ChatResponse:
        if outcome.end is None:
            raise MissingRecordingError(
                f"the recorded call to {self.provider}/{self.model} was given up here"
            )
        if isinstance(outcome.end, LaneError):
            raise outcome.end
        return outcome.end


class _RecordedDecision(_Recorded[DecisionModel], WrappedDecision):
    async def decide(
        self,
        input: DecisionInput,
        questions: Sequence[Question],
        *,
        deadline: float | None = None,
        query_id: str = "",
    ) -> DecisionResponse:
        names, asked = (self.provider, self.model), decision_json(input, questions)
        with self._recorder.kept("decide", names, asked) as kept:
            response = await super().decide(input, questions, deadline=deadline, query_id=query_id)
        kept.write(self._recorder.cleaner.clean({"response": to_wire(response)}))
        return response


class _ReplayedDecision(_Replayed[DecisionModel]):
    async def decide(
        self,
        input: DecisionInput,
        questions: Sequence[Question],
        *,
        deadline: float | None = None,  # noqa: ARG002 - nothing is waited for
        query_id: str = "",  # noqa: ARG002 - a record belongs to no question
    ) -> DecisionResponse:
        names, asked = (self.provider, self.model), decision_json(input, questions)
        return self._replayer.given(
            "decide", names, asked, lambda told: decision_of(told["response"])
        )


class _RecordedReranker(_Recorded[RerankModel]):
    async def rerank(
        self,
        query: str,
        texts: Sequence[str],
        *,
        deadline: float | None = None,
        query_id: str = "",
    ) -> Ranking:
        names, asked = (self.provider, self.model), [query, *texts]
        with self._recorder.kept("rerank", names, asked) as kept:
            ranking = await self._model.rerank(query, texts, deadline=deadline, query_id=query_id)
        kept.write(asdict(ranking))
        return ranking


class _ReplayedReranker(_Replayed[RerankModel]):
    async def rerank(
        self,
        query: str,
        texts: Sequence[str],
        *,
        deadline: float | None = None,  # noqa: ARG002 - nothing is waited for
        query_id: str = "",  # noqa: ARG002 - a record belongs to no question
    ) -> Ranking:
        names = (self.provider, self.model)
        return self._replayer.given("rerank", names, [query, *texts], ranking_of)
