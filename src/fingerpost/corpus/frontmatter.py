"""Front matter: YAML between ``---`` lines or TOML between ``+++`` lines at a file's start.

YAML is read as strings only, without aliases, with bounds on size and depth; what cannot be
read stays in the document as opaque text, so that nothing is lost and no heading is made of it.
"""

from __future__ import annotations

import datetime as dt
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

_LOADER: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
_MAX_CHARS = 64 * 1024
_MAX_DEPTH = 10
_MAX_VALUE = 2000
_OPENING = re.compile(r"\ufeff?(---|\+\+\+)[ \t]*(?:\r\n|\n|\r)")
_CLOSING = {
    "---": re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\r\n|\n|\r|\Z)", re.MULTILINE),
    "+++": re.compile(r"^\+\+\+[ \t]*(?:\r\n|\n|\r|\Z)", re.MULTILINE),
}
_PAIR = re.compile(
    r"^[A-Za-z_][\w .-]{0,60}:(?:[ \t]|$)|^[ \t]*-[ \t]|^[ \t]+\S|^#|^[ \t]*$|^[\]}]"
)
_KEY = re.compile(r"[A-Za-z_][\w.-]{0,60}[ \t]*[:=]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_TITLE_LINE = re.compile(r"^title:[ \t]*[\"']?([^\r\n]*?)[\"']?[ \t]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What stands before a document's text.

    Attributes:
        end: Where the body starts in the file's text; opaque front matter belongs to the body.
        opaque_end: End of a block that could not be read, 0 when there is none. It is part of
            the body, holds no heading, and is not searched when it looks like settings.
        searchable: Whether the opaque block reads like prose rather than like settings.
        title: Its ``title``, empty when it has none.
        language: ISO 639-1 code of ``lang``, ``language`` or ``locale``, empty when none.
        tags: Its ``tags``, in order, without duplicates.
        metadata: All other simple values and lists of simple values; JSON-safe.
    """

    end: int = 0
    opaque_end: int = 0
    searchable: bool = True
    title: str = ""
    language: str = ""
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, object] = field(default_factory=dict)


class _UnreadableError(ValueError):
    """The block is no front matter that we read."""


def read_front_matter(text: str) -> FrontMatter:
    """Return the front matter of a file's decoded text; never raises."""
    start = 1 if text.startswith("\ufeff") else 0
    opening = _OPENING.match(text)
    if opening is None:
        return FrontMatter(end=start)
    closing = _CLOSING[opening.group(1)].search(_unix(text, opening.end()))
    if closing is None:
        return FrontMatter(end=start)
    inner = text[opening.end() : opening.end() + closing.start()]
    end = opening.end() + closing.end()
    # The copy with one kind of line end has the same length; a CR LF pair ends one later.
    if text[end - 1 : end + 1] == "\r\n":
        end += 1
    try:
        values = _read_toml(inner) if opening.group(1) == "+++" else _read_yaml(inner)
    except _UnreadableError:
        return _opaque(inner, start, end)
    return _describe(values, end)


def _unix(text: str, start: int) -> str:
    """Return the searched window with every CR as LF, so that ``^`` finds each line."""
    window = text[start : start + _MAX_CHARS + 8]
    return window.replace("\r", "\n") if "\r" in window else window


def _opaque(inner: str, start: int, end: int) -> FrontMatter:
    lines = inner.replace("\r\n", "\n").replace("\r", "\n").strip("\n").split("\n")
    if not _KEY.match(lines[0]):
        return FrontMatter(end=start)  # a rule above prose, and another one below it
    settings = all(_PAIR.match(line) for line in lines)
    title = _TITLE_LINE.search(inner) if settings else None
    return FrontMatter(
        end=start,
        opaque_end=end,
        searchable=not settings,
        title=_plain(title.group(1)).strip() if title else "",
    )


def _read_yaml(inner: str) -> dict[str, object]:
    try:
        events = iter(yaml.parse(inner, Loader=_LOADER))
        value = _document(events)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise _UnreadableError(str(error)) from error
    if value is None or value == "":
        return {}
    if not isinstance(value, dict):
        raise _UnreadableError("no mapping")
    return value


def _document(events: Iterator[Any]) -> object:
    for event in events:
        if isinstance(event, yaml.DocumentStartEvent):
            value = _node(next(events), events, 0)
            if isinstance(next(events), yaml.DocumentEndEvent) and isinstance(
                next(events), yaml.StreamEndEvent
            ):
                return value
            raise _UnreadableError("more than one document")
    return None


def _node(event: Any, events: Iterator[Any], depth: int) -> object:
    if depth > _MAX_DEPTH:
        raise _UnreadableError("nested too deeply")
    if isinstance(event, yaml.ScalarEvent):
        return _plain(str(event.value))
    if isinstance(event, yaml.SequenceStartEvent):
        items: list[object] = []
        while not isinstance(event := next(events), yaml.SequenceEndEvent):
            items.append(_node(event, events, depth + 1))
        return items
    if isinstance(event, yaml.MappingStartEvent):
        pairs: dict[str, object] = {}
        while not isinstance(event := next(events), yaml.MappingEndEvent):
            key = _node(event, events, depth + 1)
            value = _node(next(events), events, depth + 1)
            if not isinstance(key, str):
                raise _UnreadableError("a key that is no text")
            pairs[key] = value
        return pairs
    raise _UnreadableError("aliases are refused")


def _read_toml(inner: str) -> dict[str, object]:
    try:
        values: dict[str, object] = tomllib.loads(inner.replace("\r\n", "\n"))
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        raise _UnreadableError(str(error)) from error
    return values


def _describe(values: dict[str, object], end: int) -> FrontMatter:
    metadata: dict[str, object] = {}
    title, language = "", ""
    tags: tuple[str, ...] = ()
    for key, value in values.items():
        name = _plain(key).strip()
        if name == "title" and isinstance(value, str):
            title = " ".join(value.split())
        elif name == "tags":
            tags = _tags(value)
        else:
            if name in ("lang", "language", "locale") and isinstance(value, str):
                language = _language(value) or language
            kept = _simple(value)
            if kept is not None:
                metadata[name] = kept
    return FrontMatter(end=end, title=title, language=language, tags=tags, metadata=metadata)


def _tags(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        value = value.split(",")
    if not isinstance(value, list):
        return ()
    names = (str(tag).strip() for tag in value if isinstance(tag, str | int | float))
    return tuple(dict.fromkeys(name for name in names if name))


def _language(value: str) -> str:
    code = re.split(r"[-_]", value.strip().lower())[0]
    return code if len(code) == 2 and code.isascii() and code.isalpha() else ""  # noqa: PLR2004 - ISO 639-1


def _simple(value: object) -> object:
    """Return a JSON-safe value, ``None`` for what is not simple."""
    if isinstance(value, str):
        return _plain(value)[:_MAX_VALUE]
    if isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else str(value)  # noqa: PLR0124 - not a number
    if isinstance(value, dt.datetime | dt.date | dt.time):
        return value.isoformat()
    if isinstance(value, list):
        items = [_simple(item) for item in value if not isinstance(item, list | dict)]
        return [item for item in items if item is not None][:100]
    return None


def _plain(text: str) -> str:
    return _SURROGATE.sub("\ufffd", text)
