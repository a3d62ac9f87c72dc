"""Sentences that the product says of itself, in the language of the question."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files

_DEFAULT = "en"


@lru_cache(maxsize=1)
def phrases() -> Mapping[str, Mapping[str, str]]:
    """Return key → language → text, as shipped in ``phrases.json``."""
    raw = files("fingerpost.generate").joinpath("phrases.json").read_text("utf-8")
    return json.loads(raw)  # type: ignore[no-any-return]


def phrase(key: str, language: str) -> str:
    """Return a phrase in the language (ISO 639-1, a region is ignored), else in English.

    Raises:
        KeyError: No phrase has the key.
    """
    texts = phrases()[key]
    return texts.get(language.split("-", maxsplit=1)[0].lower(), texts[_DEFAULT])
