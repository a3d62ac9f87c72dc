"""The source routers that can be measured, built over the described sources of a data set."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from fingerpost import wiring
from fingerpost.config.load import load_config
from fingerpost.decide import (
    LocalDecisionModel,
    LocalSourceRouter,
    SourceDescription,
    fit_router,
)
from fingerpost.decide.cascade import CascadeQueryRouter
from fingerpost.decide.chat import ChatDecisionModel
from fingerpost.decide.embedding import EmbeddingQueryRouter
from fingerpost.decide.language import LanguageModelQueryRouter
from fingerpost.decide.query_router import DEFAULT_QUESTION_TEMPLATE, DecisionModelQueryRouter
from fingerpost.decide.thresholds import RoutingThresholds
from fingerpost.errors import ConfigError, EvaluationError
from fingerpost.eval.cases import RoutingCase
from fingerpost.eval.routing import RouteAll, one_by_one
from fingerpost.eval.routing_asked import route_all
from fingerpost.eval.subjects import source_router
from fingerpost.lanes.base import ChatModel, DecisionModel, EmbeddingModel
from fingerpost.lanes.health import Health
from fingerpost.lanes.limits import RetryBudget
from fingerpost.observe.observer import ignore
from fingerpost.types.routing import FallbackStrategy, SourceRouter
from fingerpost.types.source import Source
from fingerpost.wiring.decision import make_decision_lane

_AT_ONCE: Final = 8


@dataclass(frozen=True, slots=True)
class Backend:
    """Which decision model is asked, and what.

    Attributes:
        name: A ``decision_provider`` but ``none``.
        model: Its model, ``None`` takes the settings' or the provider's own.
        base_url: Its address, ``None`` likewise.
        template: The question about each source.
        thresholds: Fitted ones, ``None`` uses 0.5 for every source.
        at_once: Most questions under way at the same time; ``None`` takes 8 for models that are
            asked over the network and 1 for the others.
    """

    name: str = "local"
    model: str | None = None
    base_url: str | None = None
    template: str = DEFAULT_QUESTION_TEMPLATE
    thresholds: RoutingThresholds | None = None
    at_once: int | None = None

    def n_at_once(self, *, remote: bool) -> int:
        """Return how many questions may be under way."""
        return self.at_once or (_AT_ONCE if remote else 1)


def routes_of(
    kind: str,
    options: Sequence[SourceDescription],
    *,
    embedder: EmbeddingModel | None,
    backend: Backend,
    examples: Mapping[str, tuple[str, ...]] | None = None,
) -> RouteAll:
    """Return a router over the described sources, ready to be measured.

    Args:
        kind: ``local``, ``words``, ``embedding``, ``decision``, ``language-model``, or
            ``cascade``, which asks the embeddings first and then the decision model.
        options: What it chooses among.
        embedder: Of the local routers; ``words`` does without.
        backend: Of ``decision`` and ``cascade``; its model and address are also those of
            ``language-model``.
        examples: Source id → questions of it. ``local`` learns from them; to the others they
            are further examples of the sources.

    Raises:
        ConfigError: The settings name no model that can be asked.
    """
    told = with_examples(options, examples or {})
    if kind == "local" and embedder is not None and examples:
        return one_by_one(source_router(fit_router(options, examples, embedder)))
    if kind in ("local", "words"):
        used = embedder if kind == "local" else None
        return one_by_one(source_router(LocalSourceRouter(told, used)))
    sources = described(told)
    nearest = EmbeddingQueryRouter(embedder, sources, fallback_strategy=FallbackStrategy.FAIL)
    if kind == "embedding":
        return route_all(nearest, _nothing, backend.n_at_once(remote=False))
    if kind == "language-model":
        chat = chat_model(backend)
        picking = LanguageModelQueryRouter(chat, sources, fallback_strategy=FallbackStrategy.FAIL)
        return route_all(picking, chat.close, backend.n_at_once(remote=True))
    model = decision_model(backend, embedder)
    router: SourceRouter = decision_router(model, sources, backend)
    if kind == "cascade":
        router = CascadeQueryRouter([nearest, router])
    return route_all(router, model.close, backend.n_at_once(remote=backend.name != "local"))


def decision_router(
    model: DecisionModel, sources: Sequence[Source], backend: Backend
) -> DecisionModelQueryRouter:
    """Return the router that asks the model about each source; a failed call is an error."""
    return DecisionModelQueryRouter(
        model,
        sources,
        question_template=backend.template,
        thresholds=backend.thresholds,
        fallback_strategy=FallbackStrategy.FAIL,
    )


def decision_model(backend: Backend, embedder: EmbeddingModel | None) -> DecisionModel:
    """Return the decision model that a backend names.

    No other stands in for it: what one model says would be taken for the word of another.

    Raises:
        ConfigError: The settings do not say how it is reached.
    """
    if backend.name == "local":
        return LocalDecisionModel(embedder)
    if backend.name == "chat":
        return ChatDecisionModel(chat_model(backend))
    config = load_config(
        {
            "knowledge_corpus": ["."],
            "decision_provider": backend.name,
            "decision_model": backend.model,
            "decision_base_url": backend.base_url,
            "decision_failover_providers": (),
        }
    ).config
    lane = make_decision_lane(config, ignore, Health(), RetryBudget())
    if lane is None:
        raise ConfigError(f"no decision model of {backend.name!r} can be reached")
    return lane


def chat_model(backend: Backend) -> ChatModel:
    """Return the chat model that classifies, by the settings and the environment.

    Raises:
        ConfigError: They name none.
    """
    config = load_config(
        {
            "knowledge_corpus": ["."],
            "classifier_model": backend.model,
            "base_url": backend.base_url,
            "failover_providers": (),
        }
    ).config
    chat = wiring.make_models(config, ignore).classifier
    if chat is None:
        raise ConfigError(
            "there is no chat model to ask",
            hint="Set the key of a provider, or base_url; see docs/providers.md.",
        )
    return chat


def described(options: Sequence[SourceDescription]) -> list[Source]:
    """Return the sources as routers take them; their path stands for nothing: none is searched."""
    return [
        Source(option.id, _description(option), ".", examples=option.examples) for option in options
    ]


def drawn_examples(
    cases: Sequence[RoutingCase], n: int, seed: int
) -> tuple[Mapping[str, tuple[str, ...]], list[RoutingCase]]:
    """Return source id → ``n`` questions of it, drawn at random, and the cases that are left.

    Raises:
        EvaluationError: A source would be left with no case.
    """
    chance = random.Random(seed)  # noqa: S311 - a sample, no secret
    members: dict[str, list[RoutingCase]] = {}
    for case in cases:
        if case.source is not None:
            members.setdefault(case.source, []).append(case)
    drawn: set[str] = set()
    examples = {}
    for name, own in sorted(members.items()):
        if len(own) <= n:
            raise EvaluationError(
                f"source {name!r} has {len(own)} questions: {n} examples leave none to measure"
            )
        taken = chance.sample(own, n)
        examples[name] = tuple(case.text for case in taken)
        drawn.update(examples[name])
    return examples, [case for case in cases if case.text not in drawn]


def with_examples(
    options: Sequence[SourceDescription], examples: Mapping[str, tuple[str, ...]]
) -> list[SourceDescription]:
    """Return the sources with further examples."""
    return [replace(one, examples=(*one.examples, *examples.get(one.id, ()))) for one in options]


def _description(option: SourceDescription) -> str:
    hints = ", ".join(option.sayings)
    return f"{option.heading} ({hints})" if hints else option.heading


async def _nothing() -> None:
    """Close nothing."""
