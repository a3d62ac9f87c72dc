"""The built-in reranker: where and how closely the question's words stand in a chunk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from fingerpost.retrieve.features import identifiers
from fingerpost.retrieve.hybrid import searchable_text
from fingerpost.retrieve.question import Question, token_list, token_set
from fingerpost.retrieve.weights import weights
from fingerpost.types.evidence import Hit

WINDOW = 30
Pair = tuple[str, str]


def rerank(question: Question, hits: Sequence[Hit], top_n: int) -> list[Hit]:
    """Return the best ``top_n`` hits, best first; equal scores keep their order.

    The score is the fused score and a small share of the signals, so that the order changes
    only where the legs see little difference. What was seen stands in each hit's ``note``.

    Args:
        question: Holds the rarity of its tokens.
        hits: Best first, each chunk once.
        top_n: How many to keep, >= 0.
    """
    fitted = weights().rerank
    scale = 1 + sum(fitted.values())
    scored = []
    for hit, found in zip(hits, signals(question, hits), strict=True):
        added = sum(w * found.get(name, 0.0) for name, w in fitted.items())
        seen = ", ".join(f"{name} {value:.2f}" for name, value in found.items() if value)
        notes = [hit.note, f"reranked by {seen}" if seen else ""]
        note = "; ".join(filter(None, notes))
        scored.append(replace(hit, score=(hit.score + added) / scale, note=note))
    return sorted(scored, key=lambda hit: -hit.score)[:top_n]


def signals(question: Question, hits: Sequence[Hit]) -> list[dict[str, float]]:
    """Return what the words say about each hit, by name, each 0 to 1; empty without words.

    ``proximity``: rarity-weighted share of the question's tokens within the best 30 tokens;
    ``phrase``: of its pairs of neighbours that are neighbours here; ``coverage``: of its tokens
    that stand here at all, ``heading``: in title or headings; ``identifier``: share of its
    identifiers that stand here letter by letter.
    """
    if not question.rarity:
        return [{} for _ in hits]
    names = [name.casefold() for name in identifiers(question.text)]
    pairs = _pairs(question)
    return [_signals(question, hit, names, pairs) for hit in hits]


def _signals(
    question: Question, hit: Hit, names: Sequence[str], pairs: Mapping[Pair, float]
) -> dict[str, float]:
    total = sum(question.rarity.values())
    text = searchable_text(hit)
    tokens = token_list(text)
    low = text.casefold()
    trail = token_set(" ".join((hit.document.title, *hit.chunk.heading_path)))
    return {
        "proximity": _window(question, tokens) / total,
        "phrase": _phrase(pairs, tokens),
        "coverage": _share(question, frozenset(tokens)) / total,
        "heading": _share(question, trail) / total,
        "identifier": sum(name in low for name in names) / len(names) if names else 0.0,
    }


def _pairs(question: Question) -> dict[Pair, float]:
    """Return which tokens are neighbours in the question, with their rarity together."""
    asked = [t for t in token_list(question.text) if t in question.rarity]
    return {(a, b): question.rarity[a] + question.rarity[b] for a, b in pairwise(asked)}


def _share(question: Question, tokens: frozenset[str]) -> float:
    """Return the rarity of the question's tokens that are among these."""
    return sum(rarity for token, rarity in question.rarity.items() if token in tokens)


def _phrase(pairs: Mapping[Pair, float], tokens: Sequence[str]) -> float:
    """Return the rarity-weighted share of the question's neighbours that are neighbours here."""
    if not pairs:
        return 0.0
    here = set(pairwise(tokens))
    return sum(w for pair, w in pairs.items() if pair in here) / sum(pairs.values())


def _window(question: Question, tokens: Sequence[str]) -> float:
    """Return the most rarity that stands within any 30 tokens, each token counted once."""
    places = [(at, t) for at, t in enumerate(tokens) if t in question.rarity]
    counts: dict[str, int] = {}
    best = held = 0.0
    first = 0
    for at, token in places:
        counts[token] = counts.get(token, 0) + 1
        if counts[token] == 1:
            held += question.rarity[token]
        while places[first][0] <= at - WINDOW:
            gone = places[first][1]
            counts[gone] -= 1
            if not counts[gone]:
                held -= question.rarity[gone]
            first += 1
        best = max(best, held)
    return best
