"""Watch a question go through the stages."""

import asyncio

from fingerpost import QueryRouter


async def main() -> None:
    """Print the name of every event, then the answer."""
    async with QueryRouter(knowledge_corpus=["docs"], embed="wait") as router:
        async for event in router.stream("Compare the tiers T1 and T3.", tier=3):
            print(event.type)


asyncio.run(main())
