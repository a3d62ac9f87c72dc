"""How well passages are found: the product's own index and search, question by question."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fingerpost.classify.followup import earlier_questions, rewrite_follow_up
from fingerpost.errors import EvaluationError
from fingerpost.eval.cases import Passage, RetrievalCase
from fingerpost.eval.index import build_index, fill_vectors, passage_ids
from fingerpost.eval.measurement import Measurement
from fingerpost.eval.ranking import DEPTH, Ranking, measured
from fingerpost.eval.run import Progress, run_cases, silent
from fingerpost.generate import should_abstain
from fingerpost.lanes.base import EmbeddingModel
from fingerpost.lanes.wrapped import WrappedEmbedder
from fingerpost.retrieve import retrieve, search
from fingerpost.retrieve.base import RetrieveRequest, RetrieveTools
from fingerpost.stores.base import Reader, Store
from fingerpost.types.decision import Strategy, Tier
from fingerpost.types.evidence import Evidence, Hit

if TYPE_CHECKING:
    from numpy.typing import NDArray

_WINDOW = 5
_ANSWER_RESTS_ON = 5
_WIDER = 50

ChooseEmbedder = Callable[[Store], EmbeddingModel | None]


@dataclass(frozen=True, slots=True)
class RetrievalOptions:
    """How questions are searched.

    Attributes:
        tier: Runs this tier whole, 1 to 3; ``None`` one hybrid search.
    """

    tier: int | None = None


class RememberedEmbedder(WrappedEmbedder):
    """A model that keeps the vectors of questions, so that retrieval can be timed without it."""

    def __init__(self, model: EmbeddingModel) -> None:
        super().__init__(model)
        self._known: dict[str, NDArray[np.float32]] = {}
        self.took_ms = 0.0

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return vectors; time spent in the model is added to ``took_ms``."""
        began = time.perf_counter()
        for text in texts:
            if text not in self._known:
                self._known[text] = self._model.embed([text])[0]
        self.took_ms += (time.perf_counter() - began) * 1000
        return np.stack([self._known[text] for text in texts])


class Searcher:
    """Asks one index as the product would.

    Args:
        reader: The index.
        embedder: Its own model, ``None`` for words alone.
        ids: Path in the index → passage id.
        options: How questions are searched.
        loop: Runs whole tiers, which are asynchronous.
    """

    def __init__(
        self,
        reader: Reader,
        embedder: EmbeddingModel | None,
        *,
        ids: Mapping[str, str],
        options: RetrievalOptions,
        loop: asyncio.Runner,
    ) -> None:
        self._reader = reader
        self._embedder = None if embedder is None else RememberedEmbedder(embedder)
        self._ids = ids
        self._tier = options.tier
        self._loop = loop

    def __call__(self, case: RetrievalCase) -> Ranking:
        """Search for one question and map the chunks found to passages."""
        began = time.perf_counter()
        question = rewrite_follow_up(case.question, case.history[-_WINDOW:]) or case.question
        embedded_before = self._embed_question(question)
        middle = time.perf_counter()
        earlier = earlier_questions(case.history[-_WINDOW:])
        evidence = self._find(question, earlier, DEPTH)
        ended = time.perf_counter()
        passages = self._passages(evidence.hits)
        if len(passages) < DEPTH <= len(evidence.hits):
            # Several chunks of one passage: look further, outside the measured time.
            passages = self._passages([*evidence.hits, *self._find(question, earlier, _WIDER).hits])
        inside = 0.0 if self._embedder is None else self._embedder.took_ms - embedded_before
        return Ranking(
            passages=tuple(name for name, _ in passages[:DEPTH]),
            searched=question,
            retrieve_ms=(ended - middle) * 1000 - inside,
            embed_ms=(middle - began) * 1000 if self._embedder is not None else 0.0,
            abstained=should_abstain(question, _narrow(evidence)) is not None,
            scores=dict(passages[:DEPTH]),
        )

    def _passages(self, hits: Iterable[Hit]) -> list[tuple[str, float]]:
        """Return passages in the order of their best chunks, each with that chunk's score."""
        found: dict[str, float] = {}
        for hit in hits:
            found.setdefault(self._ids[hit.document.path], hit.score)
        return list(found.items())

    def _embed_question(self, question: str) -> float:
        """Embed ahead; return the model's time so far."""
        if self._embedder is None:
            return 0.0
        self._embedder.embed([question])
        return self._embedder.took_ms

    def _find(self, question: str, earlier: tuple[str, ...], k: int) -> Evidence:
        if self._tier is None:
            found = search(self._reader, question, context=earlier, embedder=self._embedder, k=k)
            return Evidence(
                hits=found.hits,
                candidates=found.candidates,
                fallbacks=found.fallbacks,
                lexical_weight=found.weight,
                coverage=found.coverage,
                unknown_terms=found.question.unknown,
            )
        request = RetrieveRequest(
            text=question,
            tier=Tier(self._tier),
            strategy=Strategy.for_tier(self._tier),
            top_k=k,
            context=earlier,
        )
        tools = RetrieveTools(embedder=self._embedder)
        return self._loop.run(retrieve(self._reader, request, tools))


def measure_retrieval(
    name: str,
    passages: Sequence[Passage],
    cases: Sequence[RetrievalCase],
    *,
    folder: Path,
    choose_embedder: ChooseEmbedder,
    options: RetrievalOptions,
    progress: Progress = silent,
) -> Measurement:
    """Index the passages in ``folder``, search for every question, score the rankings.

    Args:
        name: Of the data set.
        passages: The whole collection; every question is searched over all of it.
        cases: The questions.
        folder: Where the index is; one that is there already is brought up to date.
        choose_embedder: Gives the model for a finished index of words.
        options: How questions are searched.
        progress: Told how far indexing and searching are.

    Raises:
        EvaluationError: The passages hold no gold of any question: the files do not belong
            together.
    """
    _require_known_gold(name, passages, cases)
    with ExitStack() as stack:
        store = build_index(name, passages, folder)
        stack.callback(store.close)
        embedder = choose_embedder(store)
        if embedder is not None:
            fill_vectors(name, store, embedder, progress=progress)
        reader = stack.enter_context(store.reader())
        loop = stack.enter_context(asyncio.Runner())
        rankings, failures = run_cases(
            name,
            cases,
            Searcher(reader, embedder, ids=passage_ids(passages), options=options, loop=loop),
            instead=Ranking(),
            progress=progress,
        )
    return measured(name, cases, rankings, failures)


def _require_known_gold(
    name: str, passages: Sequence[Passage], cases: Sequence[RetrievalCase]
) -> None:
    known = {passage.id for passage in passages}
    wanted = [item for case in cases for item in sorted(case.gold)]
    if wanted and known.isdisjoint(wanted):
        raise EvaluationError(
            f"{name}: none of the passages is the gold of any question, such as {wanted[0]!r}; "
            "do the two files belong together?"
        )


def _narrow(evidence: Evidence) -> Evidence:
    """Return what an answer would rest on."""
    return Evidence(
        hits=evidence.hits[:_ANSWER_RESTS_ON],
        candidates=evidence.candidates,
        lexical_weight=evidence.lexical_weight,
        coverage=evidence.coverage,
        sub_queries=evidence.sub_queries,
        uncovered=evidence.uncovered,
    )
