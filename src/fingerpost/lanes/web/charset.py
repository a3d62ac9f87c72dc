"""Bytes of a page to text."""

from __future__ import annotations

import codecs
import re
from typing import Final

__all__ = ["decoded"]

_NAMED: Final = re.compile(r"charset\s*=\s*[\"']?\s*([A-Za-z0-9_.:-]{2,40})", re.IGNORECASE)
_HEAD: Final = 1024
_MARK: Final = "\ufeff"
# Python knows codecs that are no character sets of pages; "utf-7" and "idna" are among them.
_CHARSETS: Final = re.compile(
    r"utf-8|utf-16(?:-[lb]e)?|ascii|iso8859-\d+|cp(?:125\d|874|932|949|950)|koi8-[ru]|"
    r"gbk|gb2312|gb18030|big5|shift_jis|euc_jp|euc_kr|iso2022_jp"
)


def decoded(body: bytes, parameters: str) -> str:
    """Return the text of a body; bytes that are none in its character set become U+FFFD.

    Args:
        body: As it came.
        parameters: Of its content type; when they name no character set that is known, the
            page's own head may, and else it is UTF-8.
    """
    for said in (parameters, body[:_HEAD].decode("latin-1")):
        named = _NAMED.search(said)
        codec = _codec(named.group(1)) if named else None
        if codec is not None:
            return body.decode(codec, "replace").removeprefix(_MARK)
    return body.decode("utf-8", "replace").removeprefix(_MARK)


def _codec(name: str) -> str | None:
    try:
        found = codecs.lookup(name).name
    except LookupError:
        return None
    # What pages call Latin 1 is Windows' superset of it.
    found = "cp1252" if found in ("iso8859-1", "ascii") else found
    return found if _CHARSETS.fullmatch(found) else None
