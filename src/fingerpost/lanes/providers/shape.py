"""What an adapter has to know of a provider's API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from fingerpost.config.endpoint import Endpoint
from fingerpost.lanes.providers.draft import Draft
from fingerpost.lanes.providers.fields import as_text
from fingerpost.types.chat import ChatRequest

__all__ = ["ChatShape", "key_of", "split_system"]


class ChatShape(Protocol):
    """One API shape: how a request is written and a reply read. Pure; made for one endpoint.

    Attributes:
        has_events: A stream is server-sent events; else one JSON object to a line.
    """

    has_events: bool

    def url(self, model: str, *, stream: bool) -> str:
        """Return the whole address of a call."""
        ...

    def headers(self) -> Mapping[str, str]:
        """Return the headers that are the shape's own, the key's among them."""
        ...

    def body(
        self, request: ChatRequest, model: str, *, stream: bool, plain: bool
    ) -> Mapping[str, Any]:
        """Return what is posted.

        Args:
            request: What is asked.
            model: The provider's name of the model.
            stream: The reply is to come in pieces.
            plain: Leave out whatever some models of this provider refuse (JSON mode,
                temperature, log-probabilities); a schema goes into the prompt instead.
        """
        ...

    def read(self, data: Mapping[str, Any], draft: Draft) -> None:
        """Add to ``draft`` what a whole reply, or one event of a stream, says."""
        ...


def key_of(endpoint: Endpoint) -> str:
    """Return the key to sign with, empty for a keyless server."""
    return endpoint.key.reveal() if endpoint.key else ""


def split_system(request: ChatRequest, note: str) -> tuple[str, list[tuple[str, str]]]:
    """Return the system text with ``note`` at its end, and the (role, text) of the others."""
    messages: list[tuple[str, str]] = [(m.role, as_text(m.text)) for m in request.messages]
    system = [text for role, text in messages if role == "system"]
    others = [(role, text) for role, text in messages if role != "system"]
    return "\n\n".join([*system, note] if note else system), others
