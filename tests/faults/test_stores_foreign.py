"""Foreign files and indexes of another kind (goals R5 and R7)."""

import json
import shutil
import sqlite3
import zlib
from dataclasses import replace

import pytest

from fingerpost.errors import (
    ConfigError,
    IndexCorruptError,
    IndexMismatchError,
    SchemaVersionError,
    StoreConflictError,
    StoreError,
)
from fingerpost.stores import open_store
from fingerpost.stores.embedded import EmbeddedStore
from fingerpost.stores.embedded.vectors import HEADER_BYTES
from fingerpost.testing.store_documents import (
    IDENTITY,
    embed_all,
    fill,
    hash_vector,
    prepare,
    words,
)
from fingerpost.types.ids import digest

DOCUMENTS = [prepare(f"a/{n}.md", [f"pumps number {n}\n"]) for n in range(4)]


@pytest.fixture
def index(tmp_path):
    folder = tmp_path / "index"
    fill(EmbeddedStore(folder), DOCUMENTS)
    return folder


def _asked(index):
    with EmbeddedStore(index).reader() as reader:
        return len(reader.search_words(words("pumps"), 9)), reader.info


def test_files_and_folders_are_their_owners_only(index):
    rights = {path: path.stat().st_mode & 0o777 for path in [index, *index.rglob("*")]}
    assert all(mode == (0o700 if path.is_dir() else 0o600) for path, mode in rights.items())
    assert (index / ".gitignore").read_text() == "*\n"


def test_stray_files_are_named_and_left_alone(index):
    strays = ["notes.txt~", ".index.sqlite.swp", "index.sqlite.bak", "empty"]
    for name in strays:
        (index / name).write_bytes(b"" if name == "empty" else b"x")
    (index / "words" / "0001" / "editor.tmp").write_bytes(b"")
    (index / "vectors" / "0001.rows~").write_bytes(b"x")
    (index / "words" / "mine").mkdir()
    n_found, info = _asked(index)
    assert n_found == 4
    assert any("4 unknown file(s) left alone" in note for note in info.notes)
    fill(EmbeddedStore(index), DOCUMENTS[:1])
    assert all((index / name).exists() for name in strays)
    assert (index / "vectors" / "0001.rows~").exists()
    assert (index / "words" / "mine").exists()


def test_our_own_leftovers_are_swept_by_the_next_writer(index):
    leftovers = [
        index / "published.json.4711.tmp",
        index / "vectors" / "0042.rows",
        index / "vectors" / "0042.codes",
        index / "words" / "0042",
    ]
    for path in leftovers:
        path.mkdir() if path.name == "0042" else path.write_bytes(b"x")
    fill(EmbeddedStore(index), DOCUMENTS[:1])
    assert not any(path.exists() for path in leftovers)
    assert _asked(index)[1].notes == ()


@pytest.mark.parametrize("folder", ["words", "vectors"])
def test_a_derived_folder_that_is_gone_is_made_anew_and_said(index, folder):
    shutil.rmtree(index / folder)
    n_found, info = _asked(index)
    assert n_found == 4
    assert any(note.startswith(folder) for note in info.notes)
    store = EmbeddedStore(index)
    with store.writer(IDENTITY) as writer:
        assert writer.n_pending_vectors() == (4 if folder == "vectors" else 0)
        embed_all(writer)
        writer.commit()
    with EmbeddedStore(index).reader() as reader:
        assert (reader.info.n_vectors, reader.info.notes) == (4, ())
        assert reader.search_vectors(hash_vector("Section 0\npumps number 2"), 1)[0][1] > 0.98


def test_another_schema_version_is_refused_with_both_numbers(index):
    with sqlite3.connect(index / "index.sqlite") as connection:
        connection.execute("PRAGMA user_version = 7")
    connection.close()
    for use in (lambda store: store.info(), lambda store: store.writer(IDENTITY).__enter__()):
        with pytest.raises(SchemaVersionError, match=r"version 7.*version 4") as caught:
            use(EmbeddedStore(index))
        assert "--rebuild" in caught.value.hint


def test_a_database_of_another_program_is_refused_and_not_touched(tmp_path):
    with sqlite3.connect(tmp_path / "index.sqlite") as connection:
        connection.execute("CREATE TABLE mine (x)")
    connection.close()
    before = (tmp_path / "index.sqlite").read_bytes()
    with pytest.raises(IndexCorruptError, match="no fingerpost index"):
        EmbeddedStore(tmp_path).info()
    with pytest.raises(IndexCorruptError), EmbeddedStore(tmp_path).writer(IDENTITY):
        pass
    assert (tmp_path / "index.sqlite").read_bytes() == before


def _change_header(index, **fields):
    path = index / "vectors" / "0001.rows"
    content = path.read_bytes()
    length = int.from_bytes(content[8:12], "little")
    header = json.loads(content[16 : 16 + length]) | fields
    body = json.dumps(header, sort_keys=True).encode()
    head = content[:8] + len(body).to_bytes(4, "little") + zlib.crc32(body).to_bytes(4, "little")
    path.write_bytes((head + body).ljust(HEADER_BYTES, b"\0") + content[HEADER_BYTES:])


@pytest.mark.parametrize(
    ("field", "found", "expected"),
    [
        ("version", 9, 1),
        ("dimension", 768, 32),
        ("endianness", "big", "little"),
        ("embedder", "other", "hash"),
        ("revision", "2", "1"),
        ("normalisation", "none", "unit"),
    ],
)
def test_vectors_of_another_making_are_refused_with_both_sides(index, field, found, expected):
    _change_header(index, **{field: found})
    with pytest.raises(IndexMismatchError) as caught:
        _asked(index)
    assert f"{field}: expected {expected!r}, found {found!r}" in str(caught.value)
    with EmbeddedStore(index).writer(IDENTITY) as writer:  # the cure: they are made anew
        assert embed_all(writer) == 4
        writer.commit()
    assert _asked(index)[1].n_vectors == 4


def test_a_segment_with_another_magic_is_refused_with_both(index):
    path = index / "vectors" / "0001.rows"
    path.write_bytes(b"SQLite f" + path.read_bytes()[8:])
    with pytest.raises(IndexCorruptError, match=r"b'SQLite f', expected b'FPVECTOR'"):
        _asked(index)


def test_a_lost_database_is_not_taken_for_an_empty_index(index):
    (index / "index.sqlite").unlink()
    for use in (lambda store: store.info(), lambda store: store.writer(IDENTITY).__enter__()):
        with pytest.raises(IndexCorruptError, match="generation 1 expected, nothing found"):
            use(EmbeddedStore(index))


def test_an_older_copy_of_the_database_is_named(index, tmp_path):
    old = tmp_path / "old.sqlite"
    shutil.copyfile(index / "index.sqlite", old)
    fill(EmbeddedStore(index), [prepare("b.md", ["valves\n"])])
    shutil.copyfile(old, index / "index.sqlite")
    n_found, info = _asked(index)
    assert n_found == 4
    assert any("generation 2 expected, 1 found" in note for note in info.notes)
    assert fill(EmbeddedStore(index), [prepare("c.md", ["seals\n"])]) > 2


def test_only_folders_can_be_opened(tmp_path):
    assert open_store(f"file://{tmp_path}/x").info().generation == 0
    assert open_store(tmp_path / "x").info().location == str(tmp_path / "x")
    assert not (tmp_path / "x").exists()
    for bad in ("postgres://host/db", "postgresql://host/db", "redis://host", " "):
        with pytest.raises(ConfigError, match="store"):
            open_store(bad)


def test_counts_of_words_that_do_not_fit_are_refused(index):
    bad = replace(DOCUMENTS[0], words=[])
    with EmbeddedStore(index).writer(IDENTITY) as writer, pytest.raises(StoreError, match="words"):
        writer.put([bad])


def _read_all(store):
    with store.reader() as reader:
        list(reader.documents())
        reader.chunks([1, 2, 3, 4])


@pytest.mark.parametrize("damage", ["header", "cut", "gone", "version", "vectors"])
def test_erasing_cures_every_damage_and_leaves_other_files(index, damage):
    database = index / "index.sqlite"
    content = bytearray(database.read_bytes())
    if damage == "header":
        database.write_bytes(bytes(200) + content[200:])
    elif damage == "cut":
        database.write_bytes(content[: len(content) // 2])
    elif damage == "gone":
        database.unlink()
    elif damage == "version":
        with sqlite3.connect(database) as connection:
            connection.execute("PRAGMA user_version = 7")
        connection.close()
    else:
        (index / "vectors" / "0001.rows").write_bytes(b"SQLite f" + bytes(5000))
    (index / "mine.txt").write_text("mine")
    store = EmbeddedStore(index)
    with pytest.raises(StoreError):
        _read_all(store)
    store.erase()
    assert store.info().generation == 0
    assert fill(store, DOCUMENTS) == 1
    n_found, info = _asked(index)
    assert (n_found, info.n_vectors) == (4, 4)
    assert (index / "mine.txt").read_text() == "mine"


def test_a_database_of_another_program_is_not_erased(tmp_path):
    with sqlite3.connect(tmp_path / "index.sqlite") as connection:
        connection.execute("CREATE TABLE mine (x)")
    connection.close()
    with pytest.raises(IndexCorruptError, match="no fingerpost index"):
        EmbeddedStore(tmp_path).erase()
    assert (tmp_path / "index.sqlite").exists()


def test_an_index_that_is_being_written_is_not_erased(index):
    with EmbeddedStore(index).writer(IDENTITY), pytest.raises(StoreConflictError):
        EmbeddedStore(index).erase()
    assert _asked(index)[0] == 4


def test_a_folder_that_others_use_is_refused_and_not_touched(tmp_path):
    (tmp_path / "letters.txt").write_text("mine")
    for use in (lambda store: store.writer(IDENTITY).__enter__(), lambda store: store.erase()):
        with pytest.raises(StoreError, match=r"has other files, such as 'letters.txt'") as caught:
            use(EmbeddedStore(tmp_path))
        assert "--index-dir" in caught.value.hint
    assert [path.name for path in tmp_path.iterdir()] == ["letters.txt"]


def test_nothing_is_written_beside_another_programs_database(tmp_path):
    with sqlite3.connect(tmp_path / "index.sqlite") as connection:
        connection.execute("CREATE TABLE mine (x)")
    connection.close()
    with pytest.raises(IndexCorruptError, match="no fingerpost index"):
        EmbeddedStore(tmp_path).writer(IDENTITY).__enter__()
    assert [path.name for path in tmp_path.iterdir()] == ["index.sqlite"]


@pytest.mark.parametrize("name", ["a\0b", "a\ud800b"])
def test_a_name_that_no_folder_can_have_is_a_wrong_setting(name):
    with pytest.raises(ConfigError, match="cannot be the name of a folder"):
        open_store(name)


def test_an_index_from_before_the_graph_is_read_without_one_and_gets_it_from_the_next_writer(
    tmp_path,
):
    folder = tmp_path / "index"
    name = 2**40
    pages = [
        replace(prepare(f"{n}.md", [f"See Ada-Lovelace {n}.\n"]), names=[(name,)]) for n in "ab"
    ]
    fill(EmbeddedStore(folder), pages)
    with sqlite3.connect(folder / "index.sqlite") as connection:
        for table in ("outlines", "mentions", "summaries", "written_links"):
            connection.execute(f"DROP TABLE {table}")
        connection.execute("PRAGMA user_version = 1")
        _, state, chain = connection.execute("SELECT * FROM generations").fetchone()
        state = json.dumps(
            {k: v for k, v in json.loads(state).items() if k != "has_graph"}, sort_keys=True
        )
        first = chain.partition(":")[0]
        values = (state, f"{first}:{digest(first, state)}")
        connection.execute("UPDATE generations SET state = ?, chain = ?", values)
    connection.close()
    (folder / "published.json").unlink()
    store = EmbeddedStore(folder)
    with store.reader() as reader:
        keys = [reader.document_chunks(page.document.id)[0].key for page in pages]
        assert not reader.info.has_graph
        assert reader.neighbours(keys) == {key: [] for key in keys}
    with store.writer(IDENTITY) as writer:
        assert writer.n_pending_vectors() == 0
        writer.commit()
    with store.reader() as reader:
        assert reader.info.has_graph
        around = reader.neighbours(keys)
        assert {key: [one.key for one in some] for key, some in around.items()} == {
            keys[0]: [keys[1]],
            keys[1]: [keys[0]],
        }
