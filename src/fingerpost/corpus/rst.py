"""reStructuredText: sections, directives and literal blocks, without docutils.

Heading levels follow the order in which adornment styles appear, as the format defines it.
"""

from __future__ import annotations

import re

from fingerpost.corpus.blocks import Block

_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1{2,}[ \t]*$")
_DIRECTIVE = re.compile(r"^[ \t]*\.\. (?:\|[^|\n]+\| )?([\w:-]+)::[ \t]*(.*)$")
_CODE_DIRECTIVES = frozenset({"code", "code-block", "sourcecode", "highlight", "parsed-literal"})
_ROLE = re.compile(r":[\w:+.-]+:`([^`]*)`")
_TICKS = re.compile(r"``([^`]+(?:`[^`]+)*)``")
_REFERENCE = re.compile(r"`([^`<>]*?)[ \t]*(?:<([^<>`]*)>)?`_{0,2}")
_TARGET = re.compile(r"^[ \t]*\.\. _[^\n]*:[^\n]*$", re.MULTILINE)
_OPTION = re.compile(r"^[ \t]+:[\w-]+:(?:[ \t][^\n]*)?$", re.MULTILINE)
_OPENING = re.compile(r"^[ \t]*\.\. (?:\|[^|\n]+\| )?[\w:-]+::[ \t]*", re.MULTILINE)
_EMPHASIS = re.compile(r"(?<![\w*])\*{1,2}(?=\S)|(?<=\S)\*{1,2}(?![\w*])")
_SUBSTITUTION = re.compile(r"\|([\w .-]{1,60})\|_{0,2}")


def parse_rst(text: str) -> list[Block]:
    r"""Return the blocks of reStructuredText whose only line ends are ``\n``."""
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    blocks: list[Block] = []
    styles: list[str] = []
    number = 0
    while number < len(lines):
        end = _heading_end(lines, number)
        if end:
            title = lines[end - 2].strip()
            style = lines[end - 1].strip()[0] + ("2" if end - number == _OVERLINED else "")
            if style not in styles:
                styles.append(style)
            level = min(styles.index(style) + 1, 6)
            blocks.append(Block("heading", number, _past_blank(lines, end), level, title))
        else:
            kind, end = _block(lines, number)
            blocks.append(Block(kind, number, _past_blank(lines, end)))
        number = blocks[-1].end
    return blocks


_OVERLINED = 3


def _heading_end(lines: list[str], number: int) -> int:
    """Return the line after a section title that starts here, 0 when none does."""
    line = lines[number]
    if _ADORNMENT.match(line):
        below = lines[number + 1 : number + 3]
        framed = len(below) == 2 and below[0].strip() and below[1].strip() == line.strip()  # noqa: PLR2004 - title and line
        return number + _OVERLINED if framed else 0
    if not line.strip() or line[0] in " \t" or number + 1 >= len(lines):
        return 0
    under = lines[number + 1].rstrip()
    long_enough = _ADORNMENT.match(under) and len(under) >= min(len(line.rstrip()), 40)
    return number + 2 if long_enough and not line.startswith("..") else 0


def _past_blank(lines: list[str], number: int) -> int:
    while number < len(lines) and not lines[number].strip():
        number += 1
    return number


def _block(lines: list[str], number: int) -> tuple[str, int]:
    """Return kind and end of the block that starts at a line without a title."""
    line = lines[number]
    directive = _DIRECTIVE.match(line)
    if directive and directive.group(1) in _CODE_DIRECTIVES:
        return "rstcode", _indented_end(lines, number + 1, _indent(line))
    if line.lstrip().startswith(".. ") and not directive and not _TARGET.match(line):
        return "comment", _indented_end(lines, number + 1, _indent(line))
    if number and line[:1] in (" ", "\t") and _ends_literal(lines, number):
        return "code", _indented_end(lines, number, 0)
    end = number + 1
    while end < len(lines) and lines[end].strip() and not _heading_end(lines, end):
        end += 1
    return "rst", end


def _ends_literal(lines: list[str], number: int) -> bool:
    """Tell whether the last line with text before this one announces a literal block."""
    before = number - 1
    while before >= 0 and not lines[before].strip():
        before -= 1
    return before >= 0 and before < number - 1 and lines[before].rstrip().endswith("::")


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _indented_end(lines: list[str], number: int, indent: int) -> int:
    """Return the line after a body that is indented deeper than ``indent``."""
    end = number
    while number < len(lines):
        if lines[number].strip():
            if _indent(lines[number]) <= indent:
                break
            end = number + 1
        number += 1
    return end


def clean_rst(text: str, targets: list[str] | None = None) -> str:
    """Return prose of reStructuredText without roles, references and directive marks."""
    if ".." in text:
        text = _OPENING.sub("", _TARGET.sub("", text))
    text = _OPTION.sub("", text)
    if "`" in text:
        text = _ROLE.sub(_role_text, text)
        text = _TICKS.sub(r"\1", text)
        if targets is not None:
            targets.extend(match.group(2) for match in _REFERENCE.finditer(text) if match.group(2))
        text = _REFERENCE.sub(lambda match: match.group(1) or match.group(2) or "", text)
    if "*" in text:
        text = _EMPHASIS.sub("", text)
    if "|" in text:
        text = _SUBSTITUTION.sub(r"\1", text)
    return text.replace("::\n", ":\n")


def _role_text(match: re.Match[str]) -> str:
    words: str = match.group(1)
    return words.partition("<")[0].strip() or words.strip("<>") if "<" in words else words
