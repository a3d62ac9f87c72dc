"""Vectors that are missing: how long a command computes them, and what it says without them."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from fingerpost.config.schema import QueryRouterConfig

_EMBED_WAIT_S = 20.0


def embed_wait_option(before: str) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Return the option ``--embed-wait``, ``None`` when it is not given: see `embed_seconds`."""
    return click.option(
        "--embed-wait",
        type=click.FloatRange(min=0),
        metavar="SECONDS",
        help=f"How long to compute missing vectors before {before} (default: {_EMBED_WAIT_S:.0f}, "
        "or what the setting embed says).",
    )


def embed_seconds(config: QueryRouterConfig, given: float | None) -> float:
    """Return how long a command computes missing vectors, by its option or else by ``embed``."""
    if given is not None:
        return given
    return {"never": 0.0, "wait": math.inf}.get(config.embed, _EMBED_WAIT_S)


def embed_for(seconds: float, embed: Callable[[Callable[[], bool]], object]) -> str:
    """Compute missing vectors for at most ``seconds``; return a note when the model failed.

    Args:
        seconds: 0 computes none.
        embed: Computes them until what it is given says true.
    """
    from fingerpost.errors import LaneError

    end = time.monotonic() + seconds
    try:
        if seconds > 0:
            embed(lambda: time.monotonic() > end)
    except LaneError as error:
        return f"note: the embedding model failed, and words stood in for it. {error}"
    return ""


def words_alone(reason: str, n_vectors: int, n_chunks: int) -> str:
    """Return a note when chunks were searched by words alone, empty when none was.

    Args:
        reason: Why there is no embedding model, empty when there is one.
        n_vectors: Chunks that have a vector.
        n_chunks: All of them.
    """
    if reason:
        return f"note: searched by words alone. {reason}"
    if n_vectors < n_chunks:
        return (
            f"note: {n_vectors:,} of {n_chunks:,} chunks have a vector; the others were searched "
            "by words alone. 'fingerpost index' computes the rest."
        )
    return ""
