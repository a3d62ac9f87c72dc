"""A repository's documentation on disk: one folder for each commit, and what is known of it."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from fingerpost.errors import RepositoryRefusedError
from fingerpost.repos.select import Selection, path_fault
from fingerpost.types.document import SkippedFile

_STATE: Final = "state.json"
_VERSION: Final = 1
_DRAFT: Final = "draft-"
_OLD_DRAFT_S: Final = 86_400.0
_FOLDER_MODE: Final = 0o700
_FILE_MODE: Final = 0o600
_NEW_FILE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0)
_POINTER: Final = b"version https://git-lfs.github.com/spec/"
_MAX_POINTER: Final = 1024


@dataclass(frozen=True, slots=True)
class MirrorState:
    """What is known of a repository.

    Attributes:
        name: Of its source.
        commit: Of the newest folder, empty when nothing was fetched.
        before: The commit before that, whose folder is kept for who reads it still.
        mark: What the server said of the commit, to be asked whether it still holds.
        fetched_at: When the folder was made, seconds since the epoch; 0 when none was.
        checked_at: When the server was last asked.
        n_files: Files in the folder.
        n_left_out: Documents beyond the limits.
        skipped: What was passed over, the first 200.
        error: Why the last check failed, empty when it did not.
    """

    name: str
    commit: str = ""
    before: str = ""
    mark: str = ""
    fetched_at: float = 0.0
    checked_at: float = 0.0
    n_files: int = 0
    n_left_out: int = 0
    skipped: tuple[SkippedFile, ...] = ()
    error: str = ""


@dataclass(slots=True)
class Draft:
    """The folder of a commit while it is filled.

    Attributes:
        folder: For the documents.
        work: For whatever fetching them needs; gone afterwards.
        selection: What is taken; of the files that were written those that hold no document
            are in its ``skipped``.
        n_files: Files written.
    """

    folder: Path
    work: Path
    selection: Selection = field(default_factory=Selection)
    n_files: int = 0

    def write(self, path: str, content: bytes) -> None:
        """Keep a file; a pointer of LFS is listed instead.

        Raises:
            RepositoryRefusedError: The path leads elsewhere.
        """
        if fault := path_fault(path):
            raise RepositoryRefusedError(f"{path!r} is not written: {fault}")
        if len(content) <= _MAX_POINTER and content.startswith(_POINTER):
            self.selection.skip(path, "ignored", "a pointer of Git LFS, not the file itself")
            return
        place = self.folder / path
        try:
            place.parent.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
            descriptor = os.open(place, _NEW_FILE, _FILE_MODE)
        except (FileExistsError, NotADirectoryError, IsADirectoryError):
            self.selection.skip(path, "not-regular", "another entry has the same name")
            return
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        self.n_files += 1

    def clear(self) -> None:
        """Take everything away, for another try."""
        for place in (self.folder, self.work):
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir(mode=_FOLDER_MODE)
        self.selection, self.n_files = Selection(), 0


class Mirror:
    """The folder of one repository. May be used by several processes.

    Args:
        folder: Its own; made when something is written.
        name: Of the source.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self.folder = folder
        self.name = name

    @property
    def state(self) -> MirrorState:
        """Return what is known; nothing when it cannot be read, or its folder is gone."""
        with suppress(OSError, ValueError, TypeError, KeyError):
            found: dict[str, Any] = json.loads((self.folder / _STATE).read_bytes())
            if found.pop("version") == _VERSION and found["name"] == self.name:
                skipped = tuple(SkippedFile(**item) for item in found.pop("skipped"))
                state = MirrorState(**found, skipped=skipped)
                if not state.commit or self.snapshot(state.commit).is_dir():
                    return state
        return MirrorState(self.name)

    def snapshot(self, commit: str) -> Path:
        """Return the folder of a commit."""
        return self.folder / commit

    @contextmanager
    def draft(self) -> Iterator[Draft]:
        """Give a folder to fill; what is not published is gone afterwards."""
        self.folder.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
        self._remove_old_drafts()
        place = Path(tempfile.mkdtemp(prefix=_DRAFT, dir=self.folder))
        try:
            draft = Draft(place / "files", place / "work")
            draft.clear()
            yield draft
        finally:
            shutil.rmtree(place, ignore_errors=True)

    def publish(self, draft: Draft, commit: str, mark: str) -> MirrorState:
        """Make a draft the folder of a commit, in one step; return the new state."""
        before = self.state
        target = self.snapshot(commit)
        try:
            draft.folder.rename(target)
        except OSError:
            if not target.is_dir():  # else another process was faster
                raise
        now = time.time()
        state = MirrorState(
            name=self.name,
            commit=commit,
            before=before.commit if before.commit != commit else before.before,
            mark=mark,
            fetched_at=now,
            checked_at=now,
            n_files=draft.n_files,
            n_left_out=draft.selection.n_left_out,
            skipped=tuple(draft.selection.skipped),
        )
        self._save(state)
        self._remove_all_but(state.commit, state.before)
        return state

    def checked(self, *, mark: str = "", error: str = "") -> MirrorState:
        """Note that the server was asked, and that nothing is new or why that is not known."""
        state = self.state
        state = replace(state, checked_at=time.time(), mark=mark or state.mark, error=error)
        self._save(state)
        return state

    def _save(self, state: MirrorState) -> None:
        self.folder.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
        content = json.dumps({"version": _VERSION, **asdict(state)}, ensure_ascii=True)
        descriptor, name = tempfile.mkstemp(prefix=_DRAFT, dir=self.folder)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(content)
        Path(name).replace(self.folder / _STATE)

    def _remove_all_but(self, *commits: str) -> None:
        for place in self.folder.iterdir():
            if place.is_dir() and place.name not in commits and not place.name.startswith(_DRAFT):
                shutil.rmtree(place, ignore_errors=True)

    def _remove_old_drafts(self) -> None:
        """Take away what a killed process left."""
        for place in self.folder.glob(f"{_DRAFT}*"):
            with suppress(OSError):
                if time.time() - place.stat().st_mtime > _OLD_DRAFT_S:
                    shutil.rmtree(place, ignore_errors=True)
                    place.unlink(missing_ok=True)
