"""Documents and the chunks that they are split into."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A half-open range of code points in a document's decoded text: ``text[start:end]``.

    Of a PDF, Word or PowerPoint file the text is what it was converted to.
    """

    start: int
    end: int

    def __len__(self) -> int:
        """Return the number of code points covered."""
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class Document:
    """One source text of the corpus, without its text.

    Attributes:
        id: Stable while ``source`` and ``path`` stay the same (see `types.ids.document_id`).
        path: POSIX path relative to the root of its source, as shown in citations.
        source: Name of the corpus source that it came from.
        uri: Where it can be opened; ``file://`` for local files.
        title: From front matter, else the first level-1 heading, else the file's stem.
        content_hash: SHA-256 of the raw bytes, hexadecimal.
        format: ``markdown``, ``mdx``, ``text``, ``html``, ``rst``, ``notebook``, ``openapi``,
            ``pdf``, ``docx``, ``pptx``.
        language: ISO 639-1 code of most of the text, ``und`` when unknown.
        tags: From front matter, in order, without duplicates.
        metadata: Other front matter; JSON-safe values only, dates as ISO strings. Of a PDF, Word
            or PowerPoint file ``pages`` holds the start of each page in the text.
            Its ``version`` comes from the path where front matter tells none.
        size_bytes: Length of the raw file.
    """

    id: str
    path: str
    source: str
    uri: str
    title: str
    content_hash: str
    format: str = "markdown"
    language: str = "und"
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, object] = field(default_factory=dict, hash=False)
    size_bytes: int = 0

    @property
    def version(self) -> str:
        """Return the version that it belongs to, by front matter or path; empty when unknown."""
        told = self.metadata.get("version")
        return told if isinstance(told, str) else ""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A contiguous span of one document that is indexed as one unit.

    Joined in order, the ``text`` of a document's chunks is the document's text after front
    matter, character for character.

    Attributes:
        id: Content-derived (see `types.ids.chunk_id`); survives edits elsewhere in the file.
        document_id: The document that it belongs to.
        ordinal: Position among the document's chunks, from 0.
        text: Exactly ``decoded_file[span.start:span.end]``, line ends as in the file.
        span: Where ``text`` stands in the decoded file (a byte order mark counts as one).
        heading_path: Headings from the top of the document down to the chunk's own section,
            as plain text; empty before the first heading.
        line_start: First line, from 1.
        line_end: Last line, inclusive.
        language: ISO 639-1 code, ``und`` when unknown.
        n_tokens: Estimated tokens of the embedding model.
        prefix: Text that the reader needs but that stands elsewhere (the repeated header of a
            split table, the opening line of a split fence); empty for most chunks.
        search_text: The prose that is indexed and embedded: markup, MDX imports, JSX tags and
            hidden comments removed, ``prefix`` included, heading path *not* included.
    """

    id: str
    document_id: str
    ordinal: int
    text: str
    span: Span
    heading_path: tuple[str, ...]
    line_start: int
    line_end: int
    language: str = "und"
    n_tokens: int = 0
    prefix: str = ""
    search_text: str = ""


def pages_of(document: Document, chunk: Chunk) -> tuple[int, int] | None:
    """Return the first and last page or slide of a chunk, from 1; ``None`` without pages."""
    starts = document.metadata.get("pages")
    if document.format not in _PAGED or not isinstance(starts, list) or not starts:
        return None
    last = chunk.span.start + max(0, len(chunk.text.rstrip()) - 1)
    return max(1, bisect_right(starts, chunk.span.start)), max(1, bisect_right(starts, last))


_PAGED = frozenset({"pdf", "docx", "pptx"})


def readable_text(chunk: Chunk, markup: str) -> str:
    """Return what a person reads of a chunk: of data and HTML the prose and code, else ``text``.

    Args:
        chunk: A chunk of a document.
        markup: The document's ``format``.
    """
    woven = markup in {"html", "notebook", "openapi"} and chunk.search_text
    return chunk.search_text if woven else chunk.text


def whole_text(chunk: Chunk, markup: str) -> str:
    """Return what a person reads of a chunk behind its ``prefix``.

    Args:
        chunk: A chunk of a document.
        markup: The document's ``format``; in what is read of data and HTML the prefix stands.
    """
    text = readable_text(chunk, markup)
    return f"{chunk.prefix}\n{text}" if chunk.prefix and text == chunk.text else text


@dataclass(frozen=True, slots=True)
class Link:
    """A link from one document to another place in the corpus, as written and resolved.

    Attributes:
        source_ordinal: Ordinal of the chunk that holds the link.
        target_path: POSIX path relative to the same source root, normalised, without anchor.
        anchor: Part after ``#``, empty when none.
    """

    source_ordinal: int
    target_path: str
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class SkippedFile:
    """A file that gave nothing to the corpus, and why.

    Attributes:
        path: As the user would write it: the given root joined with the relative path.
        reason: One of ``binary``, ``encoding``, ``too-large``, ``symlink``, ``not-regular``,
            ``unreadable``, ``changed-while-read``, ``unsupported``, ``ignored``, ``empty``,
            ``limit``, ``broken``, ``encrypted``, ``not-saved``.
        detail: A sentence fragment for people, such as ``12 MiB, limit 10 MiB``.
    """

    path: str
    reason: str
    detail: str = ""
