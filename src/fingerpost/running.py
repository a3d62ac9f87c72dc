"""What a pipeline is made of, and the state of one question on its way through it."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from anyio import CapacityLimiter

from fingerpost.classify import LocalClassifier
from fingerpost.config.schema import QueryRouterConfig
from fingerpost.errors import DeadlineExceededError
from fingerpost.lanes.base import EmbeddingModel
from fingerpost.observe import events
from fingerpost.observe.hooks import call_hook
from fingerpost.observe.observer import Observer
from fingerpost.stores.base import Reader, Store
from fingerpost.types.answer import Answer
from fingerpost.types.document import readable_text
from fingerpost.types.evidence import Evidence
from fingerpost.types.query import Query
from fingerpost.types.result import Usage
from fingerpost.verify import CitationVerifier, SourceText

_LOG = logging.getLogger("fingerpost.pipeline")


@dataclass(frozen=True, slots=True)
class Parts:
    """What a pipeline is made of.

    Attributes:
        store: Where the chunks are.
        embedder: The index's own embedding model; ``None`` searches by words alone.
        classifier: Chooses the tier.
        verifier: Checks the claims; ``None`` when verification is off.
        config: Settings.
        observe: Takes every event.
        topics: Returns what the corpus is about, for the classifier.
        clock: Monotonic seconds.
        wall: Seconds since the epoch.
    """

    store: Store
    embedder: EmbeddingModel | None
    classifier: LocalClassifier
    verifier: CitationVerifier | None
    config: QueryRouterConfig
    observe: Observer
    topics: Callable[[], tuple[str, ...]]
    clock: Callable[[], float] = time.monotonic
    wall: Callable[[], float] = time.time


@dataclass(slots=True)
class Run:
    """The state of one question on its way through the pipeline."""

    query: Query
    text: str
    started: float
    reader: Reader
    limit_s: float | None
    clock: Callable[[], float]
    pending: list[events.Event] = field(default_factory=list)
    timings: dict[str, float] = field(default_factory=dict)
    fallbacks: list[str] = field(default_factory=list)
    usage: list[Usage] = field(default_factory=list)

    def remaining_s(self) -> float:
        """Return the seconds left, ``inf`` without a deadline."""
        if self.limit_s is None:
            return float("inf")
        return self.limit_s - (self.clock() - self.started)

    def hold_deadline(self, stage: str) -> None:
        """Do not let a stage begin after the deadline.

        Raises:
            DeadlineExceededError: It passed.
        """
        if self.limit_s is None or self.remaining_s() > 0:
            return
        raise DeadlineExceededError(
            f"the deadline of {self.limit_s:g} s passed before the stage {stage!r}",
            elapsed_s=self.clock() - self.started,
            deadline_s=self.limit_s,
            stage=stage,
        )

    def timed(self, stage: str, began: float) -> float:
        """Add the time since ``began`` to a stage; return it in milliseconds."""
        took = (self.clock() - began) * 1000
        self.timings[stage] = self.timings.get(stage, 0.0) + took
        return took

    def fall_back(self, *names: str) -> None:
        """Note fallbacks, each once, in the order in which they fired."""
        self.fallbacks.extend(name for name in names if name not in self.fallbacks)


def source_texts(answer: Answer, evidence: Evidence) -> list[SourceText]:
    """Return the whole text of each source that the answer cites, by marker number."""
    by_id = {hit.chunk.id: hit for hit in (*evidence.candidates, *evidence.hits)}
    texts = []
    for index, chunk_id in enumerate(answer.cited_chunk_ids, start=1):
        hit = by_id[chunk_id]
        words = readable_text(hit.chunk, hit.document.format)
        # What is read of a notebook or page of HTML holds its prefix already.
        repeated = hit.chunk.prefix and words == hit.chunk.text
        prefix = hit.chunk.prefix + "\n" if repeated else ""
        texts.append(
            SourceText(
                text=prefix + words,
                index=index,
                ref=hit.document.path,
                line_start=max(1, hit.chunk.line_start - prefix.count("\n")),
            )
        )
    return texts


def pieces(text: str) -> tuple[str, ...]:
    """Return the answer in lines, line ends kept, for streaming."""
    return tuple(text.splitlines(keepends=True))


async def notify(
    hook: Callable[..., Any] | None,
    value: object,
    *,
    limiter: CapacityLimiter | None,
    remaining_s: float,
) -> None:
    """Tell a hook, sync or async; its failure is logged and never breaks a question.

    Args:
        hook: Takes the value; a plain function is called in a worker thread.
        value: What it is told.
        limiter: Bounds the worker threads.
        remaining_s: How long it may take, ``inf`` for no limit; then it is left behind.
    """
    if hook is None:
        return
    try:
        await call_hook(hook, limiter, remaining_s, value)
    except TimeoutError:
        _LOG.warning("a hook was left behind: the deadline of the question passed")
    except Exception:
        _LOG.exception("a hook failed")
