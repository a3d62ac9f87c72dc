"""Configuration to verifiers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from fingerpost.config.schema import QueryRouterConfig
from fingerpost.errors import ConfigError
from fingerpost.lanes.base import EmbeddingModel
from fingerpost.pipeline.against import CheckedText, check_text
from fingerpost.stores.base import Store
from fingerpost.verify import CitationVerifier, ClaimJudge, OnUnsupported

# A person waits for the check of a whole text, and sees how far it is.
_MOST_EMBEDDED: Final = 20_000


def verifier_maker(
    config: QueryRouterConfig,
) -> Callable[[EmbeddingModel | None, ClaimJudge | None], CitationVerifier] | None:
    """Return what makes the verifier of a question, ``None`` when answers are not checked."""
    if not config.verify_citations:
        return None
    return lambda embedder, judge: CitationVerifier(
        embedder=embedder,
        judge=judge,
        nli=config.nli,
        extract_claims=config.extract_claims,
        supported_at=config.grounding_supported,
        unverifiable_below=config.grounding_unverifiable,
        on_unsupported=OnUnsupported(config.on_unsupported),
    )


def refuse_what_cannot_work(config: QueryRouterConfig) -> None:
    """Refuse settings that only show to be wrong when a question is asked.

    Raises:
        ConfigError: The thresholds of grounding contradict each other or the fitted ones.
    """
    if config.grounding_supported is None and config.grounding_unverifiable is None:
        return
    try:
        CitationVerifier(
            supported_at=config.grounding_supported,
            unverifiable_below=config.grounding_unverifiable,
        )
    except ValueError as error:
        raise ConfigError(f"grounding_supported, grounding_unverifiable: {error}") from error


def held_against(
    config: QueryRouterConfig,
    store: Store,
    model: EmbeddingModel | None,
    text: str,
    *,
    numbered: Mapping[int, str] | None = None,
    ignored_uri: str = "",
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> CheckedText:
    """Return what the documents of an index say about each claim of a text. See `check_text`.

    Args:
        config: Its thresholds count; the judge is the local one.
        store: The index.
        model: Its embedding model; one that the index has no vectors of is not searched with.
        text: See `check_text`, as for the rest.
        numbered: What markers name when the text has no list of its own.
        ignored_uri: A document that is no source.
        progress: Told how many of how many claims have been searched for.
    """
    verifier = CitationVerifier(
        embedder=model,
        max_embedded_sentences=_MOST_EMBEDDED,
        supported_at=config.grounding_supported,
        unverifiable_below=config.grounding_unverifiable,
    )
    with store.reader() as reader:
        own = reader.info.identity
        searcher = model if model and own and own.has_vectors_of(model) else None
        check = partial(check_text, numbered=numbered, ignored_uri=ignored_uri, progress=progress)
        return check(reader, text, verifier, searcher=searcher)
