"""Asking the chosen sources, side by side; each may fail alone."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final, TypeGuard

import anyio
from anyio import CapacityLimiter

from fingerpost.decide.ranks import reciprocal_rank
from fingerpost.errors import InvalidQueryError, MissingRecordingError
from fingerpost.observe.hooks import call_hook
from fingerpost.types.routing import SourceRouting
from fingerpost.types.source import Passage, Retriever, Source

PATIENCE_S: Final = 30.0
"""Seconds that a source gets where no deadline is set."""
_LOG: Final = logging.getLogger("fingerpost.decide")
_LONGEST_REASON: Final = 200


@dataclass(frozen=True, slots=True)
class SourceFindings:
    """What one source gave.

    Attributes:
        source: Its name.
        passages: Best first, at most as many as were wanted; none when it failed.
        failure: Why it gave nothing, empty when it answered.
        n_unusable: What it gave beside them that is no passage, or a blank one.
    """

    source: str
    passages: tuple[Passage, ...] = ()
    failure: str = ""
    n_unusable: int = 0


@dataclass(frozen=True, slots=True)
class RoutedPassage:
    """A passage in the order over all sources.

    Attributes:
        source: Name of the source that gave it; the first of them where several did.
        passage: What it gave.
        score: Sum of reciprocal ranks (k = 60) over the sources.
    """

    source: str
    passage: Passage
    score: float


@dataclass(frozen=True, slots=True)
class RoutedPassages:
    """What the sources of a routing gave together.

    Attributes:
        routing: Which sources were asked, and why.
        passages: Over all of them, best first; empty when none was asked or none gave any.
        findings: One per source that was asked, in the order of the routing.
    """

    routing: SourceRouting
    passages: tuple[RoutedPassage, ...]
    findings: tuple[SourceFindings, ...]


async def retrieve_all(
    routing: SourceRouting, query: str, top_k: int, *, deadline: float | None = None
) -> RoutedPassages:
    """Return the best passages of the sources that a routing uses.

    Args:
        routing: Which sources to ask.
        query: What each of them is asked.
        top_k: How many passages are wanted, of each and in all; at least 1.
        deadline: See `fetch`.

    Raises:
        InvalidQueryError: ``top_k`` is no whole number above 0.
    """
    asked = dict(zip(routing.names, routing.retrievers, strict=True))
    findings = await fetch(asked, query, top_k, deadline=deadline)
    return RoutedPassages(routing, _fused(findings)[:top_k], findings)


async def fetch(
    retrievers: Mapping[str, Retriever],
    query: str,
    top_k: int,
    *,
    deadline: float | None = None,
    limiter: CapacityLimiter | None = None,
) -> tuple[SourceFindings, ...]:
    """Return what each retriever gives, in their order. None of them can fail another.

    A failure is told and logged: an exception, too late, or something else than passages. A
    ``retrieve`` that is a plain function, or that gives its passages one by one, runs in a
    thread, which cannot be stopped: too late, it runs on unheard.

    Args:
        retrievers: Name of a source → whom to ask.
        query: What each is asked.
        top_k: How many passages are taken of each; at least 1.
        deadline: When all must have answered, by ``time.monotonic``; ``None`` gives them
            `PATIENCE_S`.
        limiter: Bounds the threads.

    Raises:
        InvalidQueryError: ``top_k`` is no whole number above 0.
        MissingRecordingError: A replay has no record of what a source gave.
    """
    if not isinstance(top_k, int) or isinstance(top_k, bool) or top_k < 1:
        raise InvalidQueryError(f"top_k is {top_k!r}, allowed is a whole number above 0")
    patience = PATIENCE_S if deadline is None else max(0.0, deadline - time.monotonic())
    found: dict[str, SourceFindings] = {}
    unrecorded: list[MissingRecordingError] = []

    async def ask(name: str, retriever: Retriever) -> None:
        try:
            with anyio.fail_after(patience):
                given = await _given(retriever, query, top_k, limiter)
            found[name] = _findings(name, given, top_k)
        except TimeoutError:
            found[name] = SourceFindings(name, failure=f"no answer within {patience:.3g} s")
        except MissingRecordingError as error:
            unrecorded.append(error)
            group.cancel_scope.cancel()
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"[:_LONGEST_REASON]
            found[name] = SourceFindings(name, failure=reason)

    async with anyio.create_task_group() as group:
        for name, retriever in retrievers.items():
            group.start_soon(ask, name, retriever)
    if unrecorded:
        raise unrecorded[0]
    for item in found.values():
        if item.failure:
            _LOG.warning("source %s gave nothing: %s", item.source, item.failure)
    return tuple(found[name] for name in retrievers)


def _plain(retriever: Retriever) -> Retriever:
    """Return whom a source hands the question on to; a source that is a path fails by itself."""
    if isinstance(retriever, Source) and not isinstance(retriever.retriever, str):
        return retriever.retriever
    return retriever


async def _given(
    retriever: Retriever, query: str, top_k: int, limiter: CapacityLimiter | None
) -> object:
    """Return what a retriever gives; what it gives one by one, as a list of the first ones."""
    hook: Callable[[str, int], object] = _plain(retriever).retrieve
    given = await call_hook(hook, limiter, math.inf, query, top_k)
    if type(given) in (list, tuple) or not _is_many(given):
        return given
    # Taking the items may run the host's code, so not on the event loop.
    return await call_hook(lambda: list(islice(given, top_k)), limiter, math.inf)


def _is_many(given: object) -> TypeGuard[Iterable[object]]:
    return isinstance(given, Iterable) and not isinstance(given, str | bytes | Mapping)


def _findings(name: str, given: object, top_k: int) -> SourceFindings:
    """Return the usable passages among the first ones that a retriever gave."""
    if not _is_many(given):
        return SourceFindings(name, failure=f"gave {type(given).__name__} instead of passages")
    items = list(islice(given, top_k))
    passages = tuple(item for item in items if _is_usable(item))
    n_unusable = len(items) - len(passages)
    failure = f"gave {n_unusable} items, none a passage" if items and not passages else ""
    return SourceFindings(name, passages, failure, n_unusable)


def _is_usable(item: object) -> TypeGuard[Passage]:
    if not isinstance(item, Passage):
        return False
    texts = (item.text, item.uri, item.title, item.heading)
    return all(isinstance(text, str) for text in texts) and bool(item.text.strip())


def _fused(findings: Sequence[SourceFindings]) -> tuple[RoutedPassage, ...]:
    """Return all passages by reciprocal rank; the same text at the same place counts as one."""
    first: dict[str, tuple[str, Passage]] = {}
    lists = []
    for item in findings:
        keys = [f"{passage.uri}\n{passage.text}" for passage in item.passages]
        lists.append(keys)
        for key, passage in zip(keys, item.passages, strict=True):
            first.setdefault(key, (item.source, passage))
    return tuple(RoutedPassage(*first[key], score) for key, score in reciprocal_rank(lists))
