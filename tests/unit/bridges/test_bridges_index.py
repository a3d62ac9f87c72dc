"""Another index as a source; and bridges without the libraries that they lead to."""

import subprocess
import sys

import pytest

from fingerpost import QueryRouter
from fingerpost.bridges import IndexRetriever, from_langchain, to_langchain
from fingerpost.errors import MissingExtraError

pytestmark = pytest.mark.anyio


@pytest.fixture
def corpus(tmp_path):
    (tmp_path / "modes.md").write_text(
        "# Modes\n\n## Default\n\nThe default mode of Heron is safe.\n"
    )
    (tmp_path / "ports.md").write_text("# Ports\n\nThe default port of Heron is 8080.\n")
    return str(tmp_path)


async def test_hits_of_another_index_are_passages(corpus):
    async with QueryRouter(knowledge_corpus=[corpus], embedding_provider="none") as router:
        [first, *_] = await IndexRetriever(router).retrieve("What is the default mode?", 3)
    assert "The default mode of Heron is safe." in first.text
    assert first.title == "Modes"
    assert first.heading == "Modes > Default"
    assert first.uri.endswith("/modes.md")
    assert first.metadata["path"] == "modes.md"
    assert first.metadata["line_start"] <= 5 <= first.metadata["line_end"]


async def test_no_more_hits_than_wanted_are_passages(corpus):
    async with QueryRouter(knowledge_corpus=[corpus], embedding_provider="none") as router:
        assert len(await IndexRetriever(router).retrieve("the default of Heron", 1)) == 1


async def test_arguments_of_its_searches_are_kept(corpus):
    async with QueryRouter(knowledge_corpus=[corpus], embedding_provider="none") as router:
        source = IndexRetriever(router, filters={"paths": ["ports.md"]}, tier=1)
        found = await source.retrieve("What is the default mode?", 3)
    assert {one.metadata["path"] for one in found} == {"ports.md"}


@pytest.mark.parametrize("bridge", [from_langchain, to_langchain])
def test_without_langchain_the_error_names_the_extra(bridge, monkeypatch):
    from fingerpost.bridges import langchain

    langchain._langchain_class.cache_clear()
    monkeypatch.setitem(sys.modules, "langchain_core.decisions", None)

    class Model:
        provider = model = "x"

    with pytest.raises(MissingExtraError) as caught:
        bridge(Model())
    assert "[langchain]" in caught.value.hint


def test_bridges_import_no_other_library_before_they_are_used():
    code = "import sys, fingerpost.bridges; print({m.split('.')[0] for m in sys.modules})"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "langchain_core" not in done.stdout
    assert "llama_index" not in done.stdout
