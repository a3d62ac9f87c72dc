"""One file to a document with chunks: pure, the work of a worker process."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import PurePosixPath

from fingerpost.corpus.decode import Undecodable
from fingerpost.corpus.frontmatter import FrontMatter, read_front_matter
from fingerpost.corpus.links import Paths, as_written, resolve_links, written_links
from fingerpost.corpus.prose import clean_inline
from fingerpost.corpus.reading import Reading, parse_safely, read_bytes
from fingerpost.corpus.source import ParsedText
from fingerpost.corpus.split import Piece, split
from fingerpost.stores.base import PreparedDocument
from fingerpost.stores.trail import trail_text
from fingerpost.text.analyse import analyse_joined
from fingerpost.text.html import html_targets
from fingerpost.text.language import detect_language
from fingerpost.text.names import name_numbers
from fingerpost.text.versions import label_version, versioned_path
from fingerpost.types.document import Chunk, Document, Span
from fingerpost.types.ids import chunk_id, document_id

_NEWLINE = re.compile(r"\r\n|\r|\n")
_SURROGATE = re.compile("[\ud800-\udfff]")
_SAMPLE_CHARS = 800
_ENGLISH = (" the ", " of ", " and ", " with ", " that ", " is ", " this ", " you ")
_MIN_ENGLISH = 6
# Greek to Indic and East Asian letters; box drawing, arrows and emoji are no script.
_OTHER_SCRIPT = re.compile("[\u0370-\u1fff\u3040-\ud7ff]")
_OTHER_SCRIPT_SHARE = 0.2
_MIN_OTHER_SCRIPT = 8
_LONG_SAMPLE_CHARS = 4000
_PROSE_KINDS = frozenset({"paragraph", "list", "quote", "heading", "cell", "woven", "plain", "rst"})
_NO_PATHS = Paths(())
_VERSION_FIELDS = ("version", "doc_version", "docs_version", "product_version")


@dataclass(frozen=True, slots=True)
class FileToPrepare:
    """What a worker needs to know of a file.

    Attributes:
        raw: Its bytes.
        source: Name of its source.
        path: POSIX path in its source.
        uri: Where it can be opened.
        content_hash: SHA-256 of the bytes, computed when empty.
        max_tokens: Chunk limit.
        plain: Split it as plain text whatever its format.
    """

    raw: bytes = field(repr=False)
    source: str
    path: str
    uri: str = ""
    content_hash: str = ""
    max_tokens: int = 220
    plain: bool = False


@dataclass(frozen=True, slots=True)
class Prepared:
    """A document whose links are not yet resolved.

    Attributes:
        document: The document with its chunks and words, without links.
        written: (chunk ordinal, path as written, anchor) of its links.
        text: What the file was converted to, ``None`` where its chunks are cut out of its own.
        note: What of its structure was left out, empty when nothing was.
    """

    document: PreparedDocument
    written: Sequence[tuple[int, str, str]] = ()
    text: str | None = field(default=None, repr=False)
    note: str = ""

    def resolved(self, paths: Paths) -> PreparedDocument:
        """Return the document with the links that lead to a path of its source."""
        if not self.written:
            return self.document
        plain = self.document
        links = resolve_links(plain.document.path, self.written, paths)
        return replace(plain, links=links, written=as_written(self.written))


def prepare_file(file: FileToPrepare) -> Prepared | Undecodable:
    """Return the document of a file, or why its bytes are no text.

    A document without text has no chunks. A parser that fails costs the file its structure,
    never its text.
    """
    reading = read_bytes(file.raw, file.path, plain=file.plain)
    if isinstance(reading, Undecodable):
        return reading
    metadata = _with_version(reading.metadata, file.source, file.path)
    return _Builder(file, replace(reading, metadata=metadata)).build()


def prepare_text(
    text: str,
    *,
    source: str,
    path: str,
    title: str = "",
    format: str = "text",  # noqa: A002 - the name of the field
    language: str | None = None,
    tags: Sequence[str] = (),
    max_tokens: int = 220,
) -> PreparedDocument:
    """Return a document of a text that stands in no file, such as a passage of a data set.

    Args:
        text: The text; lone surrogates become ``U+FFFD``.
        source: Name of its source.
        path: Path that it is cited by.
        title: Its title; it stands above the text like a heading.
        format: ``text`` or ``markdown``.
        language: ISO 639-1 code, ``None`` to find out.
        tags: Its tags.
        max_tokens: Chunk limit.
    """
    text = _SURROGATE.sub("\ufffd", text)
    front = read_front_matter(text) if format == "markdown" else FrontMatter()
    front = FrontMatter(
        end=front.end,
        opaque_end=front.opaque_end,
        searchable=front.searchable,
        title=_SURROGATE.sub("\ufffd", title) or front.title,
        language=language or front.language,
        tags=tuple(dict.fromkeys([*tags, *front.tags])),
        metadata=_with_version(front.metadata, source, path),
    )
    file = FileToPrepare(text.encode(), source, path, max_tokens=max_tokens)
    parsed = parse_safely(text, format, front)
    reading = Reading(text, format, front, parsed, front.metadata)
    return _Builder(file, reading).build().document


def _with_version(metadata: Mapping[str, object], source: str, path: str) -> dict[str, object]:
    """Return the metadata with the ``version`` that front matter, else the path tells."""
    fields = (metadata.get(name) for name in _VERSION_FIELDS)
    told = next((str(value) for value in fields if isinstance(value, str | int | float)), "")
    version = label_version(told) or label_version(f"v{told}") or told
    version = version or versioned_path(source, path).version
    return {**metadata, "version": version} if version else dict(metadata)


@dataclass(frozen=True, slots=True)
class _Builder:
    """Gives the pieces of one document their identity."""

    file: FileToPrepare
    reading: Reading

    @property
    def parsed(self) -> ParsedText:
        return self.reading.parsed

    def build(self) -> Prepared:
        h1 = next((b.title for b in self.parsed.blocks if b.level == 1), "")
        given = self.reading.front.title or self.parsed.title
        root = given if given and not h1 else ""
        title = given or clean_inline(h1) or PurePosixPath(self.file.path).stem
        pieces = self._pieces(root)
        told = self.reading.front.language or self.parsed.language
        language = told or _language_of(pieces, self.parsed)
        document = Document(
            id=document_id(self.file.source, self.file.path),
            path=self.file.path,
            source=self.file.source,
            uri=self.file.uri or f"{self.file.source}:{self.file.path}",
            title=title,
            content_hash=self.file.content_hash or hashlib.sha256(self.file.raw).hexdigest(),
            format=self.reading.kind,
            language=language,
            tags=self.reading.front.tags,
            metadata=self.reading.metadata,
            size_bytes=len(self.file.raw),
        )
        chunks = self._chunks(pieces, document)
        trail = _Trail(document)
        words = [_words(chunk.search_text) for chunk in chunks]
        prepared = PreparedDocument(
            document=document,
            chunks=chunks,
            words=words,
            trail_words=[trail.words(chunk.heading_path) for chunk in chunks],
            names=[
                name_numbers(chunk.search_text, own)
                for chunk, own in zip(chunks, words, strict=True)
            ],
        )
        text = self.reading.text if self.reading.converted else None
        return Prepared(prepared, self._written(pieces, chunks), text, self.parsed.note)

    def _pieces(self, root: str) -> list[Piece]:
        if not self.parsed.text.strip() or not self.parsed.blocks:
            return []
        return split(self.parsed, max_tokens=self.file.max_tokens, root=root)

    def _chunks(self, pieces: Sequence[Piece], document: Document) -> list[Chunk]:
        text = self.reading.text
        places = self._places(pieces)
        lines = _Lines(text)
        seen: dict[str, int] = {}
        chunks: list[Chunk] = []
        for piece, start, end in zip(pieces, places, places[1:], strict=False):
            if start >= end:
                continue
            own = text[start:end]
            chunk = chunk_id(document.id, piece.heading_path, own)
            repeat = seen.get(chunk, 0)
            seen[chunk] = repeat + 1
            if repeat:
                chunk = chunk_id(document.id, piece.heading_path, own, repeat)
            first = lines.number(start)
            chunks.append(
                Chunk(
                    chunk,
                    document.id,
                    len(chunks),
                    own,
                    Span(start, end),
                    piece.heading_path,
                    first,
                    lines.last(own, start, first),
                    _chunk_language(piece.search_text, document.language),
                    piece.n_tokens,
                    piece.prefix,
                    piece.search_text,
                )
            )
        return chunks

    def _places(self, pieces: Sequence[Piece]) -> list[int]:
        """Return where each piece starts in the file, and where the last one ends.

        What a reference leads to stands elsewhere: of pieces that start at one place the later
        ones take a character each, so that none is lost.
        """
        places = [self.parsed.start] if pieces else []
        for piece in pieces[1:]:
            place = max(self.parsed.place(piece.start), places[-1] + 1)
            places.append(min(place, self.parsed.end))
        return [*places, self.parsed.end]

    def _written(
        self, pieces: Sequence[Piece], chunks: Sequence[Chunk]
    ) -> list[tuple[int, str, str]]:
        if self.reading.kind == "html":
            targets = [(chunk.ordinal, html_targets(chunk.text)) for chunk in chunks]
        else:
            targets = [(ordinal, [*piece.targets]) for ordinal, piece in enumerate(pieces)]
        return [
            (min(ordinal, len(chunks) - 1), path, anchor)
            for ordinal, written in targets
            if written
            for path, anchor in written_links(written)
        ]


def _words(text: str) -> str:
    return _remembered_words(text) if len(text) <= _MAX_REMEMBERED else analyse_joined(text)


_MAX_REMEMBERED = 8_000
# Versions and translations repeat whole sections: what was analysed lately is remembered.
_remembered_words = lru_cache(maxsize=16_384)(analyse_joined)


class _Lines:
    """Line numbers of places in a text, asked for in order."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._number = 1
        self._plain = "\r" not in text

    def number(self, place: int) -> int:
        """Return the number of the line of a place, from 1; places must not go back."""
        if self._plain:
            self._number += self._text.count("\n", self._at, place)
        else:
            between = self._text[self._at : place]
            self._number += _count_lines(between)
            if between.endswith("\r") and self._text[place : place + 1] == "\n":
                self._number -= 1
        self._at = place
        return self._number

    def last(self, own: str, start: int, first: int) -> int:
        """Return the line of the last character of a chunk that is no white space."""
        trimmed = own.rstrip()
        if self._plain:
            return first + trimmed.count("\n")
        return first + (_count_lines(trimmed) if start >= 0 else 0)


def _count_lines(text: str) -> int:
    return len(_NEWLINE.findall(text))


class _Trail:
    """Analysed words of path, title and headings; a heading path is analysed once."""

    def __init__(self, document: Document) -> None:
        self._document = analyse_joined(trail_text(document.path, document.title, ()))
        self._cached: dict[tuple[str, ...], str] = {}

    def words(self, heading_path: tuple[str, ...]) -> str:
        found = self._cached.get(heading_path)
        if found is None:
            own = analyse_joined("\n".join(heading_path)) if heading_path else ""
            found = f"{self._document} {own}".strip()
            self._cached[heading_path] = found
        return found


def _language_of(pieces: Sequence[Piece], parsed: ParsedText) -> str:
    """Return the language of a document by its prose, of one without prose by all its words."""
    sample: list[str] = []
    size = 0
    for piece in pieces:
        sample.append(piece.search_text[: _SAMPLE_CHARS // 2])
        size += len(sample[-1])
        if size > _SAMPLE_CHARS:
            break
    text = "\n".join(sample)
    if text.isascii():
        lowered = text.lower()
        if sum(map(lowered.count, _ENGLISH)) >= _MIN_ENGLISH:
            return "en"  # the usual case, without asking for every other language
    found = detect_language(_prose_of(parsed))
    return detect_language(text) if found == "und" and text.strip() else found


def _prose_of(parsed: ParsedText) -> str:
    """Return the first few thousand characters that stand in neither code nor tables."""
    lines = parsed.text.split("\n")
    sample: list[str] = []
    room = _LONG_SAMPLE_CHARS
    for block in parsed.blocks:
        if block.kind in _PROSE_KINDS and room > 0:
            sample.append("\n".join(lines[block.start : block.end])[:room])
            room -= len(sample[-1])
    return "\n".join(sample)


def _chunk_language(text: str, language: str) -> str:
    """Return the document's language, or the chunk's own where its script says otherwise."""
    if text.isascii() or language in _WIDE_SCRIPTS:
        return language
    n_other = len(_OTHER_SCRIPT.findall(text))
    if n_other < _MIN_OTHER_SCRIPT or n_other <= _OTHER_SCRIPT_SHARE * len(text):
        return language
    found = detect_language(text)
    return language if found == "und" else found


_WIDE_SCRIPTS = frozenset({"zh", "ja", "ko", "th", "ru", "el", "ar", "he", "hi", "fa", "uk"})
