"""The pieces of a page that speak to a question."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import unescape
from typing import Final

from fingerpost.lanes.web.page import Page
from fingerpost.text.analyse import analyse, query_tokens
from fingerpost.text.html import read_html

__all__ = ["Piece", "best_pieces", "pieces_of"]

MAX_CHARS: Final = 1_500
"""Most characters of a piece."""
_FULL: Final = 900
_READ: Final = 150_000
_MOST: Final = 300
_HEADING: Final = re.compile(r"#{1,6}\s+(.+?)\s*#*")
_PARAGRAPH: Final = re.compile(r"\n[ \t]*\n")


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a page.

    Attributes:
        heading: That it stands under, empty when none.
        text: Not blank.
    """

    heading: str
    text: str


def pieces_of(page: Page) -> list[Piece]:
    """Return what a reader sees of a page, in pieces that end with blocks; none of an empty one.

    The first 150,000 characters of a page are read.
    """
    pieces: list[Piece] = []
    heading, gathered = "", ""
    for is_heading, text in _blocks(page):
        if gathered and (is_heading or len(gathered) + len(text) > _FULL):
            pieces.append(Piece(heading, gathered))
            gathered = ""
        if is_heading:
            heading = " ".join(text.split())
            continue
        gathered = f"{gathered}\n\n{text}" if gathered else text
        while len(gathered) > MAX_CHARS:
            cut = gathered.rfind(" ", _FULL, MAX_CHARS) + 1 or MAX_CHARS
            pieces.append(Piece(heading, gathered[:cut].rstrip()))
            gathered = gathered[cut:]
    if gathered.strip():
        pieces.append(Piece(heading, gathered))
    return pieces[:_MOST]


def best_pieces(question: str, pages: Sequence[Sequence[Piece]], n: int) -> list[list[Piece]]:
    """Return the pieces of each page that hold most of the question, best first, at most ``n``.

    A word counts by how few of all pieces hold it. A piece that holds none is left out.
    """
    wanted = set(query_tokens(question))
    held = [
        [wanted.intersection(analyse(f"{one.heading}\n{one.text}")) for one in some]
        for some in pages
    ]
    holding = Counter(token for some in held for tokens in some for token in tokens)
    total = 1 + sum(map(len, held))
    weight = {token: math.log(1 + total / count) for token, count in holding.items()}
    best = []
    for pieces, tokens in zip(pages, held, strict=True):
        rated = [(sum(weight[t] for t in some), place) for place, some in enumerate(tokens)]
        rated.sort(key=lambda pair: (-pair[0], pair[1]))
        best.append([pieces[place] for score, place in rated[:n] if score > 0])
    return best


def _blocks(page: Page) -> Iterator[tuple[bool, str]]:
    """Yield the blocks of a page that hold text, and whether each is a heading."""
    if page.kind == "html":
        found = read_html(page.text[:_READ])
        lines = found.weave.text().split("\n")
        for block in found.blocks:
            text = unescape("\n".join(lines[block.start : block.end])).strip()
            if text:
                yield block.kind == "heading", block.title or text
        return
    for part in _PARAGRAPH.split(page.text[:_READ].replace("\r\n", "\n")):
        match = _HEADING.fullmatch(part.strip())
        if match is not None:
            yield True, match.group(1)
        elif part.strip():
            yield False, part.strip()
