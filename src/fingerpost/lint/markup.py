"""Links, pictures, anchors and remarks of a page's markup, each with its place.

What stands in code, and in comments, is made blank first, so that every place in the text stays.
Every expression is bounded by a character that it cannot cross, and no two neighbours in one can
take the same characters and give them back: hostile text costs linear time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from html import unescape
from typing import Final, NamedTuple

from fingerpost.corpus.blocks import Block

# A mark without its twin must not take the next paragraph for code.
_CODE_SPAN = re.compile(r"(``?)(?!`)((?:[^`\n]|\n(?![ \t]*\n))+)\1(?!`)")
_FENCE = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(`{3,}|~{3,})")
_REMARK = re.compile(r"<!--[ \t]*fingerpost-check:[ \t]*ignore[ \t]++([\w, \t-]+)-->")
_MDX_REMARK = re.compile(r"\{/\*[ \t]*fingerpost-check:[ \t]*ignore[ \t]++([\w, \t-]+)\*/\}")
# What is opened and closed by what, and is nothing that a reader sees.
_UNSEEN: Final = (
    (re.compile(r"<!--"), re.compile(r"-->")),
    (re.compile(r"<script\b", re.IGNORECASE), re.compile(r"</script\b", re.IGNORECASE)),
    (re.compile(r"<style\b", re.IGNORECASE), re.compile(r"</style\b", re.IGNORECASE)),
)
_MDX_OPENED = re.compile(r"\{/\*")
_MDX_CLOSED = re.compile(r"\*/\}?")
_INLINE = re.compile(
    r"(?<!\\)\]\([ \t]*+(<[^<>\n]*>|[^()\s<>]*(?:\([^()\s]*\)[^()\s<>]*)*)(?=\s*\)|\s+[\"'(])"
)
_DEFINITION = re.compile(r"^[ >\t]*\[(?!\^)[^\[\]\n]+\]:[ \t]*(\S+)", re.MULTILINE)
_TAG = re.compile(r"<[A-Za-z][\w.-]*\s[^<>]*>")
_VALUE = r"""\s*=\s*(?:"([^"\n]*)"|'([^'\n]*)'|([^\s"'<>`]+))"""
_ADDRESS = re.compile(rf"\s(?:href|src|to){_VALUE}", re.IGNORECASE)
_ID = re.compile(rf"\s(?:id|name){_VALUE}", re.IGNORECASE)
# As in braces: of Python-Markdown and kramdown after a colon, of Pandoc after classes, of MDX in
# a comment.
_HEADING_ID = re.compile(r"\{:?[ \t]*(?:/\*[ \t]*)?(?:\.[\w-]++[ \t]++)*+#([\w.:-]++)[^{}\n]*\}")
_LABEL = re.compile(r"^\(([\w.:-]++)\)=[ \t]*+$", re.MULTILINE)  # of MyST
_HEADING_TAG = re.compile(r"<(/?)h([1-6])(?:\s[^<>]*)?>", re.IGNORECASE)
_ANY_TAG = re.compile(r"<[^<>]*>")
_PICTURE = re.compile(r"!\[[^\[\]\n]*\](?:\([^()\n]*\)|\[[^\[\]\n]*\])")
_NO_ALT = re.compile(r"!\[[ \t]*\](?:\((?!\s*data:)|\[)")
_IMG = re.compile(r"<img\s[^<>]*>", re.IGNORECASE)
_ALT = re.compile(r"\salt(?=[\s=/>])", re.IGNORECASE)
_HIDDEN = re.compile(r"""aria-hidden|role\s*=\s*["']presentation""", re.IGNORECASE)
# The page shows text of another file: its headings are not all here.
_INCLUDES = re.compile(
    r"\[!INCLUDE|\{\{[<%]\s*(?:include|readfile|snippet|partial)|--8<--|\.\. include::"
    r"|^import\s++[^\n]*from\s+['\"][^'\"\n]+\.mdx?['\"]",
    re.MULTILINE,
)
_MODULE = re.compile(r"(?:import|export)\b")
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


class TagHeading(NamedTuple):
    """A heading that is written as a tag and opens no section.

    Attributes:
        place: In the text.
        level: 1 to 6.
        heading: As plain text.
    """

    place: int
    level: int
    heading: str


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


def without_modules(text: str, read: str) -> str:
    r"""Return MDX with its imports and exports made blank, as long as before.

    Args:
        text: Of the page, line ends ``\n``.
        read: The same text as the parser reads it: without them, and without components.
    """
    lines, in_module, starts = text.split("\n"), False, True
    for number, (line, left) in enumerate(zip(lines, read.split("\n"), strict=False)):
        gone = bool(line.strip()) and not left.strip()
        in_module = gone and (in_module or (starts and _MODULE.match(line) is not None))
        if in_module:
            lines[number] = " " * len(line)
        starts = not line.strip()
    return "\n".join(lines)


def without_comments(text: str) -> str:
    """Return the text with comments, scripts and styles made blank, as long as before."""
    for opening, closing in _UNSEEN:
        text = _each_comment(text, opening, closing, _blank)
    return _each_comment(text, _MDX_OPENED, _MDX_CLOSED, _kept_id)


def _each_comment(
    text: str,
    opening: re.Pattern[str],
    closing: re.Pattern[str],
    change: Callable[[str], str],
) -> str:
    """Return the text with each comment changed; one that is never closed stays as it is."""
    parts: list[str] = []
    done = 0
    while (opened := opening.search(text, done)) is not None:
        closed = closing.search(text, opened.end())
        if closed is None:
            break
        parts += (text[done : opened.start()], change(text[opened.start() : closed.end()]))
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
            yield Written(match.start(1), _unbracketed(match.group(1)))
    if "]:" in text:
        for match in _DEFINITION.finditer(text):
            yield Written(match.start(1), _unbracketed(match.group(1)))
    if "<" in text:
        for tag in _TAG.finditer(text):
            for match in _ADDRESS.finditer(tag.group()):
                value = match.lastindex or 1
                yield Written(tag.start() + match.start(value), match.group(value))


def _unbracketed(target: str) -> str:
    """Return an address without angle brackets, between which blanks are part of it."""
    if target.startswith("<") and target.endswith(">"):
        return target[1:-1].strip().replace(" ", "%20")
    return target.strip("<>")


def written_anchors(text: str) -> Iterator[str]:
    """Yield the anchors that markup without code gives by name: ids, names, ``{#id}``, labels."""
    if "{" in text:
        yield from _HEADING_ID.findall(text)
    if ")=" in text:
        yield from _LABEL.findall(text)
    if "<" in text:
        for tag in _TAG.finditer(text):
            for match in _ID.finditer(tag.group()):
                yield match.group(match.lastindex or 1)


def tag_headings(text: str) -> Iterator[TagHeading]:
    """Yield the headings that stand as tags in Markdown without code."""
    opened: re.Match[str] | None = None
    for tag in _HEADING_TAG.finditer(text) if "<" in text else ():
        if not tag.group(1):
            opened = tag
        elif opened is not None and opened.group(2) == tag.group(2):
            own = unescape(_ANY_TAG.sub("", text[opened.end() : tag.start()]))
            yield TagHeading(opened.start(), int(tag.group(2)), " ".join(own.split()))
            opened = None


def without_pictures(heading: str) -> str:
    """Return the markup of a heading without its pictures; GitHub takes no anchor from them."""
    return _PICTURE.sub("", heading) if "![" in heading else heading


def nested_headings(text: str) -> list[str]:
    """Return the markup of headings that stand in lists and quotes; they open no section."""
    return _NESTED_HEADING.findall(text) if "# " in text else []


def silent_pictures(text: str) -> Iterator[int]:
    """Yield the places of pictures that have no alternative text and are not marked as décor."""
    if "![" in text:
        for match in _NO_ALT.finditer(text):
            yield match.start()
    if "<" in text:
        for match in _IMG.finditer(text):
            if not _ALT.search(match.group()) and not _HIDDEN.search(match.group()):
                yield match.start()


def includes_others(text: str) -> bool:
    """Tell whether text of another file is shown in this one."""
    return _INCLUDES.search(text) is not None
