"""Identifiers derived from content, so that they survive re-indexing."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence


def digest(*parts: str, size: int = 10) -> str:
    """Return a hexadecimal hash of a length-prefixed encoding of the parts.

    Length prefixes keep ``("a", "bc")`` and ``("ab", "c")`` apart.

    Args:
        parts: Any text; lone surrogates are allowed.
        size: Bytes of hash, 1 to 64; the result has twice as many characters.
    """
    framed: list[bytes] = []
    for part in parts:
        raw = part.encode("utf-8", "surrogatepass")
        framed += (len(raw).to_bytes(8, "big"), raw)
    return hashlib.blake2b(b"".join(framed), digest_size=size).hexdigest()


def document_id(source: str, path: str) -> str:
    """Return the id of the document at ``path`` in ``source``."""
    return "d" + digest(source, path)


def chunk_id(document: str, heading_path: Sequence[str], text: str, repeat: int = 0) -> str:
    """Return the id of a chunk of ``document``.

    Args:
        document: Id of the document.
        heading_path: The chunk's headings.
        text: The chunk's exact text.
        repeat: How many chunks before it in the document have the same headings and text.
    """
    return "c" + digest(document, *heading_path, text, str(repeat))


def content_key(heading_path: Sequence[str], search_text: str) -> str:
    """Return the key under which a chunk's vector is kept: equal content, equal key."""
    return digest(*heading_path, search_text, size=16)
