"""Bytes to text, without changing a line end and without guessing in silence."""

from __future__ import annotations

import codecs
from dataclasses import dataclass

_SNIFFED_BYTES = 8192
_MAX_UNDECODABLE = 0.30
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


@dataclass(frozen=True, slots=True)
class Decoded:
    """The text of a file.

    Attributes:
        text: Decoded code points; a byte order mark is the first one (``U+FEFF``).
        encoding: Python's name of the encoding that was used.
        n_replaced: Bytes or units that had no meaning and stand as ``U+FFFD``.
    """

    text: str
    encoding: str
    n_replaced: int = 0


@dataclass(frozen=True, slots=True)
class Undecodable:
    """Why bytes are no text: a reason of `SkippedFile` and a detail for people."""

    reason: str
    detail: str


def decode(raw: bytes) -> Decoded | Undecodable:
    """Return the text of a file: UTF-8, UTF-16/32 by their mark, else Windows-1252 or Latin-1.

    Bytes with NUL in the first 8 KiB and no mark are ``binary``. Where more than 30 % cannot
    be decoded, the file is refused as ``encoding``. UTF-8 with a few broken bytes keeps its
    characters and gets ``U+FFFD`` for the rest; text with no valid multi-byte sequence at all
    is read as Windows-1252, as Latin-1 where that has no meaning for one of its bytes.
    """
    for mark, encoding in _MARKS:
        if raw.startswith(mark):
            return _with_replacement(raw, encoding)
    if b"\0" in raw[:_SNIFFED_BYTES]:
        return Undecodable("binary", "NUL byte in the first 8 KiB")
    try:
        return Decoded(raw.decode("utf-8"), "utf-8")
    except UnicodeDecodeError:
        return _legacy(raw)


def _legacy(raw: bytes) -> Decoded | Undecodable:
    decoded = _with_replacement(raw, "utf-8")
    if isinstance(decoded, Undecodable):
        return decoded
    if any(character > "\x7f" and character != "\ufffd" for character in set(decoded.text)):
        return decoded
    try:
        return Decoded(raw.decode("cp1252"), "cp1252")
    except UnicodeDecodeError:
        return Decoded(raw.decode("latin-1"), "latin-1")


def _with_replacement(raw: bytes, encoding: str) -> Decoded | Undecodable:
    text = raw.decode(encoding, "replace")
    n_replaced = 0 if "\ufffd" not in text else text.count("\ufffd")
    if n_replaced:
        n_replaced -= raw.decode(encoding, "ignore").count("\ufffd")
    if n_replaced > _MAX_UNDECODABLE * len(text):
        share = round(100 * n_replaced / len(text))
        return Undecodable("encoding", f"{share} % of it is not {encoding.upper()}, limit 30 %")
    return Decoded(text, encoding, n_replaced)
