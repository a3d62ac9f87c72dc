"""A JSON or YAML file as a tree whose nodes know where they stand in the file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import yaml

_scan_string: Any = json.decoder.scanstring  # type: ignore[attr-defined] # not in typeshed
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_JSON_SIGN = re.compile(r"[ \t\r\n]*([{}\[\],:\"]|[^\s{}\[\],:\"]+)")
_SURROGATE = re.compile("[\ud800-\udfff]")
_MAX_DEPTH = 100


class TreeError(ValueError):
    """The file is not valid, or more than is read of one; the message says what and where."""


@dataclass(slots=True)
class Node:
    """A value of the file.

    Attributes:
        start: Where it starts in the file's text; its key, where it has one.
        value_start: Where the value itself starts.
        end: Place after it; of a YAML collection this may be where the next thing starts.
        text: What a scalar says, empty for others.
        members: Of a mapping, in order; of two equal keys the last one counts.
        items: Of a list, in order.
    """

    start: int
    value_start: int
    end: int
    text: str = ""
    members: dict[str, Node] | None = None
    items: list[Node] | None = None

    def get(self, key: str) -> Node | None:
        """Return a member, ``None`` when there is none."""
        return self.members.get(key) if self.members else None

    def said(self, key: str) -> str:
        """Return the text of a scalar member, empty when there is none."""
        child = self.get(key)
        return child.text if child is not None else ""


def read_tree(text: str, start: int = 0) -> Node:
    """Return the tree of a file: JSON when it begins with a brace or bracket, else YAML.

    Args:
        text: Decoded file.
        start: Where it starts, after a byte order mark.

    Raises:
        TreeError: It is neither, holds an alias of YAML or more than one document, or is
            nested more than 100 deep.
    """
    found = _JSON_SIGN.match(text, start)
    if found and found[1] in "{[":
        try:
            return _Json(text).document(start)
        except TreeError as error:
            with suppress(TreeError):
                return _yaml(text, start)  # which may begin so too
            raise error from None
    return _yaml(text, start)


@dataclass(frozen=True, slots=True)
class _Json:
    text: str

    def document(self, start: int) -> Node:
        node = self._value(start, 0)
        if self.text[node.end :].strip():
            raise self._error("something follows its end", node.end)
        return node

    def _sign(self, at: int) -> tuple[str, int]:
        found = _JSON_SIGN.match(self.text, at)
        if found is None:
            raise self._error("it ends too early", len(self.text))
        return found[1], found.start(1)

    def _value(self, at: int, depth: int) -> Node:
        sign, place = self._sign(at)
        if depth > _MAX_DEPTH:
            raise self._error(f"nested more than {_MAX_DEPTH} deep", place)
        if sign == '"':
            value, end = self._string(place)
            return Node(place, place, end, value)
        if sign == "{":
            return self._object(place, depth)
        if sign == "[":
            return self._list(place, depth)
        if sign in "}],:":
            raise self._error(f"a value was expected, found {sign}", place)
        return Node(place, place, place + len(sign), sign)

    def _string(self, place: int) -> tuple[str, int]:
        try:
            value, end = _scan_string(self.text, place + 1, False)
        except ValueError as error:
            raise self._error("a string is not closed or badly escaped", place) from error
        return _SURROGATE.sub("\ufffd", value), end

    def _object(self, place: int, depth: int) -> Node:
        members: dict[str, Node] = {}
        sign, at = self._sign(place + 1)
        while sign != "}":
            if sign != '"':
                raise self._error(f"a key was expected, found {sign}", at)
            key, end = self._string(at)
            colon, after = self._sign(end)
            if colon != ":":
                raise self._error(f"a colon was expected, found {colon}", after)
            child = self._value(after + 1, depth + 1)
            child.start = at
            members[key] = child
            sign, at = self._next(child.end, "}")
        return Node(place, place, at + 1, members=members)

    def _list(self, place: int, depth: int) -> Node:
        items: list[Node] = []
        sign, at = self._sign(place + 1)
        while sign != "]":
            items.append(self._value(at, depth + 1))
            sign, at = self._next(items[-1].end, "]")
        return Node(place, place, at + 1, items=items)

    def _next(self, end: int, close: str) -> tuple[str, int]:
        """Return what follows a member: the end, or what comes after the comma."""
        sign, at = self._sign(end)
        if sign == close:
            return sign, at
        if sign != ",":
            raise self._error(f"a comma was expected, found {sign}", at)
        return self._sign(at + 1)

    def _error(self, what: str, place: int) -> TreeError:
        line = self.text.count("\n", 0, place) + 1
        return TreeError(f"line {line}: {what[:80]}")


def _yaml(text: str, start: int) -> Node:
    # A mark counts from what was parsed, which has no byte order mark.
    events = iter(yaml.parse(text[start:], Loader=_LOADER))
    try:
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                node = _yaml_node(next(events), events, start, 0)
                next(events)
                if not isinstance(next(events), yaml.StreamEndEvent):
                    raise TreeError("it holds more than one YAML document")
                return node
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        what = getattr(error, "problem", None) or "it is not valid YAML"
        where = f"line {_line(mark)}: " if mark is not None else ""
        raise TreeError(f"{where}{what}") from error
    raise TreeError("it is empty")


def _yaml_node(event: Any, events: Iterator[Any], start: int, depth: int) -> Node:
    if isinstance(event, yaml.AliasEvent):
        raise TreeError(f"line {_line(event.start_mark)}: YAML aliases are not read")
    if depth > _MAX_DEPTH:
        raise TreeError(f"nested more than {_MAX_DEPTH} deep")
    place = _index(event.start_mark) + start
    if isinstance(event, yaml.ScalarEvent):
        said = _SURROGATE.sub("\ufffd", str(event.value))
        return Node(place, place, _index(event.end_mark) + start, said)
    if isinstance(event, yaml.SequenceStartEvent):
        items: list[Node] = []
        while not isinstance(event := next(events), yaml.SequenceEndEvent):
            items.append(_yaml_node(event, events, start, depth + 1))
        return Node(place, place, _index(event.end_mark) + start, items=items)
    members: dict[str, Node] = {}
    while not isinstance(event := next(events), yaml.MappingEndEvent):
        key = _yaml_node(event, events, start, depth + 1)
        child = _yaml_node(next(events), events, start, depth + 1)
        child.start = key.start
        members[key.text] = child
    return Node(place, place, _index(event.end_mark) + start, members=members)


def _index(mark: Any) -> int:
    return int(mark.index)


def _line(mark: Any) -> int:
    return int(mark.line) + 1
