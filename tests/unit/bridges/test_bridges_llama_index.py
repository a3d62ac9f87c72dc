"""Retrievers of LlamaIndex as sources, with the real library."""

import anyio
import pytest

from fingerpost.bridges import LlamaIndexRetriever

retrievers = pytest.importorskip(
    "llama_index.core.retrievers", reason="needs the extra llama-index"
)
schema = pytest.importorskip("llama_index.core.schema", reason="needs the extra llama-index")

pytestmark = pytest.mark.anyio


class Found(retrievers.BaseRetriever):
    def __init__(self, found):
        self.found = found
        super().__init__()

    def _retrieve(self, query_bundle):
        if isinstance(self.found, Exception):
            raise self.found
        return self.found


def node(text, score=None, **metadata):
    return schema.NodeWithScore(node=schema.TextNode(text=text, metadata=metadata), score=score)


async def test_nodes_are_passages():
    found = [node("Rotate it.", 0.7, file_path="a.md", file_name="a"), node(" "), node("Second")]
    first, second = await LlamaIndexRetriever(Found(found)).retrieve("keys?", 5)
    assert (first.text, first.uri, first.title, first.score) == ("Rotate it.", "a.md", "a", 0.7)
    assert first.metadata == {"file_path": "a.md", "file_name": "a"}
    assert (second.text, second.score) == ("Second", None)


async def test_no_more_nodes_than_wanted_are_passages():
    found = [node(f"text {n}") for n in range(9)]
    assert len(await LlamaIndexRetriever(Found(found)).retrieve("x", 4)) == 4


async def test_what_the_retriever_raises_goes_up():
    with pytest.raises(ValueError, match="boom"):
        await LlamaIndexRetriever(Found(ValueError("boom"))).retrieve("x", 4)


async def test_a_retriever_that_blocks_does_not_hold_the_event_loop(request):
    import threading

    free = threading.Event()
    request.addfinalizer(free.set)

    class Blocking(Found):
        def _retrieve(self, query_bundle):
            free.wait(5)
            return []

    found = []
    with anyio.move_on_after(0.05) as scope:
        found.append(await LlamaIndexRetriever(Blocking([])).retrieve("x", 4))
    assert scope.cancelled_caught
    assert found == []
