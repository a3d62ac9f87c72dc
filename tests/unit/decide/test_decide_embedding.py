"""The router that compares the question with descriptions and examples."""

import logging
import threading
import time

import anyio
import numpy as np
import pytest

from fingerpost.decide.embedding import EmbeddingQueryRouter
from fingerpost.decide.local import LocalDecisionModel, LocalSourceRouter, SourceDescription
from fingerpost.decide.query_router import DecisionModelQueryRouter
from fingerpost.errors import (
    ConfigError,
    EmbeddingError,
    InvalidQueryError,
    LaneError,
    MissingRecordingError,
    ProviderTimeoutError,
)
from fingerpost.lanes.asked import ask
from fingerpost.testing import HashEmbedder
from fingerpost.types.question import YesNo
from fingerpost.types.routing import FallbackStrategy
from fingerpost.types.source import Passage, Source

pytestmark = pytest.mark.anyio


class Shelf:
    async def retrieve(self, query, top_k):
        return [Passage(f"about {query}")]


def shelves(**own):
    return [
        Source("billing", "invoices, refunds and credit cards", Shelf(), **own),
        Source("network", "routers, firewalls and proxies", Shelf()),
    ]


async def test_the_nearest_source_is_used_and_every_one_has_its_probability():
    router = EmbeddingQueryRouter(HashEmbedder(256), shelves())
    routing = await router.route("billing: invoices, refunds and credit cards")
    assert (routing.names, routing.router, routing.model) == (
        ("billing",),
        "embedding",
        "testing/hash",
    )
    best, other = routing.assessments
    assert best.probability == routing.confidence
    assert 0 <= other.probability < 0.5
    assert routing.confidence > 0.5


async def test_without_an_embedder_shared_words_decide():
    routing = await EmbeddingQueryRouter(None, shelves()).route("how do refunds work?")
    assert (routing.names, routing.router, routing.model) == (("billing",), "words", "")


async def test_a_question_that_is_like_none_uses_none():
    routing = await EmbeddingQueryRouter(None, shelves()).route("zebra migration season")
    assert (routing.names, routing.retrievers, routing.fallback) == ((), (), None)
    of_none = 1 - sum(item.probability for item in routing.assessments)
    assert routing.confidence == pytest.approx(of_none)


async def test_examples_speak_for_a_source():
    given = [
        Source("a", "first shelf", Shelf(), examples=("where is my parcel", "parcel is late")),
        Source("b", "second shelf", Shelf(), examples=("reset my password", "password forgotten")),
    ]
    router = EmbeddingQueryRouter(HashEmbedder(256), given)
    assert (await router.route("parcel is late")).names == ("a",)
    assert (await router.route("reset my password")).names == ("b",)


async def test_the_name_of_a_source_says_nothing_of_it():
    given = [Source("zebra", "invoices and refunds", Shelf()), Source("b", "firewalls", Shelf())]
    assert (await EmbeddingQueryRouter(None, given).route("zebra migration")).names == ()


async def test_a_source_may_have_a_threshold_of_its_own():
    low = EmbeddingQueryRouter(None, shelves(min_probability=0.0))
    routing = await low.route("how do I mail invoices from a zebra station with a camel")
    assert routing.names == ("billing",)
    high = EmbeddingQueryRouter(None, shelves(min_probability=1.0))
    routing = await high.route("how do refunds work?")
    assert routing.names == ()
    assert routing.assessments[0].probability < 1
    of_none = 1 - sum(item.probability for item in routing.assessments)
    assert routing.confidence == pytest.approx(of_none)


async def test_retrievers_with_descriptions_come_back_as_they_were_given():
    hot, cold = Shelf(), Shelf()
    router = EmbeddingQueryRouter(None, {hot: "soup and stew", cold: "ice cream"})
    assert (await router.route("which soup?")).retrievers == (hot,)
    found = await router.retrieve("which soup?")
    assert [item.passage.text for item in found.passages] == ["about which soup?"]


async def test_descriptions_are_embedded_once():
    embedder = HashEmbedder()
    router = EmbeddingQueryRouter(embedder, shelves())
    assert embedder.n_texts == 0
    await router.route("refunds")
    after = embedder.n_texts
    await router.route("proxies")
    assert embedder.n_texts == after + 1


class Broken(HashEmbedder):
    def __init__(self, error):
        super().__init__()
        self.error = error

    def embed(self, texts):
        if self.error is not None:
            raise self.error
        return super().embed(texts)


@pytest.mark.parametrize("error", [EmbeddingError("no vector"), ValueError("no vector")])
async def test_an_embedding_model_that_fails_falls_back_and_may_come_back(error, caplog):
    embedder = Broken(error)
    router = EmbeddingQueryRouter(embedder, shelves(), fallback_strategy="route_to_all")
    with caplog.at_level(logging.WARNING, "fingerpost.decide"):
        routing = await router.route("refunds")
    assert routing.fallback is FallbackStrategy.ROUTE_TO_ALL
    assert routing.names == ("billing", "network")
    assert "no vector" in routing.reason
    assert "all are used" in caplog.text
    embedder.error = None
    assert (await router.route("refunds")).fallback is None
    with pytest.raises(LaneError, match="no vector"):
        await EmbeddingQueryRouter(Broken(error), shelves(), fallback_strategy="fail").route("q")


async def test_an_embedding_model_that_hangs_is_not_waited_for():
    release = threading.Event()

    class Hanging(HashEmbedder):
        def embed(self, texts):
            release.wait(5)
            return super().embed(texts)

    router = EmbeddingQueryRouter(Hanging(), shelves(), fallback_strategy="fail")
    with anyio.fail_after(5), pytest.raises(ProviderTimeoutError):
        await router.route("refunds", deadline=time.monotonic() + 0.02)
    release.set()


def test_blank_descriptions_are_refused_here_too():
    with pytest.raises(ConfigError, match="description"):
        EmbeddingQueryRouter(None, [Source("a", " ", Shelf(), examples=("x",))])


def vectors(value, n_rows=lambda n: n, width=4):
    """Return an embedding model whose vectors are all of one value."""

    class Odd:
        name, revision, dimension, max_tokens = "test/odd", "1", 4, 99
        languages = frozenset()

        def embed(self, texts):
            return np.full((n_rows(len(texts)), width), value)

        def count_tokens(self, text):
            return 1

    return Odd()


UNUSABLE = [
    vectors(np.nan),
    vectors(np.inf),
    vectors(0.5, n_rows=lambda _: 0),
    vectors(0.5, n_rows=lambda n: n + 1),
    vectors(0.5, width=3),
    vectors("x"),
]


@pytest.mark.parametrize("embedder", UNUSABLE)
async def test_vectors_that_are_not_usable_end_in_the_fallback(embedder):
    router = EmbeddingQueryRouter(
        embedder, shelves(), fallback_strategy=FallbackStrategy.ROUTE_TO_ALL
    )
    routing = await router.route("refunds")
    assert routing.fallback is FallbackStrategy.ROUTE_TO_ALL
    assert "test/odd gave" in routing.reason


@pytest.mark.parametrize("embedder", UNUSABLE)
async def test_the_local_model_says_no_to_nothing_when_vectors_are_not_usable(embedder):
    with pytest.raises(EmbeddingError):
        await ask(LocalDecisionModel(embedder), "refunds", [YesNo("a", "Is it?")])
    with pytest.raises(EmbeddingError):
        LocalSourceRouter([SourceDescription("a", "refunds")], embedder)
    strategy = FallbackStrategy.ROUTE_TO_ALL
    router = DecisionModelQueryRouter(
        LocalDecisionModel(embedder), shelves(), fallback_strategy=strategy
    )
    assert (await router.route("refunds")).fallback is strategy


@pytest.mark.parametrize("error", [MissingRecordingError("no record"), ConfigError("no key")])
async def test_a_mistake_of_the_host_is_no_failure_of_the_embedding_model(error):
    class Fails(HashEmbedder):
        def embed(self, texts):
            raise error

    with pytest.raises(type(error)):
        await EmbeddingQueryRouter(Fails(64), shelves()).route("refunds")
    with pytest.raises(type(error)):
        await ask(LocalDecisionModel(Fails(64)), "refunds", [YesNo("a", "Is it?")])


def test_something_that_cannot_embed_is_refused_when_built():
    with pytest.raises(ConfigError, match="embedder is a int"):
        EmbeddingQueryRouter(5, shelves())
    with pytest.raises(ConfigError, match="embedder is a str"):
        LocalDecisionModel("minilm")


@pytest.mark.parametrize(("query", "said"), [(None, ()), (5, ()), ("q", None), ("q", ["hi"])])
async def test_a_question_that_is_none_is_refused(query, said):
    with pytest.raises(InvalidQueryError):
        await EmbeddingQueryRouter(None, shelves()).route(query, said)
