"""The decision model that needs no network: embeddings, words and fitted weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Final

import numpy as np
from anyio import to_thread

from fingerpost.decide.local_evidence import LocalEvidence
from fingerpost.decide.local_fit import fit_router
from fingerpost.decide.local_router import LocalSourceRouter, SourceDecision
from fingerpost.decide.local_source import SourceDescription
from fingerpost.decide.local_weights import Shares, packaged_weights, softmax
from fingerpost.decide.options import checked_able
from fingerpost.decide.vectors import vectors_of
from fingerpost.errors import ConfigError, FingerpostError, LaneError
from fingerpost.lanes.base import EmbeddingModel
from fingerpost.types.question import (
    AnswerStatus,
    Choice,
    DecisionAnswer,
    DecisionInput,
    DecisionResponse,
    Question,
    Score,
    YesNo,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["LocalDecisionModel", "LocalSourceRouter", "SourceDecision", "SourceDescription"]

_KEPT: Final = 32
_CONVERSATION: Final = frozenset({"query", "messages"})
_NONE: Final = frozenset({"none", "other", "none of these", "none of them", "out of scope"})


class LocalDecisionModel:
    """A `DecisionModel` without network: compares the query with the words of the questions.

    It reads text, or the object of a conversation (``query`` and ``messages``), of which it
    reads the query. About any other input it abstains: it compares, it does not understand.

    - Yes/no questions of one call are alternatives to each other; what they have in common is
      left out of the comparison. Yes is as probable as this one is, held against its strongest
      rival and against *none of them*, each alone. From 0.5 on is the source that the local
      router would choose, and one that is as good.
    - A choice is answered by the probability of each option when one of them fits;
      ``unknown_probability`` is that of none, and an option called ``none`` or ``other`` gets it.
    - A question with both sides of yes described, and a score, are choices among descriptions.
      Little is known of levels from their words, so the probabilities of a score are flat.

    Descriptions are embedded at the first call that has them and then kept, 32 sets of them.

    Args:
        embedder: Compares texts; ``None`` compares their words. It is called in a thread.
        fitted: A router of `fit_router` or `load_router`. It answers calls whose options, or
            whose yes/no questions, are all among its sources, by id, name or description.

    Attributes:
        provider: ``local``.
        model: Of the embeddings, ``words`` without any.
    """

    provider = "local"

    def __init__(
        self, embedder: EmbeddingModel | None = None, *, fitted: LocalSourceRouter | None = None
    ) -> None:
        if embedder is not None:
            checked_able(embedder, "embed", "embedder")
        self._embedder = embedder
        self._fitted = fitted
        name = "words" if embedder is None else embedder.name.removeprefix("local/")
        self.model = name if fitted is None else f"{name}+examples"
        self._known = {} if fitted is None else _named(fitted.sources)
        self._router = lru_cache(maxsize=_KEPT)(self._built)
        self._levels = lru_cache(maxsize=_KEPT)(self._described)

    def fit(self, examples: Mapping[str, Sequence[str]], *, seed: int = 0) -> LocalDecisionModel:
        """Return a model that has learnt from examples. See `fit_router`.

        Args:
            examples: What a source is called or described by → questions that belong to it.
            seed: Of the order in which examples are held out.

        Raises:
            ConfigError: There is no embedding model, or not enough to learn from.
            EmbeddingError: The embedding model gave no usable vector.
        """
        if self._embedder is None:
            raise ConfigError("learning from examples needs an embedding model")
        sources = [SourceDescription(name, name) for name in examples]
        fitted = fit_router(sources, examples, self._embedder, seed=seed)
        return LocalDecisionModel(self._embedder, fitted=fitted)

    async def decide(self, input: DecisionInput, questions: Sequence[Question]) -> DecisionResponse:
        """Return an answer to each question. See `DecisionModel.decide`.

        Raises:
            LaneError: The embedding model failed.
        """
        query = _query_of(input)
        if query is None:
            silent = AnswerStatus.ABSTAINED
            answers = {one.id: DecisionAnswer(one.id, silent) for one in questions}
        else:
            work = partial(self._answers, query, questions)
            try:
                answers = await to_thread.run_sync(work, abandon_on_cancel=True)
            except FingerpostError:
                raise
            except Exception as error:
                raise LaneError(f"local/{self.model} failed: {error}") from error
        return DecisionResponse(answers, f"local/{self.model}")

    async def close(self) -> None:
        """Do nothing: there are no connections."""

    def _answers(self, query: str, questions: Sequence[Question]) -> dict[str, DecisionAnswer]:
        vector = None if self._embedder is None else vectors_of(self._embedder, [query])[0]
        asked = [one for one in questions if isinstance(one, YesNo) and not (one.yes and one.no)]
        found: dict[str, DecisionAnswer] = {}
        if asked:
            shares = self._shares(self._subjects(asked), query, vector)
            for question, yes in zip(asked, _held_against_rivals(shares), strict=True):
                found[question.id] = _answer(question.id, {"yes": yes, "no": 1 - yes})
        for one in questions:
            if isinstance(one, Choice):
                found[one.id] = self._chosen(one, query, vector)
            elif one.id not in found:
                found[one.id] = self._placed(one, query, vector)
        return {one.id: found[one.id] for one in questions}

    def _subjects(self, questions: Sequence[YesNo]) -> tuple[tuple[str, str], ...]:
        """Return what each question is about: a known source, or what it alone says."""
        whole = [_last_line(question.text) for question in questions]
        if all(text.casefold() in self._known for text in whole):
            return tuple(("", text) for text in whole)
        return tuple(("", text) for text in _distinct(questions))

    def _chosen(
        self, question: Choice, query: str, vector: NDArray[np.float32] | None
    ) -> DecisionAnswer:
        """Return the answer to a choice."""
        options = question.options
        none = [label for label in options if label.strip().casefold() in _NONE]
        rest = [label for label in options if label not in none]
        if not rest:
            even = dict.fromkeys(options, 1 / len(options))
            return _answer(question.id, even, unknown=1.0)
        subjects = tuple((label, options[label] or "") for label in rest)
        shares = self._shares(subjects, query, vector)
        left = shares.none if none else 0.0
        sources = shares.sources / shares.sources.sum() * (1 - left)
        probabilities = dict(zip(rest, map(float, sources), strict=True))
        probabilities |= dict.fromkeys(none, left / max(1, len(none)))
        return _answer(
            question.id, {label: probabilities[label] for label in options}, unknown=shares.none
        )

    def _placed(
        self, question: YesNo | Score, query: str, vector: NDArray[np.float32] | None
    ) -> DecisionAnswer:
        """Return the answer to a score, or to a yes/no question with both sides described."""
        if isinstance(question, Score):
            texts: tuple[str, ...] = question.levels
            labels = tuple(map(str, range(len(texts))))
        else:
            texts, labels = (question.yes or "", question.no or ""), ("yes", "no")
        evidence = self._levels(texts).of(query, vector)
        shares = softmax(evidence @ np.asarray(packaged_weights()["levels"].evidence))
        return _answer(question.id, dict(zip(labels, map(float, shares), strict=True)))

    def _shares(
        self,
        subjects: tuple[tuple[str, str], ...],
        query: str,
        vector: NDArray[np.float32] | None,
    ) -> Shares:
        """Return the probability of each (name, description), and of none."""
        places = [self._known.get(text.strip().casefold()) for pair in subjects for text in pair]
        told = [a if a is not None else b for a, b in zip(places[::2], places[1::2], strict=True)]
        known = [place for place in told if place is not None]
        if self._fitted is not None and len(set(known)) == len(subjects):
            shares = self._fitted.shares(query, embedding=vector)
            return shares.among(known)
        return self._router(subjects).shares(query, embedding=vector)

    def _built(self, subjects: tuple[tuple[str, str], ...]) -> LocalSourceRouter:
        sources = [
            SourceDescription(str(n), name if (name + text).strip() else str(n), text)
            for n, (name, text) in enumerate(subjects)
        ]
        return LocalSourceRouter(sources, self._embedder)

    def _described(self, texts: tuple[str, ...]) -> LocalEvidence:
        return LocalEvidence([SourceDescription(text, text) for text in texts], self._embedder)


def _query_of(input: DecisionInput) -> str | None:
    """Return the text that the questions are about, ``None`` when it is not of a known form."""
    if isinstance(input, str):
        return input
    if isinstance(input, Mapping) and input.keys() <= _CONVERSATION:
        query = input.get("query")
        return query if isinstance(query, str) else None
    return None


def _named(sources: Sequence[SourceDescription]) -> dict[str, int]:
    """Return what a source may be called → its place."""
    return {
        text.strip().casefold(): place
        for place, source in reversed(list(enumerate(sources)))
        for text in (source.heading, source.description, source.name, source.id)
        if text.strip()
    }


def _distinct(questions: Sequence[YesNo]) -> list[str]:
    """Return what each question does not share with the others."""
    texts = [" ".join(filter(None, (one.text, one.yes, one.no))) for one in questions]
    first, last = _shared(texts), _shared([text[::-1] for text in texts])
    cut = [text[first : len(text) - last].strip() for text in texts]
    usable = len(texts) > 1 and all(any(map(str.isalnum, text)) for text in cut)
    return cut if usable else [_last_line(text) for text in texts]


def _shared(texts: Sequence[str]) -> int:
    """Return how many characters all begin with, whole words only."""
    low, high = min(texts), max(texts)
    pairs = zip(low, high, strict=False)
    same = next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(low), len(high)))
    while same and not low[same - 1].isspace():
        same -= 1
    return same


def _last_line(text: str) -> str:
    """Return where templates put the description."""
    return text.strip().rpartition("\n")[2]


def _held_against_rivals(shares: Shares) -> list[float]:
    """Return for each source the smaller of: it rather than its strongest rival; any at all."""
    ranked = np.sort(shares.sources)[::-1]
    found = []
    for share in shares.sources:
        rival = 0.0 if len(ranked) == 1 else float(ranked[1] if share == ranked[0] else ranked[0])
        found.append(float(min(shares.fits, share / (share + rival)) if share > 0 else 0.0))
    return found


def _answer(
    name: str, probabilities: Mapping[str, float], *, unknown: float | None = None
) -> DecisionAnswer:
    return DecisionAnswer(name, probabilities=probabilities, unknown_probability=unknown)
