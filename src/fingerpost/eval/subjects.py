"""The product's parts as the functions that are measured."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial

from fingerpost import wiring
from fingerpost.classify import LocalClassifier
from fingerpost.config.load import load_config
from fingerpost.config.schema import QueryRouterConfig
from fingerpost.decide import LocalSourceRouter
from fingerpost.errors import MissingExtraError
from fingerpost.eval.cases import AnswerCase, ClaimCase
from fingerpost.eval.grounding import Judged
from fingerpost.eval.routing import NOBODY, Routed
from fingerpost.lanes.base import EmbeddingModel
from fingerpost.lanes.providers import load_embedder
from fingerpost.stores.base import Store
from fingerpost.types.answer import Verdict
from fingerpost.types.decision import ClassificationResult
from fingerpost.verify import CitationVerifier, SourceText, judge_pair

_LOG = logging.getLogger("fingerpost.eval")


def embedder_chooser(name: str) -> Callable[[Store], EmbeddingModel | None]:
    """Return what chooses the model of an index.

    Args:
        name: ``none``, ``minilm``, ``use``, or ``auto`` for the product's own choice by the
            languages of the index.

    Raises:
        MissingExtraError: A model was named that is not installed.
    """
    if name != "auto":
        model = embedder_named(name)
        return lambda _: model
    config = _settings()

    def choose(store: Store) -> EmbeddingModel | None:
        chosen = wiring.choose_embedder(config, store)
        if chosen.model is None:
            _LOG.warning("measuring words alone: %s", chosen.reason)
        return chosen.model

    return choose


def embedder_named(name: str) -> EmbeddingModel | None:
    """Return the model; ``auto`` is MiniLM when it is installed.

    Raises:
        MissingExtraError: A model was named that is not installed.
    """
    if name == "none":
        return None
    try:
        wanted = "minilm" if name == "auto" else name
        folder = _settings().embedding_folder if wanted == "minilm" else None
        return load_embedder(wanted, folder=folder)
    except MissingExtraError as error:
        if name != "auto":
            raise
        _LOG.warning("measuring without a model: %s", error)
        return None


def _settings() -> QueryRouterConfig:
    """Return the user's settings; the corpus is not used."""
    return load_config({"knowledge_corpus": ["."]}).config


def tier_classifier() -> Callable[[str], ClassificationResult]:
    """Return the offline classifier, before escalation, without history and corpus."""
    return partial(LocalClassifier().classify, confidence_threshold=0.0)


def source_router(router: LocalSourceRouter) -> Callable[[str], Routed]:
    """Return the local router as the function that is measured."""

    def route(text: str) -> Routed:
        decision = router.decide(text)
        best = max(decision.scores, key=lambda name: decision.scores[name], default=NOBODY)
        used = () if decision.abstained or decision.choice is None else (decision.choice,)
        chosen = used[0] if used else NOBODY
        return Routed(chosen, decision.confidence, best, decision.scores, used)

    return route


def claim_judge(embedder: EmbeddingModel | None) -> Callable[[ClaimCase], Judged]:
    """Return what holds one claim against its source."""

    def judge(case: ClaimCase) -> Judged:
        found = judge_pair(case.claim, case.source, embedder=embedder)
        return Judged(found.verdict, found.p_supported, found.reasons)

    return judge


def answer_verifier(embedder: EmbeddingModel | None) -> Callable[[AnswerCase], Judged]:
    """Return what verifies a whole answer; *supported* when every claim is."""
    verifier = CitationVerifier(embedder=embedder)

    def verify(case: AnswerCase) -> Judged:
        sources = [SourceText(text, number) for number, text in enumerate(case.sources, 1)]
        found = verifier.verify_sync(case.answer, sources)
        fully = found.supported_count == found.total_claims
        return Judged(
            Verdict.SUPPORTED if fully else Verdict.WEAK,
            found.supported_ratio,
            citation_precision=found.citation_precision,
            citation_recall=found.citation_recall,
        )

    return verify
