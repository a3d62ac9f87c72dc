"""Which documents link to which."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from fingerpost.stores.embedded.rows import to_bytes, to_text

_OUT = """
SELECT target.source, target.path, target.id FROM documents AS origin
JOIN links ON links.doc_key = origin.doc_key
JOIN documents AS target ON target.source = links.source AND target.path = links.target
WHERE origin.id = ? AND target.id <> origin.id
"""
_IN = """
SELECT origin.source, origin.path, origin.id FROM documents AS target
JOIN links ON links.source = target.source AND links.target = target.path
JOIN documents AS origin ON origin.doc_key = links.doc_key
WHERE target.id = ? AND target.id <> origin.id
"""
_KNOWN = "SELECT count(DISTINCT doc_key) FROM links WHERE source = ? AND target = ?"


def linked(
    rows: Callable[[str, Sequence[Any]], list[tuple[Any, ...]]], document_ids: Sequence[str]
) -> dict[str, list[str]]:
    """Return the neighbours of each document in either direction, best known first.

    Best known is what most documents link to; ties by id. A document without neighbours, or
    one that is not there, has an empty list.
    """
    result = {}
    fame: dict[str, int] = {}
    for document_id in dict.fromkeys(document_ids):
        places: dict[str, tuple[bytes, bytes]] = {}
        for statement in (_OUT, _IN):
            for source, path, raw_id in rows(statement, (to_bytes(document_id),)):
                places[to_text(raw_id)] = (source, path)
        for neighbour, place in places.items():
            if neighbour not in fame:
                fame[neighbour] = int(rows(_KNOWN, place)[0][0])
        result[document_id] = sorted(places, key=lambda item: (-fame[item], item))
    return result
