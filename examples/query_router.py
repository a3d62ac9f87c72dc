"""The whole life of a router: open it, see what it holds, ask, read the record, close it."""

import asyncio

from fingerpost import QueryRouter


async def main() -> None:
    """Ask the documentation of fingerpost how it answers."""
    router = QueryRouter(
        knowledge_corpus=["docs/how-it-works", "README.md"],
        available_tools=["web_search", "deep_research"],
        embed="wait",
    )
    await router.init()
    stats = router.get_corpus_stats()
    print(f"{stats.document_count} documents, {stats.chunk_count} chunks, {stats.retrieval_mode}")

    result = await router.route("How are the words and the vectors fused?")
    print(result.answer)
    print(f"tier {result.classification.tier}: {result.classification.reasoning}")
    print(f"tiers used: {result.tiers_used}, fallbacks: {result.fallbacks_used}")
    for source in result.sources:
        print(f"[{source.index}] {source.path}:{source.line_start} {source.heading}")

    await router.close()


asyncio.run(main())
