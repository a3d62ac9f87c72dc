"""Which lane serves a model, and a model that sends each request there."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Final, Literal, TypeGuard

from fingerpost.errors import UnroutedModelError, UsageError
from fingerpost.lanes.base import ChatModel
from fingerpost.types.chat import ChatRequest, ChatResponse, ModelRef

_MOST_NAMED: Final = 20


def lane_of(
    model: object, routes: Mapping[str, object], by: Literal["provider", "api"] = "provider"
) -> str | None:
    """Return the word under which ``routes`` serves the model, ``None`` when it does not.

    Only asks the table whether it has an entry under that one word: the entry is not read, no
    keys are listed, nothing is remembered. What a table gives for words that it does not hold
    (``__missing__``, a default) is no route.

    Args:
        model: A `ModelRef`, a model, or a mapping, with its route word under ``by``.
        routes: Route word → model.
        by: Which word routes it.

    Raises:
        TypeError: ``routes`` is no mapping.
        Exception: Whatever its membership test raises.
    """
    if not isinstance(routes, Mapping):
        raise TypeError(f"the routes are a {type(routes).__name__}, not a mapping")
    word = _word_of(model, by)
    return word if isinstance(word, str) and word and word in routes else None


class RoutingModel:
    """A `ChatModel` that sends each request to the route of its model; keeps no state.

    Args:
        routes: Route word → `ChatModel`. Read at each request, so it may change.
        by: Which word of ``request.model`` routes it.
        fallback: Serves the models without a route; ``None`` makes them an error.
    """

    provider = "lane"
    api = "lane"
    model = "routing"

    def __init__(
        self,
        routes: Mapping[str, object],
        by: Literal["provider", "api"] = "provider",
        fallback: ChatModel | None = None,
    ) -> None:
        if by not in ("provider", "api"):
            raise UsageError(f"by={by!r}: a model is routed by 'provider' or 'api'")
        self._routes = routes
        self._by: Literal["provider", "api"] = by
        self._fallback = fallback

    def model_for(self, request: ChatRequest) -> ChatModel:
        """Return the model that the request is sent to.

        Raises:
            UnroutedModelError: There is none, the route is no model, or the table does not say.
        """
        ref = request.model or ModelRef()
        try:
            word = lane_of(ref, self._routes, self._by)
        except Exception as error:
            raise UnroutedModelError(
                f"the routes do not say who serves the model {ref.name!r}: {_told(error)}"
            ) from error
        if word is not None:
            return self._mounted(word)
        if self._fallback is None:
            raise UnroutedModelError(
                f"no route serves the model {ref.name!r}: its {self._by} is "
                f"{_word_of(ref, self._by)!r}, the routes are {self._names()}",
                hint="add a route of that name, or a fallback",
            )
        return self._fallback

    async def complete(self, request: ChatRequest) -> ChatResponse:
        """Return the reply of the model that serves the request. See `ChatModel.complete`.

        Raises:
            UnroutedModelError: See `model_for`.
        """
        return await self.model_for(request).complete(request)

    async def stream(self, request: ChatRequest) -> AsyncGenerator[str | ChatResponse]:
        """Yield what the model that serves the request streams. See `ChatModel.stream`.

        Raises:
            UnroutedModelError: See `model_for`.
        """
        async with aclosing(self.model_for(request).stream(request)) as items:
            async for item in items:
                yield item

    async def close(self) -> None:
        """Close every model that is mounted now."""
        for model in (*self._routes.values(), self._fallback):
            if _is_model(model):
                await model.close()

    def _mounted(self, word: str) -> ChatModel:
        try:
            route = self._routes[word]
        except Exception as error:
            raise UnroutedModelError(
                f"the route {word!r} cannot be read: {_told(error)}"
            ) from error
        if not _is_model(route):
            raise UnroutedModelError(f"the route {word!r} is a {type(route).__name__}, not a model")
        return route

    def _names(self) -> str:
        try:
            names = sorted(repr(name) for name in self._routes)
        except Exception:  # a table filled on demand need not be able to list itself
            return "not listed"
        more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
        return (", ".join(names[:_MOST_NAMED]) or "none") + more


def _word_of(model: object, by: str) -> object:
    if isinstance(model, Mapping):
        return model[by] if by in model else None  # noqa: SIM401 - get() fills some mappings
    return getattr(model, by, None)


def _is_model(route: object) -> TypeGuard[ChatModel]:
    return all(callable(getattr(route, name, None)) for name in ("complete", "stream", "close"))


def _told(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
