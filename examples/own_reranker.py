"""Replace a stage: prefer pages of one folder."""

from collections.abc import Sequence
from dataclasses import replace

from fingerpost import Hit, QueryRouter


def prefer_how_to(question: str, hits: Sequence[Hit], top_n: int) -> list[Hit]:
    """Return the hits with those under ``how-to/`` first, order kept otherwise."""
    ranked = sorted(hits, key=lambda hit: not hit.document.path.startswith("how-to/"))
    return [replace(hit, note="own reranker") for hit in ranked[:top_n]]


with QueryRouter(knowledge_corpus=["docs"], embed="wait", rerank=prefer_how_to) as router:
    evidence = router.retrieve_sync("How are filters written?", tier=2)

for hit in evidence.hits:
    print(f"{hit.score:.2f} {hit.document.path}:{hit.chunk.line_start}")
