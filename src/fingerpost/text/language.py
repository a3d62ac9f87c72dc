"""Which language a text is in, by script and stop words."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from typing import Final

from fingerpost.text.stopwords import stop_words

__all__ = ["NO_LANGUAGE", "detect_language", "same_language"]

NO_LANGUAGE: Final = frozenset({"", "und"})
"""Codes of a text whose language is not known."""

_SAMPLE: Final = 4096
_SHORT: Final = 512
_LONG_KEPT: Final = 32
_LEAST_LETTERS: Final = 2
_CODE: Final = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|`[^`\n]*`|<[^<>\n]*>", re.DOTALL)
# Each unit is looked at once, from its start: a search from every letter would be quadratic.
_CODE_UNIT: Final = re.compile(r"(?<!\S)[^\s/\\_=@]*[/\\_=@]\S*")
_WORD: Final = re.compile(r"[^\W\d_][\w'’\u0300-\u036f\u0900-\u097f]*")

_SCRIPTS: Final = {
    "latin": "A-Za-z\u00aa\u00ba\u00c0-\u024f\u1e00-\u1eff",
    "cyrillic": "\u0400-\u052f",
    "greek": "\u0370-\u03ff\u1f00-\u1fff",
    "arabic": "\u0600-\u06ff\u0750-\u077f\ufb50-\ufdff\ufe70-\ufefc",
    "hebrew": "\u0590-\u05ff\ufb1d-\ufb4f",
    "devanagari": "\u0900-\u097f",
    "kana": "\u3041-\u30ff\u31f0-\u31ff\uff66-\uff9d",
    "han": "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff",
    "hangul": "\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3",
    "thai": "\u0e01-\u0e5b",
    "lao": "\u0e81-\u0edf",
    "khmer": "\u1780-\u17ff",
    "myanmar": "\u1000-\u109f",
    "bengali": "\u0980-\u09ff",
    "gurmukhi": "\u0a00-\u0a7f",
    "gujarati": "\u0a80-\u0aff",
    "tamil": "\u0b80-\u0bff",
    "telugu": "\u0c00-\u0c7f",
    "kannada": "\u0c80-\u0cff",
    "malayalam": "\u0d00-\u0d7f",
    "sinhala": "\u0d80-\u0dff",
    "georgian": "\u10a0-\u10ff",
    "armenian": "\u0530-\u058f",
    "ethiopic": "\u1200-\u137f",
}
_ONE_LANGUAGE: Final = {
    "greek": "el", "hebrew": "he", "devanagari": "hi", "hangul": "ko", "thai": "th", "lao": "lo",
    "khmer": "km", "myanmar": "my", "bengali": "bn", "gurmukhi": "pa", "gujarati": "gu",
    "tamil": "ta", "telugu": "te", "kannada": "kn", "malayalam": "ml", "sinhala": "si",
    "georgian": "ka", "armenian": "hy", "ethiopic": "am",
}  # fmt: skip
_LATIN_LANGUAGES: Final = ("en", "de", "fr", "es", "pt", "it", "nl", "pl", "tr", "id", "vi")
# Letters that only one of the rivals writes: a hint worth a stop word each, up to a few.
_LETTERS: Final = {
    "de": "äöüß", "fr": "èêëçœûîàùâ", "es": "ñ¿¡íóúá", "pt": "ãõçêâ", "it": "àèìòù",
    "pl": "ąęłśżźćń", "tr": "ğışıç", "vi": "ăđơưạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹ",
}  # fmt: skip


def detect_language(text: str) -> str:
    """Return an ISO 639-1 code, ``und`` when unknown.

    Looks at the first 4,096 characters, code and markup set aside. A script that one language
    uses decides alone; languages that share a script are told apart by their stop words and
    by letters of their own. Too few words to tell, or code, is ``und``.
    """
    return _remembered_long(text[:_SAMPLE]) if len(text) > _SHORT else _remembered(text)


def same_language(text: str, other: str) -> bool:
    """Return whether nothing speaks against both texts being in one language.

    A text too short to tell counts by its script; one without letters is of every language.
    Ideographs alone may be Chinese or Japanese.
    """
    codes = {detect_language(text), detect_language(other)}
    if "und" not in codes:
        return len(codes) == 1 or codes == {"ja", "zh"}
    (script, n_letters), (other_script, n_others) = _main_script(text), _main_script(other)
    return not n_letters or not n_others or script == other_script


@lru_cache(maxsize=1024)
def _remembered(text: str) -> str:
    """Return the language of a short text: a question is looked at by every stage."""
    return _detect(text)


@lru_cache(maxsize=_LONG_KEPT)
def _remembered_long(sample: str) -> str:
    """Return the language of a long text, from its sample."""
    return _detect(sample)


def _detect(text: str) -> str:
    sample = _CODE_UNIT.sub(" ", _CODE.sub(" ", text))
    script, n_letters = _main_script(sample)
    if n_letters < _LEAST_LETTERS:
        return "und"
    if script in _ONE_LANGUAGE:
        return _ONE_LANGUAGE[script]
    if script == "han":
        return "zh"
    if script == "kana":
        return "ja"
    if script == "cyrillic":
        return "uk" if _score(sample, "uk") > _score(sample, "ru") else "ru"
    if script == "arabic":
        return _arabic(sample)
    return _latin(sample)


def _main_script(sample: str) -> tuple[str, int]:
    if sample.isascii():
        return "latin", sum(map(str.isalpha, sample))
    counts = {name: len(pattern.findall(sample)) for name, pattern in _patterns()}
    # One ideograph or syllable says as much as three letters of an alphabet.
    weighed = {n: c * 3 if n in ("han", "kana", "hangul") else c for n, c in counts.items()}
    script = max(weighed, key=lambda name: weighed[name])
    if script == "han" and counts["kana"] * 8 > counts["han"]:
        script = "kana"
    return script, counts[script]


@lru_cache(maxsize=1)
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((name, re.compile(f"[{letters}]")) for name, letters in _SCRIPTS.items())


def _arabic(sample: str) -> str:
    scores = {language: _score(sample, language) for language in ("ar", "fa", "ur")}
    scores["ur"] += 2 * len(re.findall("[ٹڈڑےںھہ]", sample))
    scores["fa"] += len(re.findall("[پچژگکی]", sample)) - len(re.findall("[ٹڈڑےںھہ]", sample))
    scores["ar"] += len(re.findall("[ةىأإيك]", sample))
    return max(scores, key=lambda language: scores[language])


def _latin(sample: str) -> str:
    words = [word.lower() for word in _WORD.findall(sample)]
    scores = {language: float(_matches(words, language)) for language in _LATIN_LANGUAGES}
    letters = Counter(sample.lower())
    for language, own in _LETTERS.items():
        scores[language] += min(sum(letters[letter] for letter in own), 2 + len(words) // 4) * 0.5
    best = max(scores, key=lambda language: scores[language])
    # One word is not enough for another language: many are names of things (os, pod, die).
    least = 1.0 if best == "en" else 1.5
    return best if scores[best] >= max(least, 0.06 * len(words)) else "und"


def _score(sample: str, language: str) -> int:
    return _matches([word.lower() for word in _WORD.findall(sample)], language)


def _matches(words: list[str], language: str) -> int:
    stops = stop_words(language)
    return sum(word in stops for word in words)
