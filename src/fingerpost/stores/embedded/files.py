"""The few file operations that the embedded store does itself, behind one seam.

SQLite and tantivy write their own files; everything else goes through here, so that a test
can let the N-th operation fail.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

DIRECTORY_MODE = 0o700
FILE_MODE = 0o600


class Files:
    """Plain file operations. A subclass may fail on purpose."""

    def make_folder(self, path: Path) -> None:
        """Create a folder that only its owner may enter; parents too. Existing is fine."""
        for folder in (*reversed(path.parents), path):
            folder.mkdir(mode=DIRECTORY_MODE, exist_ok=True)

    def open(self, path: Path, flags: int) -> int:
        """Open a file that only its owner may read; the descriptor is not inherited."""
        return os.open(path, flags | os.O_CLOEXEC, FILE_MODE)

    def write(self, descriptor: int, content: bytes | memoryview) -> None:
        """Write all of ``content`` at the descriptor's position."""
        view = memoryview(content)
        while view:
            view = view[os.write(descriptor, view) :]

    def truncate(self, descriptor: int, size: int) -> None:
        """Cut or extend an open file to ``size`` bytes."""
        os.ftruncate(descriptor, size)

    def sync(self, descriptor: int) -> None:
        """Make what was written durable."""
        os.fsync(descriptor)

    def replace(self, source: Path, target: Path) -> None:
        """Put ``source`` in the place of ``target``, in one step."""
        source.replace(target)

    def remove(self, path: Path) -> None:
        """Remove a file; a missing one is fine."""
        path.unlink(missing_ok=True)

    def sync_folder(self, path: Path) -> None:
        """Make new names in a folder durable."""
        descriptor = self.open(path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            self.sync(descriptor)
        finally:
            os.close(descriptor)

    def write_whole(self, path: Path, content: bytes, *, durable: bool = True) -> None:
        """Write a small file so that a reader sees the old or the new content, never a part."""
        temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
        descriptor = self.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        try:
            try:
                self.write(descriptor, content)
                if durable:
                    self.sync(descriptor)
            finally:
                os.close(descriptor)
            self.replace(temporary, path)
        except OSError:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise
        if durable:
            self.sync_folder(path.parent)
