"""Retrievers of LlamaIndex as retrievers of ours."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import anyio

from fingerpost.bridges.passages import passage
from fingerpost.types.source import Passage


class LlamaIndexRetriever:
    """A `Retriever` over one of LlamaIndex.

    Its blocking ``retrieve`` runs in a worker thread: by default its async twin would block the
    event loop. A call that is cancelled runs on in its thread, unheard. How many nodes come at
    most is set on the LlamaIndex retriever (``similarity_top_k``).

    Args:
        retriever: A ``llama_index.core.retrievers.BaseRetriever``.
    """

    def __init__(self, retriever: Any) -> None:
        self._retriever = retriever

    async def retrieve(self, query: str, top_k: int) -> Sequence[Passage]:
        """Return what it finds as passages, blank nodes left out. See `Retriever`."""
        call = partial(self._retriever.retrieve, query)
        found = await anyio.to_thread.run_sync(call, abandon_on_cancel=True)
        passages = [passage(one.node.get_content(), one.node.metadata, one.score) for one in found]
        return [one for one in passages if one is not None][:top_k]
