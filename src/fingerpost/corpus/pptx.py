"""PowerPoint files: a slide is a section; its notes belong to it."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

from fingerpost.corpus.writing import Writing

_COMPATIBILITY = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_TITLE_LEVEL = 2
_MAX_GROUPS = 16


def read_pptx(raw: bytes) -> Writing:
    """Return the text of a presentation: titles, texts, tables and notes of its slides.

    Words in charts, pictures and SmartArt are not read.

    Raises:
        Exception: It is broken; what is raised is the library's.
    """
    import pptx  # noqa: PLC0415 - comes with an extra

    presentation: Any = pptx.Presentation(io.BytesIO(raw))
    writing = Writing((presentation.core_properties.title or "").strip())
    for slide in presentation.slides:
        writing.page()
        _unwrap(slide.element)
        title = slide.shapes.title
        if title is not None and title.text_frame.text.strip():
            writing.heading(title.text_frame.text, _TITLE_LEVEL)
        for shape in _shapes(slide.shapes, 0):
            # Slides that were put together by tools repeat their numbers.
            if title is None or shape.element is not title.element:
                _write(shape, writing)
        if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
            notes = slide.notes_slide.notes_text_frame.text.strip()
            if notes:
                writing.prose(f"Notes: {notes}")
    return writing


def _unwrap(slide: Any) -> None:
    """Put shapes that newer programs alone can draw whole in the place of their alternatives."""
    for wrapper in list(slide.iter(f"{_COMPATIBILITY}AlternateContent")):
        choice = wrapper.find(f"{_COMPATIBILITY}Choice")
        for child in list(choice) if choice is not None else []:
            wrapper.addprevious(child)
        wrapper.getparent().remove(wrapper)


def _shapes(shapes: Any, depth: int) -> Iterator[Any]:
    for shape in shapes:
        if depth < _MAX_GROUPS and hasattr(shape, "shapes"):
            yield from _shapes(shape.shapes, depth + 1)
        else:
            yield shape


def _write(shape: Any, writing: Writing) -> None:
    if getattr(shape, "has_table", False):
        writing.table([[cell.text for cell in row.cells] for row in shape.table.rows])
    elif shape.has_text_frame:
        for paragraph in shape.text_frame.paragraphs:
            if shape.is_placeholder:
                writing.item(paragraph.text, paragraph.level)
            else:
                writing.prose(paragraph.text)
