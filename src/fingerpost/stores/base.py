"""The seam between the product and wherever chunks and vectors live."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from fingerpost.lanes.base import EmbeddingModel

from fingerpost.stores.linking import LinkWriter, WrittenLinks
from fingerpost.types.document import Chunk, Document, Link, SkippedFile
from fingerpost.types.query import Filters


@dataclass(frozen=True, slots=True)
class IndexIdentity:
    """All that shaped an index. Two indexes with equal identity are interchangeable.

    Attributes:
        splitter: Version of parser, splitter and analyser together.
        max_tokens: Chunk limit.
        embedder: `EmbeddingModel.name`, empty for keyword-only.
        embedder_revision: `EmbeddingModel.revision`, empty for keyword-only.
        dimension: Length of the vectors, 0 for keyword-only.
    """

    splitter: str
    max_tokens: int
    embedder: str = ""
    embedder_revision: str = ""
    dimension: int = 0

    def has_vectors_of(self, model: EmbeddingModel) -> bool:
        """Return whether the index's vectors can be compared with those of the model."""
        theirs = (model.name, model.revision, model.dimension)
        return theirs == (self.embedder, self.embedder_revision, self.dimension)


@dataclass(frozen=True, slots=True)
class StoreInfo:
    """State of a store, cheap to ask for.

    Attributes:
        identity: What the index was built with; ``None`` before the first commit.
        generation: Number of the last committed generation, 0 when empty.
        n_documents: Documents visible in that generation.
        n_chunks: Chunks visible in that generation.
        n_vectors: Visible chunks that have a vector.
        location: Path or URL without secrets.
        fingerprint: Hash over identity and content of the generation.
        notes: What was repaired at opening, for people.
        has_graph: Whether the index holds a document graph; an older one has none before the
            first writer.
        n_summaries: Nodes of the tree of summaries, 0 when none was made.
        summaries_current: No document changed since the tree was made.
    """

    identity: IndexIdentity | None
    generation: int
    n_documents: int
    n_chunks: int
    n_vectors: int
    location: str
    fingerprint: str = ""
    notes: tuple[str, ...] = ()
    has_graph: bool = False
    n_summaries: int = 0
    summaries_current: bool = False


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """A chunk as the store returns it, with the document it came from.

    Attributes:
        key: The store's own integer key of the chunk; never reused for another chunk.
    """

    key: int
    chunk: Chunk
    document: Document


@dataclass(frozen=True, slots=True)
class PreparedDocument:
    """A document ready to be stored: split, analysed, its links resolved to paths.

    Attributes:
        document: Its description.
        chunks: In order, covering the text.
        words: For each chunk the analysed tokens of its text, separated by single blanks.
        trail_words: For each chunk the analysed tokens of path, title and heading path.
        links: Links to other places of the corpus.
        names: For each chunk the numbers of the names in it (see `text.names.name_numbers`);
            empty when none are known.
        written: The same links as written.
    """

    document: Document
    chunks: Sequence[Chunk]
    words: Sequence[str]
    trail_words: Sequence[str]
    links: Sequence[Link] = ()
    names: Sequence[Sequence[int]] = ()
    written: WrittenLinks = field(default_factory=WrittenLinks)


@dataclass(frozen=True, slots=True)
class WordQuery:
    """A lexical query in analysed tokens.

    Attributes:
        tokens: Token → weight (> 0). A token found nowhere is harmless. At most 256.
        trail_weight: How much a match in path, title or headings counts against one in the
            text (1.0 = the same).
    """

    tokens: Mapping[str, float]
    trail_weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Summary:
    """A node of the tree of summaries. It is never a source: it leads to chunks.

    Attributes:
        level: 1 for a group of documents, more for groups of groups; the root has the highest.
        title: What the node is called.
        text: What its documents say, a few sentences.
        leads: Keys of the chunks that stand for it best, best first.
        n_documents: How many documents are below it.
        children: Places of the nodes below it in the list of all, empty on level 1.
        written: A model wrote the text; else it consists of sentences of the documents.
    """

    level: int
    title: str
    text: str
    leads: tuple[int, ...]
    n_documents: int
    children: tuple[int, ...] = ()
    written: bool = False


class EdgeKind(StrEnum):
    """Why two chunks are neighbours in the document graph.

    ``beside``: next to each other in a document. ``section``: one opens the section that the
    other stands in or under. ``link``: one links to the other. ``named``: one mentions the name
    that the other's heading or title bears. ``shared``: both mention a rare name.
    """

    BESIDE = "beside"
    SECTION = "section"
    LINK = "link"
    NAMED = "named"
    SHARED = "shared"


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A chunk that an edge of the document graph leads to.

    Attributes:
        key: Of the chunk.
        kind: Why; the most telling reason when there are several.
        n_alike: How many chunks the same link target, name or section leads to, >= 1; the more,
            the less each is worth.
    """

    key: int
    kind: EdgeKind
    n_alike: int = 1


@dataclass(frozen=True, slots=True)
class Selection:
    """Documents and chunks that pass a filter, in a form that the store made for itself."""

    n_documents: int
    payload: object = field(repr=False, compare=False, default=None)


class VersionFolder(NamedTuple):
    """A folder that holds one version of the documentation.

    Attributes:
        source: Name of its source.
        above: The folder that it stands in, empty for the root of the source.
        label: Its own name, ``v1.2``.
    """

    source: str
    above: str
    label: str


class Reader(Protocol):
    """One generation of an index, held still for a whole question. Thread-safe."""

    @property
    def info(self) -> StoreInfo:
        """Return the state of the generation that is held."""
        ...

    def select(self, filters: Filters) -> Selection | None:
        """Return what passes the filters, ``None`` when everything does."""
        ...

    def search_words(
        self, query: WordQuery, k: int, within: Selection | None = None
    ) -> list[tuple[int, float]]:
        """Return up to ``k`` (chunk key, BM25 score > 0), best first, ties by key.

        Nothing outside ``within`` is returned, and up to ``k`` of what is inside is found
        however many better hits stand outside.
        """
        ...

    def search_vectors(
        self, vector: NDArray[np.float32], k: int, within: Selection | None = None
    ) -> list[tuple[int, float]]:
        """Return up to ``k`` (chunk key, cosine), best first, ties by key. See `search_words`."""
        ...

    def vectors(self, keys: Sequence[int]) -> NDArray[np.float32]:
        """Return unit vectors by row, all zeros for a chunk without one.

        Shape (len(keys), dimension).
        """
        ...

    def chunks(self, keys: Sequence[int]) -> list[StoredChunk]:
        """Return the chunks in the order of ``keys``; unknown keys are left out."""
        ...

    def document_chunks(self, document_id: str) -> list[StoredChunk]:
        """Return all chunks of a document in order, empty when it is not there."""
        ...

    def keys_of_documents(self, document_ids: Sequence[str]) -> dict[str, list[int]]:
        """Return the chunk keys in order for each document that is there."""
        ...

    def document_frequency(self, tokens: Sequence[str]) -> dict[str, int]:
        """Return for each token in how many chunks it stands (text or trail), 0 when none."""
        ...

    def neighbours(
        self, keys: Sequence[int], within: Selection | None = None
    ) -> dict[int, list[Neighbour]]:
        """Return for each chunk its neighbours in the document graph, each once, never itself.

        Unknown keys are left out, and nothing outside ``within`` is returned. All lists are
        empty in an index without a graph (see `StoreInfo.has_graph`).
        """
        ...

    def summaries(self) -> list[Summary]:
        """Return the tree of summaries, the root last; empty when none was made."""
        ...

    def documents(self) -> Iterator[Document]:
        """Yield all documents, ordered by source and path."""
        ...

    def headings(self) -> Iterator[tuple[str, tuple[str, ...], int]]:
        """Yield (document id, heading path, characters covered) for each distinct heading path."""
        ...

    def languages(self) -> dict[str, int]:
        """Return chunk counts by language."""
        ...

    def version_folders(self) -> tuple[VersionFolder, ...]:
        """Return the folders of documents that stand for a version, in order."""
        ...

    def skipped(self) -> tuple[SkippedFile, ...]:
        """Return the files that the last run skipped."""
        ...

    def close(self) -> None:
        """Let go of the generation. Safe to call twice."""
        ...


class Writer(LinkWriter, Protocol):
    """The one writer of an index. Nothing is visible to readers before `commit`."""

    def known(self) -> dict[str, tuple[str, str, str]]:
        """Return document id → (source, path, content hash) of what is stored."""
        ...

    def put(self, documents: Iterable[PreparedDocument]) -> None:
        """Add documents, or replace those of the same id. Vectors of equal content are kept."""
        ...

    def move(self, old_document_id: str, document: Document) -> None:
        """Give a stored document another path; its text, chunks and vectors stay."""
        ...

    def remove(self, document_ids: Iterable[str]) -> None:
        """Take documents out. Unknown ids are ignored."""
        ...

    def put_summaries(self, summaries: Sequence[Summary], fingerprint: str) -> None:
        """Keep a tree of summaries in place of the last one.

        Args:
            summaries: Children before their parent, the root last.
            fingerprint: `StoreInfo.fingerprint` of the generation that they are of; when the
                index has gone on since, they are kept and not current.
        """
        ...

    def record_skipped(self, skipped: Sequence[SkippedFile]) -> None:
        """Keep the list of skipped files of this run, in place of the last one's."""
        ...

    def commit(self) -> int:
        """Make all changes visible at once and durable; return the new generation number."""
        ...

    def pending_vectors(self, limit: int) -> list[tuple[str, str]]:
        """Return up to ``limit`` (content key, text to embed) that have no vector yet.

        The text is the heading path and the chunk's search text. One item per content key.
        """
        ...

    def n_pending_vectors(self) -> int:
        """Return how many content keys have no vector yet."""
        ...

    def put_vectors(self, keys: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Keep vectors by content key. A zero-length list is allowed.

        Raises:
            StoreError: Wrong shape, or a value that is not finite.
        """
        ...


class Store(Protocol):
    """An index: opened at once, read by many, written by one."""

    def info(self) -> StoreInfo:
        """Return the state of the newest generation."""
        ...

    def reader(self) -> AbstractContextManager[Reader]:
        """Open the newest generation. Many may be open at once."""
        ...

    def writer(self, identity: IndexIdentity) -> AbstractContextManager[Writer]:
        """Become the one writer. Uncommitted changes are dropped on exit.

        When ``identity`` differs from the stored one in splitter or limit, all documents are
        treated as unknown (they must be put again); when it differs in embedder, stored
        vectors are dropped and become pending. One that names no embedder keeps the index's own,
        as it is when the lock is held.

        Raises:
            StoreConflictError: Another process writes; the message names pid and start time.
            StoreUnavailableError: No space, no rights, read-only.
        """
        ...

    def erase(self) -> None:
        """Take the whole index away, damaged or not, so that it can be built anew.

        Raises:
            StoreConflictError: Another process writes.
            StoreError: What is there is not an index of ours.
        """
        ...

    def close(self) -> None:
        """Release everything. Safe to call twice."""
        ...
