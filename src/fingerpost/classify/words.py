"""The words of a question and the word classes they belong to."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any

from fingerpost.text.language import detect_language
from fingerpost.text.scripts import fold
from fingerpost.text.stopwords import is_stop_word

# Combining marks are part of a word; ``\w`` alone would cut Devanagari and Thai words apart.
_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u064b-\u065f"
    "\u0900-\u0903\u093a-\u094f\u0962-\u0963\u0981-\u0983\u09bc-\u09cd\u0b82-\u0bcd"
    "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u200c\u200d"
)
_WORD = re.compile(rf"[^\W_](?:[\w{_MARKS}]|['’\-.](?=\w))*[+#]*")
_UNSPACED = re.compile(
    "[\u0e00-\u0e7f\u0e80-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
)
_REMEMBERED = 8_192
_LONGEST_PHRASE = 5
_STEM_LENGTHS = range(3, 13)


@dataclass(frozen=True, slots=True)
class CueTable:
    """Word classes, compiled for look-up.

    Attributes:
        words: Word or phrase → classes.
        stems: Prefix → classes.
        inside: One pattern per class for scripts without blanks.
    """

    words: dict[str, tuple[str, ...]]
    stems: dict[str, tuple[str, ...]]
    inside: tuple[tuple[str, re.Pattern[str]], ...]


def words_of(text: str) -> list[str]:
    """Return the words of ``text`` in order, case folded, apostrophes made straight."""
    return list(_remembered(text) if len(text) <= _REMEMBERED else _words(text))


def _words(text: str) -> tuple[str, ...]:
    return tuple(match.group().casefold().replace("’", "'") for match in _WORD.finditer(text))


@lru_cache(maxsize=256)
def _remembered(text: str) -> tuple[str, ...]:
    """Return the words of a text that is not long: every rule asks for those of each turn."""
    return _words(text)


def unspaced_characters(text: str) -> int:
    """Return how many characters belong to scripts written without blanks (or Hangul)."""
    return len(_UNSPACED.findall(text))


def filler_words(text: str) -> frozenset[str]:
    """Return the words of ``text`` that carry no meaning of their own in its language."""
    language = detect_language(text)
    return frozenset(
        word
        for word in words_of(text)
        if is_stop_word(bare := fold(word).casefold().replace("'", ""), language)
        or is_stop_word(bare, "en")
    )


def read_packaged(name: str) -> Any:
    """Return the JSON value of a file that ships with this package."""
    return json.loads((files(__package__ or "") / name).read_text(encoding="utf-8"))


@lru_cache(maxsize=1)
def cue_table() -> CueTable:
    """Return the compiled word classes of ``cues.json``."""
    words: dict[str, tuple[str, ...]] = {}
    stems: dict[str, tuple[str, ...]] = {}
    inside: list[tuple[str, re.Pattern[str]]] = []
    cues: dict[str, list[str]] = read_packaged("cues.json")["cues"]
    for name, entries in cues.items():
        pieces: list[str] = []
        for entry in entries:
            if _UNSPACED.search(entry):
                pieces.append(re.escape(entry))
            elif entry.endswith("*"):
                stem = entry[:-1]
                stems[stem] = (*stems.get(stem, ()), name)
            else:
                words[entry] = (*words.get(entry, ()), name)
        if pieces:
            inside.append((name, re.compile("|".join(sorted(pieces, key=len, reverse=True)))))
    return CueTable(words, stems, tuple(inside))


def count_cues(text: str, words: list[str]) -> dict[str, int]:
    """Return how often each word class occurs; classes that do not occur are left out."""
    table = cue_table()
    counts: dict[str, int] = {}
    for start, word in enumerate(words):
        for name in _classes_at(table, words, start, word):
            counts[name] = counts.get(name, 0) + 1
    if _UNSPACED.search(text):
        for name, pattern in table.inside:
            if found := len(pattern.findall(text)):
                counts[name] = counts.get(name, 0) + found
    return counts


def _classes_at(table: CueTable, words: list[str], start: int, word: str) -> set[str]:
    """Return the classes of the word and of the phrases that begin at ``start``."""
    found = set(table.words.get(word, ()))
    for length in _STEM_LENGTHS:
        if length > len(word):
            break
        found.update(table.stems.get(word[:length], ()))
    phrase = word
    for following in words[start + 1 : start + _LONGEST_PHRASE]:
        phrase = f"{phrase} {following}"
        found.update(table.words.get(phrase, ()))
    return found
