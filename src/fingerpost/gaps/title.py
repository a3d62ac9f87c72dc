"""A title for a page that is missing, in the words of those who asked for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from fingerpost.text.analyse import topic_tokens

_MAX_CHARS: Final = 80
_EDGE: Final = " \t\r\n?!.,;:¿¡？。！、"


def title_of(questions: Mapping[str, int]) -> str:
    """Return a title for the page that would answer the questions.

    It is the question that holds most of what the others ask for, without the words about the
    asking: "How do I rotate a key?" gives "Rotate a key".

    Args:
        questions: Question → how often it was asked; at least one.
    """
    wanted: Counter[str] = Counter()
    for question, count in questions.items():
        wanted.update(dict.fromkeys(topic_tokens(question), count))
    return _subject(max(questions, key=lambda question: _covers(question, wanted)))


def _covers(question: str, wanted: Counter[str]) -> tuple[float, int]:
    """Return how much of what is wanted a word of the question holds, then its shortness."""
    tokens = topic_tokens(question)
    total = sum(wanted[token] for token in tokens)
    return total / (len(tokens) + 2), -len(question)


def _subject(question: str) -> str:
    words = question.strip(_EDGE).split()
    own = [place for place, word in enumerate(words) if topic_tokens(word)]
    if own:
        words = words[own[0] : own[-1] + 1]
    text = _cut(words).strip(_EDGE)
    first = text.split(" ", 1)[0]
    return text[:1].upper() + text[1:] if first.islower() and first.isalpha() else text


def _cut(words: Sequence[str]) -> str:
    text = " ".join(words)
    if len(text) <= _MAX_CHARS:
        return text
    return text[:_MAX_CHARS].rsplit(" ", 1)[0] + "…"
