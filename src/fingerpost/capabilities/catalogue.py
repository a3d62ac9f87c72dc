"""Catalogues of tools and extensions: JSON files and values, in the shapes that are in use."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from fingerpost.capabilities.described import Described, InvalidDescriptionError, describe
from fingerpost.capabilities.parameters import parameters_of
from fingerpost.types.plan import Capability, SkippedCapability

__all__ = ["Catalogue", "read_extensions", "read_tools"]

Catalogue = str | Path | Capability | Mapping[str, object] | Sequence[object]
"""A JSON file, or what stands in one; of extensions also a `Capability`."""
Found = Iterator[Described | SkippedCapability]

_MAX_FILE_BYTES: Final = 16 * 1024 * 1024
_MAX_DEPTH: Final = 6
_GIVEN: Final = "given in code"


def read_tools(given: Catalogue) -> Found:
    """Yield the tools of a JSON file or value, in order, or why one of them cannot be used.

    Read are results of MCP's ``tools/list``, bare or in JSON-RPC responses, the pages of one as
    a list or as lines of JSON; and lists of tools as OpenAI's chat and responses APIs take them,
    ``{"type": "function", "function": {…}}`` and ``{"type": "function", "name": …}``.
    """
    yield from _read(given, "tools", _tool)


def read_extensions(given: Catalogue) -> Found:
    """Yield the extensions of a JSON file or value, in order, or why one cannot be used.

    Each has an ``id`` or ``name`` and a ``summary`` or ``description``; a `Capability` is taken
    whatever its kind.
    """
    yield from _read(given, "extensions", _extension)


def _read(given: Catalogue, key: str, take: Callable[[Mapping[str, object]], Described]) -> Found:
    if not isinstance(given, str | Path):
        yield from _entries(given, _GIVEN, key, take)
        return
    try:
        values = _loaded(Path(given).expanduser())
    except (OSError, ValueError, RuntimeError) as error:  # RuntimeError: no such user
        yield SkippedCapability(str(given), getattr(error, "strerror", None) or str(error))
        return
    found = _entries(values, str(given), key, take)
    yield next(found, SkippedCapability(str(given), f"it holds no {key}"))
    yield from found


def _loaded(path: Path) -> object:
    """Return the JSON value of a file, or the values of its lines.

    Raises:
        OSError: It cannot be read.
        ValueError: It is too large, no regular file or no JSON.
    """
    if path.exists() and not path.is_file():  # a pipe would wait for ever
        raise ValueError("it is no regular file")
    with path.open("rb") as file:
        raw = file.read(_MAX_FILE_BYTES + 1)
    if len(raw) > _MAX_FILE_BYTES:
        raise ValueError(f"it is larger than {_MAX_FILE_BYTES >> 20} MiB")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError("it is not UTF-8") from None
    value = _parsed(text)
    if not isinstance(value, InvalidDescriptionError):
        return value
    # Only line feeds end a line: str.splitlines would also cut at U+2028 inside a string.
    lines = [_parsed(line) for line in text.split("\n") if line.strip()]
    if not any(isinstance(line, Mapping) for line in lines):
        raise ValueError(str(value))
    return lines


def _parsed(text: str) -> object:
    """Return the JSON value of a text, or the error that says why it has none."""
    try:
        # No number is used, and int() refuses those of more than 4,300 digits.
        value: object = json.loads(text, parse_int=float)
    except RecursionError:
        return InvalidDescriptionError("it is nested too deeply")
    except ValueError as error:
        return InvalidDescriptionError(f"it is no JSON: {error}")
    return value


def _entries(
    value: object,
    where: str,
    key: str,
    take: Callable[[Mapping[str, object]], Described],
    depth: int = 0,
) -> Found:
    """Yield what a list, a page or one entry holds; pages and lists may stand in each other."""
    if isinstance(value, Capability):
        value = {"kind": value.kind, "id": value.id, "summary": value.summary}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes) and depth < _MAX_DEPTH:
        for number, item in enumerate(value, start=1):
            yield from _entries(item, f"{where} #{number}", key, take, depth + 1)
        last = value[-1] if value else None
        if isinstance(last, Mapping):
            yield from _missing_page(last, where)
        return
    if isinstance(value, Mapping):
        held = [value[word] for word in ("result", key) if word in value]
        inner = held[0] if held else None
        if inner not in (None, {}) and depth < _MAX_DEPTH:
            yield from _entries(inner, where, key, take, depth + 1)
            if depth == 0:
                yield from _missing_page(value, where)
            return
        try:
            yield take(value)
        except InvalidDescriptionError as error:
            yield SkippedCapability(where, f"it holds no {key}" if held else str(error))
        return
    if isinstance(value, InvalidDescriptionError):
        yield SkippedCapability(where, str(value))
        return
    yield SkippedCapability(where, f"it is no list of {key} and none of them")


def _missing_page(page: Mapping[str, object], where: str) -> Iterator[SkippedCapability]:
    """Say so when the last page that there is names a next one."""
    result = page.get("result", page)
    if isinstance(result, Mapping) and result.get("nextCursor"):
        yield SkippedCapability(where, "the list goes on: its last page has a nextCursor")


def _tool(entry: Mapping[str, object]) -> Described:
    """Return a tool from any of the shapes.

    Raises:
        InvalidDescriptionError: It has no usable name.
    """
    inner = entry.get("function")
    said = inner if isinstance(inner, Mapping) else entry
    if "name" not in said and isinstance(entry.get("type"), str):
        raise InvalidDescriptionError(f"a built-in tool of type {entry['type']!r} has no name")
    schema = next(
        (said[word] for word in ("inputSchema", "input_schema", "parameters") if word in said), None
    )
    notes = said.get("annotations")
    title = said.get("title") or (notes.get("title") if isinstance(notes, Mapping) else None)
    return describe(
        "tool",
        said.get("name"),
        title=title,
        description=said.get("description"),
        parameters=parameters_of(schema),
    )


def _extension(entry: Mapping[str, object]) -> Described:
    """Return an extension.

    Raises:
        InvalidDescriptionError: It has no usable id, or an unknown kind.
    """
    kind = entry.get("kind", "extension")
    if kind not in ("skill", "tool", "extension"):
        raise InvalidDescriptionError(f"{kind!r} is no kind: skill, tool or extension")
    return describe(
        str(kind),
        entry.get("id", entry.get("name")),
        title=entry.get("name") if "id" in entry else "",
        description=entry.get("summary", entry.get("description")),
    )
