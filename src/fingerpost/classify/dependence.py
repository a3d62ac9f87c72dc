"""Whether a question leans on the conversation before it. Rules, no model."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from fingerpost.classify.smalltalk import smalltalk_share
from fingerpost.classify.words import (
    filler_words,
    read_packaged,
    unspaced_characters,
    words_of,
)

_SMALLTALK = 0.95
_SHORT_STARTED = 6
_BARE = 2
_LONGEST_STARTER = 4
_ENTITY = re.compile(r"(?<=\s)(?!I\b)[A-ZÀ-ÞА-Я][\w&-]+|\b\w+[._/:]\w+|`[^`]+`|\b[A-Z]{2,}\b")
_NEXT_CLAUSE = re.compile(r"[,;.!?:]\s|\b(?:and|but|or|if|when|because|so|that)\b", re.IGNORECASE)
_DEFINITE = re.compile(r"\bthe ((?:[\w-]+ )?[\w-]+)(?! of\b| for\b| that\b| which\b)")
_BARE_PART = re.compile(
    r"(?:what|who|which|when|where|how|why)(?: \w+)? (?:is|are|was|were|do|does|did) "
    r"(?:the|there|any|other|some) (?:[\w-]+ ){0,2}[\w-]+\W*$"
    r"|(?:is|are|was|were) there (?:any|other|some) (?:[\w-]+ ){0,2}[\w-]+\W*$"
)
_AFTER_DEMONSTRATIVE = frozenset(
    {"is", "are", "was", "were", "do", "does", "did", "can", "will", "would", "have", "has"}
    | {"mean", "work", "happen", "and", "or", "to", "in", "for", "from", "with", "affect"}
)
_THAT_FOLLOWS = frozenset(
    {"do", "does", "did", "is", "was", "about", "of", "like", "for", "to", "with", "from", "on"}
    | {"in", "why", "how", "are", "were", "after", "before", "by", "than", "can", "will"}
)


@dataclass(frozen=True, slots=True)
class _Cues:
    """The word lists of ``dependence.json``, ready for look-up."""

    pronouns: frozenset[str]
    unspaced: re.Pattern[str]
    demonstratives: frozenset[str]
    starters: frozenset[str]
    enders: tuple[str, ...]
    light: frozenset[str]
    accepts: frozenset[str]


@lru_cache(maxsize=1)
def _cues() -> _Cues:
    """Return the lists."""
    lists: dict[str, list[str]] = read_packaged("dependence.json")
    unspaced = [word for word in lists["pronouns"] if unspaced_characters(word)]
    return _Cues(
        frozenset(word for word in lists["pronouns"] if not unspaced_characters(word)),
        re.compile("|".join(sorted(unspaced, key=len, reverse=True))),
        frozenset(lists["demonstratives"]),
        frozenset(" ".join(words_of(entry)) for entry in lists["starters"]),
        tuple(lists["enders"]),
        frozenset(lists["light"]),
        frozenset(" ".join(words_of(entry)) for entry in lists["accepts"]),
    )


def is_acceptance(text: str) -> bool:
    """Return whether the text does nothing but agree: 'yes, do it', 'sure', 'はい'."""
    return " ".join(words_of(text)) in _cues().accepts


def is_chatter(text: str) -> bool:
    """Return whether known small talk covers the text to its end."""
    return smalltalk_share(words_of(text)) >= _SMALLTALK


def leans_on_history(text: str, earlier: Sequence[str]) -> bool:
    """Return whether the text cannot be understood without the texts before it.

    Args:
        text: The question.
        earlier: What was said before by either side, oldest first; may be empty, then False.
    """
    words = words_of(text)
    if not words or not earlier:
        return False
    if unspaced_characters(text):
        return _leans_unspaced(text)
    return (
        _starts_open(words)
        or _ends_open(words)
        or _has_open_pronoun(text, words)
        or _says_too_little(text, words)
        or _names_known_thing(text, earlier)
        or _takes_up(words, earlier)
        or _asks_of_nothing(text)
    )


def _leans_unspaced(text: str) -> bool:
    """Return the same for scripts without blanks, where words are not cut."""
    cues = _cues()
    bare = text.strip()
    short = unspaced_characters(bare) <= 4 * _SHORT_STARTED
    started = any(bare.startswith(entry) for entry in cues.starters if unspaced_characters(entry))
    ended = bare.rstrip("？?。！! ").endswith(
        tuple(entry.rstrip("？?") for entry in cues.enders if unspaced_characters(entry))
    )
    return bool(short and (started or ended)) or cues.unspaced.search(bare) is not None


def _starts_open(words: Sequence[str]) -> bool:
    """Return whether it opens as the continuation of something and says little more."""
    starters = _cues().starters
    for length in range(min(_LONGEST_STARTER, len(words)), 0, -1):
        if " ".join(words[:length]) in starters:
            return len(words) - length <= _SHORT_STARTED
    return False


def _ends_open(words: Sequence[str]) -> bool:
    """Return whether it ends on a word that points back, in a short question."""
    joined = " ".join(words)
    return len(words) <= 2 * _SHORT_STARTED and any(
        joined.endswith(f" {entry}") for entry in _cues().enders
    )


def _has_open_pronoun(text: str, words: Sequence[str]) -> bool:
    """Return whether a pronoun stands where the question itself has named nothing yet."""
    cues = _cues()
    fillers = filler_words(text)
    named = _ENTITY.search(text) is not None
    for position, word in enumerate(words):
        pointing = (
            word in cues.demonstratives and not named and _is_pronoun(words, position, fillers)
        )
        if word == "there" and _is_expletive(words, position):
            continue
        pair = " ".join(words[position : position + 2])
        if (word in cues.pronouns or pair in cues.pronouns or pointing) and not _named_before(
            text, words, position
        ):
            return True
    return False


def _is_pronoun(words: Sequence[str], position: int, fillers: frozenset[str]) -> bool:
    """Return whether 'this' or 'that' stands for a thing rather than opening a clause."""
    word = words[position]
    before = words[position - 1] if position else ""
    after = words[position + 1] if position + 1 < len(words) else ""
    if word in {"one", "such"}:
        return before in {"which", "this", "that", "the", "an", "other"} and word == "one"
    if word == "that":
        return not after or (before in _THAT_FOLLOWS and position > 0) or not before
    if word == "both":
        return not after or "and" not in words[position:]
    return not after or after in _AFTER_DEMONSTRATIVE or after not in fillers


def _is_expletive(words: Sequence[str], position: int) -> bool:
    """Return whether 'there' only fills a place: 'is there a way'."""
    near = {words[position - 1] if position else "", *words[position + 1 : position + 2]}
    return bool(near & {"is", "are", "was", "were", "will", "be", "has", "have", "any", "can"})


def _named_before(text: str, words: Sequence[str], position: int) -> bool:
    """Return whether an earlier clause of the question names what the pronoun may mean."""
    found = [
        match.start()
        for match in re.finditer(rf"\b{re.escape(words[position])}\b", text, re.IGNORECASE)
    ]
    clauses = [match.start() for match in _NEXT_CLAUSE.finditer(text[: found[0]])] if found else []
    if not clauses:
        return False
    before = words_of(text[: clauses[-1]])
    idle = filler_words(text) | _cues().light
    return any(word not in idle for word in before)


def _says_too_little(text: str, words: Sequence[str]) -> bool:
    """Return whether nothing but words of general use is left."""
    if _ENTITY.search(text):
        return False
    idle = filler_words(text) | _cues().light
    return all(word in idle for word in words)


def _takes_up(words: Sequence[str], earlier: Sequence[str]) -> bool:
    """Return whether it is a bare word or two that the conversation has used."""
    if len(words) > _BARE:
        return False
    known = {word for line in earlier for word in words_of(line)}
    return any(word in known for word in words)


def _asks_of_nothing(text: str) -> bool:
    """Return whether it asks for parts of a whole that it does not name: 'who are the members?'."""
    return _ENTITY.search(text) is None and _BARE_PART.match(text.casefold()) is not None


def _names_known_thing(text: str, earlier: Sequence[str]) -> bool:
    """Return whether 'the X' takes up an X of the conversation and nothing else is named."""
    if _ENTITY.search(text):
        return False
    fillers = filler_words(text)
    known = {word for line in earlier[-4:] for word in words_of(line)}
    for match in _DEFINITE.finditer(text.casefold()):
        nouns = [word for word in match[1].split() if word not in fillers]
        if nouns and all(noun in known or noun.rstrip("s") in known for noun in nouns):
            return True
    return False
