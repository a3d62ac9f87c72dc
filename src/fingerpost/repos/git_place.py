"""A repository by git: one commit is fetched, and its files are read without a checkout."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any, Final

from fingerpost.config.repository import RepositoryAddress
from fingerpost.errors import (
    PageRefusedError,
    RepositoryError,
    RepositoryNotFoundError,
    RepositoryRefusedError,
    RepositoryUnavailableError,
)
from fingerpost.lanes.web.public import IpAddress
from fingerpost.lanes.web.target import read_target
from fingerpost.lanes.web.visit import Visitor
from fingerpost.repos.git import Git
from fingerpost.repos.known import COMMIT, Fetched, Known
from fingerpost.repos.mirror import Draft
from fingerpost.repos.select import Entry, Limits, select

MAX_ENTRIES: Final = 1_000_000
_SHA256: Final = 64
_HEAD: Final = "refs/fingerpost/head"
_MODES: Final = {b"120000": "symlink", b"160000": "submodule", b"100644": "file", b"100755": "file"}
_STEP: Final = 2**20
_IPV4: Final = 4
_HTTPS: Final = 443
# No file of the user's, no program that a file of theirs could name, no question.
_SSH: Final = (
    "ssh -F none -o BatchMode=yes -o StrictHostKeyChecking=yes -o ProxyCommand=none "
    "-o PermitLocalCommand=no -o ClearAllForwardings=yes"
)


class GitPlace:
    """Fetches one repository with git, from a public address or from a folder.

    Args:
        address: Of the repository.
        limits: How much is taken.
        visitor: Says where a host is, which must be a public address.
        stopped: Ends what runs.
    """

    def __init__(
        self,
        address: RepositoryAddress,
        limits: Limits,
        visitor: Visitor,
        stopped: threading.Event,
    ) -> None:
        self._address = address
        self._limits = limits
        self._visitor = visitor
        self._stopped = stopped

    def fetch(self, known: Known, draft: Draft) -> Fetched | None:
        """Fill a draft with the documentation. See `Place.fetch`."""
        address = self._address
        is_local = address.kind == "local"
        if is_local and not Path(address.repo).is_dir():
            raise RepositoryNotFoundError("there is no such folder")
        git = self._git(draft.work)
        if COMMIT.fullmatch(address.ref):
            wanted, mark = address.ref, address.ref
        else:
            wanted, mark = self._newest(git)
        if mark == known.mark and known.commit:
            return None
        kind = ["--object-format=sha256"] if len(mark) == _SHA256 else []
        git.run("init", "--quiet", "--bare", "--template=", *kind, "repo.git")
        # fmt: off
        git.run(
            "-C", "repo.git", "fetch", "--quiet", "--depth=1", "--no-tags", "--update-shallow",
            "--no-recurse-submodules", "--no-write-fetch-head", "--no-auto-maintenance",
            "--", address.repo, f"+{wanted}:{_HEAD}",
            is_remote=not is_local,
        )
        # fmt: on
        commit = _commit_of(git, address.ref)
        if commit != known.commit:
            self._read(git, commit, draft)
        return Fetched(commit, mark)

    def _git(self, folder: Path) -> Git:
        """Return a git that may speak with this place and no other.

        Raises:
            RepositoryRefusedError: The host is not at a public address.
        """
        address = self._address
        git = Git(folder, "file", stopped=self._stopped, max_bytes=self._limits.max_bytes)
        if address.kind == "http":
            git.require_pins()
            found = ",".join(map(str, self._public()))
            git.protocols = "https:http"
            git.settings = (f"http.curloptResolve={address.host}:{address.port}:{found}",)
        elif address.kind == "ssh":
            git.protocols = "ssh"
            git.ssh = f"{_SSH} -o HostName={self._public()[0]} -o HostKeyAlias={address.host}"
        return git

    def _public(self) -> Sequence[IpAddress]:
        """Return the addresses of the host, all public; git is told, and asks nobody itself."""
        address = self._address
        scheme = "http" if address.repo.startswith("http:") else "https"
        port = address.port if address.kind == "http" else _HTTPS
        try:
            found = self._visitor.addresses(read_target(f"{scheme}://{address.host}:{port}/"))
        except PageRefusedError as error:
            raise RepositoryRefusedError(
                f"{address.host} is not asked: {error}",
                hint="Clone a repository inside your network, and give the path of the clone.",
            ) from error
        except (OSError, UnicodeError):
            found = ()
        if not found:
            raise RepositoryUnavailableError(f"{address.host} has no address")
        return sorted(found, key=lambda one: one.version != _IPV4)[:2]

    def _newest(self, git: Git) -> tuple[str, str]:
        """Return the full name of the branch or tag, and the hash that it has there."""
        address = self._address
        names = [f"refs/heads/{address.ref}", f"refs/tags/{address.ref}"]
        names = names if address.ref else ["HEAD"]
        said = git.run(
            "ls-remote", "--quiet", "--", address.repo, *names,
            is_remote=address.kind != "local",
        )  # fmt: skip
        rows = (line.split("\t") for line in said.read_text("utf-8", "replace").splitlines())
        hashes = {row[1]: row[0] for row in rows if len(row) == 2}  # noqa: PLR2004 - hash and name
        for name in names:
            if COMMIT.fullmatch(hashes.get(name, "")):
                return name, hashes[name]
        what = f"no branch and no tag {address.ref!r}" if address.ref else "no commit"
        raise RepositoryNotFoundError(f"it has {what}")

    def _read(self, git: Git, commit: str, draft: Draft) -> None:
        listed = git.run("-C", "repo.git", "ls-tree", "-r", "-l", "-z", "--full-tree", commit)
        draft.selection = select(_entries(listed), self._limits)
        keys = "".join(f"{entry.key}\n" for entry in draft.selection.entries)
        # What is read lies beside what was fetched, and is limited by the selection.
        git.max_bytes = 2 * self._limits.max_bytes + _STEP
        content = git.run("-C", "repo.git", "cat-file", "--batch", told=keys.encode())
        with content.open("rb") as file:
            for entry in draft.selection.entries:
                draft.write(entry.path, _object(file, entry))


def _commit_of(git: Git, ref: str) -> str:
    """Return the commit that was fetched; a tag may stand for a file or a folder too.

    Raises:
        RepositoryNotFoundError: It is none.
    """
    told = f"{_HEAD}^{{commit}}\n".encode()
    form = "--batch-check=%(objectname) %(objecttype)"
    said = git.run("-C", "repo.git", "cat-file", form, told=told)
    commit, _, kind = said.read_text("ascii", "replace").strip().partition(" ")
    if kind != "commit" or not COMMIT.fullmatch(commit):
        raise RepositoryNotFoundError(f"{ref or 'HEAD'!r} names no commit")
    return commit


def _entries(listed: Path) -> Iterator[Entry]:
    """Yield the rows of ``ls-tree``, read piece by piece."""
    n_entries = 0
    with listed.open("rb") as file:
        rest = b""
        while part := file.read(_STEP):
            *rows, rest = (rest + part).split(b"\0")
            for row in rows:
                n_entries += 1
                if n_entries > MAX_ENTRIES:
                    raise RepositoryRefusedError(f"it holds more than {MAX_ENTRIES:,} files")
                head, _, path = row.partition(b"\t")
                mode, _, key, size = head.split()
                kind: Any = _MODES.get(mode, "special")
                yield Entry(
                    path.decode("utf-8", "surrogateescape"),
                    int(size) if size.isdigit() else 0,
                    kind,
                    key.decode("ascii"),
                )


def _object(file: IO[bytes], entry: Entry) -> bytes:
    """Return the next object of ``cat-file``; they come in the order that they were asked for."""
    head = file.readline().split()
    if len(head) != 3 or head[:2] != [entry.key.encode(), b"blob"]:  # noqa: PLR2004 - its form
        raise RepositoryError(f"git has no content of {entry.path!r}")
    content = file.read(int(head[2]))
    file.read(1)
    return content
