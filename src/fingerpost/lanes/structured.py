"""The JSON in a model's reply, however it is wrapped."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from fingerpost.errors import MalformedOutputError
from fingerpost.lanes.base import ChatModel
from fingerpost.types.chat import ChatRequest, Message

T = TypeVar("T")

_MAX_CHARS = 32_000
_MAX_DEPTH = 40
_MAX_STARTS = 50
_MOST_DIGITS = 300
_THINKING = re.compile(r"<(think|thinking|reasoning)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_TRAILING_COMMA = re.compile(r",(\s*[}\]])")
# No text in UTF-8 can hold these, which an escape in JSON can smuggle in.
_SURROGATE = re.compile("[\ud800-\udfff]")
_OPEN = re.compile(r"[{\[]")
_CLOSER = {"{": "}", "[": "]"}


async def ask_json(chat: ChatModel, request: ChatRequest, read: Callable[[object], T | None]) -> T:
    """Return what ``read`` makes of the reply; ask once more, with the schema, when it cannot.

    Args:
        chat: The model.
        request: With ``schema``; models without a JSON mode are told by the prompt.
        read: Returns ``None`` for a value that is not what was asked for. Must not raise.

    Raises:
        MalformedOutputError: The second reply is no better.
        LaneError: A call failed.
    """
    first = await chat.complete(request)
    value = read(read_json(first.text))
    if value is not None:
        return value
    schema = json.dumps(request.schema, ensure_ascii=False) if request.schema else "an object"
    again = replace(
        request,
        messages=(
            *request.messages,
            Message("assistant", first.text[:_MAX_CHARS]),
            Message(
                "user",
                "That is not what was asked for. Reply with one JSON value that follows this "
                f"schema, and nothing else:\n{schema}",
            ),
        ),
    )
    second = await chat.complete(again)
    value = read(read_json(second.text))
    if value is None:
        raise MalformedOutputError(
            f"the reply of {second.model} is not the JSON that was asked for, twice"
        )
    return value


def read_json(text: str) -> object:
    """Return the JSON value of a reply, ``None`` when there is none. Never raises.

    Bare, in a fence, behind a word such as ``Output:``, after a block of thinking, with trailing
    commas, or cut off at the end: an object that was cut off keeps what is whole of it.
    NaN, numbers that no float can hold, and a name that stands twice in an object, count as
    absent, a lone surrogate becomes U+FFFD, and nesting beyond 40 levels is no JSON of ours.
    """
    bare = without_thoughts(text[:_MAX_CHARS])
    found: object = None
    for rank, start in enumerate(_starts(bare), start=1):
        value = _value(bare, start, _MAX_STARTS // rank)
        if isinstance(value, dict) and value:
            return _clean(value)
        if found is None and value is not None:
            found = value
    return _clean(found)


def without_thoughts(text: str) -> str:
    """Return the reply without blocks of thinking and blanks around it."""
    return _THINKING.sub("", text).strip()


def _clean(value: object) -> object:
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, list):
        return [_clean(item) for item in value]
    return {k: _clean(v) for k, v in value.items()} if isinstance(value, dict) else value


def _starts(text: str) -> list[int]:
    """Return where an outermost value may begin: each bracket not inside one before it."""
    return [found.start() for found in _OPEN.finditer(text)][:_MAX_STARTS]


def _value(text: str, start: int, cuts: int) -> object:
    whole = _end(text, start)
    if whole is None:
        return None
    end, missing = whole
    piece = text[start:end] + missing
    for candidate in (piece, _TRAILING_COMMA.sub(r"\1", piece)):
        value = _parsed(candidate)
        if value is not None:
            return value
    return _shortened(text[start:end], cuts) if missing else None


def _parsed(piece: str) -> object:
    try:
        return json.loads(
            piece,
            parse_constant=lambda _: None,
            parse_float=_finite,
            parse_int=_whole_number,
            strict=False,
            object_pairs_hook=_doubtless,
        )
    except (ValueError, RecursionError):
        return None


def _finite(digits: str) -> float | None:
    """Return a number, ``None`` for one like 1e999 that no float can hold."""
    number = float(digits)
    return number if math.isfinite(number) else None


def _whole_number(digits: str) -> int | None:
    return int(digits) if len(digits) <= _MOST_DIGITS else None


def _doubtless(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return an object in which a name that stands twice has no value."""
    times = Counter(name for name, _ in pairs)
    return {name: value if times[name] == 1 else None for name, value in pairs}


def _end(text: str, start: int) -> tuple[int, str] | None:
    """Return where the value ends and what closes it when the text ends first."""
    open_: list[str] = []
    quoted = escaped = False
    for at in range(start, len(text)):
        sign = text[at]
        if quoted:
            quoted = escaped or sign != '"'
            escaped = sign == "\\" and not escaped
        elif sign == '"':
            quoted = True
        elif sign in "{[":
            open_.append(_CLOSER[sign])
            if len(open_) > _MAX_DEPTH:
                return None
        elif sign in "}]":
            if not open_ or open_.pop() != sign:
                return None
            if not open_:
                return at + 1, ""
    return len(text), '"' * quoted + "".join(reversed(open_))


def _shortened(piece: str, cuts: int) -> object:
    """Return a value that was cut off, without its last, broken members, at most ``cuts``."""
    for _ in range(cuts):
        at = piece.rfind(",")
        if at < 0:
            return None
        piece = piece[:at]
        whole = _end(piece, 0)
        value = None if whole is None else _parsed(piece + whole[1])
        if value is not None:
            return value
    return None
