"""Scores of a reranker, and how each API tells them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fingerpost.testing.provider.answer import Received

__all__ = ["shared_words", "whole_ranking"]


def shared_words(received: Received) -> tuple[float, ...]:
    """Return for each document the share of the query's words that stand in it."""
    asked = set(str(received.body.get("query", "")).casefold().split())
    return tuple(
        len(asked & set(text.casefold().split())) / max(1, len(asked)) for text in received.texts
    )


def whole_ranking(received: Received, scores: Sequence[float]) -> Mapping[str, Any]:
    """Return the scores as the JSON object of the API that was asked, the best one first.

    Cohere's is known by its version, Voyage's by a field that only it has.
    """
    order = sorted(range(len(scores)), key=lambda place: -scores[place])
    items = [{"index": place, "relevance_score": scores[place]} for place in order]
    n_tokens = sum(len(text.split()) for text in received.texts)
    if "/v2/" in received.path:
        units = {"billed_units": {"search_units": 1}, "tokens": {"input_tokens": n_tokens}}
        return {"id": "rerank-1", "results": items, "meta": units}
    usage = {"usage": {"total_tokens": n_tokens}, "model": received.model}
    if "truncation" in received.body:
        return {"object": "list", "data": items, **usage}
    return {"results": items, **usage}
