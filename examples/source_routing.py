"""Send each question to the corpora that may help: three folders of this documentation."""

import asyncio
from collections.abc import Sequence

from fingerpost import DecisionModelQueryRouter, LocalDecisionModel, Passage, QueryRouter, Source


class Pages:
    """A folder of documents, searched by words."""

    def __init__(self, folder: str) -> None:
        self.router = QueryRouter(knowledge_corpus=[folder], embedding_provider="none")

    async def retrieve(self, query: str, top_k: int) -> Sequence[Passage]:
        """Return the best passages of the folder."""
        evidence = await self.router.retrieve(query, tier=1, top_k=top_k)
        return [Passage(hit.chunk.text, uri=hit.document.path) for hit in evidence.hits]


async def ask() -> None:
    """Show which sources are used for each question, and what they give."""
    tasks, design, reference = map(Pages, ("docs/how-to", "docs/how-it-works", "docs/reference"))
    router = DecisionModelQueryRouter(
        LocalDecisionModel(),
        [
            Source("tasks", "how to filter documents, evaluate answers and write tests", tasks),
            Source("design", "how tiers, retrieval, grounding and model lanes work", design),
            Source("reference", "every setting, event, error and command line option", reference),
        ],
    )
    async with tasks.router, design.router, reference.router:
        for query in ("How do I filter documents?", "Which events are there?", "Hello!"):
            found = await router.retrieve(query, 2)
            print(query)
            for item in found.routing.assessments:
                used = "used" if item.chosen else "not used"
                print(f"  {item.name:10} {item.probability:.2f} {used}")
            for ranked in found.passages:
                print(f"  → {ranked.source}: {ranked.passage.uri}")


if __name__ == "__main__":
    asyncio.run(ask())
