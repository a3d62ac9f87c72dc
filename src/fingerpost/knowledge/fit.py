"""Whether a question is about fingerpost at all: a strict gate, by words alone."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from fingerpost.knowledge.entry import Knowledge
from fingerpost.text.analyse import query_tokens, topic_tokens

SAME_QUESTION: Final = 0.85
"""Least likeness to the question of an entry, 0 to 1, of a question that names nothing of ours.

Of 9,860 questions about other things that ``benchmarks/knowledge.py`` asks, the likest has 0.80.
"""
_COMMON: Final = frozenset({
    "api_key", "base_url", "chat_model", "embedding_model", "top_k", "top_n", "web_search",
    "AuthenticationError", "ChatModel", "ConfigError", "MiniMax", "ModelNotFoundError",
    "UsageError",
})  # fmt: skip
"""Compounds that are not ours alone."""
_OWN: Final = "fingerpost"
_VARIABLES: Final = "FINGERPOST_"
_WORD: Final = re.compile(r"[A-Za-z_]\w*")
_NAME: Final = re.compile(
    r"(?:\b(?:in|of|by|with|for|from|does|can|is|will) )?(?<![.\w])fingerpost(?:'s)?\b(?!\.toml)",
    re.IGNORECASE,
)
_IN_CODE: Final = re.compile(r"`([^`\n]+)`")
_COMPOUND: Final = re.compile(r"(?:[A-Z][a-z0-9]+){2,}|[a-z]+(?:_[a-z0-9]+)+")


def is_about(question: str, knowledge: Knowledge) -> bool:
    """Return whether a question names fingerpost or what only it has, or is one of the entries'.

    What only it has are its settings, classes, errors and fields, as they are written: compounds
    such as ``max_tier`` or `QueryRouter`. Plain words such as *filters* name nothing, and neither
    does a provider.
    """
    words = set(_WORD.findall(question))
    if any(word.lower() == _OWN or word.startswith(_VARIABLES) for word in words):
        return True
    return (
        not words.isdisjoint(_names(knowledge)) or _likeness(question, knowledge) >= SAME_QUESTION
    )


def without_name(question: str) -> str:
    """Return the question without the word *fingerpost*, whole where nothing would be left.

    Every entry is about it, so the word would make any question look answered.
    """
    bare = " ".join(_NAME.sub(" ", question).split())
    return bare if topic_tokens(bare) else question


def is_meant(path: str, question: str) -> bool:
    """Return whether an entry may stand first: one about a setting when its name is written.

    There are more of them than of all others, and each is like many questions.
    """
    setting = path.partition("faq/setting-")[2].rpartition(".")[2]
    return not setting or setting in _WORD.findall(question.lower())


def _likeness(question: str, knowledge: Knowledge) -> float:
    """Return how like the question is to the likest question of an entry, 0 to 1 (F1)."""
    asked = query_tokens(question)
    return max((_shared(asked, own) for own in _questions(knowledge)), default=0.0)


def _shared(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    both = sum(min(one[token], other[token]) for token in one.keys() & other.keys())
    total = sum(one.values()) + sum(other.values())
    return 2 * both / total if total else 0.0


@lru_cache(maxsize=1)
def _questions(knowledge: Knowledge) -> tuple[Mapping[str, float], ...]:
    return tuple(query_tokens(entry.question) for entry in knowledge.entries)


@lru_cache(maxsize=1)
def _names(knowledge: Knowledge) -> frozenset[str]:
    """Return the compounds that stand as code in the entries' sentences."""
    return frozenset(
        name
        for entry in knowledge.entries
        for code in _IN_CODE.findall(f"{entry.question}\n{entry.answer}")
        for name in _WORD.findall(code)
        if _COMPOUND.fullmatch(name) and name not in _COMMON
    )
