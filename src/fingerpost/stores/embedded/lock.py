"""One writer per index: a lock that the kernel frees when its owner dies."""

from __future__ import annotations

import errno
import fcntl
import json
import os
from datetime import UTC, datetime
from pathlib import Path

from fingerpost.errors import StoreConflictError
from fingerpost.stores.embedded.files import Files

LOCK_FILE = "writer.lock"
_MAX_OWNER_BYTES = 512


class WriterLock:
    """The right to write an index, held from `acquire` to `release`."""

    def __init__(self, folder: Path, files: Files) -> None:
        self._path = folder / LOCK_FILE
        self._files = files
        self._descriptor = -1

    def acquire(self) -> None:
        """Take the lock or fail at once.

        Raises:
            StoreConflictError: Another process or thread writes; pid and start are named.
        """
        descriptor = self._files.open(self._path, os.O_RDWR | os.O_CREAT)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            owner = {"pid": os.getpid(), "started": datetime.now(UTC).isoformat("T", "seconds")}
            self._files.truncate(descriptor, 0)
            self._files.write(descriptor, json.dumps(owner).encode())
        except OSError as error:
            owner_text = _owner(descriptor)
            os.close(descriptor)
            if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
                raise
            raise StoreConflictError(
                f"Another process writes the index {self._path.parent} ({owner_text}).",
                hint="Wait until it is done; readers are not affected.",
            ) from error
        self._descriptor = descriptor

    def release(self) -> None:
        """Let go of the lock. Safe to call twice."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def _owner(descriptor: int) -> str:
    try:
        owner = json.loads(os.pread(descriptor, _MAX_OWNER_BYTES, 0))
        return f"pid {int(owner['pid'])}, since {owner['started']}"
    except (OSError, ValueError, KeyError, TypeError):
        return "pid not known yet"
