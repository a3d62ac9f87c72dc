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
_HEADING = re.compile(r"heading (\d)", re.IGNORECASE)
_WORDS = {
    f"{_W}t": "",
    f"{_W}tab": "\t",
    f"{_W}br": "\n",
    f"{_W}cr": "\n",
    f"{_W}noBreakHyphen": "-",
}
_NOTES = ("footnotes", "endnotes")
_MAX_DEPTH = 32


def read_docx(raw: bytes) -> Writing:
    """Return the text of a Word file, deleted text of tracked changes left out.

    Raises:
        Exception: It is broken; what is raised is the library's.
    """
    import docx  # noqa: PLC0415 - comes with an extra

    document: Any = docx.Document(io.BytesIO(raw))
    writing = Writing((document.core_properties.title or "").strip())
    body = document.element.body
    reader = _Reader(writing, {style.style_id: style.name for style in document.styles})
    if next(body.iter(f"{_W}lastRenderedPageBreak"), None) is not None:
        writing.page()
        reader.has_pages = True
    for kind in _blocks(body, 0):
        reader.write(kind)
    for name in _NOTES:
        _write_notes(document, name, writing)
    return writing


def _blocks(parent: Any, depth: int) -> Iterator[Any]:
    """Yield paragraphs and tables, those inside content controls and changes too."""
    for child in parent:
        if child.tag in (f"{_W}p", f"{_W}tbl"):
            yield child
        elif isinstance(child.tag, str) and depth < _MAX_DEPTH:
            yield from _blocks(child, depth + 1)


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
        heading = _HEADING.fullmatch(name)
        if name == "Title" or heading:
            self.writing.heading(text, int(heading[1]) if heading else 1)
        elif block.find(f"{_W}pPr/{_W}numPr") is not None or name.startswith("List"):
            level = block.find(f"{_W}pPr/{_W}numPr/{_W}ilvl")
            depth = int(level.get(f"{_W}val") or 0) if level is not None else 0
            self.writing.item(text, min(depth, 8))
        else:
            self.writing.prose(text)
        return first

    def _table(self, block: Any) -> None:
        rows = [
            [" ".join(_text(one) for one in cell.iter(f"{_W}p")) for cell in row.iter(f"{_W}tc")]
            for row in block.iter(f"{_W}tr")
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
    """Return the words of a paragraph; a text box stands twice, and is read once."""
    parts = []
    for one in block.iter(*_WORDS):
        if any(above.tag == _FALLBACK for above in one.iterancestors()):
            continue
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
