"""A file's bytes as text with blocks, whatever its format."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fingerpost.corpus.convert import CONVERTED, convert
from fingerpost.corpus.decode import Decoded, Undecodable, decode
from fingerpost.corpus.formats import format_of, parse, parse_as_plain, sniffed_format
from fingerpost.corpus.frontmatter import FrontMatter, read_front_matter
from fingerpost.corpus.openapi import DescriptionError
from fingerpost.corpus.source import ParsedText

_OF_MARKDOWN = frozenset({"markdown", "mdx"})


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read of a file.

    Attributes:
        text: Its decoded text, or the text that it was converted to; spans and lines are
            places in it.
        kind: Its format.
        front: Its front matter, empty where the format has none.
        parsed: Its blocks.
        metadata: Front matter and what is known of its encoding or its pages.
        converted: ``text`` stands in no file.
    """

    text: str
    kind: str
    front: FrontMatter
    parsed: ParsedText
    metadata: Mapping[str, object]
    converted: bool = False


def is_converted(path: str) -> bool:
    """Tell whether a file is read by a converter, which runs in worker processes only."""
    return format_of(path) in CONVERTED


def read_bytes(raw: bytes, path: str, *, plain: bool = False) -> Reading | Undecodable:
    """Return the text and blocks of a file, or why its bytes give none.

    A parser that fails costs the file its structure, never its text; a description that cannot
    be read and a file that cannot be converted give nothing.

    Args:
        raw: Its bytes.
        path: POSIX path, for the format.
        plain: Whether it is plain text whatever its format; what needs a converter is refused.
    """
    kind = format_of(path) or sniffed_format(path) or "text"
    if kind in CONVERTED:
        if plain:
            return Undecodable("limit", "converting it took too long or too much memory")
        return _converted(raw, kind)
    decoded = decode(raw)
    if isinstance(decoded, Undecodable):
        return decoded
    front = FrontMatter(end=1 if decoded.text.startswith("\ufeff") else 0)
    if kind in _OF_MARKDOWN and not plain:
        front = read_front_matter(decoded.text)
    try:
        parsed = parse_safely(decoded.text, "text" if plain else kind, front)
    except DescriptionError as error:
        return Undecodable("broken", str(error))
    metadata = {**front.metadata, **_said_of(decoded)}
    return Reading(decoded.text, kind, front, parsed, metadata)


def parse_safely(text: str, kind: str, front: FrontMatter) -> ParsedText:
    """Return the blocks of a text, as plain text where its parser fails.

    Raises:
        DescriptionError: An OpenAPI description cannot be read as one.
    """
    try:
        return parse(text, kind, front)
    except DescriptionError:
        raise
    except (RecursionError, RuntimeError, ValueError, IndexError):
        return parse_as_plain(text, front.end)


def _said_of(decoded: Decoded) -> Mapping[str, object]:
    said: dict[str, object] = {}
    if decoded.encoding != "utf-8":
        said["encoding"] = decoded.encoding
    if decoded.n_replaced:
        said["undecodable"] = decoded.n_replaced
    return said


def _converted(raw: bytes, kind: str) -> Reading | Undecodable:
    writing = convert(raw, kind)
    if isinstance(writing, Undecodable):
        return writing
    text = writing.text()
    parsed = ParsedText(text, writing.blocks, 0, len(text), writing.title, writing.language)
    metadata = {"pages": writing.pages} if writing.pages else {}
    return Reading(text, kind, FrontMatter(), parsed, metadata, converted=True)
