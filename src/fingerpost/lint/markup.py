"""Links, pictures, anchors and remarks of a page's markup, each with its place.

What stands in code, and in comments, is made blank first, so that every place in the text stays.
Every expression is bounded by a character that it cannot cross, and no two neighbours in one can
take the same characters and give them back: hostile text costs linear time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from fingerpost.corpus.blocks import Block

# A mark without its twin must not take the next paragraph for code.
_CODE_SPAN = re.compile(r"(``?)(?!`)((?:[^`\n]|\n(?![ \t]*\n))+)\1(?!`)")
_FENCE = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(`{3,}|~{3,})")
_REMARK = re.compile(r"<!--[ \t]*fingerpost-check:[ \t]*ignore[ \t]++([\w, \t-]+)-->")
_MDX_REMARK = re.compile(r"\{/\*[ \t]*fingerpost-check:[ \t]*ignore[ \t]++([\w, \t-]+)\*/\}")
_CLOSED = re.compile("-->")
_MDX_CLOSED = re.compile(r"\*/\}?")
_INLINE = re.compile(
    r"(?<!\\)\]\([ \t]*+(<[^<>\n]*>|[^()\s<>]*(?:\([^()\s]*\)[^()\s<>]*)*)(?=\s*\)|\s+[\"'(])"
)
_DEFINITION = re.compile(r"^[ >\t]*\[(?!\^)[^\[\]\n]+\]:[ \t]*(\S+)", re.MULTILINE)
_TAG = re.compile(r"<[A-Za-z][\w.]*\s[^<>]*>")
_ADDRESS = re.compile(r"""\s(?:href|src|to)\s*=\s*["']([^"'\n]*)["']""")
_ID = re.compile(r"""\s(?:id|name)\s*=\s*["']([^"'\n]+)["']""")
_HEADING_ID = re.compile(r"\{[ \t]*(?:/\*[ \t]*)?#([\w.:-]++)[^{}\n]*\}")
_NO_ALT = re.compile(r"!\[[ \t]*\]\((?!\s*data:)")
_IMG = re.compile(r"<img\s[^<>]*>", re.IGNORECASE)
_ALT = re.compile(r"\salt\s*=", re.IGNORECASE)
_HIDDEN = re.compile(r"""aria-hidden|role\s*=\s*["']presentation""", re.IGNORECASE)
# The page shows text of another file: its headings are not all here.
_INCLUDES = re.compile(
    r"\[!INCLUDE|\{\{[<%]\s*(?:include|readfile|snippet|partial)|--8<--|\.\. include::"
    r"|^import\s++[^\n]*from\s+['\"][^'\"\n]+\.mdx?['\"]",
    re.MULTILINE,
)
_NESTED_HEADING = re.compile(
    r"^[ \t>]*(?:[-*+>]|\d{1,9}[.)])[ \t]+#{1,6}[ \t]+([^\n]+)$", re.MULTILINE
)
_CODE_KINDS: Final = frozenset({"fence", "code", "cellfence", "wovencode", "rstcode"})
_NESTED: Final = frozenset({"list", "quote", "cell"})


class Written(NamedTuple):
    """A link as it is written.

    Attributes:
        place: In the text.
        target: The address, without its title.
    """

    place: int
    target: str


def ignored_rules(text: str) -> frozenset[str]:
    """Return the rules that remarks in text without code switch off for its page."""
    if "fingerpost-check:" not in text:
        return frozenset()
    found = [*_REMARK.findall(text), *_MDX_REMARK.findall(text)]
    return frozenset(name for names in found for name in names.replace(",", " ").split())


def without_code(text: str, blocks: Sequence[Block], starts: Sequence[int]) -> str:
    r"""Return the text with code made blank, as long as before.

    Args:
        text: Of the page, line ends ``\n``.
        blocks: Its blocks, covering every line.
        starts: Place of each line, and of the end.
    """
    parts: list[str] = []
    for block in blocks:
        own = text[starts[block.start] : starts[block.end]]
        if block.kind in _CODE_KINDS:
            own = _blank(own)
        elif block.kind in _NESTED and ("```" in own or "~~~" in own):
            own = _without_fences(own)
        parts.append(own)
    found = "".join(parts)
    return _CODE_SPAN.sub(_blanked, found) if "`" in found else found


def without_comments(text: str) -> str:
    """Return the text with comments made blank, as long as before."""
    text = _each_comment(text, "<!--", _CLOSED, _blank)
    return _each_comment(text, "{/*", _MDX_CLOSED, _kept_id)


def _each_comment(
    text: str, opening: str, closing: re.Pattern[str], change: Callable[[str], str]
) -> str:
    """Return the text with each comment changed; one that is never closed stays as it is."""
    parts: list[str] = []
    done = 0
    while (opened := text.find(opening, done)) >= 0:
        closed = closing.search(text, opened + len(opening))
        if closed is None:
            break
        parts += (text[done:opened], change(text[opened : closed.end()]))
        done = closed.end()
    return "".join((*parts, text[done:]))


def _kept_id(comment: str) -> str:
    """Return a comment made blank, unless it gives a heading its anchor."""
    return comment if _HEADING_ID.fullmatch(comment) else _blank(comment)


def _blanked(match: re.Match[str]) -> str:
    return _blank(match.group())


def _blank(text: str) -> str:
    return "\n".join(" " * len(line) for line in text.split("\n"))


def _without_fences(text: str) -> str:
    lines = text.split("\n")
    marker = ""
    for number, line in enumerate(lines):
        match = _FENCE.match(line)
        if not marker:
            marker = match.group(1) if match else ""
            if not marker:
                continue
        elif match and match.group(1).startswith(marker) and not line[match.end() :].strip("`~ \t"):
            marker = ""
        lines[number] = " " * len(line)
    return "\n".join(lines)


def links(text: str) -> Iterator[Written]:
    """Yield the links and pictures of text without code."""
    if "](" in text:
        for match in _INLINE.finditer(text):
            yield Written(match.start(1), match.group(1).strip("<>"))
    if "]:" in text:
        for match in _DEFINITION.finditer(text):
            yield Written(match.start(1), match.group(1).strip("<>"))
    if "<" in text:
        for tag in _TAG.finditer(text):
            for match in _ADDRESS.finditer(tag.group()):
                yield Written(tag.start() + match.start(1), match.group(1))


def written_anchors(text: str) -> Iterator[str]:
    """Yield the anchors that markup without code gives by name: ids, names, ``{#id}``."""
    if "{" in text:
        yield from _HEADING_ID.findall(text)
    if "<" in text:
        for tag in _TAG.finditer(text):
            yield from _ID.findall(tag.group())


def nested_headings(text: str) -> list[str]:
    """Return the markup of headings that stand in lists and quotes; they open no section."""
    return _NESTED_HEADING.findall(text) if "# " in text else []


def silent_pictures(text: str) -> Iterator[int]:
    """Yield the places of pictures that have no alternative text and are not marked as décor."""
    if "![" in text:
        for match in _NO_ALT.finditer(text):
            yield match.start()
    if "<img" in text:
        for match in _IMG.finditer(text):
            if not _ALT.search(match.group()) and not _HIDDEN.search(match.group()):
                yield match.start()


def includes_others(text: str) -> bool:
    """Tell whether text of another file is shown in this one."""
    return _INCLUDES.search(text) is not None
