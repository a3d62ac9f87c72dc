"""semantic-router: a choice by likeness to example utterances, with its own defaults."""

from __future__ import annotations

from functools import partial
from typing import Any

from semantic_router import IndexedRouter, Route
from semantic_router.encoders import DenseEncoder

from peers.given import Choose, Known, Source, said_of


class Encoder(DenseEncoder):
    """Known vectors behind semantic-router's interface."""

    name: str = "known"
    known: Known

    def __call__(self, docs: list[Any]) -> list[list[float]]:
        """Return the vectors of the texts."""
        return self.known.lists(docs)


def chooser(sources: list[Source], known: Known, **settings: Any) -> Choose:
    """Build a route for each source. It never abstains: the library sets no threshold."""
    router = IndexedRouter(
        encoder=Encoder(known=known),
        routes=[Route(name=source["id"], utterances=said_of(source)) for source in sources],
        **settings,
    )

    def choose(question: str) -> tuple[str | None, str | None]:
        name = router(question).name
        return name, name

    return choose


CHOOSERS = {
    "semantic-router": chooser,
    "semantic-router, nearest utterance": partial(chooser, aggregation="max"),
}
