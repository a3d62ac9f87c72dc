"""Vectors for chunks that have none yet, with every core busy."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
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

    Text = tuple[str, str]
    Computed = tuple[str, NDArray[np.float32] | None]

_COMMIT_VECTORS = 512
_COMMIT_S = 5.0
_TOLD_S = 1.0
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

    Commits every 512 vectors or 5 seconds, so that vectors join as they come; what is computed
    when an interrupt comes is kept. Tells how far it is at least every second. One text that the
    model refuses does not stop the rest; it stays without a vector. A store that has vectors of
    another model drops them first.

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
        filler.fill()
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

    def _embed_all(self, items: Sequence[Text]) -> None:
        workers = _Workers(self._embedder, items, self._cancelled)
        kept = time.monotonic()
        try:
            workers.start(self._threads)
            while workers.wait():
                computed = workers.computed
                is_late = time.monotonic() - kept > _COMMIT_S
                if len(computed) >= _COMMIT_VECTORS or (computed and is_late):
                    self._keep(computed)
                    kept = time.monotonic()
                elif self.n_stored + len(computed) < self._total:
                    self._tell(self.n_stored + len(computed))
        finally:
            workers.stop()
            self._keep(workers.computed)
        workers.check()

    def _keep(self, computed: list[Computed]) -> None:
        """Store what the threads have handed over; they go on to append to the list."""
        batch = computed[:]
        self._failed.update(key for key, vector in batch if vector is None)
        keys = [key for key, vector in batch if vector is not None]
        if keys:
            import numpy as np  # noqa: PLC0415 - only where there are vectors

            vectors = np.stack([vector for _, vector in batch if vector is not None])
            self._writer.put_vectors(keys, vectors)
            self._writer.commit()
        del computed[: len(batch)]
        self.n_stored += len(keys)
        if keys:
            self._tell(self.n_stored)

    def _tell(self, done: int) -> None:
        self._observe(IngestProgress(at=time.time(), phase="embed", done=done, total=self._total))


class _Workers:
    """Threads that embed.

    Attributes:
        computed: Key and vector as they come, ``None`` for a text that was refused. Only the
            threads append; what they computed is here even when the waiting one is interrupted.
    """

    def __init__(
        self, embedder: EmbeddingModel, items: Sequence[Text], cancelled: Callable[[], bool]
    ) -> None:
        self.computed: list[Computed] = []
        self._embedder = embedder
        self._waiting = iter(items)
        self._cancelled = cancelled
        self._stopped = False
        self._error: BaseException | None = None
        self._changed = threading.Condition()
        self._threads: list[threading.Thread] = []
        self._n_running = 0

    def start(self, n: int) -> None:
        """Start so many threads."""
        self._n_running = n
        self._threads = [threading.Thread(target=self._work, daemon=True) for _ in range(n)]
        for thread in self._threads:
            thread.start()

    def wait(self) -> bool:
        """Wait for enough to commit, a second at most; tell whether there is more to come."""
        with self._changed:
            self._changed.wait_for(self._is_worth_a_look, _TOLD_S)
            return self._n_running > 0 and self._error is None

    def stop(self) -> None:
        """Let each thread finish what it has begun."""
        self._stopped = True
        for thread in self._threads:
            if thread.ident is not None:  # an interrupt may come before all are started
                thread.join()

    def check(self) -> None:
        """Raise what ended a thread."""
        if self._error is not None:
            raise self._error

    def _is_worth_a_look(self) -> bool:
        is_over = self._n_running == 0 or self._error is not None
        return is_over or len(self.computed) >= _COMMIT_VECTORS

    def _work(self) -> None:
        try:
            while batch := self._next():
                vectors = self._embedded(batch)
                with self._changed:
                    keys = (key for key, _ in batch)
                    self.computed.extend(zip(keys, vectors, strict=True))
                    if self._is_worth_a_look():
                        self._changed.notify_all()
        except BaseException as error:
            self._error = error
        finally:
            with self._changed:
                self._n_running -= 1
                self._changed.notify_all()

    def _next(self) -> list[Text]:
        with self._changed:
            if self._stopped or self._error is not None or self._cancelled():
                return []
            return list(islice(self._waiting, getattr(self._embedder, "batch_size", 1)))

    def _embedded(self, batch: Sequence[Text]) -> list[NDArray[np.float32] | None]:
        """Return the vector of each text; ``None`` for one that the model refuses.

        A model that tells of each text alone is asked once; any other batch that it refuses is
        halved, down to the text that is at fault.
        """
        texts = [text for _, text in batch]
        each = getattr(self._embedder, "embed_each", None)
        if each is not None:
            return [None if isinstance(one, EmbeddingError) else one for one in each(texts)]
        try:
            return list(self._embedder.embed(texts))
        except EmbeddingError:
            if len(batch) == 1:
                return [None]
        middle = len(batch) // 2
        return self._embedded(batch[:middle]) + self._embedded(batch[middle:])


def english_share(store: Store) -> float:
    """Return how much of the index is English, 0 to 1, of the chunks whose language is known.

    1.0 when none is known: identifiers and numbers are no other language.
    """
    with store.reader() as reader:
        counts = {code: n for code, n in reader.languages().items() if code != "und"}
    total = sum(counts.values())
    return counts.get("en", 0) / total if total else 1.0
