"""Text that is judged, so fenced in a prompt that it can neither end its fence nor add a line."""

from __future__ import annotations

import json

from fingerpost.prompts import Prompt
from fingerpost.types.ids import digest
from fingerpost.types.question import DecisionInput
from fingerpost.types.wire import to_wire


def fill_fenced(prompt: Prompt, **values: str) -> str:
    """Return the prompt with its places filled, ``{{delimiter}}`` by the code of the fences.

    The code is the hash of what is fenced: no text can contain its own, and the same values give
    the same prompt again, for replays and for the caches of providers.

    Raises:
        ConfigError: A place has no value, or a value no place.
    """
    return prompt.fill(delimiter=digest(*values.values()), **values)


def shown(value: DecisionInput) -> str:
    """Return text as it is and JSON values as JSON; lone surrogates become question marks."""
    return _sound(
        value if isinstance(value, str) else json.dumps(to_wire(value), ensure_ascii=False)
    )


def one_line(text: str) -> str:
    """Return the text in one line, so that it cannot pass for an option or a question."""
    return " ".join(_sound(text).split())


def _sound(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")
