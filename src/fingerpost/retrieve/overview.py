"""Whether a question asks for an overview, and of what, in thirteen languages."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any, Final

_LONGEST: Final = 300
_SPACES: Final = re.compile(r"\s+")
_EDGES: Final = " \t\n.,;:!?¿¡\"'«»„“”()。、？！؟،"


def overview_subject(text: str) -> str | None:
    """Return what an overview is asked of: empty for the whole corpus, ``None`` for no overview.

    "What are these docs about?" asks of all, "Give me an overview of caching" of caching. The
    whole text must be such a question, politeness aside; one beyond 300 characters is none. The
    cues stand in ``overview.json``: English, German, Spanish, French, Italian, Portuguese, Dutch,
    Russian, Chinese, Japanese, Korean, Arabic and Thai.
    """
    if len(text) > _LONGEST:
        return None
    asked = _SPACES.sub(" ", text.replace("’", "'")).strip(_EDGES)
    lowered = asked.casefold()
    for language, own in _cues().items():
        if not any(cue in lowered for cue in own["cues"]):
            continue
        whole, some = _compiled(language)
        if whole.fullmatch(asked):
            return ""
        match = some.fullmatch(asked)
        if match is not None:
            subject = next(found for found in match.groups() if found).strip(_EDGES)
            return "" if _is_everything(subject) else subject
    return None


@lru_cache(maxsize=1)
def _cues() -> Mapping[str, Mapping[str, Any]]:
    """Return language → how it asks: ``cues`` of which a question must hold one, and patterns.

    ``docs`` names the whole, ``ask`` is politeness, ``all`` asks of the whole, ``some`` of a
    subject.
    """
    raw = files("fingerpost.retrieve").joinpath("overview.json").read_text("utf-8")
    return json.loads(raw)  # type: ignore[no-any-return]


@cache
def _compiled(language: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return what asks of the whole and of a subject; only the languages asked in are compiled."""
    own = _cues()[language]
    whole = "|".join(one.replace("{docs}", f"(?:{own['docs']})") for one in own["all"])
    some = "|".join(one.replace("(?P<some>", "(") for one in own["some"])
    return (
        re.compile(f"(?:{own['ask']})(?:{whole})", re.IGNORECASE),
        re.compile(f"(?:{own['ask']})(?:{some})", re.IGNORECASE),
    )


def _is_everything(subject: str) -> bool:
    """Return whether a subject is the whole corpus; cognates are asked for in any language."""
    return any(
        re.fullmatch(own["docs"], subject, re.IGNORECASE) is not None for own in _cues().values()
    )
