"""A file to a `Page`."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote

import numpy as np

from fingerpost.corpus.blocks import Block
from fingerpost.corpus.decode import Undecodable
from fingerpost.corpus.formats import even_lines, format_of
from fingerpost.corpus.frontmatter import FrontMatter
from fingerpost.corpus.prepare import FileToPrepare
from fingerpost.corpus.prose import clean_inline, strip_comments
from fingerpost.corpus.reading import read_bytes
from fingerpost.corpus.source import ParsedText
from fingerpost.lint import markup
from fingerpost.lint.page import Page, PageLink, Section
from fingerpost.lint.sketch import codes_of, sketch, words_of
from fingerpost.lint.slugs import anchors_of
from fingerpost.text.tokens import estimate_tokens

if TYPE_CHECKING:
    from numpy.typing import NDArray

_OF_MARKDOWN = frozenset({"markdown", "mdx"})
# Not those that are converted or generated: nobody mends a heading there.
_CHECKED = frozenset({"markdown", "mdx", "rst", "text", "html", "notebook"})
_WITH_LINKS = frozenset({"markdown", "mdx", "notebook", "html"})
_OPENED = re.compile(r"\ufeff?---[ \t]*\r?\n[A-Za-z_][\w.-]*:[ \t]")
_UNDERLINE = re.compile(r"^[ \t]{0,3}(?:=+|-+)[ \t]*(?:\n|\Z)", re.MULTILINE)
_TITLE_TAG = re.compile(r"<h1[\s>]", re.IGNORECASE)
_PERMALINKS = ("slug", "permalink", "url", "aliases", "redirect_from", "redirect_to")
_TARGETS = re.compile(r"\]\([^()\n]*\)")
_FENCE_MARKS = re.compile(r"[ \t]*(`{3,}|~{3,})")
_MIN_WORDS = 40
_SHORT_CHARS = 600
_CHARS_PER_TOKEN = 4


def is_checked(path: str) -> bool:
    """Tell whether a file is written in a format that the rules are about."""
    return format_of(path) in _CHECKED


def read_page(file: FileToPrepare, shown: str) -> Page | Undecodable:
    """Return what the rules need to know of a file, or why its bytes are no text."""
    reading = read_bytes(file.raw, file.path, plain=file.plain)
    if isinstance(reading, Undecodable):
        return reading
    kind = "text" if file.plain else reading.kind
    text = even_lines(reading.text)
    return _Reader(file, shown, text, kind, reading.front, reading.parsed).page()


@dataclass(slots=True)
class _Reader:
    """Gathers the facts of one page."""

    file: FileToPrepare
    shown: str
    text: str
    kind: str
    front: FrontMatter
    parsed: ParsedText
    codes: list[NDArray[np.uint64]] = field(default_factory=list)

    def page(self) -> Page:
        body = self._body()
        starts = _line_starts(body)
        lines = _line_starts(self.text)
        uncoded = markup.without_code(body, self.parsed.blocks, starts)
        bare = markup.without_comments(uncoded)
        told = markup.without_modules(body, self.parsed.text) if self.kind == "mdx" else body
        sections = tuple(self._sections(told, starts, lines))
        title, title_line = self._title(sections, bare)
        headings = [section.heading for section in sections if section.level]
        headings += map(clean_inline, markup.nested_headings(bare))
        headings += self._without_pictures()
        tagged = self._tag_headings(bare)
        headings += [heading for _, _, heading in tagged]
        addressed = self._addressed(bare)
        named = {name.casefold() for name in markup.written_anchors(addressed)}
        return Page(
            path=self.file.path,
            shown=self.shown,
            root=self.file.source,
            kind=self.kind,
            title=title,
            title_line=title_line,
            sections=sections,
            links=tuple(self._links(addressed, lines)),
            anchors=anchors_of(headings) | named,
            has_open_anchors=markup.includes_others(body),
            permalinks=self._permalinks(),
            ignored=markup.ignored_rules(uncoded),
            tag_headings=tuple((self._line(place, lines), level) for place, level, _ in tagged),
            silent_pictures=self._silent_pictures(addressed, lines),
            unclosed_fence=self._unclosed_fence(body, starts, lines),
            front_matter_fault=self._front_matter_fault(),
            n_tokens=sum(section.n_tokens for section in sections),
            sketch=sketch(np.concatenate(self.codes) if self.codes else codes_of([])),
        )

    def _body(self) -> str:
        """Return the text that blocks count lines of; of MDX as written, tags and all."""
        woven = self.parsed.weave is not None
        return self.parsed.text if woven else self.text[self.parsed.start : self.parsed.end]

    def _line(self, place: int, lines: Sequence[int]) -> int:
        """Return the line of the file, from 1, that a place of the body stands in."""
        return bisect_right(lines, self.parsed.place(place), 0, len(lines) - 1)

    def _sections(
        self, body: str, starts: Sequence[int], lines: Sequence[int]
    ) -> Iterator[Section]:
        stack: list[tuple[int, str]] = []
        for heading, first, end in _cut(self.parsed.blocks, len(starts) - 1):
            own = body[starts[first] : starts[end]]
            if heading is None:
                if own.strip():
                    yield self._section(own, self._line(starts[first], lines), None, ())
                continue
            while stack and stack[-1][0] >= heading.level:
                stack.pop()
            stack.append((heading.level, clean_inline(heading.title)))
            line = self._line(starts[heading.start], lines)
            path = tuple(text for _, text in stack)
            yield self._section(self._below(heading, own), line, heading, path)

    def _below(self, heading: Block, own: str) -> str:
        """Return a section's text without the heading's own lines."""
        if self.kind not in _OF_MARKDOWN:
            n_lines = heading.title.count("\n") + (2 if self.kind == "rst" else 1)
            parts = own.split("\n", n_lines)
            return parts[n_lines] if len(parts) > n_lines else ""
        first, _, rest = own.partition("\n")
        if not first.lstrip().startswith("#"):
            underline = _UNDERLINE.search(rest)
            rest = rest[underline.end() :] if underline else rest
        return rest

    def _section(
        self, own: str, line: int, heading: Block | None, path: tuple[str, ...]
    ) -> Section:
        measured = _remembered if len(own) <= _MAX_REMEMBERED else _measured
        found = measured(own)
        self.codes.append(found.codes)
        return Section(
            line=line,
            level=heading.level if heading else 0,
            heading=path[-1] if path else "",
            path=path,
            n_tokens=found.n_tokens,
            is_blank=found.is_blank,
            fingerprint=found.fingerprint,
            n_words=len(found.codes),
            is_code=heading is not None and "`" in heading.title,
        )

    def _title(self, sections: Sequence[Section], bare: str) -> tuple[str, int]:
        if self.front.title or self.parsed.title:
            return self.front.title or self.parsed.title, 0
        first = next((section for section in sections if section.level == 1), None)
        if first is not None:
            return first.heading, first.line
        return ("(in a tag)", 0) if _TITLE_TAG.search(bare) else ("", 0)

    def _addressed(self, bare: str) -> str:
        """Return the text whose tags carry ids and addresses: of HTML the file itself."""
        return markup.without_comments(self.text) if self.kind == "html" else bare

    def _written_line(self, place: int, lines: Sequence[int]) -> int:
        """Return the line of the file that a place of what `_addressed` returns stands in."""
        html = self.kind == "html"
        return bisect_right(lines, place) if html else self._line(place, lines)

    def _without_pictures(self) -> list[str]:
        """Return the headings that hold pictures without them, with the blank that is left."""
        titles = [block.title for block in self.parsed.blocks if block.level]
        bare = [(title, markup.without_pictures(title)) for title in titles]
        return [f" {clean_inline(left)}" for title, left in bare if left != title]

    def _tag_headings(self, bare: str) -> list[markup.TagHeading]:
        return list(markup.tag_headings(bare)) if self.kind in _OF_MARKDOWN else []

    def _links(self, addressed: str, lines: Sequence[int]) -> Iterator[PageLink]:
        if self.kind not in _WITH_LINKS:
            return
        for written in markup.links(addressed):
            target = written.target
            if not target or _is_foreign(target):
                continue
            path, _, anchor = target.partition("#")
            line = self._written_line(written.place, lines)
            path = unquote(path.partition("?")[0], errors="replace")
            if path or anchor:
                yield PageLink(line, path, unquote(anchor, errors="replace"))

    def _permalinks(self) -> tuple[str, ...]:
        found: list[str] = []
        for name in _PERMALINKS:
            value = self.front.metadata.get(name)
            values = value if isinstance(value, list) else [value]
            found += [one.strip("/") for one in values if isinstance(one, str) and one.strip("/")]
        return tuple(found)

    def _silent_pictures(self, addressed: str, lines: Sequence[int]) -> tuple[int, ...]:
        if self.kind not in _WITH_LINKS:
            return ()
        places = markup.silent_pictures(addressed)
        return tuple(self._written_line(place, lines) for place in places)

    def _unclosed_fence(self, body: str, starts: Sequence[int], lines: Sequence[int]) -> int:
        last = next((one for one in reversed(self.parsed.blocks) if one.kind != "comment"), None)
        if self.kind not in _OF_MARKDOWN or last is None or last.kind != "fence":
            return 0
        first, *others = body[starts[last.start] : starts[last.end]].split("\n")
        opened = _FENCE_MARKS.match(first)
        if opened is None:
            return 0
        marks = opened.group(1)
        # What follows a fence and is no block (references, tags of MDX) counts as part of it.
        closed = any(line.strip().startswith(marks) and not line.strip().strip(marks[0])
                     for line in others)  # fmt: skip
        return 0 if closed else self._line(starts[last.start], lines)

    def _front_matter_fault(self) -> str:
        if self.front.opaque_end and not self.front.searchable:
            return "the front matter cannot be read"
        if self.kind in _OF_MARKDOWN and self.front.end <= 1 and not self.front.opaque_end:
            return "the front matter is never closed" if _OPENED.match(self.text) else ""
        return ""


def _cut(blocks: Sequence[Block], n_lines: int) -> Iterator[tuple[Block | None, int, int]]:
    """Yield each heading with the first line and the line after the last of its section."""
    heading: Block | None = None
    first = 0
    for block in blocks:
        if block.level:
            yield heading, first, block.start
            heading, first = block, block.start
    if blocks:
        yield heading, first, n_lines  # what ends a page and is no block is text of its end


def _line_starts(text: str) -> list[int]:
    """Return the place of each line of a text, and of its end."""
    starts = list(accumulate(map((1).__add__, map(len, text.split("\n"))), initial=0))
    starts[-1] = len(text)
    return starts


class _Measured(NamedTuple):
    n_tokens: int
    is_blank: bool
    fingerprint: int
    codes: NDArray[np.uint64]


def _measured(own: str) -> _Measured:
    """Return what is measured of a section's text."""
    shown = strip_comments(own) if "<!--" in own else own
    words = words_of(_TARGETS.sub("]", shown) if "](" in shown else shown)
    return _Measured(
        n_tokens=_tokens(shown),
        is_blank=not shown.strip(),
        fingerprint=_fingerprint(words) if len(words) >= _MIN_WORDS else 0,
        codes=codes_of(words),
    )


# Versions of a page repeat its sections, and are read one after the other.
_MAX_REMEMBERED = 8_000
_remembered = lru_cache(maxsize=4_096)(_measured)


def _tokens(text: str) -> int:
    """Return an estimate; of a text too short to be long for any rule, a rough one."""
    if len(text) <= _SHORT_CHARS and text.isascii():
        return len(text) // _CHARS_PER_TOKEN
    return estimate_tokens(text)


def _fingerprint(words: Sequence[str]) -> int:
    joined = " ".join(words).encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(joined, digest_size=8).digest(), "big") or 1


_UNKNOWABLE = re.compile(r"[{}$<>\\|*]|\s")


def _is_foreign(target: str) -> bool:
    """Tell whether an address leads out of the corpus, or is a pattern rather than an address."""
    head = target.partition("#")[0].partition("/")[0]
    return (
        ":" in head
        or target.startswith(("//", "~", "@", "www."))
        or _UNKNOWABLE.search(target) is not None
    )
