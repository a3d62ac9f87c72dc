"""The list of sources that a text may end with: which document each of its markers names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from fingerpost.verify.markers import find_markers
from fingerpost.verify.words import UNSPACED

_ENTRY = re.compile(
    r"[ \t]*(?:[-*+•][ \t]+)?(?:[\[［【]\^?(?P<marker>\d{1,3})[\]］】]:?|(?P<plain>\d{1,3})[.)])"
    r"[ \t]*(?P<said>\S.*)"
)
_PLACE = re.compile(
    r"https?://|\]\(|[\w-]+\.(?:mdx?|rst|txt|html?|ipynb|adoc|pdf)\b", re.IGNORECASE
)
_STOPS = re.compile(r"[.!?。！？…]\W*$")
_FENCE = re.compile(r"[ \t]*(?:`{3,}|~{3,})")
_ITEM = re.compile(r"[-+•|>]|\*\s|\d{1,3}[.)]\s")
_LONGEST_HEADING = 40
_MOST_WORDS = 3
_UNSPACED = re.compile(f"[{UNSPACED}]")
_MOST_SIGNS = 8


class ListedSources(NamedTuple):
    """A text and what its list of sources says.

    Attributes:
        body: The text with blanks in the place of the list, so that offsets stay.
        entries: Marker → what the list says of it, as written; empty without a list.
    """

    body: str
    entries: dict[int, str]


class _Line(NamedTuple):
    start: int
    text: str
    number: int | None
    said: str


def listed_sources(text: str) -> ListedSources:
    """Return the text without its list of sources, and the list.

    A list is a run of lines that begin with ``[1]``, ``[^1]:`` or ``1.`` and either stand under
    a line that is no sentence, as a heading is, or each name a file or an address. The last one
    of the text counts; lines that begin with a plain number must name a file or an address.
    """
    lines = _lines(text)
    end = len(lines)
    while end:
        first = end - 1
        if lines[first].number is None:
            end = first
            continue
        while first > 0 and (lines[first - 1].number is not None or not lines[first - 1].text):
            first -= 1
        while not lines[first].text:
            first += 1
        entries = [line for line in lines[first:end] if line.number is not None]
        heading = _heading(lines, first)
        if heading is not None or all(_PLACE.search(line.said) for line in entries):
            start = lines[first if heading is None else heading].start
            stop = lines[end].start if end < len(lines) else len(text)
            said = {line.number: line.said for line in entries if line.number is not None}
            return ListedSources(text[:start] + _blank(text[start:stop]) + text[stop:], said)
        end = first
    return ListedSources(text, {})


def _lines(text: str) -> list[_Line]:
    found, at, fenced = [], 0, False
    for raw in text.splitlines(keepends=True):
        fence = _FENCE.match(raw) is not None
        entry = None if fence or fenced else _ENTRY.fullmatch(raw.rstrip())
        fenced ^= fence
        if entry is not None and entry["marker"] is None and not _PLACE.search(entry["said"]):
            entry = None
        number = None if entry is None else int(entry["marker"] or entry["plain"])
        found.append(_Line(at, raw.strip(), number, "" if entry is None else entry["said"]))
        at += len(raw)
    return found


def _heading(lines: Sequence[_Line], first: int) -> int | None:
    """Return the line above that heads the list, ``None`` when there is none."""
    above = next((at for at in range(first - 1, -1, -1) if lines[at].text), None)
    if above is None or _FENCE.match(lines[above].text):
        return None
    return above if _is_heading(lines[above].text) else None


def _is_heading(line: str) -> bool:
    """Return whether the line only names what follows, so that no claim is taken for it."""
    bare = line.strip("#*_=: ")
    if not 0 < len(bare) <= _LONGEST_HEADING or _STOPS.search(bare):
        return False
    told = line.startswith("#") or line.rstrip("*_ ").endswith((":", "："))
    few_words = len(bare.split()) <= _MOST_WORDS and not any(map(str.isdigit, bare))
    few_words = few_words and len(_UNSPACED.findall(bare)) <= _MOST_SIGNS
    return (told or few_words) and not (_ITEM.match(line) or find_markers(line))


def _blank(text: str) -> str:
    return "".join(sign if sign in "\r\n" else " " for sign in text)
