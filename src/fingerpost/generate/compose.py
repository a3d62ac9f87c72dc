"""Chosen units written as an answer, each with its marker."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from fingerpost.generate.units import LISTED, Unit, UnitKind
from fingerpost.types import Answer, Citation, GenerationMode, Hit, Span

# A marker stands before the final stop, but behind a colon: `[1]:` would define a link.
_STOP = re.compile(r"(?<![.!?])([.!?]|[。！？؟।])$")
_WIDE = "。！？"
_LANGUAGE = re.compile(r"[A-Za-z0-9_+#.-]{1,20}")
# Blocks that some viewers run or draw instead of showing them.
_DRAWN = frozenset({"mermaid", "math", "html", "svg", "geojson", "topojson", "stl", "plantuml"})


@dataclass(slots=True)
class Composition:
    """An answer in the making.

    Attributes:
        hits: The evidence's hits; units name them by position.
    """

    hits: Sequence[Hit]
    _parts: list[str] = field(default_factory=list)
    _length: int = 0
    _citations: list[Citation] = field(default_factory=list)
    _chunks: list[str] = field(default_factory=list)
    _last: Unit | None = None

    def heading(self, text: str) -> None:
        """Start a part of the answer under a heading."""
        self._write(("\n\n" if self._parts else "") + f"### {text}")
        self._last = None

    def units(
        self, units: Iterable[Unit], left_out: Mapping[tuple[int, int], int] | None = None
    ) -> None:
        """Write units in the order given; the caller brings them into reading order.

        Args:
            units: What to write.
            left_out: Behind which units to say how many items of their list are missing.
        """
        for unit in units:
            if self._parts:
                self._write(self._joint(unit))
            if unit.kind is UnitKind.CODE:
                self._code(unit)
            else:
                self._prose(unit)
            self._last = unit
            missing = (left_out or {}).get((unit.hit, unit.order))
            if missing:
                self._write(f"\n\n… +{missing}")

    def answer(self) -> Answer:
        """Return what was written."""
        return Answer(
            text="".join(self._parts),
            mode=GenerationMode.EXTRACTIVE,
            citations=tuple(self._citations),
            cited_chunk_ids=tuple(self._chunks),
        )

    def _write(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)

    def _joint(self, unit: Unit) -> str:
        """Return what parts a unit from the one before."""
        last = self._last
        if last is None:
            return "\n\n"
        if last.hit != unit.hit:
            return "\n" if self._is_list_going_on(last, unit) else "\n\n"
        plain = UnitKind.SENTENCE
        if last.kind is plain and unit.kind is plain and last.group == unit.group:
            return "" if last.text.endswith(tuple(_WIDE)) else " "
        return "\n" if last.kind in LISTED and unit.kind in LISTED else "\n\n"

    def _is_list_going_on(self, last: Unit, unit: Unit) -> bool:
        """Return whether a list that one chunk ends in goes on at the start of the next."""
        before, here = self.hits[last.hit].chunk, self.hits[unit.hit].chunk
        after = self.hits[last.hit].next_ordinal
        place = (before.document_id, after, before.heading_path)
        follows = place == (here.document_id, here.ordinal, here.heading_path)
        return follows and not unit.order and last.kind is unit.kind and unit.kind in LISTED

    def _prose(self, unit: Unit) -> None:
        """Write a sentence, item, step or row with its marker before the final stop."""
        bullet = f"{unit.number or 1}. " if unit.kind is UnitKind.STEP else "- "
        self._write("" if unit.kind is UnitKind.SENTENCE else bullet)
        stop = _STOP.search(unit.text)
        at = stop.start() if stop else len(unit.text)
        self._write(unit.text[:at] + ("" if unit.text[at:] and unit.text[at] in _WIDE else " "))
        self._mark(unit)
        self._write(unit.text[at:])

    def _code(self, unit: Unit) -> None:
        """Write a fence that its content cannot close.

        The sentence, item or step that introduces it shares its marker when it stands right
        above: one citation, whose quote reaches over both. Else the marker follows the code.
        """
        runs = [len(found) for found in re.findall(r"`{3,}", unit.text)]
        fence = "`" * max([3, *(run + 1 for run in runs)])
        named = _LANGUAGE.fullmatch(unit.language)
        language = unit.language if named and unit.language.lower() not in _DRAWN else ""
        self._write(f"{fence}{language}\n{unit.text}\n{fence}")
        last = self._last
        if last is not None and (last.hit, last.order) == (unit.hit, unit.lead):
            both = Span(last.quote.start, unit.quote.end)
            self._citations[-1] = replace(self._citations[-1], quote=both)
            return
        self._write("\n")
        self._mark(unit)

    def _mark(self, unit: Unit) -> None:
        chunk = self.hits[unit.hit].chunk.id
        if chunk not in self._chunks:
            self._chunks.append(chunk)
        number = self._chunks.index(chunk) + 1
        marker = f"[{number}]"
        span = Span(self._length, self._length + len(marker))
        self._citations.append(Citation(marker, number, span, unit.quote))
        self._write(marker)


def reading_order(units: Sequence[Unit], hits: Sequence[Hit]) -> list[Unit]:
    """Return the units by document, the document of the best unit first, then by position.

    Args:
        units: Best first.
        hits: The evidence's hits.
    """
    documents: dict[str, int] = {}
    for unit in units:
        documents.setdefault(hits[unit.hit].document.id, len(documents))
    return sorted(
        units,
        key=lambda unit: (documents[hits[unit.hit].document.id], unit.quote, unit.hit),
    )
