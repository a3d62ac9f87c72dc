"""An index that cannot be written still answers; the command that must write it fails."""

import shutil
import subprocess

import pytest
from click.testing import CliRunner

from fingerpost import QueryRouter
from fingerpost.cli.index import index as index_command
from fingerpost.errors import StoreConflictError, StoreUnavailableError
from fingerpost.stores.open import open_store
from fingerpost.testing.store_documents import IDENTITY


@pytest.fixture
def docs(tmp_path):
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.md").write_text("# Pumps\n\nThe pump starts with the green switch.\n")
    with QueryRouter(knowledge_corpus=[str(folder)], embed="never"):
        pass
    lock = folder / ".fingerpost" / "writer.lock"
    lock.unlink()
    lock.mkdir()  # what opens it for writing fails, also for root
    return folder


def test_a_complete_index_that_cannot_be_written_is_asked_with_a_warning(docs, caplog):
    with QueryRouter(knowledge_corpus=[str(docs)], embed="never") as router:
        assert router.retrieve_sync("How does the pump start?").hits
        assert "answering from what is there" in caplog.text
        with pytest.raises(StoreUnavailableError):
            router.refresh_sync()


def test_the_index_command_fails_where_it_cannot_write(docs):
    result = CliRunner().invoke(index_command, [str(docs), "--no-embed"])
    assert isinstance(result.exception, StoreUnavailableError)


def test_an_index_that_cannot_be_written_and_has_nothing_is_an_error(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("text\n")
    (tmp_path / "ix" / "writer.lock").mkdir(parents=True)
    router = QueryRouter(
        knowledge_corpus=[str(tmp_path / "docs")], embed="never", index_dir=tmp_path / "ix"
    )
    with pytest.raises(StoreUnavailableError), router:
        pass


WORDS = {"embedding_provider": "none"}


@pytest.fixture
def small_disk(tmp_path):
    """A file system of two megabytes, and a function that gives it more room."""
    disk = tmp_path / "disk"
    disk.mkdir()

    def mount(*options):
        command = ["mount", "-t", "tmpfs", "-o", ",".join(options), "tmpfs", str(disk)]
        return subprocess.run(command, check=False, capture_output=True).returncode

    if shutil.which("mount") is None or mount("size=2m"):
        pytest.skip("this user may not mount a small file system")
    try:
        yield disk, lambda: mount("remount", "size=40m")
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=False)


def test_a_full_disk_is_said_what_was_indexed_answers_and_a_later_run_completes(
    tmp_path, small_disk, caplog
):
    disk, give_room = small_disk
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "a.md").write_text("# Pumps\n\nThe pump starts with the green switch.\n")
    settings = {"knowledge_corpus": [docs], "index_dir": disk / "index", **WORDS}
    with QueryRouter(**settings) as router:
        for number in range(40):
            words = " ".join(f"word{number}x{n}" for n in range(4000))
            (docs / f"big{number}.md").write_text(f"# Big {number}\n\n{words}\n")
        with pytest.raises(StoreUnavailableError, match=r"No space|full|disk"):
            router.refresh_sync()
        assert "green switch" in router.route_sync("How does the pump start?").answer
    with QueryRouter(**settings) as router:
        assert "answering from what is there" in caplog.text
        assert router.get_corpus_stats().document_count == 1
    assert give_room() == 0
    with QueryRouter(**settings) as router:
        assert router.get_corpus_stats().document_count == 41
        assert router.retrieve_sync("word39x3999", tier=1).hits[0].document.path == "big39.md"


def test_of_two_writers_the_second_answers_from_what_is_there_and_says_who_writes(tmp_path, caplog):
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "a.md").write_text("# Pumps\n\nThe pump starts with the green switch.\n")
    settings = {"knowledge_corpus": [docs], "index_dir": tmp_path / "index", **WORDS}
    first = open_store(tmp_path / "index").writer(IDENTITY)
    with first, pytest.raises(StoreConflictError, match=r"pid \d+"):
        QueryRouter(**settings).init_sync()
    with QueryRouter(**settings):
        pass
    (docs / "b.md").write_text("# Valves\n\nValves open by hand.\n")
    with open_store(tmp_path / "index").writer(IDENTITY), QueryRouter(**settings) as second:
        assert "another process is writing the index" in caplog.text
        assert "green switch" in second.route_sync("How does the pump start?").answer
        assert second.get_corpus_stats().document_count == 1
    with QueryRouter(**settings) as router:
        assert router.get_corpus_stats().document_count == 2
