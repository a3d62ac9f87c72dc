"""A caller's arguments to a checked `Query`."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import uuid4

from fingerpost.errors import InvalidQueryError
from fingerpost.types.query import Filters, Query, Turn

MAX_QUERY_CHARS = 8192
MAX_HISTORY_TURNS = 200
MAX_TOP_K = 50
MAX_VALUES = 1000
_MAX_TIER = 3
_SURROGATE = re.compile("[\ud800-\udfff]")
_FILTER_FIELDS = ("paths", "tags", "sources", "languages")

History = Sequence[Turn | tuple[str, str] | Sequence[str] | Mapping[str, str]]
Filtering = Filters | Mapping[str, Any] | None


def make_query(
    text: str,
    *,
    history: History = (),
    filters: Filtering = None,
    tier: int | None = None,
    max_tier: int | None = None,
    top_k: int | None = None,
    deadline: float | None = None,
    budget: float | None = None,
    excluded_capability_ids: Sequence[str] = (),
    explain: bool = False,
    require_grounded: bool | None = None,
) -> Query:
    """Return the checked request. Arguments as in `QueryRouter.route`.

    Lone surrogates become U+FFFD and NUL a blank, since neither can be stored or shown.

    Raises:
        InvalidQueryError: An argument is not usable; the message says what is allowed.
    """
    if not isinstance(text, str):
        raise InvalidQueryError(f"the question must be text, not {type(text).__name__}")
    clean = _clean(text)
    if not clean.strip():
        raise InvalidQueryError("the question is empty", hint="Ask something.")
    if len(clean) > MAX_QUERY_CHARS:
        raise InvalidQueryError(
            f"the question has {len(clean):,} characters; at most {MAX_QUERY_CHARS:,} are allowed"
        )
    _in_range("tier", tier, 0, _MAX_TIER)
    _in_range("max_tier", max_tier, 0, _MAX_TIER)
    _in_range("top_k", top_k, 1, MAX_TOP_K)
    _positive("deadline", deadline, zero=False)
    _positive("budget", budget, zero=True)
    return Query(
        text=clean.strip(),
        history=_turns(history),
        filters=_filters(filters),
        tier=tier,
        max_tier=max_tier,
        top_k=top_k,
        deadline_s=deadline,
        budget_usd=budget,
        excluded_capability_ids=_words("excluded_capability_ids", excluded_capability_ids),
        explain=explain,
        require_grounded=require_grounded,
        query_id=uuid4().hex,
    )


def _clean(text: str) -> str:
    return _SURROGATE.sub("\ufffd", text.replace("\0", " "))


def _in_range(name: str, value: object, low: int, high: int) -> None:
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise InvalidQueryError(f"{name} = {value!r}: a whole number from {low} to {high}")


def _positive(name: str, value: object, *, zero: bool) -> None:
    if value is None:
        return
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise InvalidQueryError(f"{name} = {value!r}: a number greater than 0")
    try:
        amount = float(value)
    except OverflowError:
        amount = math.inf
    if not math.isfinite(amount) or amount < 0 or (amount == 0 and not zero):
        raise InvalidQueryError(f"{name} = {value!r}: a number greater than 0")


def _turns(history: History) -> tuple[Turn, ...]:
    if isinstance(history, str) or not isinstance(history, Sequence):
        raise InvalidQueryError(f"history must be a list of turns, not {history!r:.80}")
    if len(history) > MAX_HISTORY_TURNS:
        raise InvalidQueryError(f"history must be a list of at most {MAX_HISTORY_TURNS} turns")
    return tuple(_turn(item) for item in history)


def _turn(item: object) -> Turn:
    role: object = None
    text: object = None
    if isinstance(item, Turn):
        role, text = item.role, item.text
    elif isinstance(item, Mapping):
        role, text = item.get("role"), item.get("content", item.get("text"))
    elif isinstance(item, Sequence) and not isinstance(item, str) and len(item) == 2:  # noqa: PLR2004 - a pair
        role, text = item
    if role not in ("user", "assistant") or not isinstance(text, str):
        raise InvalidQueryError(
            f"history item {item!r:.80}: needs a role ('user' or 'assistant') and text"
        )
    return Turn("user" if role == "user" else "assistant", _clean(text))


def _filters(filters: Filtering) -> Filters:
    if filters is None:
        return Filters()
    given: Mapping[Any, Any]
    if isinstance(filters, Filters):
        given = {name: getattr(filters, name) for name in (*_FILTER_FIELDS, "metadata")}
    elif isinstance(filters, Mapping):
        given = filters
    else:
        raise InvalidQueryError(f"filters must be a Filters or a mapping, not {filters!r:.80}")
    unknown = sorted(map(str, set(given) - {*_FILTER_FIELDS, "metadata"}))
    if unknown:
        raise InvalidQueryError(
            f"filters: {unknown[0]!r} unknown; allowed: paths, tags, sources, languages, metadata"
        )
    fields = {name: _words(f"filters: {name}", given.get(name, ())) for name in _FILTER_FIELDS}
    return Filters(**fields, metadata=_pairs(given.get("metadata", ())))


def _pairs(metadata: object) -> tuple[tuple[str, str], ...]:
    pairs = list(metadata.items()) if isinstance(metadata, Mapping) else metadata
    if isinstance(pairs, Sequence) and not isinstance(pairs, str) and all(map(_is_pair, pairs)):
        return tuple((str(key), str(value)) for key, value in pairs)
    raise InvalidQueryError(
        f"filters: metadata must be a mapping or a list of pairs, not {metadata!r:.80}"
    )


def _is_pair(item: object) -> bool:
    return isinstance(item, Sequence) and not isinstance(item, str) and len(item) == 2  # noqa: PLR2004


def _words(name: str, value: object) -> tuple[str, ...]:
    words = (value,) if isinstance(value, str) else value
    is_list = isinstance(words, Sequence) and all(isinstance(item, str) for item in words)
    if not is_list or len(words) > MAX_VALUES:  # type: ignore[arg-type]
        raise InvalidQueryError(
            f"{name} must be text or a list of at most {MAX_VALUES:,} texts, not {value!r:.80}"
        )
    return tuple(words)  # type: ignore[arg-type]
