"""What the research pass found, part by part, with the hits that say it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from fingerpost.retrieve.hybrid import searchable_text
from fingerpost.retrieve.question import Question
from fingerpost.retrieve.research_notes import COVERED, FOUND, Notes
from fingerpost.text.sentences import sentences
from fingerpost.types.evidence import Hit

_PLACES: Final = 2
_LOOKED_AT: Final = 3_000
_LONGEST: Final = 240
_ADDRESS: Final = re.compile(r"[a-z][a-z0-9+.-]*:(?://\S*|\S+)|\bwww\.\S*", re.IGNORECASE)
_MARKUP: Final = str.maketrans({"[": "(", "]": ")", "<": " ", ">": " ", "`": " ", "\\": " "})


def synthesis(parts: Sequence[str], notes: Notes, *, ended_early: bool) -> str:
    """Return one line for each part: what says most of it, with chunk ids, and what stays open.

    A line quotes up to two sentences, each followed by the id of its chunk in brackets; a part
    without any says ``nothing found``. Of a part that no hit covers well, the words that stand
    in none are named. What is quoted is inert: no markup and no address is left in it.
    """
    lines = [_line(part, notes) for part in parts]
    if ended_early:
        lines.append("The search ended before all was tried: the time was over.")
    return "\n".join(lines)


def _line(part: str, notes: Notes) -> str:
    question = notes.question(part)
    rated = [(question.coverage([searchable_text(hit)]), hit) for hit in notes.hits]
    rated.sort(key=lambda pair: (-pair[0], -pair[1].score, pair[1].chunk.id))
    best = [hit for share, hit in rated[:_PLACES] if share >= FOUND]
    said = [f'"{_sentence(hit, question)}" [{hit.chunk.id}]' for hit in best]
    line = f"{inert(part)}: {' '.join(said) or 'nothing found'}"
    missing = notes.missing_words(part) if best and rated[0][0] < COVERED else []
    return f"{line} Open: {inert(' '.join(missing))}." if missing else line


def _sentence(hit: Hit, question: Question) -> str:
    """Return the sentence of a hit that holds most of a question; a heading only when alone."""
    text = (hit.chunk.search_text or hit.chunk.text)[:_LOOKED_AT]
    headings = {*hit.chunk.heading_path, hit.document.title}
    said = [text[span.start : span.end] for span in sentences(text)] or [text]
    told = [one for one in said if one.lstrip("# ") not in headings]
    best = max(told or said, key=lambda one: question.coverage([one]))
    words = inert(best)
    return words if len(words) <= _LONGEST else words[: _LONGEST - 1].rsplit(" ", 1)[0] + "…"


def inert(text: str) -> str:
    """Return a text on one line without what a page or a terminal would act on."""
    plain = "".join(c if c.isprintable() else " " for c in text).translate(_MARKUP)
    return " ".join(_ADDRESS.sub("", plain).split())
