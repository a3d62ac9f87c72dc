"""What searches the web for the research pass."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, cast

from fingerpost.config.credentials import resolve_credentials
from fingerpost.config.schema import QueryRouterConfig
from fingerpost.lanes.recorded import Replayer
from fingerpost.lanes.web import WebSearch
from fingerpost.lanes.web.counted import OWN, AskWeb, WebLane
from fingerpost.observe.hooks import call_hook
from fingerpost.retrieve.base import WebSearchHook
from fingerpost.types.source import Passage
from fingerpost.wiring.tape import Tape

_SERPER: Final = "serper/search"


def make_web_search(config: QueryRouterConfig, tape: Tape | None = None) -> WebLane | None:
    """Return the host's own search or the service, ``None`` when the web is left alone.

    Args:
        config: The settings.
        tape: Keeps the searches, or gives those of a recording again without asking anyone.

    Raises:
        ConfigError: The key would leave for another vendor, or ``web_search`` cannot be called.
    """
    service = resolve_credentials(config).web
    if config.web_research == "never":
        return None
    own = config.web_search
    name = _SERPER if own is None or isinstance(own, WebSearch) else OWN
    if isinstance(tape, Replayer):
        return tape.web(name)
    if own is not None:
        lane = WebLane(_asking(cast("WebSearchHook", getattr(own, "retrieve", own))), name)
    elif service is not None:
        search = WebSearch(
            service.key,
            base_url=service.base_url,
            n_pages=config.web_pages,
            key_name=service.key_name,
        )
        lane = WebLane(search.retrieve, name)
    else:
        return None
    return lane if tape is None else tape.around_web(lane)


def _asking(hook: WebSearchHook) -> AskWeb:
    """Return a search of the host's own as a coroutine; a plain one runs in a thread of its own."""

    async def ask(query: str, top_k: int, /) -> Sequence[Passage]:
        return await call_hook(hook, None, math.inf, query, top_k)

    return ask
