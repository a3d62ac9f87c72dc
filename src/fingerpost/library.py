"""The corpus of one router: its index, kept up to date, and its embedding model."""

from __future__ import annotations

import logging
import shutil
import tempfile
import threading
import weakref
from collections.abc import Callable
from pathlib import Path

from fingerpost import wiring
from fingerpost.config.schema import QueryRouterConfig
from fingerpost.corpus import CorpusRoot, index_corpus, locate
from fingerpost.corpus.fresh import Freshness
from fingerpost.corpus.index import embed_pending
from fingerpost.corpus.shortfall import shortfalls
from fingerpost.corpus.watch import watch
from fingerpost.errors import (
    ConfigError,
    EmptyCorpusError,
    FingerpostError,
    IndexCorruptError,
    LaneError,
    SchemaVersionError,
    StoreConflictError,
    StoreError,
    StoreUnavailableError,
    UsageError,
)
from fingerpost.observe.observer import Observer
from fingerpost.stores.base import Store
from fingerpost.types.document import SkippedFile
from fingerpost.types.stats import CorpusStats, IndexSummary

_LOG = logging.getLogger("fingerpost.library")
# Apart, so that a program that refuses a corpus without text need not show the warning of it.
_EMPTY_LOG = logging.getLogger("fingerpost.library.empty")


class Library:
    """Opens the index of the configured corpus, refreshes it, and fills in its vectors.

    All methods block and may be called from any thread.
    """

    def __init__(
        self, config: QueryRouterConfig, observe: Observer, tape: wiring.Tape | None = None
    ) -> None:
        self._config = config
        self._tape = tape
        self._observe = observe
        self._roots: list[CorpusRoot] = []
        self._store: Store | None = None
        self._forget: Callable[[], object] | None = None
        self._unlocated: tuple[SkippedFile, ...] = ()
        self._topics: tuple[int, tuple[str, ...]] = (-1, ())
        self._background = wiring.Background()
        self._writing = threading.Lock()
        self._waiting = threading.Event()
        self.repositories = wiring.Repositories(config, observe, self._background.stopped)
        self.embedding = wiring.Embedding(None, "disabled-no-key")
        self.summary: IndexSummary | None = None
        self.freshness = Freshness(lambda: self._roots)
        self.platform = wiring.PlatformIndex() if config.include_platform_knowledge else None
        self.shortfall: EmptyCorpusError | None = None

    @property
    def store(self) -> Store:
        """Return the open index.

        Raises:
            UsageError: It is not open.
        """
        if self._store is None:
            raise UsageError("the index is not open", hint="Call init() first.")
        return self._store

    def open(
        self, *, rebuild: bool = False, must_write: bool = False, may_be_empty: bool = False
    ) -> None:
        """Read what changed, open the index, choose the embedding model.

        Args:
            rebuild: Read every document again; a damaged index is made anew.
            must_write: Fail where the index cannot be written, though it could be read.
            may_be_empty: Where the paths give no chunk, open on platform knowledge alone, warn,
                and keep the reason as ``shortfall``.

        Raises:
            EmptyCorpusError: The paths gave no chunk.
            StoreError: The index cannot be opened.
        """
        try:
            self._open(rebuild=rebuild, must_write=must_write)
        except EmptyCorpusError as error:
            if not may_be_empty or self.platform is None:
                raise
            _EMPTY_LOG.warning("%s; only questions about fingerpost itself have an answer", error)
            self.shortfall = error
            if self._store is not None:
                self._store.close()
            self._open_without_documents()

    def _open(self, *, rebuild: bool, must_write: bool) -> None:
        if not self._paths and not self.repositories:
            self._open_without_documents()
            return
        self.repositories.fetch_first()
        self._locate()
        folder = wiring.index_folder(self._config, self._roots)
        is_new = not folder.exists()
        self._store = wiring.make_store(folder)
        try:
            self._index(rebuild=rebuild, must_write=must_write)
        except (IndexCorruptError, SchemaVersionError):
            if not rebuild:
                raise
            self._store.erase()
            self._index(rebuild=rebuild, must_write=must_write)
        if self._store.info().n_chunks == 0 and self.repositories.unasked:
            self.repositories.fetch_all()  # else there is nothing to answer from
            self._take_repositories()
            self._index(rebuild=rebuild, must_write=must_write)
        self.repositories.complete(self._store)
        state = self._store.info()
        for note in state.notes:
            _LOG.warning("index: %s", note)
        if state.n_chunks == 0:
            skipped = self.summary.skipped if self.summary else ()
            if is_new:
                wiring.forget_index(self._store, folder)
            raise wiring.empty_corpus(self._paths, skipped, self.repositories)
        wiring.warn_of_empty_sources(self._store, self._roots)
        self.embedding = wiring.choose_embedder(
            self._config,
            self._store,
            may_replace=rebuild or must_write,
            tape=self._tape,
        )
        if self._config.embed == "wait":
            self._embed_if_possible()

    @property
    def _paths(self) -> tuple[str | Path, ...]:
        return (*self._config.knowledge_corpus, *wiring.source_paths(self._config).values())

    @property
    def always_searched(self) -> tuple[str, ...]:
        """Return the names of the corpus's sources that no router chooses among."""
        return tuple(root.name for root in self._roots if not root.is_named)

    def _locate(self) -> None:
        """Find the folders of the corpus.

        Raises:
            ConfigError: A described source shares files with another path, or is not there.
            EmptyCorpusError: No path gives anything.
        """
        config = self._config
        named = wiring.source_paths(config)
        self._roots, unlocated = locate(config.knowledge_corpus, named)
        self._unlocated = tuple(unlocated)
        if not self._roots and not self.repositories:
            raise wiring.empty_corpus(self._paths, (), self.repositories)
        for name in named.keys() - {root.name for root in self._roots}:
            found = shortfalls([named[name]], ())[0]
            raise ConfigError(
                f"sources: {name!r} has no documents: {found}",
                hint="Correct its path, or take the source out.",
            )
        self._take_repositories()

    def _take_repositories(self) -> None:
        """Take the folders of the repositories as they are now."""
        own = [root for root in self._roots if root.origin is None]
        self._roots = own + self.repositories.roots()

    def _open_without_documents(self) -> None:
        """Open an empty index for this run: every source is a retriever of the host's own."""
        folder = tempfile.mkdtemp(prefix="fingerpost-")
        self._forget = weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self._store = wiring.make_store(Path(folder) / "index")
        self.embedding = wiring.choose_embedder(
            self._config, self._store, may_replace=True, tape=self._tape
        )

    def open_as_it_is(self) -> None:
        """Open the index without reading the corpus again.

        Raises:
            EmptyCorpusError: A path gives nothing.
            StoreError: There is no index yet, or it cannot be opened.
        """
        self._locate()
        folder = wiring.index_folder(self._config, self._roots)
        if not folder.is_dir():
            raise StoreError(
                f"there is no index at {folder}",
                hint="Run 'fingerpost index' with the same paths.",
            )
        self._store = wiring.make_store(folder)
        self.embedding = wiring.choose_embedder(self._config, self._store, tape=self._tape)

    def watch_here(self, on_summary: Callable[[IndexSummary], None]) -> None:
        """Re-index what changes until interrupted; call ``on_summary`` after each time.

        The first call says that the watch has begun, and what changed since the last reading.
        """
        watch(self._watched, lambda: on_summary(self._follow()), self._background.stopped)

    def refresh(self) -> IndexSummary:
        """Read what changed in the corpus and its repositories since; return what was done.

        A repository that cannot be fetched stays as it was (see `stats`).

        Raises:
            StoreUnavailableError: The index cannot be written.
        """
        self.repositories.fetch_all()
        self._take_repositories()
        summary = self._index(rebuild=False, must_write=True)
        self.repositories.complete(self.store)
        return summary

    @property
    def _watched(self) -> list[CorpusRoot]:
        return [root for root in self._roots if root.origin is None]

    def _follow(self) -> IndexSummary:
        """Refresh for the watch, which leaves the last summary when nothing changed."""
        before = self.summary
        summary = self._index(rebuild=False, must_write=True)
        if not summary.changed_anything:
            self.summary = before
        return summary

    def embed(self, cancelled: Callable[[], bool] | None = None) -> int:
        """Compute missing vectors; return how many. 0 without an embedding model."""
        if self.embedding.model is None:
            return 0
        stop = self._background.stopped.is_set
        with self._writing:
            return embed_pending(
                self.store,
                self.embedding.model,
                observe=self._observe,
                cancelled=stop if cancelled is None else lambda: stop() or cancelled(),
                threads=wiring.cores(),
            )

    def start_background(self) -> None:
        """Start to fill in vectors and to watch files, where the settings say so."""
        state = self.store.info()
        wanted = self._config.embed == "background" and self.embedding.model is not None
        if wanted and (state.n_vectors < state.n_chunks or not self._has_own_vectors()):
            self._background.start(self._embed_quietly, "fingerpost-embed")
        if self._config.summaries != "never" and state.n_chunks:
            self._background.start(self._summarise_quietly, "fingerpost-summaries")
        if self.repositories.unasked:
            self._background.start(self._join_repositories, "fingerpost-repositories")
        if self._config.watch and self._watched:
            self._background.start(self._watch, "fingerpost-watch")

    def _has_own_vectors(self) -> bool:
        """Return whether the index's vectors are those of the model in use."""
        model, identity = self.embedding.model, self.store.info().identity
        return model is not None and identity is not None and identity.has_vectors_of(model)

    def topics(self) -> tuple[str, ...]:
        """Return what the corpus is about, at most 50; read once for each generation."""
        generation = self.store.info().generation
        if self._topics[0] != generation:
            self._topics = (generation, wiring.corpus_topics(self.store))
        return self._topics[1]

    def stats(self) -> CorpusStats:
        """Return the state of the corpus."""
        return wiring.corpus_stats(
            self._config,
            self.store,
            self.embedding,
            self.topics(),
            self._unlocated,
            self.repositories,
        )

    def close(self) -> None:
        """Stop background work and release the index. Safe to call twice."""
        self._background.stop()
        close_model = getattr(self.embedding.model, "close", None)
        if close_model is not None:  # a provider's: it holds connections
            close_model()
        store, self._store = self._store, None
        if store is not None:
            store.close()
        if self.platform is not None:
            self.platform.close()
        if self._forget is not None:
            self._forget()

    def _index(self, *, rebuild: bool, must_write: bool) -> IndexSummary:
        """Read what changed; where the index cannot be written, go on with what is there.

        That is: while another process writes, and unless ``must_write`` also on a disk that is
        full or read-only.
        """
        try:
            with self._writing:
                summary = index_corpus(
                    self.store,
                    self._roots,
                    embedder=None,
                    options=wiring.index_options(self._config, rebuild=rebuild),
                    observe=self._observe,
                    cancelled=self._background.stopped.is_set,
                    kept=self.repositories.missing,
                )
        except (StoreConflictError, StoreUnavailableError) as error:
            busy = isinstance(error, StoreConflictError)
            state = self.store.info()
            if state.n_chunks == 0 or rebuild or (must_write and not busy):
                raise
            reason = "another process is writing the index" if busy else str(error)
            _LOG.warning("%s; answering from what is there", reason.rstrip("."))
            summary = IndexSummary(
                n_chunks=state.n_chunks,
                n_documents=state.n_documents,
                generation=state.generation,
            )
        self.summary = summary
        return summary

    def _embed_if_possible(self) -> None:
        try:
            self.embed()
        except (LaneError, StoreUnavailableError) as error:
            _LOG.warning("not all vectors were computed: %s", error)

    def _embed_quietly(self) -> None:
        try:
            self.embed(self._waiting.is_set)
        except FingerpostError as error:
            _LOG.warning("background embedding stopped: %s", error)

    def _summarise_quietly(self) -> None:
        """Make the summaries after the vectors, by which documents are grouped."""
        self._background.wait_for("fingerpost-embed")
        try:
            for failure in wiring.keep_summaries(
                self._config,
                self.store,
                self._observe,
                self._tape,
                writing=self._writing,
                cancelled=self._background.stopped.is_set,
            ).failures[:1]:
                _LOG.warning("not every summary is written by the model: %s", failure)
        except FingerpostError as error:
            _LOG.warning("summaries were not made: %s", error)

    def _watch(self) -> None:
        def changed() -> None:
            try:
                if not self._follow().changed_anything:
                    return
                if self._config.embed != "never":
                    self.embed()
                if self._config.summaries != "never":
                    self._background.start(self._summarise_quietly, "fingerpost-summaries")
            except FingerpostError as error:
                _LOG.warning("re-indexing after a change failed: %s", error)

        watch(self._watched, changed, self._background.stopped)

    def _join_repositories(self) -> None:
        """Fetch each repository and let it join; questions are answered meanwhile."""
        before, has_joined = self.summary, False
        try:
            for is_new in self.repositories.fetch_each():
                if is_new:
                    has_joined = True
                    self._waiting.set()  # computing vectors makes room
                    self._take_repositories()
                    self._index(rebuild=False, must_write=True)
                    self._waiting.clear()
                self.repositories.complete(self.store)
        except FingerpostError as error:
            _LOG.warning("a repository could not join the index: %s", error)
        self._waiting.clear()
        self.summary = before
        if has_joined and self._config.embed != "never":
            self._embed_quietly()
        if has_joined and self._config.summaries != "never":
            self._background.start(self._summarise_quietly, "fingerpost-summaries")
