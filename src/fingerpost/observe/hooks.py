"""Calling what a host plugged in: sync or async, for a limited time, its failures contained."""

from __future__ import annotations

import asyncio
import inspect
import logging
import math
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from contextlib import nullcontext, suppress
from contextvars import Context, copy_context
from functools import partial
from typing import ParamSpec, TypeVar

import anyio
from anyio import CapacityLimiter, from_thread, to_thread
from anyio.lowlevel import current_token

P = ParamSpec("P")
T = TypeVar("T")

_LOG = logging.getLogger("fingerpost.observe")


class HookError(RuntimeError):
    """A hook raised what would end the task or the process: SystemExit, a cancellation."""


async def call_hook(
    hook: Callable[P, T | Awaitable[T]],
    limiter: CapacityLimiter | None,
    seconds: float,
    *args: P.args,
    **kwargs: P.kwargs,
) -> T:
    """Return what the hook gives; a plain function runs in a thread of its own.

    Args:
        hook: Function, coroutine function, or a callable that returns an awaitable.
        limiter: Bounds the threads.
        seconds: How long it may take; ``inf`` for no limit. A thread cannot be stopped: it
            runs on, unheard, and does not hold up the end of the program.
        args: Handed to the hook.
        kwargs: The same.

    Raises:
        TimeoutError: It took longer.
        HookError: It raised something that is no `Exception`, and nobody had asked for it: a
            cancellation of the task that calls passes through.
        Exception: Whatever else the hook raises.
    """
    with anyio.fail_after(None if seconds == math.inf else max(0.0, seconds)):
        called: T | Awaitable[T]
        if _is_async(hook):
            called = hook(*args, **kwargs)
        else:
            called = await _in_thread(partial(hook, *args, **kwargs), limiter)
        return await _awaited(called) if inspect.isawaitable(called) else called


def call_plain_hook(hook: Callable[P, T], seconds: float, *args: P.args, **kwargs: P.kwargs) -> T:
    """Do what `call_hook` does with a plain function, blocking the calling thread.

    Raises:
        TimeoutError: It took longer.
        HookError: It raised something that is no `Exception`.
        Exception: Whatever else the hook raises.
    """
    outcome: Future[T] = Future()
    _start(outcome, partial(hook, *args, **kwargs), copy_context())
    return outcome.result(None if seconds == math.inf else max(0.0, seconds))


def contained(error: BaseException) -> Exception:
    """Return what a hook raised as an `Exception`; one that is none is logged."""
    if isinstance(error, Exception):
        return error
    _LOG.error("a hook raised %s; it is taken as a failure", type(error).__name__)
    return HookError(f"the hook raised {type(error).__name__}: {error}")


def is_for_the_host(error: BaseException) -> bool:
    """Return whether an exception that came out of plain hook code was not the hook's own.

    Ctrl-C arrives on the main thread, in whatever code runs there.
    """
    return isinstance(error, KeyboardInterrupt) and _on_main_thread()


async def _in_thread(call: Callable[[], T], limiter: CapacityLimiter | None) -> T:
    """Call in a thread of its own, which neither Ctrl-C nor a cancellation ever reaches."""
    outcome: Future[T] = Future()
    done = anyio.Event()
    # As a worker thread of anyio sees it: without the mark of the running event loop.
    context = await to_thread.run_sync(copy_context, limiter=CapacityLimiter(1))
    token = current_token()

    def tell(_: object) -> None:
        with suppress(RuntimeError):  # the event loop is over
            from_thread.run_sync(done.set, token=token)

    async with limiter or nullcontext():
        outcome.add_done_callback(tell)
        _start(outcome, call, context)
        await done.wait()
    return outcome.result()


def _start(outcome: Future[T], call: Callable[[], T], context: Context) -> None:
    """Begin a call in a daemon thread, which unlike anyio's never holds up the program's end."""

    def work() -> None:
        try:
            outcome.set_result(context.run(_guarded, call))
        except Exception as error:
            outcome.set_exception(error)

    threading.Thread(target=work, name="fingerpost-hook", daemon=True).start()


def _guarded(call: Callable[[], T]) -> T:
    try:
        return call()
    except BaseException as error:
        raise contained(error) from error


async def _awaited(called: Awaitable[T]) -> T:
    before = _n_cancellations()
    try:
        return await called
    except GeneratorExit:  # our own coroutine is being closed
        raise
    except BaseException as error:
        if is_for_the_host(error) or _is_cancelled(before):
            raise
        raise contained(error) from error


def _is_cancelled(before: int) -> bool:
    """Return whether someone asked for this task, or a scope around it, to be cancelled."""
    return anyio.current_effective_deadline() == -math.inf or _n_cancellations() > before


def _n_cancellations() -> int:
    """Return how many cancellations of the current asyncio task are pending; 0 elsewhere."""
    try:
        task = asyncio.current_task()
    except RuntimeError:  # another event loop than asyncio's
        return 0
    return task.cancelling() if task is not None else 0


def _on_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


def _is_async(hook: object) -> bool:
    call = getattr(type(hook), "__call__", None)  # noqa: B004 - the method itself is wanted
    return inspect.iscoroutinefunction(hook) or inspect.iscoroutinefunction(call)
