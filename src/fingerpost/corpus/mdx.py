"""MDX made readable for a Markdown parser: what is code of the page becomes blanks.

Imports, exports, lines that hold nothing but component tags, and tags that run over several
lines are replaced by blanks of the same length, so that every place in the text stays.
"""

from __future__ import annotations

import re

_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
_ESM = re.compile(r"(?:import|export)[ \t{*'\"]")
_TAG_START = re.compile(r"[ \t]*</?(?:[A-Za-z][\w.:-]*)?(?=[\s/>]|$)")
_ONLY_TAGS = re.compile(r"(?:[ \t]*</?(?:[A-Za-z][\w.:-]*)?(?:\s[^<>]*|/)?>)+[ \t]*$")
_ONLY_COMMENT = re.compile(r"[ \t]*\{/\*[^*]*(?:\*(?!/)[^*]*)*\*/\}[ \t]*$")
_MAX_TAG_LINES = 400


def blank_components(text: str) -> str:
    r"""Return the text with imports, exports and component tags made blank, as long as before.

    Args:
        text: MDX whose only line ends are ``\n``.
    """
    lines = text.split("\n")
    fence = ""
    index = 0
    starts_block = True
    while index < len(lines):
        line = lines[index]
        opened = _FENCE.match(line)
        if fence:
            if opened and opened.group(1).startswith(fence) and not line[opened.end() :].strip():
                fence = ""
        elif opened:
            fence = opened.group(1)
        else:
            end = _component_end(lines, index, starts_block=starts_block)
            for blanked in range(index, end):
                lines[blanked] = " " * len(lines[blanked])
            index = max(index, end - 1)
        starts_block = not lines[index].strip()
        index += 1
    return "\n".join(lines)


def _component_end(lines: list[str], index: int, *, starts_block: bool) -> int:
    """Return the line after the import, export or tag that starts here, ``index`` if none."""
    line = lines[index]
    if starts_block and _ESM.match(line):
        return _next_blank(lines, index)
    if _ONLY_TAGS.match(line) or _ONLY_COMMENT.match(line):
        return index + 1
    if _TAG_START.match(line) and ">" not in line.replace("=>", ""):
        return _tag_end(lines, index)
    return index


def _next_blank(lines: list[str], index: int) -> int:
    while index < len(lines) and lines[index].strip():
        index += 1
    return index


def _tag_end(lines: list[str], index: int) -> int:
    """Return the line after a tag over several lines, ``index`` when it has no clean end."""
    depth = 0
    for at in range(index, min(index + _MAX_TAG_LINES, len(lines))):
        line = lines[at]
        depth += line.count("{") - line.count("}")
        if depth <= 0 and line.replace("=>", "").rstrip().endswith(">"):
            return at + 1
    return index
