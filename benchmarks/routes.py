"""A thousand at once against a model that takes half a second: lanes alone, and whole routes.

python benchmarks/routes.py [--n 1000] [--tree FOLDER] [--quick]

The model is `fingerpost.testing.provider` in a process of its own. `beyond_s` is the wall time
less what the model itself takes. Each part runs twice, so that growth shows.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio

from fingerpost import QueryRouter
from fingerpost.config.endpoint import Endpoint
from fingerpost.lanes.failover import FailoverModel
from fingerpost.lanes.providers.load import load_chat
from fingerpost.lanes.routing import RoutingModel
from fingerpost.types.chat import ChatRequest, Message, ModelRef
from machine import keep, resident_mb, scripted_provider

DELAY_S = 0.5
AIM_S = 1.5
MODEL = f'Answer("Heron has three modes [1].", delay_s={DELAY_S})'
Call = Callable[[int, int], Awaitable[object]]


async def at_once(call: Call, run: int, n: int) -> tuple[float, float]:
    """Return seconds of wall and of CPU that ``n`` calls at once take."""
    began, cpu = time.perf_counter(), time.process_time()
    async with anyio.create_task_group() as tasks:
        for number in range(n):
            tasks.start_soon(call, run, number)
    return time.perf_counter() - began, time.process_time() - cpu


async def part(call: Call, n: int) -> dict[str, Any]:
    """Return the third of three runs, and how much larger the process became by it."""
    for run in range(2):
        await at_once(call, run, n)
    before = resident_mb()
    wall, cpu = await at_once(call, 2, n)
    return {
        "n": n,
        "wall_s": round(wall, 2),
        "beyond_s": round(wall - DELAY_S, 2),
        "cpu_ms_each": round(cpu / n * 1000, 2),
        "grew_mb": round(resident_mb() - before, 1),
    }


async def lanes(url: str, n: int) -> dict[str, Any]:
    endpoint = Endpoint("openai", "openai", "gpt-4o", f"{url}/v1")
    model = RoutingModel({"openai": FailoverModel([load_chat(endpoint)])})
    request = ChatRequest((Message("user", "Which modes?"),), model=ModelRef(provider="openai"))

    async def call(_run: int, _number: int) -> object:
        return await model.complete(request)

    found = await part(call, n)
    await model.close()
    return found


async def routes(
    url: str, tree: str, n: int, *, equal: bool = False, verify: bool = True
) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as index:
        async with QueryRouter(
            knowledge_corpus=[tree],
            index_dir=index,
            embedding_provider="none",
            base_url=f"{url}/v1",
            classifier_provider="none",
            generation_provider="custom",
            cache_results=equal,
            verify_citations=verify,
        ) as router:

            async def call(run: int, number: int) -> object:
                part_of_it = run if equal else number
                return await router.route(f"Which settings has part {part_of_it}?", tier=1)

            return await part(call, n)


async def measure(url: str, tree: str, n: int) -> dict[str, Any]:
    return {
        "model_s": DELAY_S,
        "aim_s": AIM_S,
        "lanes": await lanes(url, n),
        "equal_routes": await routes(url, tree, n, equal=True),
        "different_routes": await routes(url, tree, n),
        "different_routes_unverified": await routes(url, tree, n, verify=False),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=1000)
    parser.add_argument("--tree", type=Path, default=Path(__file__).parent.parent / "docs")
    parser.add_argument("--quick", action="store_true", help="fifty, and keeps nothing")
    options = parser.parse_args()
    n = 50 if options.quick else options.n
    with scripted_provider(MODEL) as url:
        found = anyio.run(measure, url, str(options.tree), n)
    print(json.dumps(found, indent=2))
    if not options.quick:
        print(keep("routes", found))


if __name__ == "__main__":
    main()
