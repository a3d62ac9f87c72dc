"""A repository's documentation on disk: one folder for each commit, and what is known of it."""

from __future__ import annotations

import filecmp
import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from fingerpost.errors import RepositoryRefusedError
from fingerpost.repos.select import Selection, path_fault, shown_path
from fingerpost.repos.state import MirrorState, read_state, write_state

_STATE: Final = "state.json"
_DRAFT: Final = "draft-"
_OLD_DRAFT_S: Final = 86_400.0
_FOLDER_MODE: Final = 0o700
_FILE_MODE: Final = 0o600
_NEW_FILE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0)
_POINTER: Final = b"version https://git-lfs.github.com/spec/"
_MAX_POINTER: Final = 1024
_TRIES: Final = 5


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
        self._unsaved = ("", "")

    @property
    def state(self) -> MirrorState:
        """Return what is known; nothing when it cannot be read, or its folder is gone."""
        state = read_state(self.folder / _STATE, self.name)
        with suppress(OSError):
            if state.commit and not self.snapshot(state.commit).is_dir():
                state = MirrorState(self.name)
        error, hint = self._unsaved
        return replace(state, error=error, hint=hint) if error else state

    @property
    def is_whole(self) -> bool:
        """Return whether the newest folder has just the files, and as large, as were fetched."""
        state = self.state
        if not state.commit:
            return False
        try:
            return _sizes(self.snapshot(state.commit)) == dict(state.files)
        except OSError:
            return False

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
        """Make a draft the folder of a commit, in one step; return the new state.

        Raises:
            OSError: It cannot be written; what was there before is known still.
        """
        before = self.state
        files = tuple(sorted(_sizes(draft.folder).items()))
        self._place(draft.folder, self.snapshot(commit))
        now = time.time()
        state = MirrorState(
            name=self.name,
            commit=commit,
            before=before.commit if before.commit != commit else before.before,
            mark=mark,
            fetched_at=now,
            checked_at=now,
            n_files=draft.n_files,
            files=files,
            n_left_out=draft.selection.n_left_out,
            skipped=tuple(draft.selection.skipped),
        )
        self._save(state)
        self._remove_all_but(state.commit, state.before)
        return state

    def checked(self, *, mark: str = "", error: str = "", hint: str = "") -> MirrorState:
        """Note that the server was asked, and that nothing is new or why that is not known.

        An error that cannot be written is known to this object all the same.

        Raises:
            OSError: That nothing is new cannot be written.
        """
        error, hint = (text.encode("utf-8", "backslashreplace").decode() for text in (error, hint))
        now, state = time.time(), self.state
        state = replace(state, checked_at=now, mark=mark or state.mark, error=error, hint=hint)
        try:
            self._save(state)
        except OSError:
            if not error:
                raise
            self._unsaved = error, hint
        return state

    def _save(self, state: MirrorState) -> None:
        self.folder.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
        write_state(state, self.folder / _STATE, _DRAFT)
        self._unsaved = "", ""

    def _place(self, filled: Path, target: Path) -> None:
        """Move a folder to its place, unless another process was faster with the same files."""
        for _ in range(_TRIES):
            try:
                filled.rename(target)
            except OSError:
                if not os.path.lexists(target):
                    raise
            else:
                return
            if _is_same(filled, target):
                return
            self._remove(target)
        raise FileExistsError(f"{target} comes again and again")

    def _remove_all_but(self, *commits: str) -> None:
        for place in self.folder.iterdir():
            if place.is_dir() and place.name not in commits and not place.name.startswith(_DRAFT):
                self._remove(place)

    def _remove(self, place: Path) -> None:
        """Take a folder away: its name first, so that no half of it is ever taken for it."""
        grave = Path(tempfile.mkdtemp(prefix=_DRAFT, dir=self.folder))
        with suppress(OSError):
            place.rename(grave / "removed")
        shutil.rmtree(grave, ignore_errors=True)

    def _remove_old_drafts(self) -> None:
        """Take away what a killed process left."""
        for place in self.folder.glob(f"{_DRAFT}*"):
            with suppress(OSError):
                if time.time() - place.stat().st_mtime > _OLD_DRAFT_S:
                    shutil.rmtree(place, ignore_errors=True)
                    place.unlink(missing_ok=True)


def _sizes(folder: Path) -> Mapping[str, int]:
    """Return the size of each file below a folder, -1 of what is none."""
    found = {}
    for place in folder.rglob("*"):
        if place.is_symlink() or not place.is_dir():
            size = place.stat().st_size if place.is_file() and not place.is_symlink() else -1
            found[shown_path(place.relative_to(folder).as_posix())] = size
    return found


def _is_same(one: Path, other: Path) -> bool:
    """Return whether two folders hold the same files."""
    sizes = _sizes(one)
    if not other.is_dir() or _sizes(other) != sizes:
        return False
    paths = [place.relative_to(one) for place in one.rglob("*") if place.is_file()]
    return all(filecmp.cmp(one / path, other / path, shallow=False) for path in paths)
