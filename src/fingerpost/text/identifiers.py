"""Identifiers, codes and versions: the whole, and the parts that people ask for."""

from __future__ import annotations

import re
from enum import IntEnum
from hashlib import blake2b
from typing import Final

__all__ = ["COMPOUND", "MAX_TOKEN", "Kind", "Piece", "compound_pieces", "shortened"]

MAX_TOKEN: Final = 64
"""Characters of the longest token; longer ones are replaced by a digest."""

_MAX_PARTS: Final = 8


class Kind(IntEnum):
    """What a token is, which says how much it weighs in a question."""

    WORD = 0
    IDENTIFIER = 1
    CODE = 2
    PART = 3
    GRAM = 4


Piece = tuple[str, Kind]

COMPOUND: Final = re.compile(
    r"(?P<version>(?<![A-Za-z0-9])[vV]?\d+(?:\.\d+)+(?![A-Za-z0-9]))"
    r"|(?P<dotnet>(?<![A-Za-z0-9])\.[nN][eE][tT](?![A-Za-z0-9]))"
    r"|(?P<plus>(?<![A-Za-z0-9])[A-Za-z]\w{0,30}\+\+)"
    r"|(?P<sharp>(?<![A-Za-z0-9])[A-Za-z]\#(?![A-Za-z0-9]))"
    r"|(?P<thousands>(?<![A-Za-z0-9.,])\d{1,3}(?:,\d{3})+(?![A-Za-z0-9]))"
    r"|(?P<apostrophe>[A-Za-z]+(?:'[A-Za-z]+)+)"
    r"|(?P<name>[A-Za-z0-9]+(?:(?:\.|::|-{1,2}|_+)[A-Za-z0-9]+)*)"
)
"""One ASCII token with its inner separators; the name of the group says which kind."""

_HYPHENATED: Final = re.compile(r"[A-Za-z][a-z]*(?:-[a-z]+)+")  # prose: well-known
_SEPARATOR: Final = re.compile(r"[^A-Za-z0-9]+")
_CAMEL: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_LETTERS_DIGITS: Final = re.compile(r"([a-z]{2,})([0-9]{2,})")
_ELISION: Final = 2  # letters of the longest one: qu'
_CONTRACTIONS: Final = frozenset({"s", "re", "ve", "ll", "d", "m"})


def compound_pieces(match: re.Match[str]) -> list[Piece]:
    """Return the tokens of one match of `COMPOUND`: folded, not stemmed, the whole first."""
    text, group = match.group(), match.lastgroup
    if group == "name":
        return _name(text)
    if group == "version":
        return _version(text.lstrip("vV"))
    if group == "thousands":
        return [(shortened(text.replace(",", "")), Kind.CODE)]
    if group == "apostrophe":
        return _apostrophe(text.lower())
    if group == "dotnet":
        return [("dotnet", Kind.CODE), ("net", Kind.PART)]
    whole = text.lower()
    bare = whole.rstrip("+#")
    pieces = [(shortened(whole), Kind.CODE)]
    return pieces if len(bare) == 1 else [*pieces, (bare, Kind.PART)]


def shortened(token: str) -> str:
    """Return ``token``, or a digest of it when it is longer than `MAX_TOKEN`."""
    if len(token) <= MAX_TOKEN:
        return token
    return blake2b(token.encode("utf-8", "replace"), digest_size=8).hexdigest()


def _name(text: str) -> list[Piece]:
    if text.isalpha() and (text.islower() or text.isupper() or text[1:].islower()):
        return [(shortened(text.lower()), Kind.WORD)]
    segments = _SEPARATOR.split(text)
    if len(segments) == 1:
        return _segment(text, alone=True)
    whole = shortened("".join(segments).lower())
    kind = Kind.WORD if _HYPHENATED.fullmatch(text) else Kind.IDENTIFIER
    pieces: list[Piece] = [(whole, kind)]
    for segment in segments:
        pieces += _segment(segment, alone=False)
    return pieces


def _segment(segment: str, *, alone: bool) -> list[Piece]:
    """Return the segment itself and its parts by camel case and by letters and digits."""
    whole = segment.lower()
    inner = _inner_parts(segment, whole)
    if not alone:
        kind = Kind.PART
    elif whole.isalpha():
        kind = Kind.IDENTIFIER if inner else Kind.WORD
    else:
        kind = Kind.CODE
    return [(shortened(whole), kind), *((part, Kind.PART) for part in inner)]


def _inner_parts(segment: str, whole: str) -> list[str]:
    if len(segment) > MAX_TOKEN:
        return []
    joined = _LETTERS_DIGITS.fullmatch(whole)
    if joined is not None and segment.isupper():
        return [joined[1], joined[2]]
    if segment.islower() or segment.isupper() or segment.isdigit():
        return [joined[1], joined[2]] if joined is not None else []
    parts = [part.lower() for part in _CAMEL.findall(segment)]
    if not 1 < len(parts) <= _MAX_PARTS:
        return []
    # Without its number an identifier is asked for too: OAuth2, Python3.
    letters = whole.rstrip("0123456789")
    bare = [letters] if letters != whole and letters not in parts else []
    return [*bare, *(part for part in parts if len(part) > 1)]


def _version(text: str) -> list[Piece]:
    """Return the version and its prefixes of two and more components: 2.10.3 is a 2.10."""
    numbers = text.split(".")
    pieces = [(shortened(text), Kind.CODE)]
    longest = min(len(numbers) - 1, 3)
    pieces += [(".".join(numbers[:n]), Kind.PART) for n in range(longest, 1, -1)]
    return [(shortened(token), kind) for token, kind in pieces]


def _apostrophe(text: str) -> list[Piece]:
    """Return the words of a contraction (`user's`, `don't`) or an elision (`l'index`)."""
    *heads, tail = text.split("'")
    if tail in _CONTRACTIONS:
        words = heads
    elif tail == "t":
        words = [*heads[:-1], heads[-1] + "t"]
    else:
        words = [*(head for head in heads if len(head) > _ELISION), tail]
    return [(shortened(word), Kind.WORD) for word in words if word]
