"""Stemming by script: a word's stem never depends on the text around it."""

from __future__ import annotations

from functools import lru_cache
from threading import Lock
from typing import Final

import Stemmer  # type: ignore[import-not-found]  # a C extension without stubs

__all__ = ["stem"]

_SCRIPTS: Final = (
    ("a", "z", "english"),
    ("\u0370", "\u03ff", "greek"),
    ("\u0400", "\u052f", "russian"),
    ("\u0600", "\u06ff", "arabic"),
    ("\u0900", "\u097f", "hindi"),
)


class _SharedStemmer:
    """A Snowball stemmer that threads may share: the C object is not safe by itself."""

    def __init__(self, algorithm: str) -> None:
        self._stemmer = Stemmer.Stemmer(algorithm, 0)
        self._lock = Lock()

    def stem(self, word: str) -> str:
        with self._lock:
            return str(self._stemmer.stemWord(word))


@lru_cache(maxsize=32_768)
def stem(word: str) -> str:
    """Return the stem of a folded word by the Snowball algorithm of its first letter's script.

    Words of other scripts, and words with digits, come back as they are. Index and question
    must agree without knowing each other's language, so all words in Latin letters get the
    English stemmer (Porter, 1980, in its second form).
    """
    if not word.isalpha() and not "\u0900" <= word[:1] <= "\u097f":
        return word
    for first, last, algorithm in _SCRIPTS:
        if first <= word[0] <= last:
            return _stemmer(algorithm).stem(word)
    return word


@lru_cache(maxsize=len(_SCRIPTS))
def _stemmer(algorithm: str) -> _SharedStemmer:
    return _SharedStemmer(algorithm)
