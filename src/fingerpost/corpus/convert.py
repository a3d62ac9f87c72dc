"""PDF, Word and PowerPoint files as text: converted once, cut and cited in the converted text.

The converters come with the extra ``documents``; they run in worker processes only, under
their limits of time and memory.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable
from functools import lru_cache
from importlib.util import find_spec
from typing import Final

from fingerpost.corpus.decode import Undecodable
from fingerpost.corpus.docx import read_docx
from fingerpost.corpus.pdf import read_pdf
from fingerpost.corpus.pptx import read_pptx
from fingerpost.corpus.writing import ConversionError, Writing

CONVERTED: Final = {"pdf": "pypdfium2", "docx": "docx", "pptx": "pptx"}
"""Format → the module of the extra ``documents`` that reads it."""
EXTRA_HINT: Final = "in the repository: pip install '.[documents]'"
_READERS: Final[dict[str, Callable[[bytes], Writing]]] = {
    "pdf": read_pdf,
    "docx": read_docx,
    "pptx": read_pptx,
}
_MAX_UNPACKED = 64 * 1024**2
_MAX_PARTS = 20_000
_MAX_RELATIONS = 1024**2
_MAX_CHARS = 20_000_000
_WORD = re.compile(r"[^\W_]")
_STRICT = b"http://purl.oclc.org/ooxml/"
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


@lru_cache(maxsize=8)
def can_convert(kind: str) -> bool:
    """Tell whether the library for a format of `CONVERTED` is installed."""
    try:
        return find_spec(CONVERTED[kind]) is not None
    except ValueError:  # something stands in its place
        return False


def convert(raw: bytes, kind: str) -> Writing | Undecodable:
    """Return the text of a file of a format in `CONVERTED`, or why it gives none.

    Args:
        raw: Its bytes.
        kind: Its format.
    """
    try:
        if kind != "pdf":
            _check_package(raw)
        writing = _READERS[kind](raw)
    except ConversionError as error:
        return Undecodable(error.reason, error.detail)
    except (MemoryError, RecursionError):
        return Undecodable("limit", "it takes more memory than one file may")
    except Exception as error:  # whatever a library says of a broken file
        said = " ".join(str(error).split())[:120]
        return Undecodable("broken", f"{type(error).__name__}: {said}".rstrip(": "))
    text = writing.text()
    if len(text) > _MAX_CHARS:
        return Undecodable("limit", f"{len(text):,} characters of text, limit {_MAX_CHARS:,}")
    if not _WORD.search(text):
        what = "no text layer: its pages are pictures" if kind == "pdf" else "no text"
        return Undecodable("empty", what)
    return writing


def _check_package(raw: bytes) -> None:
    """Refuse what is no package, or unpacks to more than one file may hold."""
    if raw.startswith(_OLE):
        raise ConversionError("encrypted", "it is encrypted, or in the format before 2007")
    with zipfile.ZipFile(io.BytesIO(raw)) as package:
        parts = package.infolist()
        unpacked = sum(part.file_size for part in parts)
        if any(part.flag_bits & 1 for part in parts):
            raise ConversionError("encrypted", "its parts are encrypted")
        relations = next((part for part in parts if part.filename == "_rels/.rels"), None)
        is_small = relations is not None and relations.file_size <= _MAX_RELATIONS
        is_strict = is_small and _STRICT in package.read("_rels/.rels")
    if unpacked > _MAX_UNPACKED or len(parts) > _MAX_PARTS:
        size = f"{unpacked / 1048576:,.0f} MiB in {len(parts):,} parts"
        raise ConversionError("limit", f"it unpacks to {size}, limit 64 MiB in {_MAX_PARTS:,}")
    if is_strict:
        what = "it is in the strict form of Open XML; save it as an ordinary document"
        raise ConversionError("broken", what)
