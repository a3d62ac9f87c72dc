"""A title for a page that is missing, in the words of those who asked for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from fingerpost.text.analyse import topic_tokens

_MAX_CHARS: Final = 80
_EDGE: Final = " \t\r\n?!.,;:¿¡？。！、"


def titles_of(groups: Sequence[Mapping[str, int]]) -> list[str]:
    """Return a title for each page that would answer a group of questions.

    It is the question that holds most of what the others of its group ask for and those of
    other groups do not, without the words about the asking: "How do I rotate a key?" gives
    "Rotate a key".

    Args:
        groups: Question → how often it was asked; at least one in each.
    """
    asked = [_tokens(questions) for questions in groups]
    spread = Counter(token for tokens in asked for token in tokens)
    titles: list[str] = []
    for questions, tokens in zip(groups, asked, strict=True):
        wanted = {token: count / spread[token] for token, count in tokens.items()}
        titles.append(_subject(max(questions, key=lambda one: _covers(one, wanted))))
    return titles


def _tokens(questions: Mapping[str, int]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for question, count in questions.items():
        counts.update(dict.fromkeys(topic_tokens(question), count))
    return counts


def _covers(question: str, wanted: Mapping[str, float]) -> tuple[float, int]:
    """Return how much of what is wanted a token of the question holds, then its shortness."""
    tokens = topic_tokens(question)
    total = sum(wanted[token] for token in tokens)
    return total / (len(tokens) + 2), -len(question)


def _subject(question: str) -> str:
    words = question.strip(_EDGE).split()
    own = [place for place, word in enumerate(words) if topic_tokens(word)]
    # After one word alone ("Which port is open", "Does it run") the rest would be no phrase.
    if own and own[0] != 1:
        words = words[own[0] : own[-1] + 1]
    text = _cut(words)
    if text.count("(") > text.count(")"):
        text = text[: text.rindex("(")]
    text = text.strip(_EDGE)
    text = text or question.strip()  # of marks alone there is no subject to take
    first = text.split(" ", 1)[0]
    return text[:1].upper() + text[1:] if first.islower() and first.isalpha() else text


def _cut(words: Sequence[str]) -> str:
    text = " ".join(words)
    if len(text) <= _MAX_CHARS:
        return text
    return text[:_MAX_CHARS].rsplit(" ", 1)[0] + "…"
