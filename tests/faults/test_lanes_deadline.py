"""No call outlives its deadline, whatever its providers do; real time, over HTTP."""

import random
import time

import anyio
import pytest

from fingerpost import errors as e
from fingerpost.config.endpoint import Endpoint
from fingerpost.config.secrets import Secret
from fingerpost.lanes.failover import FailoverModel
from fingerpost.lanes.limits import RetryBudget
from fingerpost.lanes.providers.load import load_chat
from fingerpost.testing.provider import Answer, ProviderServer, faults
from fingerpost.types.chat import ChatRequest, ChatResponse, Message

N_CALLS, N_AT_ONCE = 500, 12
LATE_S = 0.25
FAULTS = [
    faults.stall(),
    faults.drip("head", 0.01),
    faults.drip("body", 0.01),
    faults.drip("comments", 0.01),
    faults.hold(0),
    faults.hold(2),
    faults.reset(),
    faults.reset(after=100),
    faults.cut(60),
    faults.error_in_stream(after=1),
    faults.status(500),
    faults.status(429),
    faults.status(429, headers={"retry-after": "0.02"}),
    faults.status(409),
    faults.bad_json(),
    faults.no_text(),
    faults.html(),
    Answer("at last", delay_s=0.1),
    "well and good",
]


def unsteady(seed):
    rng = random.Random(seed)
    return lambda received: rng.choice(FAULTS)


async def call(models, rng, late, ends):
    """Make one call of a lane that knows nothing of those before it."""
    lane = FailoverModel(models, retries=RetryBudget(floor=10_000), random=rng.random)
    deadline = time.monotonic() + rng.uniform(0.0, 0.3)
    request = ChatRequest((Message("user", "hello"),), deadline=deadline)
    try:
        if rng.random() < 0.5:
            end = await lane.complete(request)
        else:
            end = [item async for item in lane.stream(request)][-1]
    except e.LaneError as error:
        end = error
    late.append(time.monotonic() - deadline)
    ends.append(end)


async def watch(held_up):
    """Note how long the event loop is held up by whatever else runs on the machine."""
    while True:
        began = time.monotonic()
        await anyio.sleep(0.01)
        held_up.append(time.monotonic() - began - 0.01)


@pytest.mark.parametrize("seed", [1, 2])
def test_no_call_outlives_its_deadline_and_nothing_is_left_open(seed):
    rng, late, ends, held_up = random.Random(seed), [], [], []

    async def work(servers):
        models = [
            load_chat(Endpoint(name, "openai", "m", f"{server.url}/v1", Secret(f"key-{name}")))
            for name, server in zip("abc", servers, strict=True)
        ]
        limiter = anyio.CapacityLimiter(N_AT_ONCE)

        async def one():
            async with limiter:
                await call(models, rng, late, ends)

        await call(models, rng, [], [])  # the HTTP client is imported by the first call
        async with anyio.create_task_group() as watching:
            watching.start_soon(watch, held_up)
            with anyio.fail_after(60):
                async with anyio.create_task_group() as tasks:
                    for _ in range(N_CALLS):
                        tasks.start_soon(one)
            watching.cancel_scope.cancel()
        for model in models:
            await model.close()

    with (
        ProviderServer(unsteady(seed)) as a,
        ProviderServer(unsteady(seed + 10)) as b,
        ProviderServer(unsteady(seed + 20)) as c,
    ):
        anyio.run(work, (a, b, c), backend=("asyncio", "trio")[seed % 2])
        for server in (a, b, c):
            assert server.wait_for(lambda one: not one.n_open_connections)
    assert len(ends) == N_CALLS
    # To end a call takes more than one turn of the loop, and each may be held up.
    assert max(late) <= LATE_S + 2 * max(held_up), f"seed {seed}, {sorted(late)[-5:]}"
    answered = [end for end in ends if isinstance(end, ChatResponse)]
    # Cut streams are never taken for answers, and some calls do get through.
    assert {end.text for end in answered} == {"at last", "well and good"}
    assert len(answered) < N_CALLS
