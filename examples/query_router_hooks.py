"""A host puts its own graph, reranker and research in the place of the built-in ones."""

import asyncio
from collections.abc import Sequence

from fingerpost import Hit, QueryRouter, Research


async def more_of_the_page(hits: Sequence[Hit]) -> list[Hit]:
    """Stands for a graph of your own: here it only keeps two hits of each page."""
    pages: dict[str, int] = {}
    kept = []
    for hit in hits:
        pages[hit.document.path] = pages.get(hit.document.path, 0) + 1
        if pages[hit.document.path] <= 2:  # noqa: PLR2004 - two of each
            kept.append(hit)
    return kept


async def as_they_come(question: str, hits: Sequence[Hit], top_n: int) -> Sequence[Hit]:
    """Stands for a reranking service."""
    return hits[:top_n]


async def own_research(question: str, sources: Sequence[str]) -> Research:
    """Stands for a research service; ``sources`` are hints: web, docs, media."""
    return Research(synthesis=f"What the host found out about: {question}")


async def main() -> None:
    """Show that the hooks are in place, and ask a question that uses all three."""
    async with QueryRouter(
        knowledge_corpus=["docs/how-it-works"],
        embed="wait",
        graph_expand=more_of_the_page,
        rerank=as_they_come,
        deep_research=own_research,
    ) as router:
        stats = router.get_corpus_stats()
        print("graph:", stats.graph_runtime_mode)
        print("rerank:", stats.rerank_runtime_mode)
        print("research:", stats.deep_research_runtime_mode)
        result = await router.route("Compare how tier T1 and tier T3 retrieve.", tier=3)
    print(result.answer)
    print(result.research_synthesis)


asyncio.run(main())
