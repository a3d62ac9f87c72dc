"""Splitting a question of several parts, by rules, without leaving its language."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from fingerpost.text.analyse import query_tokens, topic_tokens, without_asking
from fingerpost.text.language import detect_language
from fingerpost.text.sentences import sentences

_MAX_CHARS = 2000
_FEWEST_TOKENS = 2
_TRIMMED = " \t\r\n.,;:!?¿¡。？！，、؟।"
_ITEM = re.compile(r"^\s*(?:[-*•]|\(?\d{1,2}[.)])\s+", re.MULTILINE)
_LISTED = re.compile(
    r"^(?P<head>.*?\s)(?P<items>[^,;?]{2,40}(?:,\s[^,;?]{2,40})+),?\s(?:and|und|et|y|e|и)\s"
    r"(?P<last>[^,;?]{2,40})$"
)
_LONGEST_ITEM = 3
_TAIL = re.compile(r"(?P<head>.*\S)\s+\((?P<tail>[^()]+)\)$", re.DOTALL)


@cache
def _cues() -> dict[str, Any]:
    raw = files("fingerpost.retrieve").joinpath("decompose.json").read_text("utf-8")
    cues: dict[str, Any] = json.loads(raw)
    return cues


@cache
def _patterns(kind: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(cue, re.IGNORECASE) for cue in _cues()[kind])


@cache
def _pronouns(language: str) -> re.Pattern[str]:
    """Return what finds a pronoun: one of another language is an article or a verb ('es')."""
    by_language = _cues()["pronouns"]
    if language == "und":
        language = "en"
    return re.compile(by_language.get(language, "(?!)"))


def decompose(text: str, most: int) -> list[str]:
    """Return the sub-questions of a question, in its own words; empty when it has one part.

    Every part is cut out of the question, so it stays in its language and script. A part that
    leans on an earlier one ('and how do I remove *it*') takes the leading words of that one.
    One that says nothing of its own ('and why?') is none.
    The question itself is not in the list: callers search it as well. Brackets that end the
    question name what all of it is about: they stay whole, behind every part.

    Args:
        text: The question.
        most: How many parts at most, >= 1.
    """
    head, tail = _without_tail(text[:_MAX_CHARS].strip())
    if not tail:
        return _parts(head, most)
    # A head that says nothing of its own ('yes, do it (compare A and B)') leaves the brackets.
    if len(query_tokens(head)) < _FEWEST_TOKENS and not _parts(head, most):
        return _parts(tail, most) if _asks(tail) else []
    return [f"{part} ({tail})" for part in _parts(head, most)]


def _without_tail(text: str) -> tuple[str, str]:
    """Return what stands before brackets that end the text, and what they hold, '' for none."""
    match = _TAIL.match(text)
    return (match["head"], match["tail"].strip()) if match else (text, "")


def _asks(tail: str) -> bool:
    """Return whether the brackets hold a comparison rather than names of a topic."""
    return bool(_compared(tail))


def _parts(text: str, most: int) -> list[str]:
    parts: list[str] = []
    for sentence in _sentences(text):
        for clause in _clauses(sentence):
            parts += _compared(clause) or _listed(clause) or [clause]
    whole = _key(text)
    leaning = _standalone([part.strip(_TRIMMED) for part in parts], detect_language(text))
    kept = {_key(part): part for part in leaning if topic_tokens(part) and _key(part) != whole}
    return list(kept.values())[:most] if len(kept) > 1 else []


def _sentences(text: str) -> Iterator[str]:
    for line in _ITEM.sub("", text).splitlines():
        for span in sentences(line):
            yield line[span.start : span.end]


def _clauses(sentence: str) -> list[str]:
    clauses = [sentence]
    for pattern in _patterns("joined"):
        pieces = [piece for clause in clauses for piece in pattern.split(clause)]
        if all(len(query_tokens(piece)) > 0 for piece in pieces):
            clauses = pieces
    return [piece for clause in clauses for piece in clause.split("; ") if piece.strip()]


def _compared(clause: str) -> list[str]:
    """Return one query for each side of a comparison, with what both are compared in."""
    bare = clause.strip(_TRIMMED)
    for pattern in _patterns("compared"):
        match = pattern.search(bare)
        if match is None:
            continue
        groups = match.groupdict()
        rest = (groups.get("rest") or "").strip(_TRIMMED)
        sides = [groups["a"].strip(_TRIMMED), groups["b"].strip(_TRIMMED)]
        if all(query_tokens(side) for side in sides):
            return [f"{side} {rest}".strip() for side in sides]
    return []


def _listed(clause: str) -> list[str]:
    """Return one query for each of at least three things of a list ('set up A, B and C')."""
    match = _LISTED.match(clause.strip(_TRIMMED))
    if match is None:
        return []
    items = [*match["items"].split(","), match["last"]]
    # The first item still carries the verb and its object's article: the last words are it.
    if any(len(item.split()) > _LONGEST_ITEM for item in items):
        return []
    return [f"{match['head']}{item.strip()}" for item in items]


def _standalone(parts: Sequence[str], language: str) -> list[str]:
    whole: list[str] = []
    subject = ""
    for part in parts:
        whole.append(f"{part} {subject}" if subject and _leans(part, language) else part)
        subject = subject or _subject(part)
    return whole


def _leans(part: str, language: str) -> bool:
    """Return whether a part says too little of its own; a single word is a name."""
    # A capital inside the part marks no pronoun: the German "Sie" is the one spoken to.
    pronoun = _pronouns(language).search(part[:1].casefold() + part[1:])
    if pronoun is not None and len(pronoun.group()) < len(part):
        return True
    return len(part.split()) > 1 and len(query_tokens(part)) < _FEWEST_TOKENS


def _subject(part: str) -> str:
    """Return the telling words of a part, at most four, as written."""
    words = [word.strip(_TRIMMED) for word in without_asking(part).split()]
    telling = set(topic_tokens(part))
    kept = [word for word in words if word and telling.intersection(query_tokens(word))]
    return " ".join(kept[-4:])


def _key(text: str) -> str:
    return " ".join(text.casefold().strip(_TRIMMED).split())
