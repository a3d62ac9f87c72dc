"""Keeping an index up to date with its folders: only what changed is read into it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import PurePosixPath

from fingerpost.corpus.decode import Undecodable
from fingerpost.corpus.embed import embed_pending, english_share
from fingerpost.corpus.locate import CorpusRoot
from fingerpost.corpus.prepare import FileToPrepare, Prepared, prepare_file, prepare_text
from fingerpost.corpus.reading import is_converted
from fingerpost.corpus.relink import Relinking
from fingerpost.corpus.scan import Limits, Scan
from fingerpost.corpus.site import Site
from fingerpost.corpus.split import SPLITTER_VERSION
from fingerpost.corpus.walk import FoundFile
from fingerpost.corpus.workers import Finished, Workers
from fingerpost.lanes.base import EmbeddingModel
from fingerpost.observe.events import IngestProgress
from fingerpost.observe.observer import Observer
from fingerpost.stores.base import IndexIdentity, PreparedDocument, Store, Writer
from fingerpost.text.analyse import ANALYSER_VERSION
from fingerpost.types.ids import document_id
from fingerpost.types.origin import Origin
from fingerpost.types.stats import IndexSummary

__all__ = [
    "IndexOptions", "embed_pending", "english_share", "index_corpus", "index_identity",
    "prepare_text",
]  # fmt: skip

# Below this much changed text, starting processes costs more than it gives.
_ALONE_BYTES = 4 * 1024**2
_ALONE_FILES = 200
_MAX_ALONE_FILE_BYTES = 1024**2
_PROGRESS_S = 0.1


def _never() -> bool:
    return False


@dataclass(frozen=True, slots=True)
class IndexOptions:
    """How a corpus is read and split.

    Attributes:
        max_tokens: Most tokens of a chunk's search text; 220 leaves room for the heading path
            in the 256 of MiniLM.
        max_file_bytes: A larger file is skipped.
        max_files: Files beyond it are skipped.
        max_total_bytes: Files beyond this sum are skipped.
        workers: Processes that parse; ``None`` for one per core, 0 to parse in this process.
        embed: Compute vectors after words are committed.
        rebuild: Read every file again.
    """

    max_tokens: int = 220
    max_file_bytes: int = 10 * 1024**2
    max_files: int = 200_000
    max_total_bytes: int = 5 * 1024**3
    workers: int | None = None
    embed: bool = True
    rebuild: bool = False


def index_identity(
    embedder: EmbeddingModel | None = None, *, max_tokens: int = 220
) -> IndexIdentity:
    """Return the identity of an index that this version writes.

    Args:
        embedder: The model of its vectors; with ``None`` a writer keeps those of the index.
        max_tokens: Chunk limit.
    """
    identity = IndexIdentity(f"{SPLITTER_VERSION}.{ANALYSER_VERSION}", max_tokens)
    if embedder is None:
        return identity
    return replace(
        identity,
        embedder=embedder.name,
        embedder_revision=embedder.revision,
        dimension=embedder.dimension,
    )


def index_corpus(
    store: Store,
    roots: Sequence[CorpusRoot],
    *,
    embedder: EmbeddingModel | None,
    options: IndexOptions,
    observe: Observer,
    cancelled: Callable[[], bool] = _never,
    kept: Sequence[str] = (),
) -> IndexSummary:
    """Bring an index up to date with its folders and return what was done.

    Documents of a repository that did not change take the commit of its folder in the same
    step, without being read again.

    All changes of documents become visible in one commit; then the vectors that are missing
    are computed and join as they come. An interrupt or ``cancelled`` leaves the last
    committed state, and the next run goes on from there. Without ``embedder`` the vectors
    that are there are kept. So are documents of the sources named in ``kept``, which may have
    no root now.

    Raises:
        StoreConflictError: Another process writes this index.
        StoreUnavailableError: The index cannot be written.
    """
    started = time.monotonic()
    identity = index_identity(embedder, max_tokens=options.max_tokens)
    limits = Limits(options.max_file_bytes, options.max_files, options.max_total_bytes)
    with store.writer(identity) as writer, Scan(roots, limits, kept) as scan:
        run = _Run(writer, scan, options, observe, cancelled)
        if not run.finish():
            return _summary(store, run, started)
        run.relabel(store)
        writer.record_skipped(scan.skipped)
        writer.commit()
    if options.embed and embedder is not None:
        threads = options.workers or _cores()
        run.n_embedded = embed_pending(
            store, embedder, observe=observe, cancelled=cancelled, threads=threads
        )
    summary = _summary(store, run, started)
    observe(IngestProgress(at=time.time(), phase="done", done=1, total=1))
    return summary


@dataclass(slots=True)
class _Run:
    """What one run does to the documents of an index."""

    writer: Writer
    scan: Scan
    options: IndexOptions
    observe: Observer
    cancelled: Callable[[], bool]
    n_added: int = 0
    n_changed: int = 0
    n_moved: int = 0
    n_removed: int = 0
    n_embedded: int = 0
    n_seen: int = 0
    n_stored: int = 0
    stopped: bool = False
    _said: float = 0.0
    _by_hash: dict[str, list[str]] = field(default_factory=dict)
    _known: dict[str, tuple[str, str, str]] = field(default_factory=dict)
    _labels: dict[str, Origin | Site] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Note which sources are repositories or saved websites."""
        self._labels.update(self.scan.sites)
        self._labels |= {root.name: root.origin for root in self.scan.roots if root.origin}

    def finish(self) -> bool:
        """Put, move and remove what changed; tell whether it was not cancelled."""
        self._known = self.writer.known()
        links = Relinking(self.writer, self._known, self.scan.paths)
        self._gather_moved()
        total = len(self.scan.files)
        self._say("scan", total, total, force=True)
        hashes = {} if self.options.rebuild else links.hashes()
        changed = self.scan.changed(hashes, self.options.max_tokens, self._seen)
        self.writer.put(self._documents(self._until_cancelled(changed), links))
        if self.stopped or self.cancelled():
            return False
        gone = self.scan.gone(self._known) - self._moved_ids
        self.writer.remove(sorted(gone))
        self.n_removed += len(gone)
        if self.n_removed or links.is_touched:
            links.finish()
        self._say("store", total, total, force=True)
        return True

    _moved_ids: set[str] = field(default_factory=set)

    def _gather_moved(self) -> None:
        """Note the known documents whose path is gone, by their content."""
        there = {document_id(folder.root.name, file.path) for folder, file in self.scan.files}
        for identity, (_, _, content_hash) in self._known.items():
            if identity not in there:
                self._by_hash.setdefault(content_hash, []).append(identity)

    def _seen(self, file: FoundFile) -> None:
        self.n_seen += 1
        self._say("parse", self.n_seen, len(self.scan.files), file.path)

    def _until_cancelled(self, files: Iterator[FileToPrepare]) -> Iterator[FileToPrepare]:
        for file in files:
            if self.cancelled():
                self.stopped = True
                return
            yield file

    def _documents(
        self, files: Iterator[FileToPrepare], links: Relinking
    ) -> Iterator[PreparedDocument]:
        # Whoever asks an index that is there goes before its next generation.
        for finished in prepare_all(files, self._workers(), gives_way=bool(self._known)):
            outcome, file = finished.outcome, finished.file
            if isinstance(outcome, Undecodable):
                self.scan.skip(file, outcome.reason, outcome.detail)
                self._drop(file)
                continue
            if finished.note:
                self.scan.skip(file, "limit", f"{finished.note}; it was read as plain text")
            if outcome.note:
                self.scan.skip(file, "limit", outcome.note)
            if not outcome.document.chunks:
                self.scan.skip(file, "empty", "no text")
                self._drop(file)
                continue
            outcome = self._labelled(outcome)
            identity = outcome.document.document.id
            if not self.options.rebuild and links.fills(file, outcome):
                self.scan.unchanged.add(identity)
            elif self._moved(file, outcome):
                links.moved(file.source, identity)
            else:
                links.put(file.source)
                yield outcome.resolved(self.scan.paths[file.source])
                self._count(file)
            self.n_stored += 1

    def _labelled(self, prepared: Prepared) -> Prepared:
        """Return the document with its commit or address, of a repository or a saved website."""
        label = self._labels.get(prepared.document.document.source)
        if label is None:
            return prepared
        document = label.label(prepared.document.document)
        return replace(prepared, document=replace(prepared.document, document=document))

    def relabel(self, store: Store) -> None:
        """Give documents that stayed as they were the commit or address of today."""
        if not self._labels:
            return
        with store.reader() as reader:
            stored = [one for one in reader.documents() if one.source in self._labels]
        unchanged = self.scan.unchanged
        for document in stored:
            labelled = self._labels[document.source].label(document)
            if document.id in unchanged and labelled != document:
                self.writer.move(document.id, labelled)

    def _drop(self, file: FileToPrepare) -> None:
        """Take out what an earlier run stored of a file that gives nothing now."""
        identity = document_id(file.source, file.path)
        if identity in self._known:
            self.writer.remove([identity])
            self.n_removed += 1

    def _moved(self, file: FileToPrepare, prepared: Prepared) -> bool:
        """Rename a stored document of the same content; tell whether there was one."""
        document = prepared.document.document
        if document.id in self._known:
            return False
        candidates = self._by_hash.get(file.content_hash, [])
        place = PurePosixPath(file.path)
        for old in candidates:
            source, path, _ = self._known[old]
            before = PurePosixPath(path)
            if source != file.source or before.suffix != place.suffix:
                continue
            candidates.remove(old)
            self._moved_ids.add(old)
            self.n_moved += 1
            self.writer.move(old, document)
            return True
        return False

    def _count(self, file: FileToPrepare) -> None:
        if document_id(file.source, file.path) in self._known:
            self.n_changed += 1
        else:
            self.n_added += 1

    def _workers(self) -> int:
        """Return how many processes are worth it, 0 for none."""
        n_workers = _cores() if self.options.workers is None else self.options.workers
        if self.options.rebuild or not self._known:
            size = sum(file.size for _, file in self.scan.files)
            if size <= _ALONE_BYTES and len(self.scan.files) <= _ALONE_FILES:
                return 0
        return n_workers

    def _say(
        self, phase: str, done: int, total: int, path: str = "", *, force: bool = False
    ) -> None:
        now = time.time()
        if force or done == total or now - self._said >= _PROGRESS_S:
            self._said = now
            self.observe(IngestProgress(at=now, phase=phase, done=done, total=total, path=path))


def prepare_all(
    files: Iterator[FileToPrepare], n_workers: int, *, gives_way: bool = False
) -> Iterator[Finished]:
    """Yield the files prepared: a few small ones here, the rest by processes.

    Args:
        files: Read as they are needed.
        n_workers: Processes; 0 prepares small files in this one, whatever their number.
        gives_way: The processes run when no one else wants the processor.
    """
    first: list[FileToPrepare] = []
    size = 0
    if n_workers:
        for file in files:
            first.append(file)
            size += len(file.raw)
            if size > _ALONE_BYTES or len(first) > _ALONE_FILES:
                break
        else:
            n_workers = 0
    rest: Iterable[FileToPrepare] = chain(first, files)
    if not n_workers:
        yield from _prepare_here(rest)
        return
    with Workers(n_workers, gives_way=gives_way) as workers:
        yield from workers.prepare(rest)


def _prepare_here(files: Iterable[FileToPrepare]) -> Iterator[Finished]:
    """Prepare small files in this process; what is large or needs a converter in another."""
    with ExitStack() as stack:
        apart: Workers | None = None
        for file in files:
            if len(file.raw) <= _MAX_ALONE_FILE_BYTES and not is_converted(file.path):
                yield Finished(file, prepare_file(file))
                continue
            apart = apart or stack.enter_context(Workers(1))
            yield from apart.prepare([file])


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return os.cpu_count() or 1


def _summary(store: Store, run: _Run, started: float) -> IndexSummary:
    state = store.info()
    return IndexSummary(
        n_added=run.n_added,
        n_changed=run.n_changed,
        n_moved=run.n_moved,
        n_removed=run.n_removed,
        n_unchanged=len(run.scan.unchanged),
        n_chunks=state.n_chunks,
        n_documents=state.n_documents,
        n_embedded=run.n_embedded,
        n_without_vector=state.n_chunks - state.n_vectors,
        skipped=tuple(run.scan.skipped),
        took_s=time.monotonic() - started,
        generation=state.generation,
    )
