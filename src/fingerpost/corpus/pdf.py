"""PDF files: the text of each page, with the headings that the file's outline names."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from fingerpost.corpus.writing import ConversionError, Writing, clean

_MAX_PAGES = 5_000
_MAX_OUTLINE = 20_000
_MAX_OUTLINE_DEPTH = 8
_PASSWORD_ERROR = 4
_PAGE_NUMBER = re.compile(r"(?:page )?[\d\s/–-]*\d(?: of \d+)?[\s–-]*", re.IGNORECASE)
_ROMAN = re.compile(r"(?=.)c{0,3}(?:x[cl]|l?x{0,3})(?:i[xv]|v?i{0,3})", re.IGNORECASE)
_ROMAN_VALUES = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}
_MAX_PAGE_NUMBER = 40
_NEAR = (-2, -1, 1, 2)
_CONTENTS = re.compile(r"(?<!\.)(?<!\.[ \t])(?:\.[ \t]?){6,}+[ \t]*+[\divxlc]+$")
_FIRST_LETTERS = re.compile(r"^[\W\d]+")
_DIGITS = re.compile(r"\d+")
_WRAPPED = re.compile("[\x02\ufffe\u00ad]\n?")
_MIN_REPEATING = 4
# Above those of the outline stands the title of the file.
_TOP_LEVEL = 2


def read_pdf(raw: bytes) -> Writing:
    """Return the text of a PDF file.

    Lines that stand at the head or foot of many pages, page numbers there, and lines of a table
    of contents that lead to a page with dots are left out.

    Raises:
        ConversionError: It is encrypted, or has more pages than are read.
        RuntimeError: It is broken.
    """
    import pypdfium2  # type: ignore[import-untyped] # noqa: PLC0415 - comes with an extra

    try:
        document = pypdfium2.PdfDocument(raw)
    except pypdfium2.PdfiumError as error:
        if getattr(error, "err_code", None) == _PASSWORD_ERROR:
            raise ConversionError("encrypted", "it asks for a password") from error
        raise
    try:
        return _read(document)
    finally:
        document.close()


def _read(document: Any) -> Writing:
    n_pages = len(document)
    if n_pages > _MAX_PAGES:
        raise ConversionError("limit", f"{n_pages:,} pages, limit {_MAX_PAGES:,}")
    pages = [_page_lines(document, number) for number in range(n_pages)]
    _drop_furniture(pages)
    outline = _outline(document)
    writing = Writing(clean(document.get_metadata_dict().get("Title", "")).strip())
    for number, lines in enumerate(pages):
        writing.page()
        begin = 0
        for at, level in _heading_lines(lines, outline.get(number, [])):
            writing.prose("\n".join(lines[begin:at]))
            writing.heading(lines[at], level)
            begin = at + 1
        writing.prose("\n".join(lines[begin:]))
    return writing


def _page_lines(document: Any, number: int) -> list[str]:
    page = document[number]
    try:
        textpage = page.get_textpage()
        try:
            text = textpage.get_text_bounded()
        finally:
            textpage.close()
    finally:
        page.close()
    text = _WRAPPED.sub("", text.replace("\r\n", "\n"))
    lines = (line.rstrip() for line in clean(text).split("\n"))
    return [line for line in lines if line and not _CONTENTS.search(line)]


def _drop_furniture(pages: list[list[str]]) -> None:
    """Take out page numbers, and the first and last lines that many pages share.

    Such a line stays where it stands first: it may be the title. A number is one of a page where
    a page near by has one that is as much larger as it stands later.
    """
    least = max(_MIN_REPEATING, len(pages) // 3)  # left and right pages often differ
    for place in (0, -1):
        n_pages = Counter(lines[place] for lines in pages if lines)
        seen: set[str] = set()
        shifts = [
            _shifts(lines[place], at) if lines else frozenset() for at, lines in enumerate(pages)
        ]
        for at, lines in enumerate(pages):
            line = lines[place] if lines else ""
            near = [shifts[at + by] for by in _NEAR if 0 <= at + by < len(pages)]
            is_number = any(shifts[at] & other for other in near)
            if lines and (is_number or (line in seen and n_pages[line] >= least)):
                del lines[place]
            seen.add(line)


def _shifts(line: str, at: int) -> frozenset[int]:
    """Return how far the numbers of a line that may be a page number are from the page's own.

    Args:
        line: At the head or foot of a page.
        at: Number of the page, from 0.
    """
    line = line.strip()
    if not line or len(line) > _MAX_PAGE_NUMBER:
        return frozenset()
    if _ROMAN.fullmatch(line):
        values = [_ROMAN_VALUES[sign] for sign in line.lower()]
        pairs = zip(values, [*values[1:], 0], strict=True)
        return frozenset({sum(-one if one < after else one for one, after in pairs) - at})
    found = _DIGITS.findall(line) if _PAGE_NUMBER.fullmatch(line) else []
    return frozenset(int(number) - at for number in (*found[:1], *found[-1:]))


def _outline(document: Any) -> dict[int, list[tuple[str, int]]]:
    """Return the headings of each page, by its number from 0, with their levels."""
    found: dict[int, list[tuple[str, int]]] = defaultdict(list)
    for entry, _ in zip(
        document.get_toc(max_depth=_MAX_OUTLINE_DEPTH), range(_MAX_OUTLINE), strict=False
    ):
        target = entry.get_dest()
        number = target.get_index() if target is not None else None
        if number is not None:
            found[number].append((entry.get_title(), entry.level + _TOP_LEVEL))
    return found


def _heading_lines(
    lines: Sequence[str], headings: Sequence[tuple[str, int]]
) -> Iterator[tuple[int, int]]:
    """Yield the lines that are headings of the outline, in order, with their levels."""
    places: dict[str, list[int]] = defaultdict(list)
    for at, line in enumerate(lines if headings else ()):
        places[_bare(line)].append(at)
    begin = 0
    for title, level in headings:
        wanted = _bare(title)
        there = places.get(wanted, [])
        following = bisect_left(there, begin)
        if wanted and following < len(there):
            yield there[following], level
            begin = there[following] + 1


def _bare(text: str) -> str:
    """Return a heading without its number, case and blanks."""
    return "".join(_FIRST_LETTERS.sub("", text).casefold().split())
