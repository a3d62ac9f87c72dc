"""The folders of an index that stand for a version of the documentation."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from fingerpost.stores.base import VersionFolder
from fingerpost.stores.embedded.border import guarded
from fingerpost.stores.embedded.rows import to_text
from fingerpost.text.versions import versioned_path

READ_PLACES = "SELECT source, path FROM documents"  # answered by the index of places alone


def version_folders(rows: Iterable[tuple[Any, ...]], folder: Path) -> tuple[VersionFolder, ...]:
    """Return the folders that stand for a version, in order.

    Args:
        rows: Of `READ_PLACES`.
        folder: Of the index.

    Raises:
        IndexCorruptError: A row is not what was written.
    """
    with guarded(folder):
        places = {(source, path.rpartition(b"/")[0]) for source, path in rows}
        found = {_version_folder(to_text(source), to_text(path)) for source, path in places}
    return tuple(sorted(one for one in found if one is not None))


def _version_folder(source: str, path: str) -> VersionFolder | None:
    place, parts = versioned_path(source, f"{path}/x").place, path.split("/")
    return VersionFolder(source, "/".join(parts[:place]), parts[place]) if place >= 0 else None
