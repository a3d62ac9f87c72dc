"""What the host can do: what of it a classifier is shown, and what is recommended without one."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final, TypeVar

from fingerpost.classify import recommend
from fingerpost.running import Run
from fingerpost.types.decision import ClassificationResult
from fingerpost.types.plan import Capability, CapabilitySearch, CapabilitySource

_LOG = logging.getLogger("fingerpost.pipeline")
_SHOWN: Final = 30
T = TypeVar("T")


async def offered(run: Run) -> Sequence[Capability]:
    """Return what a model may recommend: everything, of many the nearest to the question."""
    engine, excluded = run.parts.capabilities(), run.query.excluded_capability_ids
    if engine is None:
        return ()

    def choose() -> Sequence[Capability]:
        every = [item for item in engine.capabilities() if not item.is_among(excluded)]
        if len(every) <= _SHOWN or not isinstance(engine, CapabilitySearch):
            return every
        near = engine.nearest(run.text, excluded, _SHOWN)
        return [item for item in near if not item.is_among(excluded)]

    return await _asked(run, engine, choose, ())


async def recommended(run: Run, result: ClassificationResult) -> ClassificationResult:
    """Return a classification by no chat model with what its engine recommends."""
    engine, excluded = run.parts.capabilities(), run.query.excluded_capability_ids
    if engine is None:
        return result

    def look() -> ClassificationResult:
        if not isinstance(engine, CapabilitySearch):
            return recommend(result, run.text, engine.capabilities(), excluded)
        found = tuple(engine.recommend(run.text, excluded))
        kept = (item for item in found if not Capability(item.kind, item.id).is_among(excluded))
        return replace(result, recommendations=tuple(kept))

    return await _asked(run, engine, look, result)


async def _asked(run: Run, engine: CapabilitySource, ask: Callable[[], T], otherwise: T) -> T:
    """Run what asks the host's own engine, which may fail in any way; that costs no answer."""
    try:
        return await run.in_thread(ask)
    except Exception as error:
        _LOG.warning("%s failed", type(engine).__name__, exc_info=True)
        run.fall_back("capabilities-skip", f"{type(error).__name__}: {error}")
        return otherwise
