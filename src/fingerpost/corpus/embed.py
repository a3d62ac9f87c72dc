"""Vectors for chunks that have none yet, with every core busy."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from fingerpost.errors import EmbeddingError
from fingerpost.lanes.base import EmbeddingModel
from fingerpost.observe.events import IngestProgress
from fingerpost.observe.observer import Observer
from fingerpost.stores.base import IndexIdentity, Store, Writer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_COMMIT_VECTORS = 512
_COMMIT_S = 5.0
_FETCHED = 4096


def embed_pending(
    store: Store,
    embedder: EmbeddingModel,
    *,
    observe: Observer,
    cancelled: Callable[[], bool],
    threads: int,
) -> int:
    """Compute the vectors that are missing and return how many were stored.

    Commits every 512 vectors or 5 seconds, so that vectors join as they come and an interrupt
    loses little. One text that the model refuses does not stop the rest; it stays without a
    vector. A store that has vectors of another model drops them first.

    Args:
        store: The index.
        embedder: The model, called with one text at a time from each thread, or with its
            ``batch_size`` when it has one.
        observe: Takes progress events.
        cancelled: Asked before each text.
        threads: How many threads embed, one per core.

    Raises:
        StoreConflictError: Another process writes this index.
    """
    current = store.info().identity
    if current is None:
        return 0
    identity = IndexIdentity(
        current.splitter,
        current.max_tokens,
        embedder.name,
        embedder.revision,
        embedder.dimension,
    )
    with store.writer(identity) as writer:
        filler = _Filler(writer, embedder, observe, cancelled, max(1, threads))
        try:
            filler.fill()
        finally:
            if filler.stored:
                writer.commit()
        if identity != current:
            writer.commit()
    return filler.n_stored


class _Filler:
    """Keeps the threads fed and the store written."""

    def __init__(
        self,
        writer: Writer,
        embedder: EmbeddingModel,
        observe: Observer,
        cancelled: Callable[[], bool],
        threads: int,
    ) -> None:
        self._writer = writer
        self._embedder = embedder
        self._observe = observe
        self._cancelled = cancelled
        self._threads = threads
        self._total = writer.n_pending_vectors()
        self._failed: set[str] = set()
        self.stored: list[str] = []
        self.n_stored = 0

    def fill(self) -> None:
        """Embed until nothing is pending but what the model refused."""
        while not self._cancelled():
            limit = _FETCHED + len(self._failed)
            items = [
                item for item in self._writer.pending_vectors(limit) if item[0] not in self._failed
            ]
            if not items:
                return
            self._embed_all(items)

    def _embed_all(self, items: Sequence[tuple[str, str]]) -> None:
        keys: list[str] = []
        vectors: list[NDArray[np.float32]] = []
        last = time.monotonic()
        try:
            for key, vector in self._vectors(items):
                if vector is None:
                    self._failed.add(key)
                    continue
                keys.append(key)
                vectors.append(vector)
                if len(keys) >= _COMMIT_VECTORS or time.monotonic() - last > _COMMIT_S:
                    self._keep(keys, vectors)
                    last = time.monotonic()
        finally:
            self._keep(keys, vectors)

    def _keep(self, keys: list[str], vectors: list[NDArray[np.float32]]) -> None:
        if not keys:
            return
        import numpy as np  # noqa: PLC0415 - only where there are vectors

        self._writer.put_vectors(keys, np.stack(vectors))
        self._writer.commit()
        self.n_stored += len(keys)
        keys.clear()
        vectors.clear()
        self._observe(
            IngestProgress(at=time.time(), phase="embed", done=self.n_stored, total=self._total)
        )

    def _vectors(
        self, items: Sequence[tuple[str, str]]
    ) -> Iterator[tuple[str, NDArray[np.float32] | None]]:
        """Yield (key, vector) as the threads are done; ``None`` for a text that was refused."""
        done: queue.SimpleQueue[tuple[str, NDArray[np.float32] | BaseException | None]]
        done = queue.SimpleQueue()
        waiting = iter(items)
        lock = threading.Lock()
        stop = threading.Event()

        size = getattr(self._embedder, "batch_size", 1)

        def work() -> None:
            while not stop.is_set():
                with lock:
                    batch = [] if self._cancelled() else list(islice(waiting, size))
                if not batch:
                    break
                try:
                    for item, vector in zip(batch, self._embedded(batch), strict=True):
                        done.put((item[0], vector))
                except BaseException as error:
                    done.put((batch[0][0], error))
                    break
            done.put(("", None))

        workers = [threading.Thread(target=work, daemon=True) for _ in range(self._threads)]
        for worker in workers:
            worker.start()
        try:
            yield from _results(done, len(workers))
        finally:
            stop.set()
            for worker in workers:
                worker.join()

    def _embedded(self, batch: Sequence[tuple[str, str]]) -> list[NDArray[np.float32] | None]:
        """Return the vector of each text; ``None`` for one that the model refuses."""
        try:
            return list(self._embedder.embed([text for _, text in batch]))
        except EmbeddingError:
            if len(batch) == 1:
                return [None]
        middle = len(batch) // 2
        return self._embedded(batch[:middle]) + self._embedded(batch[middle:])


def _results(
    done: queue.SimpleQueue[tuple[str, NDArray[np.float32] | BaseException | None]], n_open: int
) -> Iterator[tuple[str, NDArray[np.float32] | None]]:
    while n_open:
        key, vector = done.get()
        if isinstance(vector, BaseException):
            raise vector
        if key:
            yield key, vector
        else:
            n_open -= 1


def english_share(store: Store) -> float:
    """Return how much of the index is English, 0 to 1, of the chunks whose language is known.

    1.0 when none is known: identifiers and numbers are no other language.
    """
    with store.reader() as reader:
        counts = {code: n for code, n in reader.languages().items() if code != "und"}
    total = sum(counts.values())
    return counts.get("en", 0) / total if total else 1.0
