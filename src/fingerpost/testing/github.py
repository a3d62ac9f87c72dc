"""The parts of GitHub's API that repositories are fetched by, on a free local port."""

from __future__ import annotations

import gzip
import hashlib
import io
import tarfile
from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from fingerpost.testing.provider.exchange import Exchange
from fingerpost.testing.provider.faults import Fault
from fingerpost.testing.provider.server import ProviderServer

__all__ = ["GithubServer", "packed"]

_SHORT: Final = 7
_KINDS: Final = ("commits", "tarball", "archive", "trees", "blobs")
Files = Mapping[str, str | bytes]


def packed(members: Sequence[tuple[tarfile.TarInfo, bytes]]) -> bytes:
    """Return an archive of these members in this order, whatever they are."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for member, content in members:
            archive.addfile(member, io.BytesIO(content) if content else None)
    return gzip.compress(raw.getvalue(), compresslevel=1)


class GithubServer(ProviderServer):
    """Serves repositories by the API: their newest commit, its archive, its tree and its files.

    Start it with ``with`` and point ``base_url`` of the repositories at ``url``. Asked with the
    ETag of the newest commit it answers 304. The archive stands behind a redirect, as GitHub's.

    Args:
        repositories: ``owner/name`` → path → content.
        faults: ``commits``, ``tarball``, ``archive``, ``trees`` or ``blobs`` → what goes wrong
            with requests of that kind, in order of arrival; ``None`` in it, and all after its
            end, are answered.
        token: Without it every repository is private: 404.
        archive_at: Scheme, host and port that archives are said to be at; its own by default.

    Raises:
        ValueError: A kind of request has another name.
    """

    def __init__(
        self,
        repositories: Mapping[str, Files],
        *,
        faults: Mapping[str, Sequence[Fault | None]] | None = None,
        token: str = "",
        archive_at: str = "",
    ) -> None:
        super().__init__()
        if unknown := set(faults or {}) - set(_KINDS):
            raise ValueError(f"{unknown.pop()!r} is none of {', '.join(_KINDS)}")
        self._faults = {kind: list(steps) for kind, steps in (faults or {}).items()}
        self._token = token
        self._archive_at = archive_at
        self._commits: dict[str, str] = {}
        self._files: dict[str, dict[str, bytes]] = {}
        self._archives: dict[str, bytes] = {}
        for name, files in repositories.items():
            self.push(name, files)

    def push(self, name: str, files: Files, *, archive: bytes | None = None) -> str:
        """Make these files the newest commit of a repository; return its hash.

        Args:
            name: ``owner/name``.
            files: Path → content.
            archive: Served in place of an archive of the files.
        """
        contents = {
            path: content.encode() if isinstance(content, str) else content
            for path, content in files.items()
        }
        seed = repr((name, sorted(contents.items()), archive))
        commit = hashlib.sha1(seed.encode(), usedforsecurity=False).hexdigest()
        self._files[commit] = contents
        if archive is not None:
            self._archives[commit] = archive
        self._commits[name] = commit
        return commit

    def n_asked(self, kind: str) -> int:
        """Return how many requests of a kind came."""
        return sum(_kind(one.path)[0] == kind for one in self.requests)

    async def _answer(self, exchange: Exchange) -> None:
        kind, name, what = _kind(exchange.received.path)
        steps = self._faults.get(kind, [])
        fault = steps.pop(0) if steps else None
        if fault is not None:
            await fault.play(exchange)
            return
        headers = exchange.received.headers
        may_read = not self._token or headers.get("authorization") == f"Bearer {self._token}"
        if kind == "archive":
            await exchange.reply(
                200, self._archive(name, what), {"content-type": "application/gzip"}
            )
        elif name not in self._commits or not may_read:
            await exchange.reply(404, {"message": "Not Found"})
        elif kind == "commits":
            await self._newest(exchange, self._commits[name])
        elif kind == "tarball":
            at = self._archive_at or self.url
            await exchange.reply(302, b"", {"location": f"{at}/archive/{name}/{what}"})
        elif kind == "trees":
            await exchange.reply(200, self._tree(what))
        else:
            await self._blob(exchange, name, what)

    async def _newest(self, exchange: Exchange, commit: str) -> None:
        tag = f'"{commit}"'
        if exchange.received.headers.get("if-none-match") == tag:
            await exchange.head(304, {"etag": tag})
        else:
            head = {"etag": tag, "content-type": "application/vnd.github.sha"}
            await exchange.reply(200, commit.encode(), head)

    async def _blob(self, exchange: Exchange, name: str, key: str) -> None:
        found = [one for one in self._files[self._commits[name]].values() if _key(one) == key]
        if found:
            head = {"content-type": "application/vnd.github.raw+json"}
            await exchange.reply(200, found[0], head)
        else:
            await exchange.reply(404, {"message": "Not Found"})

    def _tree(self, commit: str) -> dict[str, Any]:
        rows = [
            {
                "path": path,
                "mode": "100644",
                "type": "blob",
                "sha": _key(one),
                "size": len(one),
            }
            for path, one in self._files[commit].items()
        ]
        return {"sha": commit, "tree": rows, "truncated": False}

    def _archive(self, name: str, commit: str) -> bytes:
        if commit in self._archives:
            return self._archives[commit]
        above = f"{name.replace('/', '-')}-{commit[:_SHORT]}"
        members = []
        for path, content in self._files[commit].items():
            member = tarfile.TarInfo(f"{above}/{path}")
            member.size = len(content)
            members.append((member, content))
        return packed(members)


def _kind(path: str) -> tuple[str, str, str]:
    """Return what a path asks for: its kind, the repository, and which commit or file of it."""
    parts = unquote(urlsplit(path).path).strip("/").split("/")
    match parts:
        case ["archive", owner, name, what]:
            return "archive", f"{owner}/{name}", what
        case ["repos", owner, name, ("commits" | "tarball") as kind, *rest]:
            return kind, f"{owner}/{name}", "/".join(rest)
        case ["repos", owner, name, "git", ("trees" | "blobs") as kind, what]:
            return kind, f"{owner}/{name}", what
    return "", "", ""


def _key(content: bytes) -> str:
    head = f"blob {len(content)}\0".encode()
    return hashlib.sha1(head + content, usedforsecurity=False).hexdigest()
