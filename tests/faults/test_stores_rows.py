"""Any column of any row may hold anything: a truth or `IndexCorruptError`, nothing else (R3)."""

import random
import shutil
import sqlite3
import tempfile
from pathlib import Path

import pytest

from fingerpost.errors import IndexCorruptError, StoreError
from fingerpost.stores.embedded import EmbeddedStore
from fingerpost.testing.store_documents import IDENTITY, embed_all, fill, prepare, words
from fingerpost.types.document import Link, SkippedFile
from fingerpost.types.query import Filters

SEED = 7
_LINKED = 5  # place of what `_read` says about the graph
_UNCHECKED = ("links", "mentions")  # rows without a checksum
DOCUMENTS = [
    prepare(f"d/{n}.md", [f"pumps {n}\n", f"valves {n}\n"], links=[f"d/{(n + 1) % 4}.md"])
    for n in range(4)
]
VALUES = (None, 0, -1, 2**62, 1.5, "text", b"", b"\xff\xfe\x00", b"\xed\xa0", "[]")


@pytest.fixture(scope="module")
def room():
    shared = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=shared if shared.is_dir() else None) as name:
        yield Path(name)


@pytest.fixture(scope="module")
def built(room):
    folder = room / "built"
    store = EmbeddedStore(folder)
    with store.writer(IDENTITY) as writer:
        writer.put(DOCUMENTS)
        writer.record_skipped([SkippedFile("x", "binary", "y")])
        embed_all(writer)
        writer.commit()
        writer.put(DOCUMENTS[:1])
        writer.remove([DOCUMENTS[1].document.id])
        writer.commit()
    store.close()
    return folder


def _columns(folder):
    with sqlite3.connect(folder / "index.sqlite") as connection:
        tables = [
            row[0]
            for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        ]
        found = [
            (table, row[1])
            for table in tables
            for row in connection.execute(f"PRAGMA table_info({table})")
        ]
    connection.close()
    return found


def _put_anything(folder, table, column, value):
    """Change one column of one row the way damage does: no constraint is asked."""
    connection = sqlite3.connect(folder / "index.sqlite", isolation_level=None)
    connection.execute("PRAGMA writable_schema = 1")
    connection.execute("UPDATE sqlite_master SET sql = replace(sql, ' NOT NULL', '')")
    connection.close()
    connection = sqlite3.connect(folder / "index.sqlite", isolation_level=None)
    try:
        connection.execute(
            f"UPDATE {table} SET {column} = ? WHERE ({column}) IN "
            f"(SELECT {column} FROM {table} ORDER BY 1 DESC LIMIT 1)",
            (value,),
        )
    except sqlite3.Error:
        return False
    finally:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.close()
    return True


def _read(folder):
    store = EmbeddedStore(folder)
    try:
        with store.reader() as reader:
            documents = list(reader.documents())
            ids = [item.document.id for item in DOCUMENTS]
            return (
                documents,
                [[stored.chunk for stored in reader.document_chunks(item)] for item in ids],
                list(reader.headings()),
                reader.languages(),
                reader.skipped(),
                reader.neighbours(
                    [stored.key for item in ids for stored in reader.document_chunks(item)]
                ),
                reader.select(Filters(paths=("d/2.md",))).n_documents,
                len(reader.search_words(words("pumps"), 9)),
            )
    finally:
        store.close()


def _write(folder):
    store = EmbeddedStore(folder)
    try:
        with store.writer(IDENTITY) as writer:
            writer.known()
            writer.unread_links()
            writer.written_links("docs", (), {item.document.id for item in DOCUMENTS})
            writer.relink(DOCUMENTS[3].document.id, [Link(0, "d/2.md")])
            writer.pending_vectors(50)
            writer.put(DOCUMENTS[2:3])
            writer.move(DOCUMENTS[3].document.id, prepare("e/3.md", ["x\n"]).document)
            writer.remove([DOCUMENTS[0].document.id])
            embed_all(writer)
            writer.commit()
    finally:
        store.close()


@pytest.mark.parametrize("use", [_read, _write])
def test_a_damaged_column_is_seen_or_does_no_harm(built, room, use):
    truth = _read(built)
    rng = random.Random(SEED)
    seen: list[tuple[str, str]] = []
    n_tried = 0
    for place, (table, column) in enumerate(_columns(built)):
        for turn, value in enumerate((None, rng.choice(VALUES), rng.randbytes(9))):
            # Each in a folder of its own: a word index that failed may still be writing.
            folder = room / f"{use.__name__}-{place}-{turn}"
            shutil.copytree(built, folder)
            if not _put_anything(folder, table, column, value):
                continue
            n_tried += 1
            try:
                found = use(folder)
            except IndexCorruptError as error:
                seen.append((str(error).removeprefix(f"The index file {folder}"), error.hint))
            else:
                if found is not None and table in _UNCHECKED:
                    found = (*found[:_LINKED], truth[_LINKED], *found[_LINKED + 1 :])
                assert found is None or found == truth, (table, column, value)
            shutil.rmtree(folder, ignore_errors=True)
    assert n_tried > 100
    assert len(seen) > n_tried // 3
    assert all(message.startswith("/index.sqlite is damaged: ") for message, _ in seen)
    assert all("--rebuild" in hint and hint not in message for message, hint in seen)


def test_zeros_over_a_page_of_the_database_are_seen(built, room):
    size = (built / "index.sqlite").stat().st_size
    n_seen = 0
    for at in range(0, size, 4096):
        folder = room / str(at)
        shutil.copytree(built, folder)
        with (folder / "index.sqlite").open("r+b") as file:
            file.seek(at)
            file.write(bytes(4096))
        for use in (_read, _write):
            try:
                use(folder)
            except StoreError:
                n_seen += 1
    assert n_seen > 10


def test_an_intact_index_passes_the_same_use(tmp_path):
    folder = tmp_path / "index"
    fill(EmbeddedStore(folder), DOCUMENTS)
    _write(folder)
    assert len(_read(folder)[0]) == 3
