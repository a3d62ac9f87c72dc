"""HTML woven into lines that keep their place in the file.

A tokenizer of one linear expression, not `html.parser`: that one is quadratic on some
malformed input and does not say where in the file its text stands.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import unescape
from typing import NamedTuple

from fingerpost.text.weave import Weave

_TOKEN = re.compile(r"<!--|<(/?)([A-Za-z][\w:-]*)([^<>]*)>|<[!?][^<>]*>")
_HIDDEN = frozenset({"script", "style", "template", "svg", "nav", "iframe", "noscript", "math"})
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_BREAKS = frozenset({
    "address", "article", "aside", "blockquote", "body", "br", "button", "dd", "details", "div",
    "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "header", "hr", "li",
    "main", "ol", "p", "pre", "section", "summary", "table", "tbody", "td", "tfoot", "th",
    "thead", "title", "tr", "ul",
})  # fmt: skip
_ATTRIBUTE = r"\b{name}\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s>\"']+))"
_LANG = re.compile(_ATTRIBUTE.format(name="lang"))
_ALT = re.compile(_ATTRIBUTE.format(name="alt"))
_HREF = re.compile(_ATTRIBUTE.format(name="href"))
_INVISIBLE = re.compile(r"display\s*:\s*none|\shidden(?:\s|=|$)|aria-hidden\s*=\s*[\"']?true")
_VOID = frozenset({
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source",
    "track", "wbr",
})  # fmt: skip
_PARTING = frozenset({"p", "ul", "ol", "table", "div", "section", "dl"})
_ACTED_ON = _BREAKS | _HEADINGS.keys() | {"html", "img"}
_SPACE = re.compile(r"\s+")
_BLANK = re.compile(r"\s")
MAX_BLOCKS = 100_000
_JOINED_LINES = 100
_MAX_LINE = 800
_MAX_UNCLOSED = 8


class HtmlBlock(NamedTuple):
    """A stretch of a page, in lines of its text.

    Attributes:
        kind: ``heading``, ``woven`` (prose) or ``wovencode``.
        start: First line, from 0.
        end: Line after the last one.
        level: 1 to 6 for a heading, else 0.
        title: Text of a heading.
    """

    kind: str
    start: int
    end: int
    level: int = 0
    title: str = ""


@dataclass(frozen=True, slots=True)
class HtmlText:
    """What a reader sees of a page.

    Attributes:
        weave: Its text, with the place in the file of each piece; entities stand as written.
        blocks: In order, covering every line.
        title: Empty when the page has none.
        language: That the page names, two letters, empty when it names none.
        crowded: It has more than `MAX_BLOCKS` blocks: what follows them is prose of a hundred
            lines or more to a block, without headings.
    """

    weave: Weave
    blocks: list[HtmlBlock]
    title: str
    language: str
    crowded: bool = False


@dataclass(slots=True)
class _Loom:
    """State of weaving: the block that is open and the line that is being written."""

    weave: Weave = field(default_factory=Weave)
    blocks: list[HtmlBlock] = field(default_factory=list)
    kind: str = "woven"
    block_line: int = 0
    level: int = 0
    line: int = 0
    line_size: int = 0
    title: str = ""
    language: str = ""
    heading: list[str] = field(default_factory=list)
    first_h1: str = ""
    n_heads: int = 0
    item: bool = False

    @property
    def crowded(self) -> bool:
        """Tell whether what follows is prose, a hundred lines or more to a block."""
        return len(self.blocks) >= MAX_BLOCKS

    def write(self, text: str, place: int) -> None:
        """Add text of the file, white space as blanks, long lines folded at a word."""
        if self.kind == "wovencode":
            self._write_code(text, place)
            return
        if not self.line_size:
            place += len(text)
            text = text.lstrip()
            place -= len(text)
        if not text:
            return
        text = _BLANK.sub(" ", text)
        if self.item:
            self.weave.add("- ", place)
            self.line_size += 2
            self.item = False
        while self.line_size + len(text) > _MAX_LINE:
            cut = text.rfind(" ", 0, max(1, _MAX_LINE - self.line_size)) + 1 or _MAX_LINE
            self._put(text[:cut], place)
            self.end_line(place + cut)
            text, place = text[cut:], place + cut
        if text:
            self._put(text, place)

    def write_spoken(self, text: str, place: int) -> None:
        """Add what a tag says to a reader; it has no place of its own."""
        words = _SPACE.sub(" ", text).strip()[:_MAX_LINE]
        if words and self.kind != "wovencode":
            self.weave.add(f" {words} ", place)
            self.line_size += len(words) + 2

    def _write_code(self, text: str, place: int) -> None:
        if text:
            self.line += text.count("\n")
            size = self.line_size if "\n" not in text else 0
            self._put(text, place)
            self.line_size = size + len(text) - text.rfind("\n") - 1

    def _put(self, text: str, place: int) -> None:
        """Add text that is not empty to the line."""
        self.weave.add(text, place, len(text))
        self.line_size += len(text)
        if self.level:
            self.heading.append(text)

    def end_line(self, place: int) -> None:
        """End the line when it holds text."""
        if self.line_size:
            self.weave.add("\n", place)
            self.line += 1
            self.line_size = 0

    def end_block(self, place: int) -> None:
        """Close the open block when it holds lines, and open one of prose."""
        self.end_line(place)
        if self.line > self.block_line:
            title = " ".join(unescape("".join(self.heading)).split())
            kind = "heading" if self.level and title else self.kind
            level = self.level if kind == "heading" else 0
            self.blocks.append(HtmlBlock(kind, self.block_line, self.line, level, title))
            if level == 1 and not self.first_h1:
                self.first_h1 = title
        self.weave.anchor(place)
        self.block_line = self.line
        self.kind, self.level = "woven", 0
        self.heading.clear()

    def end_paragraph(self, place: int) -> None:
        """Close the open block of prose; of a crowded page, when it is long enough."""
        if self.crowded and self.line - self.block_line < _JOINED_LINES:
            self.end_line(place)
        else:
            self.end_block(place)


def read_html(text: str, start: int = 0) -> HtmlText:
    """Return the prose of an HTML file; each line knows where in the file it stands.

    Scripts, styles, comments and what is hidden are left out.

    Args:
        text: Decoded file.
        start: Where the body starts (after a byte order mark).
    """
    loom = _Loom()
    tags = _Tags(text, start)
    at = start
    for match in tags:
        place = match.start()
        if place > at:
            loom.write(text[at:place], at)
        at = match.end()
        if tags.at == at and match.lastindex:
            closing, name, attributes = match.groups()
            name = name.lower()
            if name in _ACTED_ON:
                _tag(loom, _Tag(name, place, attributes, bool(closing)), tags)
        at = tags.at
    loom.write(text[at:], at)
    loom.end_block(len(text))
    return HtmlText(loom.weave, loom.blocks, loom.title, loom.language, loom.crowded)


class _Tag(NamedTuple):
    """A tag, its name in small letters."""

    name: str
    place: int
    attributes: str
    closing: bool


@dataclass(slots=True)
class _Tags:
    """Iterates over the tags of a text, past what comments and hidden elements hold.

    Attributes:
        text: The text.
        at: Where reading goes on after the last tag.
    """

    text: str
    at: int
    _unclosed: Counter[str] = field(default_factory=Counter)

    def __iter__(self) -> Iterator[re.Match[str]]:
        while match := _TOKEN.search(self.text, self.at):
            self.at = self._after(match)
            yield match

    def _after(self, match: re.Match[str]) -> int:
        end = match.end()
        if not match.lastindex:
            if match.group() != "<!--":
                return end
            closed = self.text.find("-->", end)
            return closed + 3 if closed >= 0 else len(self.text)
        closing, name, attributes = match.groups()
        name = name.lower()
        if closing or attributes.endswith("/"):
            return end
        if name in _HIDDEN or (attributes and name not in _VOID and _INVISIBLE.search(attributes)):
            return self._element_end(name, end)
        return end

    def _element_end(self, name: str, at: int) -> int:
        """Return the end of an element, ``at`` when it has none.

        After a few elements of a name without an end none is looked for any more: each look
        reads the rest of the file.
        """
        if self._unclosed[name] >= _MAX_UNCLOSED:
            return at
        depth = 1
        for match in re.compile(rf"<(/?){name}\b[^<>]*>", re.IGNORECASE).finditer(self.text, at):
            depth += -1 if match.group(1) else 1
            if not depth:
                return match.end()
        self._unclosed[name] += 1
        return at


def _tag(loom: _Loom, tag: _Tag, tags: _Tags) -> None:
    """Act on a tag."""
    name = tag.name
    if name == "title" and not tag.closing and not loom.title:
        closed = tags.text.find("</", tags.at)
        if closed > 0:
            loom.title = _SPACE.sub(" ", unescape(tags.text[tags.at : closed])).strip()
            tags.at = closed
    elif name == "html":
        if not tag.closing:
            loom.language = _value(_LANG, tag.attributes)[:2].lower()
    elif name == "img":
        loom.write_spoken(_value(_ALT, tag.attributes), tag.place)
    elif (name in _HEADINGS or name == "pre") and not loom.crowded:
        loom.end_block(tag.place)
        if not tag.closing:
            loom.kind = "wovencode" if name == "pre" else "woven"
            loom.level = _HEADINGS.get(name, 0)
    elif loom.kind != "wovencode":
        _flow(loom, tag)


def _flow(loom: _Loom, tag: _Tag) -> None:
    """Break lines and blocks where an element of prose starts or ends."""
    name, place, _, closing = tag
    if name in ("td", "th"):
        if not closing and loom.line_size:
            loom.weave.add(" | ", place)
        loom.n_heads += name == "th" and not closing
    elif name == "tr" and closing and loom.n_heads > 1 and loom.line_size:
        loom.end_line(place)
        loom.weave.add("|".join(["---"] * loom.n_heads) + "\n", place)
        loom.line += 1
    elif loom.level:
        return
    elif name == "li" and not closing:
        loom.end_line(place)
        loom.item = True
    elif name in _PARTING:
        loom.end_paragraph(place)
    else:
        loom.n_heads = 0 if name == "tr" else loom.n_heads
        loom.end_line(place)


def _value(pattern: re.Pattern[str], attributes: str) -> str:
    found = pattern.search(attributes)
    return next((group for group in found.groups() if group), "") if found else ""


def html_targets(text: str) -> list[str]:
    """Return the targets of the links in a stretch of HTML, as written."""
    return [
        unescape(_value(_HREF, match.group(3)))
        for match in _TOKEN.finditer(text)
        if match.group(2) and match.group(2).lower() == "a" and "href" in match.group(3)
    ]
