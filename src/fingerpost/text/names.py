"""Names that a text shares with others: code identifiers, proper names, words it dwells on."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from hashlib import blake2b
from typing import Final

from fingerpost.text.stopwords import stop_words

__all__ = ["MOST_NAMES", "borne_number", "name_numbers", "names_in"]

MOST_NAMES: Final = 16
_MOST_DWELT: Final = 3
_MOST_CODE: Final = 6
_FEWEST_CHARS, _DWELT_CHARS = 3, 5
_LONGEST: Final = 80
_MOST_CHARS: Final = 4000
_BIG = "A-ZÀ-ÖØ-ÞΑ-ΩА-Я"
_PART = rf"[{_BIG}](?:\.(?=\ )|\w*+(?:[-.]\w++|['’](?!s\b)\w++)*+)"
_JOINT = r"(?:\.|::|--?|_+)"
# Each alternative starts at one letter and never gives back more than one word. A plain word
# before a blank or a comma, which most words are, is passed over by the first line.
_FOUND: Final = re.compile(
    r"(?<!\w)(?![a-z]++[\s,])(?:"
    rf"(?P<code>(?<![.-])(?:--?)?[A-Za-z][A-Za-z0-9]*+(?:{_JOINT}[A-Za-z0-9]++)+(?![\w-])"
    r"|[a-z]++[A-Z]\w*+)"
    rf"|(?P<name>(?=[{_BIG}]){_PART}(?:\ (?:(?:of|the|and|de|von|van|in|for|&)\ ){{0,2}}{_PART})*)"
    r")"
)
_PROSE: Final = re.compile(r"[A-Za-z][a-z]*(?:[-.][a-z]{1,12})+")  # well-known, e.g
_INNER: Final = re.compile(r"[a-z0-9][A-Z]|[A-Z]{3}|[A-Za-z][0-9]|\w-[A-Z]")
_OPENING: Final = re.compile(r"(?:^|[.!?:;|*\n•-]\s*|[\"“(\[]\s*)$")
_QUALIFIER: Final = re.compile(r"\s*\([^()]*\)\s*$")
_BLANKS: Final = re.compile(r"[\s`*]+")
_SMALL: Final = re.compile(r" (?:(?:of|the|and|de|von|van|in|for|&) ){1,2}")
_OPENERS: Final = stop_words("en")


def names_in(text: str, words: str) -> tuple[str, ...]:
    """Return up to 16 names that a text holds, folded, the most telling first, each once.

    First code identifiers, then proper names of several words (of "Head of Example Web Services"
    also its parts), then single ones that do not merely open a sentence, then up to three
    words that it repeats.

    Args:
        text: The prose and code of a chunk; the first 4,000 characters count.
        words: Its analysed tokens, separated by blanks.
    """
    code: list[str] = []
    long: dict[str, None] = {}
    short: dict[str, None] = {}
    text = text[:_MOST_CHARS]
    for match in _FOUND.finditer(text):
        found = match.group()
        if match.lastgroup == "code":
            if not _PROSE.fullmatch(found) and _FEWEST_CHARS < len(found) <= _LONGEST:
                code.append(found.lower())
        elif " " in found:
            for name in _spans(found):
                (long if " " in name else short)[name] = None
            code += [word.lower() for word in found.split(" ") if _INNER.search(word)]
        elif _INNER.search(found):
            code.append(found.lower())
        elif len(found) >= _FEWEST_CHARS and not _opens(text, match.start()):
            short[found.casefold()] = None
    telling = _most_frequent(Counter(code))[:_MOST_CODE]
    return tuple(dict.fromkeys([*telling, *long, *short, *_dwelt_on(words)]))[:MOST_NAMES]


def _dwelt_on(words: str) -> list[str]:
    counts = Counter([word for word in words.split() if len(word) >= _DWELT_CHARS])
    repeated = {word: n for word, n in counts.items() if n > 1}
    return [f"~{word}" for word in _most_frequent(repeated)[:_MOST_DWELT]]


def _most_frequent(counts: Mapping[str, int]) -> list[str]:
    """Return the keys, the most frequent first, those of one frequency in their order."""
    return sorted(counts, key=counts.__getitem__, reverse=True)


@lru_cache(maxsize=16_384)
def name_numbers(text: str, words: str) -> tuple[int, ...]:
    """Return `names_in` as the numbers of 48 bits that stand for names in an index."""
    return tuple(_number(name) for name in names_in(text, words))


@lru_cache(maxsize=16_384)
def borne_number(title: str) -> int:
    """Return the number of the name that a page or section of this title bears.

    0 when the title is no name: "Getting started" is none, "Get-Process" and "Ada Lovelace
    (writer)" are.
    """
    plain = _BLANKS.sub(" ", _QUALIFIER.sub("", title)).strip()
    name = plain.casefold().removeprefix("the ")
    is_name = name in names_in(f"a {plain}", "")
    return _number(name) if is_name else 0


@lru_cache(maxsize=65_536)
def _number(name: str) -> int:
    raw = name.encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(raw, digest_size=6).digest(), "big") or 1


def _spans(found: str) -> list[str]:
    """Return a proper name of several words, its parts between small words, and their ends."""
    words = found.casefold().split(" ")
    while words and words[0] in _OPENERS:
        words = words[1:]
    whole = " ".join(words)
    spans = [whole] if len(whole) <= _LONGEST else []
    for part in _SMALL.split(whole):
        own = part.split(" ")
        if len(own) > 1:
            spans += [part, " ".join(own[-2:])]
    return spans


def _opens(text: str, at: int) -> bool:
    """Return whether a sentence, a line or a quotation begins at a place."""
    if text[max(0, at - 1) : at] == " " and text[at - 2 : at - 1].isalnum():
        return False  # as most words do
    return _OPENING.search(text, max(0, at - 3), at) is not None
