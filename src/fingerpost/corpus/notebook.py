"""Notebooks: the cells' sources woven into Markdown that keeps its place in the JSON."""

from __future__ import annotations

import json
import re
from json import scanner
from typing import Any

from fingerpost.corpus.blocks import Block, parse_blocks
from fingerpost.corpus.source import ParsedText
from fingerpost.text.weave import Weave

_scan_string: Any = json.decoder.scanstring  # type: ignore[attr-defined] # not in typeshed
_RAW_LINE = re.compile(r"(?:[^\\]|\\[^n])*?(?:\\n|\Z)", re.DOTALL)
_SURROGATE = re.compile("[\ud800-\udfff]")


class _Placed(str):
    """A JSON string that knows where its characters stand in the file."""

    __slots__ = ("end", "start")

    start: int
    end: int


class NotebookError(ValueError):
    """The file is no notebook that we read."""


def parse_notebook(text: str, start: int) -> ParsedText:
    """Return the prose and code of a notebook's cells.

    Args:
        text: Decoded file.
        start: Where the JSON starts (after a byte order mark).

    Raises:
        NotebookError: It is no JSON, or has no cells.
    """
    notebook = _load(text, start)
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    if not isinstance(cells, list):
        raise NotebookError("it has no list of cells")
    language = _language(notebook)
    weave = Weave()
    for cell in cells:
        if isinstance(cell, dict):
            _cell(weave, text, cell, language)
    woven = weave.text()
    blocks = [_of_cell(block) for block in parse_blocks(woven)]
    return ParsedText(woven, blocks, start, len(text), weave=weave)


# Shown as they are searched (their place in the file is JSON), so they keep what parts them.
_CELL_KINDS = {"fence": "cellfence", "table": "celltable"} | dict.fromkeys(
    ("paragraph", "list", "quote", "html"), "cell"
)


def _of_cell(block: Block) -> Block:
    return block._replace(kind=_CELL_KINDS.get(block.kind, block.kind))


def _load(text: str, start: int) -> Any:
    decoder: Any = json.JSONDecoder(strict=False)
    decoder.parse_string = _placed
    decoder.scan_once = scanner.py_make_scanner(decoder)  # type: ignore[attr-defined] # not in typeshed
    try:
        return decoder.decode(text[start:]) if not start else _shifted(decoder, text, start)
    except (ValueError, RecursionError) as error:
        raise NotebookError("it is not valid JSON") from error


def _shifted(decoder: Any, text: str, start: int) -> Any:
    value, _ = decoder.raw_decode(text, start)
    return value


def _placed(text: str, begin: int, strict: bool = True) -> tuple[str, int]:  # noqa: FBT001, FBT002 - json's signature
    value, end = _scan_string(text, begin, strict)
    placed = _Placed(value)
    placed.start, placed.end = begin, end - 1
    return placed, end


def _language(notebook: dict[str, Any]) -> str:
    metadata = notebook.get("metadata")
    kernel = metadata.get("kernelspec") if isinstance(metadata, dict) else None
    language = kernel.get("language") if isinstance(kernel, dict) else None
    return language if isinstance(language, str) and language.isalnum() else "python"


def _cell(weave: Weave, text: str, cell: dict[str, Any], language: str) -> None:
    source = cell.get("source")
    candidates = source if isinstance(source, list) else [source]
    strings = [one for one in candidates if isinstance(one, _Placed)]
    if not strings:
        return
    place = strings[0].start
    code = cell.get("cell_type") == "code"
    fence = "~" * 8 if any("```" in one for one in strings) else "```"
    if code:
        weave.add(f"{fence}{language}\n", place)
    for one in strings:
        _lines(weave, text, one)
    weave.add("\n" if weave.ends_line else "\n\n", strings[-1].end)
    if code:
        weave.add(f"{fence}\n\n", strings[-1].end)


def _lines(weave: Weave, text: str, string: _Placed) -> None:
    """Add a JSON string line by line, so that each line knows its own place."""
    raw = text[string.start : string.end]
    if "\\" not in raw.removesuffix("\\n"):  # as most are: one line, nothing else escaped
        _add_line(weave, string, string.start, len(raw))
        return
    at = 0
    while at < len(raw):
        match = _RAW_LINE.match(raw, at)
        end = match.end() if match and match.end() > at else len(raw)
        line = json.loads(f'"{raw[at:end]}"', strict=False)
        _add_line(weave, line, string.start + at, end - at)
        at = end


def _add_line(weave: Weave, line: str, place: int, length: int) -> None:
    line = line.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
    weave.add(line if line.isascii() else _SURROGATE.sub("\ufffd", line), place, length)
