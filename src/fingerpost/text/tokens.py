"""How many tokens a text has for an embedding model, without the model."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["estimate_tokens"]

# A word-piece vocabulary made for English keeps its words whole and breaks all others, code
# included, into pieces of about four letters. How English a text is shows in its smallest
# words; the pairs are (least share of these among the blanks, letters of a piece).
_ENGLISH: Final = (" the ", " to ", " of ", " and ", " is ", " for ")
_LETTERS: Final = ((0.12, 7), (0.06, 6), (0.022, 5), (0.008, 4), (0.0, 3))
_FOREIGN: Final = 3
_LATIN_ACCENT: Final = re.compile("[\u00c0-\u024f\u1e00-\u1eff]")
# Vowel signs are dropped by the tokenizer; letters of South-East Asian scripts share a piece.
_SHARING: Final = r"\u0e00-\u109f\u1780-\u17ff\u2500-\u257f"
_DROPPED: Final = r"\u0901\u0902\u093a\u093c\u0941-\u0948\u094d"
_OTHER: Final = rf"[^\x00-\x7f{_DROPPED}{_SHARING}]"
_PATTERNS: Final = {
    letters: re.compile(
        rf"[A-Za-z]{{1,{letters}}}|[0-9]{{1,2}}|[!-/:-@\[-`{{-~]|{_OTHER}"
        rf"|[{_SHARING}]{{1,2}}"
    )
    for _, letters in _LETTERS
}
# Keys, digests and base64: letters and digits in no order, of which few share a piece.
_LONG_WORD: Final = 20
_RANDOM: Final = re.compile(r"(?<![A-Za-z0-9])(?=[A-Za-z]*[0-9])(?=[0-9]*[A-Za-z])[A-Za-z0-9]{20,}")
_LETTERS_RANDOM: Final = 1.35
_HANGUL: Final = re.compile("[\uac00-\ud7a3]")
_EXTRA_PER_HANGUL: Final = 1.4  # a syllable is taken apart into two or three letters


# ASCII text by kind: letters, digits, signs that are tokens of their own, everything else.
_KINDS: Final = bytes(
    ord("a")
    if chr(code).isalpha()
    else ord("0")
    if chr(code).isdigit()
    else ord("!")
    if "!" <= chr(code) <= "~"
    else ord(" ")
    for code in range(128)
).ljust(256)


def estimate_tokens(text: str) -> int:
    """Return an estimate that is seldom below the true number.

    Counts for the word-piece vocabulary of MiniLM, special tokens excluded. Linear, without
    state: the estimate of a text is at least about the sum of those of its parts, less one
    each.
    """
    words = text.split()
    if max(map(len, words), default=0) >= _LONG_WORD:
        n_random = sum(map(len, _RANDOM.findall(text)))
        if n_random:
            return int(n_random / _LETTERS_RANDOM) + estimate_tokens(_RANDOM.sub(" ", text))
    blanks = text.count(" ")
    share = sum(map(text.count, _ENGLISH)) / (blanks + 1)
    letters = next(letters for least, letters in _LETTERS if share >= least)
    if text.isascii():
        return _ascii_count(text, letters + 1 if letters == _FOREIGN else letters)
    if letters == _FOREIGN and _LATIN_ACCENT.search(text) is None:
        letters += 1  # code, rather than another language
    count = len(_PATTERNS[letters].findall(text))
    return count + int(_EXTRA_PER_HANGUL * len(_HANGUL.findall(text)))


def _ascii_count(text: str, letters: int) -> int:
    """Return the count of the pattern for ``letters``, by whole-text operations, twice as fast.

    Each run of letters is padded to a multiple of ``letters`` and counted in pieces; digits the
    same by two.
    """
    kinds = text.encode("ascii").translate(_KINDS)
    count = kinds.count(b"!")
    runs = kinds.replace(b"!", b" ").replace(b"a0", b"a 0").replace(b"0a", b"0 a") + b" "
    padded = runs.replace(b"a ", b"a" * letters + b" ")
    count += padded.count(b"a" * letters)
    return count + runs.replace(b"0 ", b"00 ").count(b"00")
