"""Calling what a host plugged in: sync or async, never on the event loop's time."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from functools import partial
from typing import ParamSpec, TypeVar

import anyio
from anyio import CapacityLimiter, to_thread

P = ParamSpec("P")
T = TypeVar("T")


async def call_hook(
    hook: Callable[P, T | Awaitable[T]],
    limiter: CapacityLimiter | None,
    seconds: float,
    *args: P.args,
    **kwargs: P.kwargs,
) -> T:
    """Return what the hook gives; a plain function runs in a worker thread.

    Args:
        hook: Function, coroutine function, or a callable that returns an awaitable.
        limiter: Bounds the worker threads.
        seconds: How long it may take; ``inf`` for no limit. A thread cannot be stopped: it
            runs on, unheard.
        args: Handed to the hook.
        kwargs: The same.

    Raises:
        TimeoutError: It took longer.
        Exception: Whatever the hook raises.
    """
    with anyio.fail_after(None if seconds == float("inf") else max(0.0, seconds)):
        called: T | Awaitable[T]
        if _is_async(hook):
            called = hook(*args, **kwargs)
        else:
            bound = partial(hook, *args, **kwargs)
            called = await to_thread.run_sync(bound, abandon_on_cancel=True, limiter=limiter)
        return await called if inspect.isawaitable(called) else called


def _is_async(hook: object) -> bool:
    call = getattr(type(hook), "__call__", None)  # noqa: B004 - the method itself is wanted
    return inspect.iscoroutinefunction(hook) or inspect.iscoroutinefunction(call)
