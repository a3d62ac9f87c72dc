"""A host's hook may fail in any way; whoever calls it gets an `Exception` or its own cancellation."""

import asyncio
import contextvars
import functools
import math
import subprocess
import sys
import threading
import time

import anyio
import anyio.lowlevel
import pytest

from fingerpost.observe import events
from fingerpost.observe.hooks import HookError, call_hook, call_plain_hook
from fingerpost.observe.observer import fan_out

NO_LIMIT = math.inf


class Ending(BaseException):
    pass


RAISED = [SystemExit(3), asyncio.CancelledError(), KeyboardInterrupt(), GeneratorExit(), Ending()]


@pytest.mark.anyio
@pytest.mark.parametrize("error", RAISED, ids=lambda error: type(error).__name__)
async def test_whatever_a_plain_hook_raises_is_a_failure(error):
    def hook():
        raise error

    with pytest.raises(HookError, match=type(error).__name__):
        await call_hook(hook, None, NO_LIMIT)


@pytest.mark.anyio
@pytest.mark.parametrize(
    "error", [SystemExit(3), asyncio.CancelledError(), Ending()], ids=lambda e: type(e).__name__
)
async def test_whatever_an_async_hook_raises_is_a_failure_and_logged(error, caplog):
    async def hook():
        await anyio.lowlevel.checkpoint()
        raise error

    with pytest.raises(HookError, match=type(error).__name__):
        await call_hook(hook, None, NO_LIMIT)
    assert type(error).__name__ in caplog.text


@pytest.mark.anyio
async def test_an_ordinary_exception_stays_what_it_is():
    def hook():
        raise LookupError("nothing")

    with pytest.raises(LookupError, match="nothing"):
        await call_hook(hook, None, NO_LIMIT)


def test_a_cancelled_task_is_cancelled_inside_its_hook():
    async def main():
        begun = asyncio.Event()

        async def hook():
            begun.set()
            await asyncio.Event().wait()

        task = asyncio.create_task(call_hook(hook, None, NO_LIMIT))
        await begun.wait()
        task.cancel()
        await asyncio.wait([task], timeout=5)
        return task.cancelled()

    assert asyncio.run(main())


@pytest.mark.anyio
async def test_a_cancelled_scope_ends_its_hook():
    async def hook():
        scope.cancel()
        await anyio.sleep_forever()

    with anyio.fail_after(5), anyio.CancelScope() as scope:
        await call_hook(hook, None, NO_LIMIT)
    assert scope.cancelled_caught


@pytest.mark.anyio
async def test_control_c_on_the_main_thread_is_for_the_host():
    async def hook():
        raise KeyboardInterrupt

    # Called without a task in between, which would hand it to the event loop.
    waiting = call_hook(hook, None, NO_LIMIT)
    with pytest.raises(KeyboardInterrupt):
        await waiting


@pytest.mark.anyio
async def test_an_async_hook_that_hangs_is_left_at_the_limit():
    with pytest.raises(TimeoutError):
        await call_hook(anyio.sleep_forever, None, 0.05)


@pytest.mark.anyio
async def test_a_plain_hook_that_hangs_is_left_behind_while_the_loop_goes_on():
    ended = threading.Event()
    started = time.monotonic()
    try:
        with pytest.raises(TimeoutError):
            await call_hook(ended.wait, None, 0.05, 20)
        assert time.monotonic() - started < 10
    finally:
        ended.set()


@pytest.mark.anyio
async def test_a_plain_hook_never_runs_on_the_loop_and_an_async_one_does():
    def plain():
        return threading.get_ident()

    async def later():
        return threading.get_ident()

    here = threading.get_ident()
    assert await call_hook(plain, None, NO_LIMIT) != here
    assert await call_hook(later, None, NO_LIMIT) == here
    assert await call_hook(functools.partial(later), None, NO_LIMIT) == here
    assert await call_hook(lambda *_: later(), None, NO_LIMIT) == here


@pytest.mark.anyio
async def test_a_hook_waits_for_the_limiter_no_longer_than_its_time():
    limiter = anyio.CapacityLimiter(1)
    limiter.acquire_on_behalf_of_nowait(object())
    with pytest.raises(TimeoutError):
        await call_hook(lambda: 1, limiter, 0.05)


_NEVER_RETURNS = """
import anyio, threading
from fingerpost.observe.hooks import call_hook, call_plain_hook
never = threading.Event()
def hook():
    never.wait()
async def main():
    try:
        await call_hook(hook, None, 0.05)
    except TimeoutError:
        print("left")
anyio.run(main, backend=BACKEND)
try:
    call_plain_hook(hook, 0.05)
except TimeoutError:
    print("left")
"""


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_a_hook_that_never_returns_does_not_hold_up_the_end_of_the_program(backend):
    script = _NEVER_RETURNS.replace("BACKEND", repr(backend))
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=30, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "left\nleft\n", "")


@pytest.mark.anyio
async def test_a_plain_hook_sees_the_callers_context_and_may_run_an_event_loop():
    request = contextvars.ContextVar("request", default="none")
    request.set("of the caller")

    def hook():
        anyio.run(anyio.sleep, 0)
        return request.get()

    assert await call_hook(hook, None, NO_LIMIT) == "of the caller"
    assert call_plain_hook(request.get, NO_LIMIT) == "of the caller"


@pytest.mark.parametrize("error", RAISED, ids=lambda error: type(error).__name__)
def test_a_blocking_call_of_a_hook_contains_whatever_it_raises(error):
    def hook():
        raise error

    with pytest.raises(HookError, match=type(error).__name__):
        call_plain_hook(hook, NO_LIMIT)


@pytest.mark.parametrize(
    "error", [SystemExit(3), asyncio.CancelledError(), Ending()], ids=lambda e: type(e).__name__
)
def test_an_observer_that_raises_keeps_nobody_else_from_the_event(error):
    def fail(event):
        raise error

    seen = []
    event = events.ClassifyStart(at=0.0, query_id="q")
    fan_out([fail, seen.append])(event)
    assert seen == [event]
