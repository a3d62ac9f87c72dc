"""A question as retrieval sees it: its tokens, how rare each is, what a perfect match scores."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from fingerpost.stores.base import Reader, WordQuery
from fingerpost.text.analyse import analyse_joined, query_tokens, topic_tokens
from fingerpost.text.language import NO_LANGUAGE, detect_language
from fingerpost.text.versions import versions_there, without_versions
from fingerpost.types.document import Document

MAX_TOKENS = 256
MAX_CHARS = 4000
CONTEXT_WEIGHT = 0.2
_FOREIGN = 0.05
_BM25_CEILING = 2.2  # k1 + 1: the most that one term can score, in units of its rarity


@dataclass(frozen=True, slots=True)
class Question:
    """What one search needs to know about its question.

    Attributes:
        text: Without lone surrogates or control characters, at most 4,000 characters.
        tokens: Analysed token → weight, at most 256; empty for a blank question.
        rarity: For each token of the question itself its inverse document frequency, > 0; a
            token found nowhere is as rare as can be.
        topic: Its own tokens without those about the asking ("mean", "explain"), all of them
            when no other is left.
        unknown: Tokens of the topic that stand nowhere in the index.
        n_known: How many of the question's own tokens stand anywhere in the index.
        n_chunks: Size of the index, for the scale of rarity.
        context: Earlier questions of the conversation, oldest first.
        imagined: Passages that could answer it; they take part in its vector.
        spoken: Its language where the index holds chunks of that language and of others, else
            empty.
    """

    text: str
    tokens: Mapping[str, float]
    rarity: Mapping[str, float]
    topic: tuple[str, ...]
    unknown: frozenset[str]
    n_known: int
    n_chunks: int
    context: tuple[str, ...] = field(default=())
    imagined: tuple[str, ...] = field(default=())
    spoken: str = ""

    @property
    def ideal(self) -> float:
        """Return the BM25 score of a chunk that repeats every token without end; never 0."""
        total = sum(self.tokens[t] * r for t, r in self.rarity.items())
        return _BM25_CEILING * total or 1.0

    def words(self) -> WordQuery:
        """Return the lexical query."""
        return WordQuery(self.tokens)

    def beside(self, documents: Iterable[Document]) -> Question:
        """Return the question without those versions in its topic that the documents are of.

        A page need not say of which version it is: where it stands says so.
        """
        there = versions_there(self.text, documents)
        if not there:
            return self
        gone = self.rarity.keys() - query_tokens(without_versions(self.text, there)).keys()
        topic = tuple(token for token in self.topic if token not in gone)
        return replace(self, topic=topic or self.topic, unknown=self.unknown - gone)

    def in_language(self, score: float, language: str) -> float:
        """Return a chunk's score, lower when it is in another language than the question.

        Of translations, which say the same in the same names, the one that the asker reads is
        the better; what only another language tells is still found.
        """
        if not self.spoken or language in {self.spoken, *NO_LANGUAGE}:
            return score
        return score * (1 - _FOREIGN)

    def coverage(self, texts: Sequence[str]) -> float:
        """Return the rarity-weighted share of the topic found in the texts together, 0 to 1."""
        total = sum(self.rarity[t] for t in self.topic)
        if not total:
            return 0.0
        told = " ".join([_analysed(text) for text in texts])
        return sum(self.rarity[t] for t in self.topic if f" {t} " in told) / total


def clean(text: str) -> str:
    """Return ``text`` as any engine takes it: no lone surrogates, no control characters.

    Only the first 4,000 characters are kept: more is no question, and costs each engine.
    """
    kept = text[:MAX_CHARS].encode("utf-8", "replace").decode("utf-8")
    return "".join(c if c.isprintable() or c.isspace() else " " for c in kept).strip()


def ask(
    reader: Reader, text: str, context: Sequence[str] = (), imagined: Sequence[str] = ()
) -> Question:
    """Return the question with the rarity of its tokens in this index.

    Args:
        reader: Says how often each token occurs.
        text: As asked; may be blank or hostile.
        context: Earlier questions of the same conversation, oldest first; their tokens join
            with a low weight that halves with each step back.
        imagined: Passages of a model that could answer the question.
    """
    kept = clean(text)
    n_chunks = reader.info.n_chunks
    own = query_tokens(kept) if kept else {}
    frequency = reader.document_frequency(list(own)) if own else {}
    rarity = {t: rarity_of(frequency.get(t, 0), n_chunks) for t in own}
    tokens = dict(own)
    for back, turn in enumerate(reversed(context)):
        for token, weight in query_tokens(clean(turn)).items():
            if len(tokens) < MAX_TOKENS:
                tokens.setdefault(token, CONTEXT_WEIGHT * weight / 2**back)
    topic = tuple(topic_tokens(kept) or own)
    known = {t for t in own if frequency.get(t, 0)}
    return Question(
        text=kept,
        tokens=tokens,
        rarity=rarity,
        topic=topic,
        unknown=frozenset(topic) - known,
        n_known=len(known),
        n_chunks=n_chunks,
        context=tuple(context),
        imagined=tuple(imagined),
        spoken=_spoken(reader, kept),
    )


def _spoken(reader: Reader, text: str) -> str:
    """Return the language of a text if the index holds it among others."""
    there = reader.languages().keys() - NO_LANGUAGE
    if len(there) <= 1:
        return ""
    language = detect_language(text)
    return language if language in there else ""


def with_words_of(reader: Reader, question: Question, text: str) -> Question:
    """Return a question that also looks for those words of another text that the index knows."""
    own = query_tokens(clean(text))
    more = {token: weight for token, weight in own.items() if token not in question.rarity}
    frequency = reader.document_frequency(list(more)) if more else {}
    known = {token: n for token, n in frequency.items() if n}
    rarity = {token: rarity_of(n, question.n_chunks) for token, n in known.items()}
    return replace(
        question,
        tokens={**{token: more[token] for token in known}, **question.tokens},
        rarity={**question.rarity, **rarity},
    )


def rarity_of(n_containing: int, n_chunks: int) -> float:
    """Return the inverse document frequency that BM25 uses, > 0."""
    n_chunks = max(n_chunks, n_containing, 1)
    return math.log(1 + (n_chunks - n_containing + 0.5) / (n_containing + 0.5))


# A question reads two dozen chunks; the texts of a hundred questions are remembered.
@lru_cache(maxsize=2048)
def _analysed(text: str) -> str:
    """Return the tokens of a chunk's text in order, a blank before and behind each."""
    return f" {analyse_joined(text)} "


@lru_cache(maxsize=512)
def token_list(text: str) -> tuple[str, ...]:
    """Return the analysed tokens of a chunk's text in order; kept for the texts used last."""
    return tuple(_analysed(text).split())


@lru_cache(maxsize=512)
def token_set(text: str) -> frozenset[str]:
    """Return the distinct analysed tokens of a text."""
    return frozenset(token_list(text))
