"""The tree of summaries as rows."""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from fingerpost.stores.base import Summary
from fingerpost.stores.embedded.border import corrupt
from fingerpost.stores.embedded.schema import DATABASE_FILE

READ_SUMMARIES = "SELECT place, record, checksum FROM summaries ORDER BY place"


def write_summaries(connection: sqlite3.Connection, summaries: Sequence[Summary]) -> None:
    """Put a tree in the place of the last one."""
    connection.execute("DELETE FROM summaries")
    rows = []
    for place, summary in enumerate(summaries):
        record = json.dumps(asdict(summary)).encode()
        rows.append((place, record, zlib.crc32(record)))
    connection.executemany("INSERT INTO summaries VALUES (?, ?, ?)", rows)


def read_summaries(rows: Sequence[Sequence[Any]], expected: int, folder: Path) -> list[Summary]:
    """Return the tree of `READ_SUMMARIES`.

    Raises:
        IndexCorruptError: The rows are not what was written.
    """
    found = []
    for place, (at, record, crc) in enumerate(rows):
        if at != place or record.__class__ is not bytes or zlib.crc32(record) != crc:
            raise corrupt(folder, DATABASE_FILE, f"summary {at} is damaged")
        fields = json.loads(record)
        for name in ("leads", "children"):
            fields[name] = tuple(fields[name])
        found.append(Summary(**fields))
    if len(found) != expected:
        raise corrupt(folder, DATABASE_FILE, f"{len(found)} summaries found, {expected} expected")
    return found
