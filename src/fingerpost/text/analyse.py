"""The one analyser: text to the tokens that every store ranks."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from fingerpost.text.identifiers import COMPOUND, Kind, Piece, compound_pieces, shortened
from fingerpost.text.language import detect_language
from fingerpost.text.scripts import WORD_PIECES, fold, is_hangul
from fingerpost.text.stem import stem
from fingerpost.text.stopwords import is_stop_word

__all__ = [
    "ANALYSER_VERSION",
    "analyse",
    "analyse_joined",
    "query_tokens",
    "topic_tokens",
    "without_asking",
]

ANALYSER_VERSION = "1"

_MAX_QUERY_TOKENS: Final = 256
_MAX_QUERY_CHARACTERS: Final = 16_384
_SHORT_QUERY: Final = 512
_LONG_KEPT: Final = 32
_MOST_REPEATS: Final = 3
_MEMO_SIZE: Final = 131_072
_MEMO_UNIT: Final = 40
_WEIGHTS: Final = {
    Kind.WORD: 1.0,
    Kind.IDENTIFIER: 1.5,
    Kind.CODE: 1.5,
    Kind.PART: 0.5,
    Kind.GRAM: 1.0,
}
# Words about the asking rather than the asked; they weigh little beside any other.
_FRAME: Final = frozenset(
    {
        "mean",
        "means",
        "meant",
        "meaning",
        "explain",
        "explains",
        "describe",
        "tell",
        "show",
        "happen",
        "happens",
        "happened",
        "work",
        "works",
        "bedeutet",
        "bedeuten",
        "erkläre",
        "erklären",
        "significa",
        "signifie",
        "означает",
    }
)
_FRAME_WEIGHT: Final = 0.3
# The same in scripts without blanks, where a pair of letters may reach over their end.
_ASKING: Final = re.compile(
    "请问|如何|怎么样?|怎样|为什么|为何|什么时候|什么|哪些|哪个|哪里|是否|能否|多少|意思|[吗呢]"
    "|どのように|どうやって|どうすれば|なぜ|何ですか|ですか|ますか|教えて(?:ください)?"
    "|어떻게|무엇(?:입니까|인가요)?|อย่างไร|ทำไม|เมื่อไร|ที่ไหน|อะไร"
)
# Text that no one reads: base64, minified code, digests. One token stands for the whole run.
_BLOB_LENGTH: Final = 160
_BLOB: Final = re.compile(rf"[A-Za-z0-9+/=_-]{{{_BLOB_LENGTH},}}")
_MIXED: Final = re.compile(r"(?=[^0-9]*[0-9])(?=[^A-Z]*[A-Z])(?=[^a-z]*[a-z])")
# No token of an ASCII unit reaches over one of these, so its parts are looked up by themselves.
_BREAK: Final = re.compile(r"[^A-Za-z0-9._:'+#,-]+")
# No token of an ASCII unit begins or ends with one of these.
_BEFORE: Final = '("`*['
_BEHIND: Final = '.,:;!?)"`*]'
_ASCII_OR_NOT: Final = re.compile(r"[\x00-\x7f]+|[^\x00-\x7f]+")


class _Memo(dict[str, str]):
    """Tokens of the units seen lately, joined by blanks; emptied when full.

    A dictionary, because `map(memo.__getitem__, units)` stays in C for a unit that is known;
    the same unit always gives the same value, so threads may race to fill it.
    """

    def __missing__(self, unit: str) -> str:
        bare = unit.lstrip(_BEFORE).rstrip(_BEHIND)
        if bare != unit and bare.isascii():
            joined = self[bare]  # "word," and "(word" are what "word" is
        elif unit.isascii() and _is_plain(unit):
            joined = stem(shortened(unit.lower()))
        elif unit.isascii() and _BREAK.search(unit) is not None:
            parts = _BREAK.split(_without_blobs(unit))
            joined = " ".join(filter(None, map(self.__getitem__, parts)))
        else:
            joined = " ".join([_token(piece) for piece in _unit_pieces(unit)])
        if len(unit) <= _MEMO_UNIT:
            if len(self) >= _MEMO_SIZE:
                self.clear()
            self[unit] = joined
        return joined


_MEMO: Final = _Memo()


def _is_plain(word: str) -> bool:
    """Tell whether an ASCII word has one way to be read: letters, no camel case."""
    return word.isalpha() and (word[1:].islower() or word.isupper())


def analyse(text: str) -> list[str]:
    """Return index tokens in order.

    Text is cut at white space; a unit's tokens never depend on its neighbours, so a question
    and a chunk get the same tokens for the same word. An identifier gives the whole, without
    its separators, and its parts: ``Get-ChildItem`` gives ``getchilditem get childitem child
    item``. Scripts without blanks give overlapping bigrams. No token holds white space, and
    none is longer than 64 characters: longer runs become a digest.
    """
    return analyse_joined(text).split()


def analyse_joined(text: str) -> str:
    """Return the tokens of `analyse` separated by single blanks; the fast path for indexing."""
    return " ".join(filter(None, map(_MEMO.__getitem__, text.split())))


def query_tokens(text: str) -> dict[str, float]:
    """Return token → weight (> 0) for a question, at most 256, in order of first appearance.

    Stop words are left out unless nothing else is left. Identifiers, codes and versions weigh
    more than words, the parts of an identifier less. A token that occurs again weighs again, up to
    three times. Of a very long text only the first 16,384 characters count.
    """
    if len(text) <= _SHORT_QUERY:
        return dict(_remembered(text))
    return dict(_remembered_long(text[:_MAX_QUERY_CHARACTERS]))


def topic_tokens(text: str) -> dict[str, float]:
    """Return the tokens of `query_tokens` without stop words and words about the asking.

    "What does E1042 mean?" is about E1042: a corpus need not hold the word "mean" to answer it.
    Empty for a text that says nothing of its own ("Why?", "What does that mean?").
    """
    tokens = query_tokens(text)
    language = detect_language(text)
    pieces = (piece for unit in without_asking(text).split() for piece in _unit_pieces(unit))
    own = {
        _token(piece)
        for piece in pieces
        if piece[0] not in _FRAME and not is_stop_word(piece[0], language)
    }
    return {token: weight for token, weight in tokens.items() if token in own}


def without_asking(text: str) -> str:
    """Return the text with a blank for each question word of a script without blanks."""
    return text if text.isascii() else _ASKING.sub(" ", text)


@lru_cache(maxsize=1024)
def _remembered(text: str) -> dict[str, float]:
    """Return the tokens of a short question, which every stage asks for; not to be changed."""
    return _weighed(text)


@lru_cache(maxsize=_LONG_KEPT)
def _remembered_long(text: str) -> dict[str, float]:
    """Return the tokens of a long question; not to be changed."""
    return _weighed(text)


def _weighed(text: str) -> dict[str, float]:
    pieces = [p for unit in text.split() for p in _unit_pieces(unit)]
    # A stop word of one language is a telling word of another (pod, go, os): look at one list.
    language = detect_language(text)
    telling = [piece for piece in pieces if not is_stop_word(piece[0], language)]
    weights: dict[str, float] = {}
    for piece in telling or pieces:
        token, weight = _token(piece), _WEIGHTS[piece[1]]
        if piece[0] in _FRAME:
            weight = _FRAME_WEIGHT
        if token in weights:
            weights[token] = min(weights[token] + weight, _MOST_REPEATS * weight)
        elif len(weights) < _MAX_QUERY_TOKENS:
            weights[token] = weight
    return weights


def _token(piece: Piece) -> str:
    return piece[0] if piece[1] in (Kind.CODE, Kind.GRAM) else stem(piece[0])


def _unit_pieces(unit: str) -> list[Piece]:
    """Return the tokens of a run without white space."""
    return _ascii_pieces(unit) if unit.isascii() else _foreign_pieces(unit)


def _ascii_pieces(run: str) -> list[Piece]:
    word = run.lstrip(_BEFORE).rstrip(_BEHIND)
    if _is_plain(word):
        return [(shortened(word.lower()), Kind.WORD)]
    pieces: list[Piece] = []
    for match in COMPOUND.finditer(_without_blobs(run)):
        pieces += compound_pieces(match)
    return pieces


def _without_blobs(run: str) -> str:
    return run if len(run) < _BLOB_LENGTH else _BLOB.sub(_blob_token, run)


def _blob_token(match: re.Match[str]) -> str:
    run = match.group()
    if _MIXED.match(run) is None and len(run) < 4 * _BLOB_LENGTH:
        return run
    return f" {shortened(run)} "


def _foreign_pieces(unit: str) -> list[Piece]:
    """Return the tokens of a unit that has letters beyond ASCII."""
    pieces: list[Piece] = []
    for run in _ASCII_OR_NOT.findall(fold(unit)):
        if run.isascii():
            pieces += _ascii_pieces(run)
            continue
        for match in WORD_PIECES.finditer(run):
            pieces += _grams(match[1]) if match[1] else [_word(match[2])]
    return pieces


def _word(run: str) -> Piece:
    return shortened(run.casefold()), Kind.WORD


def _grams(run: str) -> list[Piece]:
    """Return the overlapping pairs of a run; a Korean run is a word as well."""
    if len(run) == 1:
        return [(run, Kind.GRAM)]
    grams: list[Piece] = [(run[at : at + 2], Kind.GRAM) for at in range(len(run) - 1)]
    if len(grams) > 1 and is_hangul(run):
        grams.append((shortened(run), Kind.WORD))
    return grams
