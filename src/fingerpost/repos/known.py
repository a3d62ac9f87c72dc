"""What is known of a repository when it is asked for, and what came of asking."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from fingerpost.repos.mirror import Draft

COMMIT: Final = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
"""A full hash, by SHA-1 or SHA-256."""


@dataclass(frozen=True, slots=True)
class Known:
    """What an earlier fetch left.

    Attributes:
        commit: Empty when there was none.
        mark: What the server said of it.
        folder: Its files, ``None`` when there are none.
    """

    commit: str = ""
    mark: str = ""
    folder: Path | None = None

    def content(self, path: str, key: str) -> bytes | None:
        """Return a file when it is still what git calls ``key``."""
        if self.folder is None:
            return None
        try:
            content = (self.folder / path).read_bytes()
        except OSError:
            return None
        return content if blob_key(content) == key else None


@dataclass(frozen=True, slots=True)
class Fetched:
    """What the server has.

    Attributes:
        commit: Full hash.
        mark: What it said, to be asked whether it still holds.
    """

    commit: str
    mark: str = ""


class Place(Protocol):
    """Where one repository is fetched from."""

    def fetch(self, known: Known, draft: Draft) -> Fetched | None:
        """Fill a draft with the documentation; blocks.

        Returns:
            The commit; ``None``, with an empty draft, when it is the known one. With the known
            commit and another mark the draft is empty too.

        Raises:
            RepositoryError: It could not be fetched.
        """
        ...


def blob_key(content: bytes) -> str:
    """Return git's own hash of a file."""
    head = f"blob {len(content)}\0".encode()
    return hashlib.sha1(head + content, usedforsecurity=False).hexdigest()
