"""Markup to the prose that is searched: linear regular expressions, asked only when needed.

Every expression is bounded by a character that it cannot cross, so that hostile text costs
linear time. What stands in code keeps every character.
"""

from __future__ import annotations

import re
from html import unescape

_CODE_SPAN = re.compile(r"(``?)(?!`)([^`]+)\1(?!`)")
_FENCE_LINE = re.compile(r"[ \t>]*(?:[-*+]|\d{1,9}[.)])?[ \t]*(`{3,}|~{3,})")
_SHORTCODE = re.compile(r"\{\{[<%][^{}]*[>%]\}\}")
_HEADING_ID = re.compile(r"(?<![ \t])[ \t]*+\{[ \t]*#[\w.:-]++[^{}\n]*\}")
_DEFINITION = re.compile(r"^[ >\t]*\[[^\[\]\n]+\]:[ \t]*(\S+)[^\n]*$", re.MULTILINE)
_IMAGE = re.compile(r"!\[([^\[\]]*)\](?:\([^()\n]*(?:\([^()\n]*\)[^()\n]*)?\)|\[[^\[\]\n]*\])")
_LINK = re.compile(r"\[([^\[\]]*)\](?:\(([^()\n]*(?:\([^()\n]*\)[^()\n]*)?)\)|\[[^\[\]\n]*\])")
_ADMONITION = re.compile(r"\[!\w+\][-+]?")
_FOOTNOTE = re.compile(r"\[\^[^\[\]\n]+\]:?")
_AUTOLINK = re.compile(r"<((?:https?://|mailto:)[^<>\s]+)>")
_TAG = re.compile(r"</?(?:[A-Za-z][\w.:-]*)?(?:\s[^<>]*|/)?>|<![A-Za-z][^<>]*>|<\?[^<>]*>")
_SAID = re.compile(r"""\b(?:alt|title|label|summary|description)=(?:"([^"<>]*)"|'([^'<>]*)')""")
_EMPHASIS = re.compile(r"[*_]+")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_LEAD = re.compile(
    r"^[ \t]*(?:>[ \t>]*)?(?:(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?)?(?:#{1,6}[ \t]+)?",
    re.MULTILINE,
)
_BULLET = re.compile(r"^([ \t]*)[*+](?=[ \t])", re.MULTILINE)
_LED = re.compile(r"^[ \t]*[-*+>#0-9]", re.MULTILINE)
_ASIDE = re.compile(r"^[ \t>]*(?::{3,}|!!!|\?\?\?\+?|///)[ \t]*[\w-]*[ \t]*(.*)$", re.MULTILINE)
_RULE_LINE = re.compile(r"^[ \t>]*(?:[-_*=][ \t]*){3,}$", re.MULTILINE)
_DELIMITER_ROW = re.compile(
    r"^[ \t>]*+\|?[ \t]*+:?-++:?[ \t]*+(?:\|[ \t]*+:?-*+:?[ \t]*+)*+$", re.MULTILINE
)
_CELL_EDGE = re.compile(r"(?<!\\)\|")
# Direction overrides, zero-width marks and tag characters: unseen by people, so not searched.
_INVISIBLE = re.compile("[\u200b\u202a-\u202e\u2060\u2066-\u2069\ufeff\U000e0000-\U000e007f]")
_FENCE_LINES = 2
_SPECIAL = frozenset("*_<>[]{}&\\~|!#")
_OPEN, _SHUT = "\ue000", "\ue001"
_KEPT = re.compile(f"{_OPEN}(\\d+){_SHUT}")


def clean_prose(text: str, targets: list[str] | None = None) -> str:
    """Return text without inline and line markup; code keeps every character.

    Args:
        text: Markdown without fenced blocks of its own, or a list or quote that holds some.
        targets: Takes the targets of the links that were met, as written.
    """
    if "```" in text or "~~~" in text:
        return _around_fences(text, targets)
    return _clean(text, targets)


def clean_cell(text: str, targets: list[str] | None = None) -> str:
    """Return a notebook's prose without inline markup; marks of lists and headings stay."""
    if "```" in text or "~~~" in text:
        return _around_fences(text, targets)
    return _clean(_BULLET.sub(r"\1-", text), targets, lead=False)


def clean_inline(text: str) -> str:
    """Return one line of markup (a heading, a cell) as plain text with single blanks."""
    return " ".join(_clean(text, None, lead=False).split())


def clean_table(text: str, targets: list[str] | None = None) -> str:
    """Return a table's cells as text, a row a line, without pipes and without the rule."""
    text = _DELIMITER_ROW.sub("", text)
    return _clean(_CELL_EDGE.sub("  ", text), targets)


def clean_fence(text: str) -> str:
    """Return the lines of a fenced block without the fence."""
    lines = text.rstrip().split("\n")
    marker = lines[0].lstrip(" \t>")[:3]
    if len(lines) > 1 and lines[-1].lstrip(" \t>").startswith(marker):
        lines.pop()
    return "\n".join(lines[1:]) if marker in ("```", "~~~") else "\n".join(lines)


def clean_cell_fence(text: str) -> str:
    """Return a fenced block with its fence, which is closed where the file cut it off."""
    lines = text.strip("\n").rstrip().split("\n")
    marker = lines[0].lstrip(" \t>")
    fence = marker[: len(marker) - len(marker.lstrip(marker[:1]))]
    if len(lines) >= _FENCE_LINES and lines[-1].lstrip(" \t>").startswith(fence):
        lines.pop()
    code = "\n".join(lines).rstrip()
    return f"{code}\n{fence}" if len(lines) > 1 else ""


def tidy(text: str) -> str:
    """Return text with runs of blanks made one, and lines and whole without empty edges."""
    if "\t" in text or "\u00a0" in text:
        text = text.replace("\t", " ").replace("\u00a0", " ")
    while "  " in text:
        text = text.replace("  ", " ")
    text = text.replace(" \n", "\n").replace("\n ", "\n")
    while "\n\n\n" in text:
        text = text.replace("\n\n\n", "\n\n")
    return text.strip() if text.isascii() else _INVISIBLE.sub("", text).strip()


def _around_fences(text: str, targets: list[str] | None) -> str:
    """Clean what stands outside fences that are nested in a list or quote."""
    out: list[str] = []
    outside: list[str] = []
    marker = ""
    for line in text.split("\n"):
        match = _FENCE_LINE.match(line)
        if not marker:
            if match is None:
                outside.append(line)
                continue
            marker = match.group(1)
            out.append(_clean("\n".join(outside), targets))
            outside = []
        elif match and match.group(1).startswith(marker) and not line[match.end() :].strip("`~ \t"):
            marker = ""
        else:
            out.append(line)
    out.append(_clean("\n".join(outside), targets))
    return "\n".join(part for part in out if part.strip())


def _clean(text: str, targets: list[str] | None, *, lead: bool = True) -> str:
    kept: list[str] = []
    if "`" in text:
        text = _CODE_SPAN.sub(lambda match: _keep(match.group(2), kept), text)
    if "\\" in text:
        text = _ESCAPE.sub(lambda match: _keep(match.group(1), kept), text)
    if "<!--" in text:
        text = strip_comments(text)
    if "{" in text:
        text = _HEADING_ID.sub("", _SHORTCODE.sub(" ", _strip_mdx_comments(text)))
    if "[" in text:
        text = _unlink(text, targets)
    if "<" in text:
        text = _AUTOLINK.sub(r"\1", text)
        text = _TAG.sub(_spoken, text)
    text = _flat(text, lead=lead)
    if kept:
        text = _KEPT.sub(lambda match: _kept(match, kept), text)
    return text


def _flat(text: str, *, lead: bool) -> str:
    """Take away markup of lines, emphasis and entities."""
    if lead:
        if ":::" in text or "!!!" in text or "???" in text or "///" in text:
            text = _ASIDE.sub(_aside_title, text)
        if "---" in text or "***" in text or "___" in text or "===" in text:
            text = _RULE_LINE.sub("", text)
        if _LED.search(text):
            text = _LEAD.sub("", text)
    if "*" in text or "_" in text:
        text = _EMPHASIS.sub(_emphasis, text)
    if "~~" in text:
        text = text.replace("~~", "")
    if "&" in text and ";" in text:
        text = unescape(text)
    return text


def _emphasis(match: re.Match[str]) -> str:
    """Return nothing for a mark of emphasis, and the run itself where it is part of a word."""
    run: str = match.group()
    before = match.string[match.start() - 1 : match.start()] if match.start() else ""
    after = match.string[match.end() : match.end() + 1]
    if run[0] == "*" and run[-1] == "*":
        alone = (not before or before.isspace()) and (not after or after.isspace())
        return run if alone else ""
    inside = (before.isalnum() and after.isalnum()) or not (before.isalnum() or after.isalnum())
    return run if inside else ""


def _keep(code: str, kept: list[str]) -> str:
    """Put code out of reach of the other rules when they could change it."""
    if _SPECIAL.isdisjoint(code) and not code[:1].isspace():
        return code
    kept.append(code)
    return f"{_OPEN}{len(kept) - 1}{_SHUT}"


def _kept(match: re.Match[str], kept: list[str]) -> str:
    number = match.group(1)
    return kept[int(number)] if len(number) < 8 and int(number) < len(kept) else ""  # noqa: PLR2004 - no chunk holds ten million spans


def _unlink(text: str, targets: list[str] | None) -> str:
    """Put the words of links and images in their place and note where the links go."""
    if "]:" in text:
        if targets is not None:
            targets.extend(match.group(1) for match in _DEFINITION.finditer(text))
        text = _DEFINITION.sub("", text)
    if "![" in text:
        text = _IMAGE.sub(r"\1", text)
    if targets is not None:
        targets.extend(match.group(2) for match in _LINK.finditer(text) if match.group(2))
    text = _LINK.sub(r"\1", text)
    if "[!" in text:
        text = _ADMONITION.sub("", text)
    if "[^" in text:
        text = _FOOTNOTE.sub("", text)
    return text


def _aside_title(match: re.Match[str]) -> str:
    title: str = match.group(1).strip()
    title = title.partition("{")[0].strip(' "')
    return title[1:-1] if title.startswith("[") and title.endswith("]") else title


def _spoken(match: re.Match[str]) -> str:
    """Return what a tag says to a reader: the alternative text, the title, the label."""
    tag = match.group()
    if "=" not in tag:
        return " " if tag[1:3] in ("br", "/t", "/p", "/l", "/d", "/h") else ""
    said = " ".join(one or two for one, two in _SAID.findall(tag))
    return f" {said} " if said else ""


def _strip_mdx_comments(text: str) -> str:
    """Return text with a space for each ``{/* … */}``; one that is never closed stays."""
    out: list[str] = []
    done = at = 0
    while (opened := text.find("{/*", at)) >= 0:
        closed = text.find("*/", opened + 3)
        if closed < 0:
            break
        at = closed - 2  # the star may be that of another opening
        if text.startswith("}", closed + 2):
            out += (text[done:opened], " ")
            done = at = closed + 3
    return "".join((*out, text[done:]))


def strip_comments(text: str) -> str:
    """Return text without ``<!-- … -->``; an unclosed comment reaches to the end."""
    out: list[str] = []
    at = 0
    while True:
        opened = text.find("<!--", at)
        if opened < 0:
            out.append(text[at:])
            return "".join(out)
        out.append(text[at:opened])
        closed = text.find("-->", opened + 4)
        if closed < 0:
            return "".join(out)
        at = closed + 3
