"""The index of platform knowledge: made and opened when a question first needs it."""

from __future__ import annotations

import logging
import shutil
import tempfile
import threading
from pathlib import Path

from fingerpost.config.load import cache_folder
from fingerpost.corpus import index_identity, prepare_text
from fingerpost.errors import LaneError, StoreError
from fingerpost.knowledge import Entry, Knowledge, load_knowledge, without_name
from fingerpost.lanes.base import EmbeddingModel
from fingerpost.stores.base import PreparedDocument, Store
from fingerpost.types.ids import digest
from fingerpost.types.source import PLATFORM
from fingerpost.wiring.embedding import is_local
from fingerpost.wiring.index import make_store

_LOG = logging.getLogger("fingerpost.knowledge")


class PlatformIndex:
    """The entries about fingerpost itself, apart from every corpus.

    Making it takes a moment and is put off until `store` is first called; it is kept in the
    user's cache. All methods may be called from any thread.
    """

    def __init__(self) -> None:
        self._opening = threading.Lock()
        self._store: Store | None = None
        self._temporary: Path | None = None

    @property
    def knowledge(self) -> Knowledge:
        """Return the entries."""
        return load_knowledge()

    def store(self, model: EmbeddingModel | None) -> Store:
        """Return the index, made by the first call.

        Args:
            model: Embeds the entries when it runs here; a provider is not sent them, and they
                are then searched by words.

        Raises:
            StoreError: It can be written nowhere.
        """
        with self._opening:
            if self._store is None:
                self._store = self._opened(model if model and is_local(model.name) else None)
            return self._store

    def close(self) -> None:
        """Release the index. Safe to call twice."""
        with self._opening:
            store, self._store = self._store, None
            if store is not None:
                store.close()
            if self._temporary is not None:
                shutil.rmtree(self._temporary, ignore_errors=True)

    def _opened(self, model: EmbeddingModel | None) -> Store:
        identity = index_identity(model)
        name = digest(self.knowledge.fingerprint, repr(identity))
        try:
            return _filled(cache_folder() / "platform" / name, self.knowledge, model)
        except StoreError as error:  # another process writes it, the disk is full, it is damaged
            _LOG.info("platform knowledge is indexed for this run alone: %s", error)
        self._temporary = Path(tempfile.mkdtemp(prefix="fingerpost-"))
        return _filled(self._temporary / "index", self.knowledge, model)


def _filled(folder: Path, knowledge: Knowledge, model: EmbeddingModel | None) -> Store:
    """Open the index in ``folder``; put in what is missing.

    Raises:
        StoreError: It can be neither read nor written.
    """
    store = make_store(folder)
    try:
        state = store.info()
        if state.n_documents != len(knowledge.entries):
            with store.writer(index_identity(model)) as writer:
                writer.put(map(_document, knowledge.entries))
                writer.commit()
        if model is not None and state.n_vectors == 0:
            _embed(store, model)
    except BaseException:
        store.close()
        raise
    return store


def _document(entry: Entry) -> PreparedDocument:
    return prepare_text(
        entry.answer,
        source=PLATFORM,
        path=entry.path,
        title=entry.question,
        format="markdown",
        language="en",
    )


def _embed(store: Store, model: EmbeddingModel) -> None:
    """Give each chunk the vector of its question, which takes a tenth of the time of the text's.

    A question is nearer to one that asks the same than to what answers it.
    """
    try:
        with store.writer(index_identity(model)) as writer:
            pending = writer.pending_vectors(writer.n_pending_vectors())
            asked = [without_name(text.partition("\n")[0]) for _, text in pending]
            writer.put_vectors([key for key, _ in pending], model.embed(asked))
            writer.commit()
    except LaneError as error:
        _LOG.info("platform knowledge is searched by words: %s", error)
