"""What a lane costs over a bare HTTP client: CPU of a call, and delay of the first piece.

python benchmarks/lanes.py [--calls 2000] [--quick]

The provider is `fingerpost.testing.provider` in a process of its own, so that only the client's
CPU is counted. The calls of both sides take turns, batch by batch.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import httpx2

from fingerpost.config.endpoint import Endpoint
from fingerpost.config.secrets import Secret
from fingerpost.lanes.base import ChatModel
from fingerpost.lanes.budget import Meter
from fingerpost.lanes.failover import FailoverModel
from fingerpost.lanes.observed import ObservedChat
from fingerpost.lanes.providers.load import load_chat
from fingerpost.observe.observer import ignore
from fingerpost.types.chat import ChatRequest, Message
from machine import keep, scripted_provider

AIM_MS = 1.0
KEY = "key-of-the-benchmark"
PROMPT = "How do I rotate the signing key? " * 60
Call = Callable[[], Awaitable[object]]


def lane(url: str) -> ChatModel:
    """Return what the router asks: meter, lane, events and the adapter."""
    endpoint = Endpoint("openai", "openai", "gpt-4o", f"{url}/v1", Secret(KEY))
    return Meter(budget_usd=1000.0).around(
        FailoverModel([ObservedChat(load_chat(endpoint), ignore)])
    )


class Bare:
    """The same requests by nothing but the HTTP client."""

    def __init__(self, url: str) -> None:
        limits = httpx2.Limits(max_connections=64, max_keepalive_connections=64)
        self.client = httpx2.AsyncClient(trust_env=False, limits=limits, timeout=30)
        self.url = f"{url}/v1/chat/completions"
        self.headers = {"authorization": f"Bearer {KEY}"}

    def body(self, *, stream: bool) -> dict[str, Any]:
        messages = [{"role": "user", "content": PROMPT}]
        return {"model": "gpt-4o", "messages": messages, "stream": stream}

    async def complete(self) -> str:
        reply = await self.client.post(self.url, json=self.body(stream=False), headers=self.headers)
        text: str = reply.json()["choices"][0]["message"]["content"]
        return text

    async def first_piece(self) -> tuple[float, float]:
        """Return seconds of wall and of CPU until the first text has come."""
        wall, cpu, took = time.perf_counter(), time.process_time(), (0.0, 0.0)
        async with self.client.stream(
            "POST", self.url, json=self.body(stream=True), headers=self.headers
        ) as reply:
            async for line in reply.aiter_lines():
                if took == (0.0, 0.0) and _has_text(line):
                    took = time.perf_counter() - wall, time.process_time() - cpu
        return took


def _has_text(line: str) -> bool:
    if not line.startswith("data: {"):
        return False
    choices = json.loads(line[6:]).get("choices")
    return bool(choices and choices[0]["delta"].get("content"))


async def lane_first_piece(model: ChatModel, request: ChatRequest) -> tuple[float, float]:
    """Return the same for a lane."""
    wall, cpu, took = time.perf_counter(), time.process_time(), (0.0, 0.0)
    async for item in model.stream(request):
        if took == (0.0, 0.0) and isinstance(item, str):
            took = time.perf_counter() - wall, time.process_time() - cpu
    return took


async def batch_cpu_s(call: Call, n_calls: int, at_once: int) -> float:
    """Return the CPU seconds of a call, of which ``at_once`` are under way at a time."""
    began = time.process_time()
    for _ in range(n_calls // at_once):
        async with anyio.create_task_group() as tasks:
            for _ in range(at_once):
                tasks.start_soon(call)
    return (time.process_time() - began) / (n_calls // at_once * at_once)


async def overhead(bare: Call, ours: Call, n_calls: int, at_once: int) -> dict[str, Any]:
    """Return the CPU of a call on both sides, medians over batches that take turns."""
    for call in (bare, ours):
        await batch_cpu_s(call, at_once * 2, at_once)
    size = max(at_once, 40)
    sides: tuple[list[float], list[float]] = ([], [])
    for _ in range(max(3, n_calls // size)):
        for call, took in zip((bare, ours), sides, strict=True):
            took.append(await batch_cpu_s(call, size, at_once) * 1000)
    bare_ms, lane_ms = map(statistics.median, sides)
    return {
        "at_once": at_once,
        "bare_cpu_ms": round(bare_ms, 3),
        "lane_cpu_ms": round(lane_ms, 3),
        "overhead_cpu_ms": round(lane_ms - bare_ms, 3),
        "aim_ms": AIM_MS,
    }


async def first_pieces(
    bare: Bare, model: ChatModel, request: ChatRequest, n: int
) -> dict[str, Any]:
    """Return the delay of the first piece on both sides, medians over calls that take turns."""
    ours, theirs = [], []
    for _ in range(n + 3):
        theirs.append(await bare.first_piece())
        ours.append(await lane_first_piece(model, request))
    wall = [statistics.median(one[0] for one in side[3:]) * 1000 for side in (theirs, ours)]
    cpu = [statistics.median(one[1] for one in side[3:]) * 1000 for side in (theirs, ours)]
    return {
        "bare_wall_ms": round(wall[0], 3),
        "lane_wall_ms": round(wall[1], 3),
        "added_wall_ms": round(wall[1] - wall[0], 3),
        "added_cpu_ms": round(cpu[1] - cpu[0], 3),
        "aim_ms": AIM_MS,
    }


async def measure(url: str, n_calls: int) -> dict[str, Any]:
    bare, model = Bare(url), lane(url)
    request = ChatRequest((Message("user", PROMPT),), deadline=time.monotonic() + 3600)

    async def ours() -> object:
        return await model.complete(request)

    result = {
        "calls": n_calls,
        "one_at_a_time": await overhead(bare.complete, ours, n_calls, 1),
        "thirty_two_at_a_time": await overhead(bare.complete, ours, n_calls, 32),
        "first_piece": await first_pieces(bare, model, request, n_calls // 4),
    }
    await bare.client.aclose()
    await model.close()
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--quick", action="store_true", help="a tenth, and keeps nothing")
    options = parser.parse_args()
    n_calls = options.calls // 10 if options.quick else options.calls
    with scripted_provider('Answer(" ".join(["word"] * 200))') as url:
        result = anyio.run(measure, url, n_calls)
    print(json.dumps(result, indent=2))
    if not options.quick:
        print(keep("lanes", result))


if __name__ == "__main__":
    main()
