"""Verbatim quotes: a claim that stands in the source word for word."""

from __future__ import annotations

import re
from functools import lru_cache

from fingerpost.types.document import Span
from fingerpost.verify.negation import polarity
from fingerpost.verify.words import words

_MARKUP = r"[\s*_`>|#]"
_EDGE = "*_`>|#\"'“”«»"
_TRIMMED = " \t\n.。!！;；,，"
_SHORTEST = 2
_CLAUSE = re.compile(r"[.!?:;。！？：；\n|•]|(?:^|\n)\s*[-*+]\s")
# Words around a quotation that may take back what it says.
_DOUBT = re.compile(
    r"\b(?:if|unless|whether|except|false|wrong|myth|incorrect|untrue|claim(?:s|ed)?|suppose|allegedly"
    r"|hardly|only|when|where|quand|lorsque|cuando|until|before|wenn|falls|falsch|si|faux|falso|excepto|sauf|außer)\b",
    re.IGNORECASE,
)


def find_quote(claim: str, source: str) -> Span | None:
    """Return where the claim stands in the source word for word, ``None`` when it does not.

    White space, Markdown emphasis and final punctuation may differ, nothing else. A claim that
    is only part of a longer clause is no quote when the rest negates, limits or doubts it.
    """
    tokens = [token for raw in claim.strip(_TRIMMED).split() if (token := raw.strip(_EDGE))]
    if len(tokens) < _SHORTEST and len(claim) < 12:  # noqa: PLR2004 - one short word is no quote
        return None
    first = tokens[0]
    if first not in source and first.capitalize() not in source and first.lower() not in source:
        return None
    if not all(token in source for token in tokens[1:]):
        return None
    pattern = _pattern(tuple(tokens))
    for match in pattern.finditer(source):
        if _undoubted(source, match.start(), match.end()):
            return Span(match.start(), match.end())
    return None


@lru_cache(maxsize=256)
def _pattern(tokens: tuple[str, ...]) -> re.Pattern[str]:
    first, *others = tokens
    return re.compile(
        rf"(?<![\w.,+-])(?<!\w['’]){_either_case(first)}"
        + "".join(rf"(?:{_MARKUP}|[\"'“”«»])+{re.escape(token)}" for token in others)
        + r"(?![\w%°]|[.,'’-]\w)"
    )


def _either_case(token: str) -> str:
    """Return a pattern for the token, its first letter in either case."""
    initial = token[0]
    if not initial.isalpha():
        return re.escape(token)
    return f"(?:{re.escape(initial.lower())}|{re.escape(initial.upper())}){re.escape(token[1:])}"


def _undoubted(source: str, start: int, end: int) -> bool:
    """Return whether the clause around the quotation leaves its meaning alone."""
    before_start = 0
    for match in _CLAUSE.finditer(source, max(0, start - 300), start):
        before_start = match.end()
    after = _CLAUSE.search(source, end, end + 300)
    prefix = source[max(before_start, start - 300) : start]
    suffix = source[end : after.start() if after else min(len(source), end + 300)]
    rest = f"{prefix} {suffix}".strip()
    if not rest or not any(mark.isalnum() for mark in rest):
        return True
    return not _DOUBT.search(rest) and not polarity(rest, words(rest)).any
