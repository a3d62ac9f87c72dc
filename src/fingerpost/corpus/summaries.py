"""The tree of summaries: groups of documents, groups of groups, each with what it says (RAPTOR)."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from fingerpost.corpus.clusters import clusters
from fingerpost.stores.base import IndexIdentity, Reader, Store, StoredChunk, Summary
from fingerpost.text.sentences import sentences
from fingerpost.types.document import Document

if TYPE_CHECKING:
    from numpy.typing import NDArray

WriteSummary = Callable[[str, Sequence[str]], Awaitable[str]]

GROUP = 10
_LINES = 5
_LEADS = 8
_LINE_CHARS = 240
_FEWEST_CHARS = 40
_OPENING_CHUNKS = 2
_OPENS = re.compile(
    r"(?:^|[/_-])(?:index|readme|overview|introduction|intro|about)\b", re.IGNORECASE
)
_OPENING_GAIN, _DEPTH_LOSS, _FOREIGN_LOSS = 0.2, 0.03, 0.3


@dataclass(frozen=True, slots=True)
class SummariesMade:
    """What one run made.

    Attributes:
        n_summaries: Nodes of the tree, 0 for an empty index.
        n_written: Of them, whose text a model wrote.
        failures: Why a model's text could not be had, one for each node.
    """

    n_summaries: int
    n_written: int = 0
    failures: tuple[str, ...] = ()


@dataclass(slots=True)
class _Node:
    """A node while the tree grows: what it says, where it points, what stands for it."""

    title: str
    lines: list[str]
    leads: list[int]
    vector: NDArray[np.float32]
    gain: float
    n_documents: int = 1
    children: list[int] = field(default_factory=list)


def is_up_to_date(store: Store, *, by_model: bool = False) -> bool:
    """Return whether no document changed since the tree was made.

    Args:
        store: The index.
        by_model: A tree without any text of a model is not what is wanted.
    """
    if not store.info().summaries_current:
        return store.info().n_chunks == 0
    if not by_model:
        return True
    with store.reader() as reader:
        return any(node.written for node in reader.summaries())


async def summarise(
    store: Store,
    write: WriteSummary | None = None,
    *,
    writing: AbstractContextManager[object] | None = None,
    cancelled: Callable[[], bool] = lambda: False,
) -> SummariesMade:
    """Make the tree of summaries of an index and keep it there.

    Documents are grouped by the mean of their vectors, without vectors by their paths. A
    node's text consists of the openings of its most central documents, or is what ``write``
    makes of them; where it fails, the openings stay, and the next run tries again. What was
    written of a node that is as it was is not written again.

    Args:
        store: The index; it is written at the end, in one commit.
        write: Given a title and the lines of what is below, returns a short text.
        writing: Held while the index is written.
        cancelled: Once true, nothing is written.

    Raises:
        StoreConflictError: Another process writes the index.
    """
    with store.reader() as reader:
        state = reader.info
        usual = next(iter(reader.languages()), "und")
        tree = _tree(_leaves(reader, usual, cancelled), cancelled)
        known = {_same(one): one.text for one in reader.summaries() if one.written}
    if state.identity is None or not tree:
        return SummariesMade(0)
    written, failures = await _written(tree, write, known)
    if cancelled():
        return SummariesMade(0)
    # Vectors may have come meanwhile: who names no model leaves them alone.
    as_it_is = IndexIdentity(state.identity.splitter, state.identity.max_tokens)
    with writing or nullcontext(), store.writer(as_it_is) as writer:
        writer.put_summaries(written, "" if failures else state.fingerprint)
        writer.commit()
    return SummariesMade(len(tree), sum(one.written for one in written), tuple(failures))


def _same(node: Summary) -> tuple[object, ...]:
    """Return what a node is written from: equal, and so is what would be written."""
    return node.level, node.title, node.leads, node.n_documents


def _leaves(reader: Reader, language: str, cancelled: Callable[[], bool]) -> list[_Node]:
    """Return one node for each document, ordered by source and path; fewer once cancelled.

    Openings of the corpus are preferred to stand for it, and those in its usual language.
    """
    documents = list(reader.documents())
    keys = reader.keys_of_documents([document.id for document in documents])
    leaves = [
        _leaf(reader, document, keys.get(document.id, []))
        for document in documents
        if not cancelled()
    ]
    for leaf, document in zip(leaves, documents, strict=False):
        leaf.gain -= _FOREIGN_LOSS * (document.language != language)
    return leaves


def _leaf(reader: Reader, document: Document, keys: Sequence[int]) -> _Node:
    vector = reader.vectors(keys).sum(axis=0)
    opening = reader.chunks(keys[:_OPENING_CHUNKS])
    opens = 0.0 if _OPENS.search(document.path) is None else _OPENING_GAIN
    return _Node(
        title=document.title,
        lines=[_opening(document.title, opening)],
        leads=list(keys[:1]),
        vector=_unit(vector),
        gain=opens - _DEPTH_LOSS * document.path.count("/"),
    )


def _opening(title: str, chunks: Sequence[StoredChunk]) -> str:
    """Return a title with the first sentence of a document that is long enough to say something."""
    for stored in chunks:
        text = stored.chunk.search_text
        for span in sentences(text):
            line = " ".join(text[span.start : span.end].split())
            if len(line) >= _FEWEST_CHARS and line.casefold() != title.casefold():
                return f"{title}: {line[:_LINE_CHARS]}"
    return title


def _tree(leaves: Sequence[_Node], cancelled: Callable[[], bool]) -> list[tuple[int, _Node]]:
    """Return (level, node) of all groups, children before parents, the root last.

    Once cancelled, nothing.
    """
    tree: list[tuple[int, _Node]] = []
    below, places = list(leaves), [-1] * len(leaves)
    level = 0
    while below and (level == 0 or len(below) > 1):
        level += 1
        groups = _grouped(below)
        nodes = [_parent([(below[row], places[row]) for row in rows]) for rows in groups]
        places = list(range(len(tree), len(tree) + len(nodes)))
        tree += [(level, node) for node in nodes]
        below = nodes
        if cancelled():
            return []
    return tree


def _grouped(nodes: Sequence[_Node]) -> list[list[int]]:
    vectors = np.stack([node.vector for node in nodes])
    groups = clusters(vectors, GROUP) if vectors.any() else []
    if 0 < len(groups) < len(nodes):
        return groups
    return [list(range(at, min(at + GROUP, len(nodes)))) for at in range(0, len(nodes), GROUP)]


def _parent(children: Sequence[tuple[_Node, int]]) -> _Node:
    """Return the node above some others: named after and led by the most central ones."""
    vector = _unit(np.sum([node.vector * node.n_documents for node, _ in children], axis=0))
    central = sorted(
        (node for node, _ in children),
        key=lambda node: -(float(np.vecdot(node.vector, vector)) + node.gain),
    )
    leads = [
        node.leads[turn] for turn in range(_LEADS) for node in central if turn < len(node.leads)
    ]
    return _Node(
        title=central[0].title,
        lines=[node.lines[0] for node in central[:_LINES]],
        leads=leads[:_LEADS],
        vector=vector,
        gain=max(node.gain for node in central),
        n_documents=sum(node.n_documents for node in central),
        children=[place for _, place in children if place >= 0],
    )


async def _written(
    tree: Sequence[tuple[int, _Node]],
    write: WriteSummary | None,
    known: Mapping[tuple[object, ...], str],
) -> tuple[list[Summary], list[str]]:
    """Return the summaries; a model is told what it wrote of the nodes below."""
    made: list[Summary] = []
    failures: list[str] = []
    for level, node in tree:
        plain = Summary(
            level=level,
            title=node.title,
            text="\n".join(node.lines),
            leads=tuple(node.leads),
            n_documents=node.n_documents,
            children=tuple(node.children),
        )
        if write is not None and _same(plain) in known:
            plain = replace(plain, text=known[_same(plain)], written=True)
        elif write is not None:
            below = [made[place].text for place in node.children] or node.lines
            try:
                text = (await write(node.title, below)).strip()
            except Exception as error:  # a model may fail in any way; the openings stay
                failures.append(f"{node.title}: {type(error).__name__}: {error}")
            else:
                plain = replace(plain, text=text, written=True) if text else plain
        made.append(plain)
    return made, failures


def _unit(vector: NDArray[np.float32]) -> NDArray[np.float32]:
    length = float(np.linalg.norm(vector))
    unit: NDArray[np.float32] = (vector / length if length > 0 else vector).astype(np.float32)
    return unit
