"""Lines of a body that comes in parts, and the events of an event stream in them."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Final

__all__ = ["MAX_LINE", "Failed", "LineTooLongError", "Whole", "events", "split_lines"]

MAX_LINE: Final = 2**20
_END: Final = re.compile(rb"\r\n|\n|\r(?!\Z)")
_BOM: Final = "\ufeff"
_NO_EVENTS: Final = ("{", "[", "<")


class Whole(str):
    """A body that was to be an event stream and is JSON or a web page, whatever its type said."""

    __slots__ = ()


class Failed(str):
    """The data of an event that is named ``error``, whatever fields it has."""

    __slots__ = ()


class LineTooLongError(ValueError):
    """A line passed the limit of 1 MiB."""


def split_lines(rest: bytes, part: bytes) -> tuple[list[str], bytes]:
    """Return the whole lines of ``rest + part`` and what begins the next one.

    A line ends with LF, CR LF or CR; a CR at the very end waits for what follows.

    Raises:
        LineTooLongError: A line is longer than 1 MiB, ended or not.
    """
    if b"\n" not in part and b"\r" not in part and not rest.endswith(b"\r"):
        lines = [rest + part]
    else:
        lines = _END.split(rest + part)
    if max(map(len, lines)) > MAX_LINE:
        raise LineTooLongError(f"sent a line of more than {MAX_LINE:,} bytes")
    return [line.decode("utf-8", "replace") for line in lines[:-1]], lines[-1]


async def events(lines: AsyncIterator[str]) -> AsyncGenerator[str]:
    """Yield the data of each event of a server-sent event stream.

    Only what a blank line ends is an event: one that the end of the stream cuts off is none. A
    body without any event that begins like JSON or a web page is yielded as one `Whole`.
    """
    data: list[str] = []
    strange: list[str] | None = []
    is_first, name = True, ""
    async for line in lines:
        if is_first:
            line, is_first = line.removeprefix(_BOM), False  # noqa: PLW2901 - the stream's mark
        if not line:
            if data:
                yield Failed("\n".join(data)) if name == "error" else "\n".join(data)
                data.clear()
            name = ""
        elif line.startswith("event:"):
            name = line[6:].strip()
        elif line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))
            strange = None
        elif strange is not None and (strange or line.lstrip().startswith(_NO_EVENTS)):
            strange.append(line)
    if strange:
        yield Whole("\n".join(strange))
