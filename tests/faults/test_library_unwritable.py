"""An index that cannot be written still answers; the command that must write it fails."""

import pytest
from click.testing import CliRunner

from fingerpost import QueryRouter
from fingerpost.cli.index import index as index_command
from fingerpost.errors import StoreUnavailableError


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
