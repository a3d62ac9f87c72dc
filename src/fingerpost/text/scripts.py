"""Unicode forms: folding of letters, and which scripts are written without blanks."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

__all__ = ["WORD_PIECES", "fold", "is_hangul"]

# Scripts whose words are not set apart by blanks. Hangul is listed apart: it has blanks, but
# its particles are glued to the word.
_IDEOGRAPHS: Final = (
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u303b\u303c\u3041-\u3096\u3099\u309a"
    "\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uf900-\ufaff\U00016fe0-\U00018d08\U0001b000-\U0001b2ff"
    "\U00020000-\U0003ffff"
)
_SOUTH_EAST_ASIAN: Final = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u0edc-\u0edf\u1000-\u103f\u104c-\u109d"
    "\u1780-\u17d3\u17d7\u17dc\u17dd\u1950-\u19df\u1a20-\u1aad\ua9e0-\ua9fe\uaa60-\uaadf"
)
_HANGUL: Final = "\u1100-\u11ff\u3131-\u318e\ua960-\ua97c\uac00-\ud7fb"

# Combining marks are not word characters for `re`, yet they are parts of words: accents of
# Latin, Greek and Cyrillic, points of Hebrew and Arabic, vowel signs of the Indic scripts
# (whole blocks, less the dandas), Tibetan (less the tsheg), Mongolian, Balinese.
_MARKS: Final = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"
    "\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed\u0711"
    "\u0730-\u074a\u07a6-\u07b0\u07eb-\u07f3\u0816-\u082d\u0859-\u085b\u08d3-\u08ff"
    "\u0900-\u0963\u0966-\u0df3\u0f18-\u0f39\u0f71-\u0f84\u0f86-\u0fbc\u135d-\u135f"
    "\u1712-\u1714\u17b4-\u17d3\u180b-\u180d\u1885-\u18a9\u1920-\u193b\u1a17-\u1a1b"
    "\u1ab0-\u1aff\u1b00-\u1b44\u1b80-\u1baa\u1bab-\u1bf3\u1c24-\u1c37\u1cd0-\u1cf4"
    "\u1dc0-\u1dff\u20d0-\u20f0\ua66f-\ua672\ua69e\ua69f\ua6f0\ua6f1\ua802-\ua827"
    "\ua8e0-\ua8f1\ua926-\ua92d\uabe3-\uabed\ufe20-\ufe2f"
)

_GRAM_RUN: Final = f"[{_IDEOGRAPHS}]+|[{_SOUTH_EAST_ASIAN}]+|[{_HANGUL}]+"
_LETTER: Final = rf"(?:(?![{_IDEOGRAPHS}{_SOUTH_EAST_ASIAN}{_HANGUL}])[^\W_]|[{_MARKS}])"

WORD_PIECES: Final = re.compile(rf"({_GRAM_RUN})|({_LETTER}+)")
"""Group 1: a run of a script without blanks (or of Hangul). Group 2: a word of any other."""

_HANGUL_START: Final = re.compile(rf"[{_HANGUL}]")

# Invisible characters that may stand inside a word: soft hyphen, zero-width blanks and joiners,
# directional marks, variation selectors; and the Arabic tatweel, which only stretches a word.
_INVISIBLE: Final = re.compile(
    "[\u00ad\u034f\u061c\u0640\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f"
    "\ufe00-\ufe0f\ufeff\U000e0000-\U000e01ef]"
)
_FOREIGN_DIGIT: Final = re.compile(r"(?![0-9])\d")
# Points that readers leave out: Hebrew niqqud and accents, Arabic harakat and Koranic signs.
_POINTS: Final = re.compile(
    "[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"
    "\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed]"
)
# Accents of Latin, Greek and Cyrillic letters; breve and diaeresis stay on Cyrillic letters,
# where they make letters of their own (й, ў, ї), while the acute only marks stress.
_ACCENTS: Final = re.compile(
    "[\u0300-\u0305\u0307\u0309-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20f0]"
    "|(?<![\u0400-\u04ff])[\u0306\u0308]"
)
_INNER_APOSTROPHE: Final = re.compile(r"(?<=[^\x00-\x7f])'(?=[^\x00-\x7f])")

# Letters that have no decomposition, and spellings that readers do not tell apart.
_LETTERS: Final = str.maketrans(
    {
        "ß": "ss", "ẞ": "SS", "ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "đ": "d", "Đ": "D",
        "ħ": "h", "Ħ": "H", "ŧ": "t", "Ŧ": "T", "ı": "i", "ŋ": "n", "ð": "d", "Ð": "D",
        "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "þ": "th", "Þ": "TH",
        "ё": "е", "Ё": "Е", "ґ": "г", "Ґ": "Г",
        "أ": "ا", "إ": "ا", "آ": "ا", "ٱ": "ا", "ى": "ي", "ی": "ي", "ک": "ك", "ة": "ه",
        "ې": "ي", "ۀ": "ه", "ە": "ه", "ؤ": "و", "ئ": "ي",
        "ँ": "ं", "़": None, "׳": None, "״": None, "ʼ": "'", "’": "'", "‘": "'",
    }
)  # fmt: skip
_PIECE: Final = 512


def fold(text: str) -> str:
    """Return ``text`` in the one form in which words are compared, case kept.

    NFKC; digits of every script as ASCII; accents, invisible characters and the points of
    Hebrew and Arabic removed, so that text in Latin letters becomes ASCII. The vowel signs of
    Devanagari and its kin stay, since they spell the word. Linear: normalised in pieces, as
    sorting a long run of combining marks takes quadratic time.
    """
    if text.isascii():
        return text
    pieces = [text[at : at + _PIECE] for at in range(0, len(text), _PIECE)]
    folded = "".join([_fold_piece(piece) for piece in pieces])
    return _INNER_APOSTROPHE.sub("", folded)


def is_hangul(run: str) -> bool:
    """Tell whether ``run`` starts with a Hangul letter."""
    return _HANGUL_START.match(run) is not None


def _fold_piece(piece: str) -> str:
    composed = _INVISIBLE.sub("", unicodedata.normalize("NFKC", piece))
    bare = _ACCENTS.sub("", unicodedata.normalize("NFD", _POINTS.sub("", composed)))
    folded = unicodedata.normalize("NFC", bare).translate(_LETTERS)
    return _FOREIGN_DIGIT.sub(_ascii_digit, folded)


def _ascii_digit(match: re.Match[str]) -> str:
    return str(unicodedata.decimal(match.group(), 0))
