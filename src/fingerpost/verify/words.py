"""Words of a claim or a source sentence: folded, stemmed, with offsets."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

# Scripts written without blanks are cut into pairs of characters; everything else into runs
# of letters and digits, an apostrophe inside kept (don't).
UNSPACED = "\u0e00-\u0e7f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{UNSPACED}]+|(?:(?![{UNSPACED}])[^\W_])+(?:['’](?:[^\W\d_])+)?")
_UNSPACED_START = re.compile(rf"[{UNSPACED}]")
_VOWEL = re.compile(r"[aeiouyäöüáéíóúàèùâêîôû]")
_SHORTEST_STEM = 3
_FUZZY_PREFIX = 5
_FUZZY_SHARE = 0.7
_ELISION = re.compile(r"^(?:[dlmnstcj]|qu|jusqu|lorsqu|puisqu)['’](?=\w)")


class Word(NamedTuple):
    """One word: as folded, its stem, and where it stands."""

    text: str
    stem: str
    start: int
    end: int
    capital: bool


@lru_cache(maxsize=65536)
def fold(word: str) -> str:
    """Return the word without case, accents and typographic apostrophes."""
    lowered = word.casefold().replace("’", "'")
    if lowered.isascii():
        return lowered
    decomposed = unicodedata.normalize("NFKD", lowered)
    return "".join(mark for mark in decomposed if not unicodedata.combining(mark))


_SUFFIXES = (
    ("sses", "ss"), ("ies", "y"), ("ied", "y"), ("ations", "at"), ("ation", "at"),
    ("ions", ""), ("ion", ""), ("ingly", ""), ("edly", ""), ("ings", ""), ("ing", ""),
    ("ements", ""), ("ement", ""), ("ments", ""), ("ment", ""), ("ers", ""), ("ed", ""),
    ("es", ""), ("ly", ""), ("'s", ""),
)  # fmt: skip


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """Return a light stem of a folded word; English endings, harmless elsewhere."""
    if len(word) <= _SHORTEST_STEM + 1 or not word.isascii():
        return word.removesuffix("s") if len(word) == _SHORTEST_STEM + 1 else word
    for suffix, put in _SUFFIXES:
        kept = len(word) - len(suffix)
        if kept >= _SHORTEST_STEM and word.endswith(suffix) and _VOWEL.search(word[:kept]):
            return _ending(word[:kept] + put)
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    return _ending(word)


def _ending(root: str) -> str:
    """Return the root with a doubled consonant halved and a final e or y removed."""
    if len(root) > _SHORTEST_STEM and root[-1] == root[-2] and root[-1] not in "aeiouls":
        root = root[:-1]
    if len(root) > _SHORTEST_STEM and root[-1] == "e":
        return root[:-1]
    return root[:-1] + "i" if len(root) > _SHORTEST_STEM and root[-1] == "y" else root


def words(text: str) -> list[Word]:
    """Return the words of the text in order."""
    found: list[Word] = []
    for match in _WORD.finditer(text):
        raw, start = match.group(), match.start()
        form = _form(raw)
        if form is None:
            found.extend(_pairs(raw, start))
        else:
            folded, root, elided, capital = form
            found.append(Word(folded, root, start + elided, start + len(raw), capital))
    return found


@lru_cache(maxsize=65536)
def _form(raw: str) -> tuple[str, str, int, bool] | None:
    """Return (folded, stem, length of an elided article, capital).

    ``None`` for scripts without blanks.
    """
    if _UNSPACED_START.match(raw):
        return None
    folded = fold(raw)
    elided = _ELISION.match(folded)
    cut = elided.end() if elided else 0
    folded = folded[cut:].removesuffix("'s")
    return folded, stem(folded), cut, raw[:1].isupper()


def _pairs(run: str, start: int) -> list[Word]:
    if len(run) == 1:
        return [Word(run, run, start, start + 1, capital=False)]
    return [
        Word(run[at : at + 2], run[at : at + 2], start + at, start + at + 2, capital=False)
        for at in range(len(run) - 1)
    ]


def compounded(one: str, other: str) -> bool:
    """Return whether one word begins or ends with the other: *Strompreis* and *Preis*."""
    short, long = sorted((one, other), key=len)
    if len(short) < _FUZZY_PREFIX or len(long) - len(short) < _SHORTEST_STEM + 1:
        return False
    return long.startswith(short) or long.endswith(short)


def akin(one: str, other: str) -> bool:
    """Return whether two folded words are forms of one word, judged by what they share."""
    longest = max(len(one), len(other))
    if longest < _FUZZY_PREFIX or one[:4] != other[:4]:
        return False
    shared = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        shared += 1
    return shared >= _FUZZY_PREFIX and shared >= _FUZZY_SHARE * longest
