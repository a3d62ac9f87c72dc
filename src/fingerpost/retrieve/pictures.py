"""Passages of the corpus that show pictures, found by what is said of them."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from fingerpost.retrieve.hybrid import HybridResult
from fingerpost.retrieve.question import token_set
from fingerpost.retrieve.run import Run
from fingerpost.types.evidence import Hit

_PICTURE: Final = re.compile(
    r"!\[(?P<alt>[^\]\n]{0,300})\]\([^)\n]{1,500}\)"
    r"|<(?:img|video|audio|figure)\b(?P<tag>[^>\n]{0,500})>"
    r"|^\.\. (?:image|figure)::(?P<rst>[^\n]{0,300})",
    re.IGNORECASE | re.MULTILINE,
)
_READ: Final = 60


def pictured(run: Run, found: HybridResult) -> list[Hit]:
    """Return the passages with a picture whose words speak of the question, best first.

    What a picture shows is not looked at: only its alternative text, its file's name and the
    passage around it.

    Args:
        run: The retrieval in flight.
        found: The hybrid search; its best 60 candidates are looked through.
    """
    wide = run.search(found.question, _READ)
    question = found.question
    hits = []
    for hit in wide.hits:
        told = " ".join(_told(hit.chunk.text))
        if not told:
            continue
        share = question.coverage([told])
        names = token_set(told) & frozenset(question.topic)
        note = f"shows a picture; its words have {len(names)} of the question's"
        hits.append(replace(hit, score=hit.score * (0.5 + 0.5 * share), note=note))
    return sorted(hits, key=lambda hit: -hit.score)


def _told(text: str) -> list[str]:
    """Return what is said of each picture of a passage."""
    return [match["alt"] or match["tag"] or match["rst"] or "picture"
            for match in _PICTURE.finditer(text)]  # fmt: skip
