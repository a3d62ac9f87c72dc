"""fingerpost, over the index that is on disk already."""

from __future__ import annotations

from typing import Any

from fingerpost import QueryRouter
from fingerpost.decide import LocalSourceRouter, SourceDescription
from fingerpost.retrieve import search
from fingerpost.stores.open import open_store
from peers.given import Choose, Given, K, Known, Search, Source


def _reader(given: Given) -> Any:
    store = open_store(str(given.folder / "index"))
    given.closing.callback(store.close)
    return given.closing.enter_context(store.reader())


def keyword(given: Given) -> Search:
    """Open the index for a search by words alone."""
    reader = _reader(given)
    return lambda question: search(reader, question, embedder=None, k=K).hits


def vector(given: Given) -> Search:
    """Open the index for its vector leg alone and the chunks that it names."""
    reader, known = _reader(given), given.known

    def near(question: str) -> list[object]:
        found = reader.search_vectors(known.embed([question])[0], K)
        chunks: list[object] = reader.chunks([key for key, _ in found])
        return chunks

    return near


def hybrid(given: Given) -> Search:
    """Open the index for the product's own search."""
    reader, known = _reader(given), given.known
    return lambda question: search(reader, question, embedder=known, k=K).hits


def _router(given: Given, **settings: Any) -> Search:
    router = QueryRouter(
        knowledge_corpus=[str(given.folder / "tree")],
        index_dir=given.folder / "index",
        cache_results=False,
        **settings,
    )
    given.closing.enter_context(router)
    return lambda question: router.route_sync(question, max_tier=1).sources


def route(given: Given) -> Search:
    """Open a router by words: classify (T1 at most), retrieve, answer, verify."""
    return _router(given, embedding_provider="none")


def route_with_model(given: Given) -> Search:
    """Open the same with the local model, which embeds the question and judges claims."""
    return _router(given)


def chooser(sources: list[Source], known: Known) -> Choose:
    """Build the router that chooses a source, with its shipped calibration."""
    router = LocalSourceRouter(
        [
            SourceDescription(
                id=source["id"],
                name=source.get("name", ""),
                description=source.get("description", ""),
                examples=tuple(source.get("intents", ())),
            )
            for source in sources
        ],
        known,
    )

    def choose(question: str) -> tuple[str | None, str | None]:
        decision = router.decide(question)
        return decision.choice, max(decision.scores, key=lambda name: decision.scores[name])

    return choose


CHOOSERS = {"fingerpost": chooser}
