"""What a file is compared with, and what cannot be known of it."""

import hashlib
import os

import pytest

from fingerpost.corpus import CorpusRoot
from fingerpost.corpus.fresh import MAX_BYTES, Freshness
from fingerpost.types.document import Document
from fingerpost.types.ids import document_id


def document(raw, path="a/page.md", source="docs"):
    return Document(
        id=document_id(source, path),
        path=path,
        source=source,
        uri="",
        title="",
        content_hash=hashlib.sha256(raw).hexdigest(),
        size_bytes=len(raw),
    )


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "docs" / "a").mkdir(parents=True)
    (tmp_path / "docs" / "a" / "page.md").write_bytes(b"one")
    return tmp_path / "docs"


def fresh(folder):
    return Freshness(lambda: [CorpusRoot("docs", folder)])


def test_a_file_is_compared_by_its_bytes(folder):
    assert fresh(folder).is_stale(document(b"one")) is False
    assert fresh(folder).is_stale(document(b"two")) is True
    assert fresh(folder).is_stale(document(b"three")) is True


def test_a_file_that_is_gone_or_no_file_any_more_is_stale(folder):
    looked = fresh(folder)
    page = folder / "a" / "page.md"
    page.unlink()
    assert looked.is_stale(document(b"one")) is True
    page.mkdir()
    assert looked.is_stale(document(b"one")) is True
    page.rmdir()
    os.mkfifo(page)
    assert looked.is_stale(document(b"")) is True


def test_of_a_document_that_comes_from_no_folder_nothing_is_known(folder):
    assert fresh(folder).is_stale(document(b"one", source="wiki")) is None


def test_a_source_of_several_folders_is_fresh_where_one_holds_the_file(folder, tmp_path):
    (tmp_path / "other").mkdir()
    roots = [CorpusRoot("docs", tmp_path / "other"), CorpusRoot("docs", folder)]
    looked = Freshness(lambda: roots)
    assert looked.is_stale(document(b"one")) is False
    assert looked.is_stale(document(b"two")) is True


def test_a_path_that_leads_out_of_the_folder_is_not_read(folder):
    (folder.parent / "secret.md").write_bytes(b"one")
    assert fresh(folder).is_stale(document(b"one", path="../secret.md")) is True


def test_of_a_large_file_only_the_size_is_compared(folder):
    page = folder / "a" / "page.md"
    raw = b"x" * (MAX_BYTES + 1)
    page.write_bytes(raw)
    assert fresh(folder).is_stale(document(raw)) is None
    assert fresh(folder).is_stale(document(raw + b"x")) is True


def test_a_file_whose_name_is_no_text_cannot_be_found_again(folder):
    try:
        (folder / os.fsdecode(b"caf\xe9.md")).write_bytes(b"one")
    except OSError:
        pytest.skip("the file system takes no such name")
    assert fresh(folder).is_stale(document(b"one", path="caf\\xe9.md")) is None


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_of_a_file_that_may_not_be_read_nothing_is_known(folder):
    (folder / "a" / "page.md").chmod(0)
    assert fresh(folder).is_stale(document(b"one")) is None


def test_a_settled_file_is_read_once(folder):
    page = folder / "a" / "page.md"
    os.utime(page, (1, 1))
    looked = fresh(folder)
    assert looked.is_stale(document(b"one")) is False
    page.write_bytes(b"two")
    assert looked.is_stale(document(b"one")) is True
    page.write_bytes(b"one")
    assert looked.is_stale(document(b"one")) is False
