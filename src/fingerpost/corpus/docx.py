"""Word files: headings by their styles, lists, tables, and the pages Word last laid out."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from fingerpost.corpus.writing import Writing

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_MATH = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
# A text box stands twice; what was moved or deleted stands still where it was.
_PASSED = frozenset({_FALLBACK, f"{_W}moveFrom", f"{_W}del", f"{_W}tabs"})
_HEADING = re.compile(r"heading (\d)", re.IGNORECASE)
_WORDS = {
    f"{_W}t": "",
    f"{_MATH}t": "",
    f"{_W}tab": "\t",
    f"{_W}br": "\n",
    f"{_W}cr": "\n",
    f"{_W}noBreakHyphen": "-",
}
_NOTES = ("footnotes", "endnotes")
_MAX_STYLES_ABOVE = 10


def read_docx(raw: bytes) -> Writing:
    """Return the text of a Word file; what tracked changes deleted or moved away is left out.

    Raises:
        Exception: It is broken; what is raised is the library's.
    """
    import docx  # noqa: PLC0415 - comes with an extra

    document: Any = docx.Document(io.BytesIO(raw))
    writing = Writing((document.core_properties.title or "").strip())
    body = document.element.body
    reader = _Reader(writing, _style_names(document))
    if next(body.iter(f"{_W}lastRenderedPageBreak"), None) is not None:
        writing.page()
        reader.has_pages = True
    for block in _outermost(body, f"{_W}p", f"{_W}tbl"):
        reader.write(block)
    for name in _NOTES:
        _write_notes(document, name, writing)
    return writing


def _outermost(parent: Any, *tags: str) -> Iterator[Any]:
    """Yield what has one of some tags and is inside no other such, however deep it stands."""
    waiting = [iter(parent)]
    while waiting:
        child = next(waiting[-1], None)
        if child is None:
            waiting.pop()
        elif child.tag in tags:
            yield child
        elif isinstance(child.tag, str):
            waiting.append(iter(child))


def _style_names(document: Any) -> dict[str, str]:
    """Return the names of styles by their ids; one made from a heading has that one's name."""
    names: dict[str, str] = {}
    above: dict[str, str] = {}
    for style in document.styles:
        names[style.style_id] = style.name or ""
        base = style.element.find(f"{_W}basedOn")
        above[style.style_id] = base.get(f"{_W}val") if base is not None else ""
    found = dict(names)
    for style_id, name in names.items():
        base_id = style_id
        for _ in range(_MAX_STYLES_ABOVE):
            base_id = above.get(base_id, "")
            if name != "TOC Heading" and _is_heading(names.get(base_id, "")):
                found[style_id] = name if _is_heading(name) else names[base_id]
                break
    return found


def _is_heading(name: str) -> bool:
    return name == "Title" or _HEADING.fullmatch(name) is not None


@dataclass(slots=True)
class _Reader:
    writing: Writing
    styles: dict[str, str]
    has_pages: bool = False

    def write(self, block: Any) -> None:
        n_pages = 0
        if self.has_pages:
            n_pages = sum(1 for _ in block.iter(f"{_W}lastRenderedPageBreak"))
        if block.tag == f"{_W}tbl":
            self._table(block)
        else:
            n_pages -= self._paragraph(block, n_pages)
        for _ in range(n_pages):
            self.writing.page()

    def _paragraph(self, block: Any, n_pages: int) -> int:
        """Write a paragraph; return how many page breaks at its very start are done with."""
        text = _text(block)
        style = block.find(f"{_W}pPr/{_W}pStyle")
        name = self.styles.get(style.get(f"{_W}val"), "") if style is not None else ""
        first = 1 if n_pages and _begins_page(block) else 0
        if first:
            self.writing.page()
        if _is_heading(name):
            heading = _HEADING.fullmatch(name)
            self.writing.heading(text, int(heading[1]) if heading else 1)
        elif block.find(f"{_W}pPr/{_W}numPr") is not None or name.startswith("List"):
            level = block.find(f"{_W}pPr/{_W}numPr/{_W}ilvl")
            depth = (level.get(f"{_W}val") or "")[:2] if level is not None else ""
            self.writing.item(text, min(int(depth), 8) if depth.isdecimal() else 0)
        else:
            self.writing.prose(text)
        return first

    def _table(self, block: Any) -> None:
        rows = [
            [
                " ".join(_text(one) for one in _outermost(cell, f"{_W}p"))
                for cell in _outermost(row, f"{_W}tc")
            ]
            for row in _outermost(block, f"{_W}tr")
        ]
        self.writing.table(rows)


def _begins_page(block: Any) -> bool:
    """Tell whether a page break stands before the first word of a paragraph."""
    for one in block.iter():
        if one.tag == f"{_W}lastRenderedPageBreak":
            return True
        if one.tag == f"{_W}t" and one.text:
            return False
    return False


def _text(block: Any) -> str:
    """Return the words of a paragraph or a note, those of a paragraph inside it on own lines."""
    parts: list[str] = []
    last = None
    for one in block.iter(*_WORDS):
        above = list(one.iterancestors())
        if any(element.tag in _PASSED for element in above):
            continue
        own = next((element for element in above if element.tag == f"{_W}p"), None)
        if parts and own is not last:
            parts.append("\n")
        last = own
        parts.append(_WORDS[one.tag] or one.text or "")
    return "".join(parts)


def _write_notes(document: Any, name: str, writing: Writing) -> None:
    from docx.oxml import parse_xml  # noqa: PLC0415 - comes with an extra

    for relation in document.part.rels.values():
        if relation.reltype.endswith(f"/{name}") and not relation.is_external:
            notes = [_text(note).strip() for note in parse_xml(relation.target_part.blob)]
            for note in notes:
                if note:
                    writing.prose(f"Note: {note}")
