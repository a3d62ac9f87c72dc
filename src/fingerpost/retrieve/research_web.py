"""The web beside the index, where it was asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from fingerpost.errors import MissingRecordingError
from fingerpost.observe.hooks import call_hook
from fingerpost.retrieve.foreign import hits_of, usable_passages
from fingerpost.retrieve.research import Search
from fingerpost.retrieve.run import Run
from fingerpost.text.hints import WEB, research_hints
from fingerpost.types.evidence import Hit

WEB_K: Final = 5
PATIENCE_S: Final = 10.0


def web_leg(run: Run, remaining_s: Callable[[], float]) -> Search | None:
    """Return what asks the web, ``None`` when it is not to be asked.

    It is asked when there is a web search and the question's hints name the web, or the settings
    want it always. Pages of the web have no path, tag or language, so a question with filters
    does not go there. A search that fails, or takes longer than what is left (10 seconds
    without a deadline), gives nothing and is named.
    """
    tools, request = run.tools, run.request
    hinted = WEB in research_hints(request.suggested_sources)
    if tools.web is None or not (tools.web_always or hinted):
        return None
    if request.filters:
        run.fall_back("web-skip", "the question has filters, which pages of the web cannot pass")
        return None
    ask: Callable[..., Any] = tools.web

    async def search(query: str) -> Sequence[Hit]:
        seconds = min(remaining_s(), PATIENCE_S)
        try:
            given: object = await call_hook(ask, tools.limiter, seconds, query, WEB_K)
            return run.young(hits_of(WEB, usable_passages(given, WEB_K)))
        except TimeoutError:
            run.fall_back("web-skip", f"no answer within {seconds:.3g} s")
        except MissingRecordingError:
            raise
        except Exception as error:  # the web is extra; the documents stand without it
            run.fall_back("web-skip", f"{type(error).__name__}: {error}")
        return ()

    return search
