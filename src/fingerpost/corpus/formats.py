"""Which files are documents, and how each format becomes blocks."""

from __future__ import annotations

from functools import lru_cache
from pathlib import PurePosixPath
from typing import Final

from fingerpost.corpus.blocks import Block, parse_blocks
from fingerpost.corpus.convert import CONVERTED, EXTRA_HINT, can_convert
from fingerpost.corpus.frontmatter import FrontMatter
from fingerpost.corpus.html import parse_html
from fingerpost.corpus.mdx import blank_components
from fingerpost.corpus.notebook import NotebookError, parse_notebook
from fingerpost.corpus.openapi import parse_openapi
from fingerpost.corpus.plain import parse_plain
from fingerpost.corpus.rst import parse_rst
from fingerpost.corpus.source import ParsedText

FORMATS: Final = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".mdx": "mdx",
    ".rst": "rst",
    ".txt": "text",
    ".html": "html",
    ".htm": "html",
    ".ipynb": "notebook",
    ".pdf": "pdf",
    ".docx": "docx",
    ".pptx": "pptx",
}
_OF_SITES = frozenset({"llms.txt", "llms-full.txt"})
# Files of data, which are documents when what they hold says so.
SNIFFED: Final = {".json": "openapi", ".yaml": "openapi", ".yml": "openapi"}
# Documents that we do not read: they are listed, since someone may miss them.
UNSUPPORTED: Final = frozenset({
    ".adoc", ".asciidoc", ".chm", ".doc", ".epub", ".mobi", ".odp", ".odt", ".org",
    ".pages", ".ppt", ".rtf", ".tex", ".textile", ".wiki", ".xls", ".xlsx",
})  # fmt: skip


def format_of(path: str) -> str:
    """Return the format of a file by its name, empty when it is no document that we read.

    One that needs the extra ``documents`` counts where its library is installed.
    """
    place = PurePosixPath(path)
    if place.name in _OF_SITES:
        return "markdown"
    kind = FORMATS.get(place.suffix.lower(), "")
    return "" if kind in CONVERTED and not can_convert(kind) else kind


def sniffed_format(path: str) -> str:
    """Return the format that a file of data may have by its name, empty when none."""
    return SNIFFED.get(PurePosixPath(path).suffix.lower(), "")


def is_named_description(path: str) -> bool:
    """Tell whether a file of data carries in its name that it describes an API."""
    name = PurePosixPath(path).name.lower()
    return bool(sniffed_format(path)) and ("openapi" in name or "swagger" in name)


def is_read(path: str) -> bool:
    """Tell whether a file is a document by its name, or may be one by what it holds."""
    return bool(format_of(path) or sniffed_format(path))


def is_unsupported(path: str) -> bool:
    """Tell whether a file looks like a document that we cannot read."""
    suffix = PurePosixPath(path).suffix.lower()
    return suffix in UNSUPPORTED or (suffix in FORMATS and not format_of(path))


def why_unsupported(path: str) -> str:
    """Return why a file is not read though it is a document: what to install, where that helps."""
    kind = FORMATS.get(PurePosixPath(path).suffix.lower(), "")
    return f"to read it, {EXTRA_HINT}" if kind in CONVERTED else "this format is not read"


def parse(text: str, kind: str, front: FrontMatter) -> ParsedText:
    """Return the blocks of a decoded file of any format.

    A notebook that is no JSON is read as plain text.

    Raises:
        DescriptionError: An OpenAPI description cannot be read as one.
    """
    if kind == "html":
        return parse_html(text, front.end)
    if kind == "openapi":
        return parse_openapi(text, front.end)
    if kind == "notebook":
        try:
            return parse_notebook(text, front.end)
        except NotebookError:
            kind = "text"
    body = even_lines(text[front.end :])
    if kind == "mdx":
        body = blank_components(body)
    plain = front.opaque_end <= front.end
    blocks = _blocks(body, kind, front)
    return ParsedText(body, blocks, front.end, len(text), kind=kind if plain else "")


def parse_as_plain(text: str, start: int) -> ParsedText:
    """Return any text as plain paragraphs: the way out when a parser fails or takes too long."""
    body = even_lines(text[start:])
    return ParsedText(body, parse_plain(body), start, len(text))


def even_lines(text: str) -> str:
    r"""Return text of the same length whose only line ends are ``\n``.

    The carriage return of a CR LF pair becomes a blank, a lone one a line end, as Markdown
    defines it; NUL becomes ``U+FFFD``.
    """
    if "\r" in text:
        text = text.replace("\r\n", " \n").replace("\r", "\n")
    return text.replace("\0", "\ufffd") if "\0" in text else text


# Versions of a page often have the same body, and are read one after the other.
_MAX_REMEMBERED = 100_000


@lru_cache(maxsize=64)
def _remembered(body: str, mdx: bool) -> list[Block]:  # noqa: FBT001 - part of the key
    return parse_blocks(body, mdx=mdx)


def _blocks(body: str, kind: str, front: FrontMatter) -> list[Block]:
    if kind == "rst":
        return parse_rst(body)
    if kind == "text":
        return parse_plain(body)
    opaque = front.opaque_end - front.end
    if opaque <= 0:
        mdx = kind == "mdx"
        return (
            _remembered(body, mdx) if len(body) <= _MAX_REMEMBERED else parse_blocks(body, mdx=mdx)
        )
    n_lines = body.count("\n", 0, opaque)
    head = Block("plain" if front.searchable else "hidden", 0, n_lines)
    rest = parse_blocks(body[opaque:], mdx=kind == "mdx")
    return [head, *(block.moved(n_lines) for block in rest)]
