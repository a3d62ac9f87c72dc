"""The ledger of generations: one row per commit, chained by a running hash."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from fingerpost.stores.base import IndexIdentity
from fingerpost.stores.embedded.border import corrupt
from fingerpost.stores.embedded.files import Files
from fingerpost.stores.embedded.rows import checksum
from fingerpost.stores.embedded.schema import DATABASE_FILE
from fingerpost.types.ids import digest

WITNESS_FILE = "published.json"
_KEPT_GENERATIONS = 1000


@dataclass(frozen=True, slots=True)
class Generation:
    """What one commit published.

    Attributes:
        number: From 1; 0 is the empty index.
        identity: What everything in it was built with.
        content: Hash over the documents, whatever the order in which they came.
        next_key: Chunk keys below it are taken for good.
        next_doc: Document keys below it are taken for good.
        next_cid: Content numbers below it are taken for good.
        words_number: Which folder below ``words/`` belongs to it, 0 when none.
        words_token: What the marker of the word index says when it holds just this.
        segment: Number of the vector segment, 0 when none.
        n_rows: Rows of that segment that are published.
        lists_sum: Checksum of the languages and of what the word index still has to lose.
        skipped_sum: Checksum of the list of skipped files.
        has_graph: Whether the document graph holds every document of it.
        n_summaries: Nodes of the tree of summaries.
        summarised: The ``content`` for which that tree was made, hexadecimal.
        chain: Running hash over this and every earlier generation.
    """

    number: int = 0
    identity: IndexIdentity | None = None
    n_documents: int = 0
    n_chunks: int = 0
    n_vectors: int = 0
    content: int = 0
    next_key: int = 1
    next_doc: int = 1
    next_cid: int = 1
    words_number: int = 0
    words_token: int = 0
    segment: int = 0
    n_rows: int = 0
    lists_sum: int = 0
    skipped_sum: int = 0
    has_graph: bool = False
    n_summaries: int = 0
    summarised: str = ""
    chain: str = ""

    def encoded(self) -> str:
        """Return everything but the chain as text."""
        fields = asdict(self)
        del fields["chain"]
        fields["content"] = f"{self.content:x}"
        return json.dumps(fields, sort_keys=True)

    @property
    def summaries_current(self) -> bool:
        """Return whether no document changed since the tree of summaries was made."""
        return self.n_summaries > 0 and self.summarised == f"{self.content:x}"

    @property
    def fingerprint(self) -> str:
        """Return the hash over identity and content, vectors counted."""
        return _fingerprint(self.identity, self.content, self.n_vectors)


@lru_cache(maxsize=64)
def _fingerprint(identity: IndexIdentity | None, content: int, n_vectors: int) -> str:
    fields = json.dumps(asdict(identity) if identity else None, sort_keys=True)
    return digest(fields, f"{content:x}", str(n_vectors))


def newest(connection: sqlite3.Connection, folder: Path) -> Generation:
    """Return the newest generation in the connection's view.

    Raises:
        IndexCorruptError: The ledger does not match its hash.
    """
    row = connection.execute(
        "SELECT generation, state, chain FROM generations ORDER BY generation DESC LIMIT 2"
    ).fetchall()
    if not row:
        return Generation()
    number, state, chain = row[0]
    before = row[1][2] if len(row) > 1 else ""
    if not all(isinstance(text, str) for text in (state, chain, before)):
        raise corrupt(folder, DATABASE_FILE, f"the ledger of generation {number} is broken")
    fields: dict[str, Any] = json.loads(state)
    if not _chained(before if len(row) > 1 else None, state, chain) or fields["number"] != number:
        raise corrupt(folder, DATABASE_FILE, f"the ledger of generation {number} is broken")
    if fields["identity"] is not None:
        fields["identity"] = IndexIdentity(**fields["identity"])
    fields["content"] = int(fields["content"], 16)
    return Generation(**fields, chain=chain)


def _chained(before: str | None, state: str, chain: str) -> bool:
    first, _, rest = chain.partition(":")
    return rest == digest(first, state) and (before is None or first == _tail(before))


def _tail(chain: str) -> str:
    return chain.rpartition(":")[2]


def append(connection: sqlite3.Connection, generation: Generation, before: str) -> str:
    """Write a generation; return its chain value."""
    state = generation.encoded()
    first = _tail(before)
    chain = f"{first}:{digest(first, state)}"
    connection.execute(
        "INSERT INTO generations (generation, state, chain) VALUES (?, ?, ?)",
        (generation.number, state, chain),
    )
    connection.execute(
        "DELETE FROM generations WHERE generation <= ?",
        (generation.number - _KEPT_GENERATIONS,),
    )
    return chain


def read_lists(
    connection: sqlite3.Connection,
) -> tuple[list[tuple[int, str]], list[tuple[int, int]], int]:
    """Return languages, documents that the word index has to lose, and a checksum of both."""
    languages = connection.execute(
        "SELECT language_id, code FROM languages ORDER BY language_id"
    ).fetchall()
    purge = connection.execute(
        "SELECT doc_key, n_chunks FROM words_purge ORDER BY doc_key"
    ).fetchall()
    return languages, purge, checksum([*languages, None, *purge])


def read_skipped(connection: sqlite3.Connection) -> tuple[list[tuple[bytes, ...]], int]:
    """Return (path, reason, detail) of the skipped files, and a checksum."""
    rows = connection.execute("SELECT path, reason, detail FROM skipped ORDER BY position")
    found = rows.fetchall()
    return found, checksum([part for row in found for part in row])


def write_witness(folder: Path, files: Files, generation: Generation) -> None:
    """Note outside the database what was published, so that a loss can be seen."""
    content = json.dumps({"generation": generation.number, "chain": generation.chain})
    files.write_whole(folder / WITNESS_FILE, content.encode(), durable=False)


def read_witness(folder: Path) -> tuple[int, str]:
    """Return generation and chain of the last witness, ``(0, "")`` when it is not readable."""
    try:
        fields = json.loads((folder / WITNESS_FILE).read_bytes())
        return int(fields["generation"]), str(fields["chain"])
    except (OSError, ValueError, KeyError, TypeError):
        return 0, ""


def loss_note(generation: Generation, witness: tuple[int, str]) -> str:
    """Return a sentence when less or other is there than was published, else nothing."""
    number, chain = witness
    if number > generation.number:
        return f"generation {number} expected, {generation.number} found: the rest is lost"
    if number == generation.number and chain != generation.chain:
        return f"generation {number} is not the one that was published: another index"
    return ""
