"""How much of a text is greeting, thanks or chatter, in many languages."""

from __future__ import annotations

import re
from functools import lru_cache

from fingerpost.classify.words import read_packaged, unspaced_characters, words_of

_LONGEST_PHRASE = 9
_WHOLE = 0.97
_MOST = 0.85
_MAX_OPENINGS = 3
_BREAK = re.compile(r"[,;:.!?，；：。！？、،؛؟।\n]+\s*")


@lru_cache(maxsize=1)
def _phrases() -> tuple[frozenset[str], frozenset[str]]:
    """Return phrases joined by blanks, and those of scripts without blanks in one piece."""
    by_language: dict[str, list[str]] = read_packaged("smalltalk.json")["phrases"]
    spaced: set[str] = set()
    unspaced: set[str] = set()
    for phrases in by_language.values():
        for phrase in phrases:
            words = words_of(phrase)
            spaced.add(" ".join(words))
            if unspaced_characters(phrase):
                unspaced.add("".join(words))
    return frozenset(spaced), frozenset(unspaced)


def smalltalk_share(words: list[str]) -> float:
    """Return the share of the characters of ``words`` that known phrases cover, 0 to 1.

    Longest phrases first, left to right. 0 for no words.
    """
    spaced, _ = _phrases()
    total = sum(map(len, words))
    if not total:
        return 0.0
    covered = 0
    start = 0
    while start < len(words):
        taken = _longest_at(spaced, words, start)
        if taken:
            covered += sum(map(len, words[start : start + taken]))
            start += taken
        else:
            covered += _unspaced_cover(words[start])
            start += 1
    return covered / total


def after_greeting(text: str) -> str:
    """Return what follows the greetings that open the text; all of it when nothing follows."""
    rest = text.strip()
    for _ in range(_MAX_OPENINGS):
        match = _BREAK.search(rest)
        if match is None or smalltalk_share(words_of(rest[: match.start()])) < _WHOLE:
            break
        following = words_of(rest[match.end() :])
        if not following or smalltalk_share(following) > _MOST:
            break
        rest = rest[match.end() :]
    return rest


def _longest_at(phrases: frozenset[str], words: list[str], start: int) -> int:
    """Return the number of words of the longest known phrase at ``start``, 0 for none."""
    for end in range(min(len(words), start + _LONGEST_PHRASE), start, -1):
        if " ".join(words[start:end]) in phrases:
            return end - start
    return 0


def _unspaced_cover(word: str) -> int:
    """Return how many characters of a word without blanks known phrases cover."""
    if not unspaced_characters(word):
        return 0
    _, unspaced = _phrases()
    covered = 0
    start = 0
    while start < len(word):
        for end in range(min(len(word), start + 16), start, -1):
            # One character on its own says nothing inside a longer word.
            if word[start:end] in unspaced and (end - start > 1 or end - start == len(word)):
                covered += end - start
                start = end
                break
        else:
            start += 1
    return covered
