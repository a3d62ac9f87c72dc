"""A repository by the API of GitHub: its commit, then one archive, or file by file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, urljoin

from fingerpost.config.address import origin_of
from fingerpost.config.endpoint import Endpoint
from fingerpost.config.repository import RepositoryAddress
from fingerpost.errors import (
    PageRefusedError,
    ProviderError,
    RepositoryError,
    RepositoryRefusedError,
    RepositoryUnavailableError,
    ResponseTooLargeError,
)
from fingerpost.lanes.providers.fields import as_items, as_mapping, as_text, parse_json
from fingerpost.lanes.providers.http import Http
from fingerpost.lanes.providers.limits import CallLimits
from fingerpost.lanes.providers.reply import Reply
from fingerpost.lanes.web.target import read_target
from fingerpost.lanes.web.visit import Visitor
from fingerpost.repos.archive import list_archive, read_archive
from fingerpost.repos.github_failure import error_of
from fingerpost.repos.known import COMMIT, Fetched, Known
from fingerpost.repos.mirror import Draft
from fingerpost.repos.select import Entry, Limits, select

_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_MAX_REDIRECTS: Final = 3
_OK, _NOT_MODIFIED = 200, 304
_SHORT: Final = CallLimits(20.0, 20.0, 60.0, 2**20)
_TREE: Final = CallLimits(30.0, 30.0, 120.0, 64 * 2**20)
_ARCHIVE_S: Final = 600.0
_IDLE_S: Final = 30.0
_VERSION: Final = {"x-github-api-version": "2022-11-28"}
_SHA: Final = "application/vnd.github.sha"
_JSON: Final = "application/vnd.github+json"
_RAW: Final = "application/vnd.github.raw+json"
_MODES: Final = {"120000": "symlink", "160000": "submodule", "100644": "file", "100755": "file"}


class Github:
    """Fetches one repository; the key goes to the API's own host, and to no archive.

    Args:
        endpoint: Address of the API, and the key.
        address: Of the repository.
        limits: How much is taken.
        visitor: Asks where an archive is, which must be a public address.
    """

    def __init__(
        self, endpoint: Endpoint, address: RepositoryAddress, limits: Limits, visitor: Visitor
    ) -> None:
        self._endpoint = endpoint
        self._address = address
        self._limits = limits
        self._visitor = visitor
        self._http = Http(endpoint)
        self._base = f"{endpoint.base_url.rstrip('/')}/repos/{address.repo}"

    async def fetch(self, known: Known, draft: Draft) -> Fetched | None:
        """Fill a draft with the documentation. See `Place.fetch`."""
        try:
            seen = await self._newest(known)
            if seen is None or seen.commit == known.commit:
                return seen
            place = draft.work / "archive.tar.gz"
            if await self._download(seen.commit, place):
                self._unpack(place, draft)
            else:
                await self._by_file(seen.commit, known, draft)
        except ProviderError as error:
            raise RepositoryUnavailableError(str(error)) from error
        except PageRefusedError as error:
            raise RepositoryRefusedError(f"the archive is not fetched: {error}") from error
        finally:
            await self._http.close()
        return seen

    async def _newest(self, known: Known) -> Fetched | None:
        """Return the commit, ``None`` when nothing has changed since what is known."""
        ref = quote(self._address.ref or "HEAD", safe="/")
        asked = {"if-none-match": known.mark} if known.mark and known.commit else {}
        reply = await self._asked(f"{self._base}/commits/{ref}", _SHA, _SHORT, asked)
        try:
            if reply.status == _NOT_MODIFIED:
                return None
            commit = (await reply.read()).decode("ascii", "replace").strip()
        finally:
            await reply.close()
        if not COMMIT.fullmatch(commit):
            raise RepositoryError("the API answered with something that is no commit")
        return Fetched(commit, reply.headers.get("etag", ""))

    async def _download(self, commit: str, place: Path) -> bool:
        """Write the archive of a commit to a file; tell whether it was small enough."""
        limits = CallLimits(_IDLE_S, _IDLE_S, _ARCHIVE_S, self._limits.max_bytes)
        reply = await self._archive(f"{self._base}/tarball/{commit}", limits)
        try:
            with place.open("wb") as file:
                async for part in reply.pieces():
                    file.write(part)
        except ResponseTooLargeError:
            return False
        finally:
            await reply.close()
        return True

    async def _archive(self, url: str, limits: CallLimits) -> Reply:
        """Return the reply with an archive; behind the first redirect without the key."""
        reply = await self._sent(url, _JSON, limits, {})
        for _ in range(_MAX_REDIRECTS):
            if reply.status not in _REDIRECTS:
                return await self._usable(reply)
            await reply.close()
            url = urljoin(url, reply.headers.get("location", ""))
            if self._is_own(url):
                reply = await self._http.send(url, None, lambda: {"connection": "close"}, limits)
            else:
                target = read_target(url)
                if target.scheme != "https" and not self._endpoint.base_url.startswith("http:"):
                    raise RepositoryRefusedError("the archive is at an address without TLS")
                reply = await self._visitor.ask(target, limits, {}, "archive")
        await reply.close()
        raise RepositoryRefusedError(f"there were more than {_MAX_REDIRECTS} redirects")

    def _unpack(self, place: Path, draft: Draft) -> None:
        draft.selection = select(list_archive(place), self._limits)
        wanted = {entry.path for entry in draft.selection.entries}
        for path, content in read_archive(place, wanted):
            draft.write(path, content)

    async def _by_file(self, commit: str, known: Known, draft: Draft) -> None:
        """Fetch the chosen files one by one; those that are there already are not fetched."""
        url = f"{self._base}/git/trees/{commit}?recursive=1"
        tree = as_mapping(await self._json(url))
        entries = [_entry(as_mapping(item)) for item in as_items(tree.get("tree"))]
        draft.selection = select([one for one in entries if one is not None], self._limits)
        if tree.get("truncated"):
            draft.selection.skip(".", "limit", "GitHub lists only a part of a tree this large")
        for entry in draft.selection.entries:
            content = known.content(entry.path, entry.key)
            draft.write(entry.path, await self._blob(entry) if content is None else content)

    async def _blob(self, entry: Entry) -> bytes:
        limits = CallLimits(_IDLE_S, _IDLE_S, 2 * _IDLE_S, self._limits.max_file_bytes)
        url = f"{self._base}/git/blobs/{quote(entry.key, safe='')}"
        reply = await self._asked(url, _RAW, limits, {})
        try:
            return await reply.read()
        finally:
            await reply.close()

    async def _json(self, url: str) -> Any:
        reply = await self._asked(url, _JSON, _TREE, {})
        try:
            return parse_json(await reply.read())
        except ValueError:
            raise RepositoryError("the API answered with something that is no JSON") from None
        finally:
            await reply.close()

    async def _asked(
        self, url: str, accept: str, limits: CallLimits, headers: Mapping[str, str]
    ) -> Reply:
        """Return a reply of the API that can be used; close it afterwards.

        A repository that was renamed is found: redirects within the API are followed.
        """
        for _ in range(_MAX_REDIRECTS + 1):
            reply = await self._sent(url, accept, limits, headers)
            if reply.status not in _REDIRECTS:
                return await self._usable(reply)
            await reply.close()
            url = urljoin(url, reply.headers.get("location", ""))
            if not self._is_own(url):
                raise RepositoryRefusedError("the API leads to another server")
        raise RepositoryRefusedError(f"there were more than {_MAX_REDIRECTS} redirects")

    async def _sent(
        self, url: str, accept: str, limits: CallLimits, headers: Mapping[str, str]
    ) -> Reply:
        key = self._endpoint.key

        def sign() -> dict[str, str]:
            own = {"accept": accept, **_VERSION, **headers}
            return own if key is None else {**own, "authorization": f"Bearer {key.reveal()}"}

        return await self._http.send(url, None, sign, limits)

    async def _usable(self, reply: Reply) -> Reply:
        """Return a reply that carries what was asked for, or that nothing has changed.

        Raises:
            RepositoryError: It does not.
        """
        if reply.status in (_OK, _NOT_MODIFIED):
            return reply
        error = error_of(reply, self._address, has_key=self._endpoint.key is not None)
        await reply.close()
        raise error

    def _is_own(self, url: str) -> bool:
        try:
            return origin_of(url) == origin_of(self._endpoint.base_url)
        except ValueError:
            raise RepositoryRefusedError("a redirect leads to no address") from None


def _entry(item: Mapping[str, Any]) -> Entry | None:
    """Return what a row of a tree tells, ``None`` of a folder."""
    kind: Any = _MODES.get(as_text(item.get("mode")), "special")
    if item.get("type") == "tree":
        return None
    size = item.get("size")
    return Entry(
        as_text(item.get("path")),
        size if isinstance(size, int) else 0,
        kind,
        as_text(item.get("sha")),
    )
