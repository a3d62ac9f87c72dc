"""The repositories of a corpus: fetched, and as folders that are indexed like any other."""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from fingerpost.config.github import github_api, github_pages
from fingerpost.config.load import cache_folder
from fingerpost.config.repository import RepositoryAddress
from fingerpost.config.schema import QueryRouterConfig
from fingerpost.corpus import CorpusRoot
from fingerpost.corpus.formats import FORMATS, format_of, is_named_description
from fingerpost.corpus.locate import is_ignored_folder
from fingerpost.corpus.walk import MAX_DEPTH
from fingerpost.errors import RepositoryError
from fingerpost.observe.events import GithubIndexComplete, GithubIndexError, GithubIndexStart
from fingerpost.observe.observer import Observer
from fingerpost.repos import Limits, Mirror, MirrorState, Sources, fetch
from fingerpost.stores.base import Reader, Store
from fingerpost.types.document import SkippedFile
from fingerpost.types.ids import digest
from fingerpost.types.origin import Origin
from fingerpost.types.stats import RepositoryStats

_MB = 2**20
_NOTHING = "it holds no file of a format that is read"
_OTHER = "Give a repository that holds documentation in a format that is read."


@dataclass(frozen=True, slots=True)
class _Repository:
    address: RepositoryAddress
    mirror: Mirror


class Repositories:
    """All repositories of one configuration; false when there are none.

    Methods may be called from any thread; one thread fetches at a time.

    Args:
        config: The settings.
        observe: Told when each is asked for, joins, or fails.
        stopped: Ends what is being fetched.
    """

    def __init__(
        self, config: QueryRouterConfig, observe: Observer, stopped: threading.Event
    ) -> None:
        self._observe = observe
        self._fetching = threading.Lock()
        self._fetched: deque[tuple[_Repository, bool]] = deque()
        self._all: tuple[_Repository, ...] = ()
        self._asked: set[str] = set()
        self.update = "missing"
        if config.github_repos is None or not config.github_repos.addresses:
            return
        settings = config.github_repos
        self.update = settings.update
        api = github_api(settings)
        self._pages = github_pages(api)
        limits = Limits(
            settings.max_files_per_repo,
            int(config.max_file_mb * _MB),
            int(settings.max_repo_mb * _MB),
            MAX_DEPTH,
            _is_document,
        )
        self._sources = Sources(api, limits, stopped=stopped)
        self._all = tuple(
            _Repository(address, Mirror(_folder(address, api.base_url, limits), address.name))
            for address in settings.addresses
        )

    def __bool__(self) -> bool:
        return bool(self._all)

    @property
    def unasked(self) -> bool:
        """Return whether a server was not asked since this was made."""
        return any(one.address.name not in self._asked for one in self._all)

    @property
    def missing(self) -> tuple[str, ...]:
        """Return the names of those that nothing was fetched of, or whose files were lost."""
        return tuple(one.address.name for one in self._all if not one.mirror.is_whole)

    def roots(self) -> list[CorpusRoot]:
        """Return the folder of each that was fetched."""
        return [root for one in self._all if (root := self._root(one)) is not None]

    def _root(self, one: _Repository) -> CorpusRoot | None:
        address, commit = one.address, one.mirror.state.commit
        if not commit:
            return None
        is_github = address.kind == "github"
        web = f"{self._pages}/{address.repo}" if is_github else address.web
        origin = Origin(address.repo, commit, web, address.repo)
        return CorpusRoot(address.name, one.mirror.snapshot(commit), origin=origin)

    def fetch_first(self) -> None:
        """Fetch what is to be there before the first question, by the setting ``update``."""
        missing = self.missing
        for one in self._all:
            if self.update == "wait" or (self.update == "missing" and one.address.name in missing):
                self._fetch(one)
        if self.update == "missing":
            self._asked.update(one.address.name for one in self._all)

    def fetch_each(self) -> Iterator[bool]:
        """Fetch one after the other; yield after each that was whether it has another commit."""
        for one in self._all:
            is_new = self._fetch(one)
            if is_new is not None:
                yield is_new

    def fetch_all(self) -> None:
        """Fetch all, one after the other."""
        for _ in self.fetch_each():
            pass

    def _fetch(self, one: _Repository) -> bool | None:
        """Return whether a repository has another commit now, ``None`` when that is not known."""
        name = one.address.name
        self._asked.add(name)
        self._observe(GithubIndexStart(at=time.time(), repo=name))
        try:
            with self._fetching:
                is_new = fetch(one.address, one.mirror, self._sources)
        except RepositoryError as error:
            wait: float | None = getattr(error, "wait_s", None)
            now = time.time()
            self._observe(
                GithubIndexError(
                    at=now,
                    repo=name,
                    error=f"{error}. {error.hint}".rstrip(". ") + ".",
                    retry_at=None if wait is None else now + wait,
                )
            )
            return None
        self._fetched.append((one, is_new))
        return is_new

    def complete(self, store: Store) -> None:
        """Tell of those that were fetched and indexed since the last call."""
        fetched = [self._fetched.popleft() for _ in range(len(self._fetched))]
        if not fetched:
            return
        with store.reader() as reader:
            counts = _chunk_counts(reader, {one.address.name for one, _ in fetched})
        for one, is_new in fetched:
            self._observe(
                GithubIndexComplete(
                    at=time.time(),
                    repo=one.address.name,
                    n_chunks=counts[one.address.name],
                    commit=one.mirror.state.commit,
                    changed=is_new,
                )
            )

    def stats(self, reader: Reader) -> tuple[RepositoryStats, ...]:
        """Return the state of each, in the order of the settings."""
        if not self._all:
            return ()
        counts = _chunk_counts(reader, {one.address.name for one in self._all})
        states = [one.mirror.state for one in self._all]
        return tuple(
            RepositoryStats(
                name=state.name,
                commit=state.commit,
                n_files=state.n_files,
                n_left_out=state.n_left_out,
                n_chunks=counts[state.name],
                fetched_at=state.fetched_at,
                checked_at=state.checked_at,
                error=state.error or (_NOTHING if state.commit and not state.n_files else ""),
            )
            for state in states
        )

    def skipped(self) -> tuple[SkippedFile, ...]:
        """Return what was passed over in all, under the names of the repositories."""
        return tuple(
            replace(item, path=f"{state.name}/{item.path}")
            for state in (one.mirror.state for one in self._all)
            for item in state.skipped
        )

    def faults(self) -> tuple[SkippedFile, ...]:
        """Return why each gave nothing, for a corpus that is empty."""
        states = [one.mirror.state for one in self._all]
        return tuple(
            SkippedFile(
                state.name, "unreadable", _bare(state.error, state.name) or _why_empty(state)
            )
            for state in states
        )

    def hints(self) -> tuple[str, ...]:
        """Return what to do about each that gave nothing."""
        return tuple(one.mirror.state.hint or _OTHER for one in self._all)


def _why_empty(state: MirrorState) -> str:
    if not state.skipped:
        return _NOTHING
    first = state.skipped[0]
    return f"{len(state.skipped):,} skipped, such as {first.path} ({first.detail})"


def _bare(error: str, name: str) -> str:
    return error.removeprefix(f"{name}: ")


def _is_document(path: str) -> bool:
    *folders, name = path.split("/")
    is_read = format_of(name) or is_named_description(name)
    return bool(is_read) and not any(map(is_ignored_folder, folders))


def _folder(address: RepositoryAddress, server: str, limits: Limits) -> Path:
    """Return where a repository is kept; other limits or formats give another folder."""
    at = server if address.kind == "github" else ""
    sizes = (limits.max_files, limits.max_file_bytes, limits.max_bytes)
    formats = [suffix for suffix in FORMATS if format_of(f"a{suffix}")]
    key = digest(address.name, at, *map(str, sizes), *formats)
    plain = "".join(sign if sign.isalnum() else "-" for sign in address.name[-40:]).strip("-")
    return cache_folder() / "repos" / f"{plain}-{key}"


def _chunk_counts(reader: Reader, names: Iterable[str]) -> Counter[str]:
    """Return how many chunks each source has."""
    wanted = set(names)
    sources = {one.id: one.source for one in reader.documents() if one.source in wanted}
    counts: Counter[str] = Counter()
    for identity, keys in reader.keys_of_documents(list(sources)).items():
        counts[sources[identity]] += len(keys)
    return counts
