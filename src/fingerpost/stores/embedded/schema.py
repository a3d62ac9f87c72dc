"""Tables of `index.sqlite` and how a connection to it is made."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from fingerpost.errors import IndexCorruptError, SchemaVersionError
from fingerpost.stores.embedded.border import cure
from fingerpost.stores.embedded.files import Files

DATABASE_FILE = "index.sqlite"
SCHEMA_VERSION = 4
APPLICATION_ID = 0x46504E54  # "FPNT"
BUSY_TIMEOUT_S = 5.0
_WAL_LIMIT_BYTES = 64 * 1024 * 1024
_PAGE_BYTES = 8192  # a chunk with its text mostly fits: a third less CPU than 4096

# What each version added; one that was released never changes. Names and texts are blobs:
# UTF-8 that may hold lone surrogates and NUL.
MIGRATIONS = {
    1: """
CREATE TABLE generations (
    generation INTEGER PRIMARY KEY, state TEXT NOT NULL, chain TEXT NOT NULL);
CREATE TABLE documents (
    doc_key INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, source BLOB NOT NULL,
    path BLOB NOT NULL, content_hash BLOB NOT NULL, first_key INTEGER NOT NULL,
    n_chunks INTEGER NOT NULL, record BLOB NOT NULL, headings BLOB NOT NULL,
    checksum INTEGER NOT NULL);
CREATE INDEX documents_by_place ON documents (source, path);
CREATE TABLE chunks (
    key INTEGER PRIMARY KEY, doc_key INTEGER NOT NULL, ordinal INTEGER NOT NULL,
    id BLOB NOT NULL, text BLOB NOT NULL, search_text BLOB, trail BLOB NOT NULL,
    prefix BLOB NOT NULL, headings BLOB NOT NULL, span_start INTEGER NOT NULL,
    span_end INTEGER NOT NULL, line_start INTEGER NOT NULL, line_end INTEGER NOT NULL,
    language TEXT NOT NULL, n_tokens INTEGER NOT NULL, cid INTEGER NOT NULL,
    checksum INTEGER NOT NULL);
CREATE TABLE contents (cid INTEGER PRIMARY KEY, content_key BLOB NOT NULL UNIQUE);
CREATE TABLE links (
    doc_key INTEGER NOT NULL, position INTEGER NOT NULL, ordinal INTEGER NOT NULL,
    source BLOB NOT NULL, target BLOB NOT NULL, anchor BLOB NOT NULL,
    PRIMARY KEY (doc_key, position)) WITHOUT ROWID;
CREATE INDEX links_by_target ON links (source, target, doc_key);
CREATE TABLE key_pages (page INTEGER PRIMARY KEY, content BLOB NOT NULL);
CREATE TABLE languages (language_id INTEGER PRIMARY KEY, code TEXT NOT NULL UNIQUE);
CREATE TABLE words_purge (doc_key INTEGER PRIMARY KEY, n_chunks INTEGER NOT NULL);
CREATE TABLE skipped (
    position INTEGER PRIMARY KEY, path BLOB NOT NULL, reason BLOB NOT NULL,
    detail BLOB NOT NULL);
""",
    2: """
CREATE TABLE outlines (doc_key INTEGER PRIMARY KEY, content BLOB NOT NULL);
CREATE TABLE mentions (
    name INTEGER NOT NULL, role INTEGER NOT NULL, key INTEGER NOT NULL,
    PRIMARY KEY (name, role, key)) WITHOUT ROWID;
""",
    3: """
CREATE TABLE summaries (place INTEGER PRIMARY KEY, record BLOB NOT NULL, checksum INTEGER NOT NULL);
""",
    # A document without a row was stored by an earlier version: its links must be read again.
    4: """
CREATE TABLE written_links (
    doc_key INTEGER PRIMARY KEY, names BLOB NOT NULL, content BLOB NOT NULL);
""",
}


def connect_reader(folder: Path) -> sqlite3.Connection:
    """Open the database for reading; an index that does not exist reads as an empty one.

    Where nothing may be written, not even the index of the log, the file is read as it is.
    """
    path = folder / DATABASE_FILE
    if not path.exists():
        return _empty()
    try:
        return _open_reader(str(path), folder, uri=False)
    except sqlite3.OperationalError:
        if os.access(folder, os.W_OK):
            raise
    return _open_reader(f"{path.absolute().as_uri()}?mode=ro&immutable=1", folder, uri=True)


def _open_reader(place: str, folder: Path, *, uri: bool) -> sqlite3.Connection:
    connection = sqlite3.connect(
        place, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False, uri=uri
    )
    try:
        connection.execute("PRAGMA query_only = 1")
        connection.execute("PRAGMA cache_size = -512")
        if not check_version(connection, folder):
            connection.close()
            return _empty()
    except BaseException:
        connection.close()
        raise
    return connection


def connect_writer(folder: Path, files: Files) -> sqlite3.Connection:
    """Open the database for writing, creating it when it is not there."""
    # SQLite gives its other files the rights of this one.
    os.close(files.open(folder / DATABASE_FILE, os.O_RDWR | os.O_CREAT))
    connection = sqlite3.connect(
        folder / DATABASE_FILE,
        timeout=BUSY_TIMEOUT_S,
        isolation_level=None,
        check_same_thread=False,
    )
    try:
        connection.execute("PRAGMA cache_size = -8192")
        version = check_version(connection, folder)
        if not version:
            connection.execute(f"PRAGMA page_size = {_PAGE_BYTES}")
            connection.execute("PRAGMA journal_mode = WAL")
        _migrate(connection, version)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute(f"PRAGMA journal_size_limit = {_WAL_LIMIT_BYTES}")
    except BaseException:
        connection.close()
        raise
    return connection


def check_version(connection: sqlite3.Connection, folder: Path) -> int:
    """Return the version of the tables; 0 for a file without any content.

    Raises:
        SchemaVersionError: Written by a later version, whose number the message names.
        IndexCorruptError: A database, but not one of ours.
    """
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    owner = connection.execute("PRAGMA application_id").fetchone()[0]
    if 1 <= version <= SCHEMA_VERSION and owner == APPLICATION_ID:
        return int(version)
    n_tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if version == owner == n_tables == 0:
        return 0
    if owner != APPLICATION_ID:
        raise IndexCorruptError(
            f"{folder / DATABASE_FILE} is no fingerpost index (application id {owner:#x}, "
            f"expected {APPLICATION_ID:#x}).",
            hint="Give another folder with --index-dir; this one belongs to another program.",
        )
    raise SchemaVersionError(
        f"The index {folder} has schema version {version}; this version of fingerpost reads "
        f"up to version {SCHEMA_VERSION}.",
        hint=cure(folder),
    )


def refuse_foreign(folder: Path) -> None:
    """Refuse a readable database that another program made; a damaged one passes.

    Raises:
        IndexCorruptError: It has an application id or tables that are not ours.
    """
    try:
        connect_reader(folder).close()
    except sqlite3.DatabaseError:
        return
    except SchemaVersionError:
        return


def _migrate(connection: sqlite3.Connection, version: int) -> None:
    """Bring the tables from a version to that of this program in one step; 0 makes them."""
    if version < SCHEMA_VERSION:
        steps = "".join(MIGRATIONS[later] for later in range(version + 1, SCHEMA_VERSION + 1))
        connection.executescript(
            f"BEGIN IMMEDIATE; {steps} PRAGMA application_id = {APPLICATION_ID}; "
            f"PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;"
        )


def _empty() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    _migrate(connection, 0)
    return connection
