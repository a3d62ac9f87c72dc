"""A web search that counts and is kept as a model call is: usage, budget, recording."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Final, Protocol

from fingerpost.types.result import Usage
from fingerpost.types.source import Passage

if TYPE_CHECKING:
    from fingerpost.lanes.budget import Meter
    from fingerpost.lanes.recorded import Recorder, Replayer

JOB: Final = "web-search"
KIND: Final = "web"
OWN: Final = "own/web-search"
"""Names a search of the host's own, whose price nobody knows."""


class AskWeb(Protocol):
    """Searches the web: question and number of passages."""

    async def __call__(self, query: str, top_k: int, /) -> Sequence[Passage]:
        """Return at most so many passages, best first."""
        ...


@dataclass(frozen=True, slots=True)
class WebLane:
    """A web search and what it is counted as.

    Attributes:
        ask: Searches.
        name: Provider and service, ``serper/search``.
    """

    ask: AskWeb
    name: str

    def metered(self, meter: Meter) -> AskWeb:
        """Return the search, each call counted and held to the budget as one of this name.

        A call that fails counts too: whether a service bills it is not told.
        """

        async def search(query: str, top_k: int, /) -> Sequence[Passage]:
            held = meter.hold(self.name, 0)
            outcome = "closed"
            try:
                found = await self.ask(query, top_k)
                outcome = "ok"
            except Exception as error:
                outcome = type(error).__name__
                raise
            finally:
                usage = Usage(job=JOB, model=self.name, input_tokens=0, outcome=outcome)
                meter.settle(held, (usage,))
            return found

        return search


def recorded(ask: AskWeb, recorder: Recorder, name: str) -> AskWeb:
    """Return the search, what it finds or its `LaneError` kept."""

    async def recorded_search(query: str, top_k: int, /) -> Sequence[Passage]:
        with recorder.kept(KIND, (name,), [query, top_k]) as kept:
            found = await ask(query, top_k)
        usable = found if isinstance(found, Sequence) else ()
        told = [asdict(one) for one in usable if isinstance(one, Passage)]
        kept.write(recorder.cleaner.clean({"passages": told}))
        return found

    return recorded_search


def replayed(replayer: Replayer, name: str) -> AskWeb:
    """Return what gives the recorded searches again; the web is never asked."""

    async def replayed_search(query: str, top_k: int, /) -> Sequence[Passage]:
        return replayer.given(
            KIND,
            (name,),
            [query, top_k],
            lambda told: [Passage(**one) for one in told["passages"]],
        )

    return replayed_search
