"""The anchors that renderers make of headings.

Renderers differ, and a corpus does not say which one publishes it. An anchor counts as there
when one of them would make it: GitHub, Docusaurus and Astro (every blank a hyphen, also at the
ends), Python-Markdown (runs of blanks and hyphens are one, accents taken off), kramdown (nothing
before the first letter), Markdig (``section`` where no letter is left), VitePress and VuePress
(every other mark a hyphen, accents taken off, ``_`` before a digit at the start). A repeated one
gets ``-1``, ``-2`` or ``_1``, ``_2`` behind it.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable

from fingerpost.text.anchors import anchor_of

_DROPPED = re.compile(r"[^\w\- ]")
_RUNS = re.compile(r"[-\s]+")
_BEFORE_LETTER = re.compile(r"^[^A-Za-z]+")
_EDGES = "-_"
_MARKS = re.compile(r"[\s~`!@#$%^&*()\-_+=\[\]{}|\\;:\"'“”‘’<>,.?/]+")
_ACCENTS = re.compile(r"[\u0300-\u036f]")


def anchors_of(headings: Iterable[str]) -> frozenset[str]:
    """Return every anchor that may lead to one of a page's headings, in lower case.

    Args:
        headings: Their plain text, in reading order.
    """
    seen: Counter[str] = Counter()
    found: set[str] = set()
    for heading in headings:
        for slug in _slugs(heading):
            n_before = seen[slug]
            seen[slug] += 1
            found |= {slug} if not n_before else {f"{slug}-{n_before}", f"{slug}_{n_before}"}
    return frozenset(found)


def _slugs(heading: str) -> set[str]:
    plain = anchor_of(heading)
    edged = _DROPPED.sub("", heading.casefold()).replace(" ", "-")
    closed = _RUNS.sub("-", plain).strip(_EDGES)
    flat = unicodedata.normalize("NFKD", closed).encode("ascii", "ignore").decode()
    bare = _BEFORE_LETTER.sub("", plain)
    slugs = {plain, edged, closed, flat, bare, plain.strip(_EDGES), _marks_as_hyphens(heading)}
    return (slugs - {""}) or {"section"}


def _marks_as_hyphens(heading: str) -> str:
    """Return the anchor that VitePress and VuePress make."""
    letters = _ACCENTS.sub("", unicodedata.normalize("NFKD", heading.casefold()))
    slug = _MARKS.sub("-", letters).strip("-")
    return f"_{slug}" if slug[:1].isdigit() else slug
