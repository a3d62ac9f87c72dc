"""What model calls cost, by a dated table."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Final

from fingerpost.types.result import Usage

PRICES_AS_OF: Final = "2026-11-30"
"""When the table was last held against what vendors publish."""
LOCAL: Final = "local/"
"""Names of models that run in this process begin so."""

_MILLION: Final = 1_000_000
_DATED: Final = re.compile(r"-(?:20\d\d-\d\d-\d\d|20\d{6})\Z")


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens.

    Attributes:
        input: Tokens sent.
        output: Tokens received.
        cached: Tokens sent that the vendor had in its cache, ``None`` when not known.
        above: Input tokens of a call from which on ``long`` is its price.
        long: That price, ``None`` when it never changes.
        call: US dollars for each call, whatever its length.
    """

    input: float
    output: float
    cached: float | None = None
    above: int = 0
    long: Price | None = None
    call: float = 0.0

    def cost(self, input_tokens: int, output_tokens: int, cached_tokens: int = 0) -> float:
        """Return what a call costs; tokens out of the cache cost the full price if none is known.

        Args:
            input_tokens: All that were sent.
            output_tokens: All that were received.
            cached_tokens: Those of ``input_tokens`` that the vendor had in its cache.
        """
        price = self.long if self.long is not None and input_tokens > self.above else self
        cached = price.input if price.cached is None else price.cached
        sent = (input_tokens - cached_tokens) * price.input + cached_tokens * cached
        return price.call + (sent + output_tokens * price.output) / _MILLION


def price_of(model: str) -> Price | None:
    """Return the price of ``provider/model``, ``None`` when it is not known.

    A date at the end of the name is passed over: ``gpt-4o-2024-11-20`` costs what ``gpt-4o`` does.
    Models that run in this process cost nothing.
    """
    if model.startswith(LOCAL):
        return Price(0.0, 0.0)
    known = _table()
    return known.get(model) or known.get(_DATED.sub("", model))


def priced(usage: Usage) -> Usage:
    """Return the usage with its cost, unless it has one or nobody knows it.

    An estimate of no tokens at all says that nobody knows whether it was billed.
    """
    if usage.cost_usd is not None:
        return usage
    price = price_of(usage.model)
    is_unknown = usage.estimated and not (usage.input_tokens or usage.output_tokens)
    if price is None or is_unknown:
        return usage
    cost = price.cost(usage.input_tokens, usage.output_tokens, usage.cached_tokens)
    return replace(usage, cost_usd=cost)


@cache
def _table() -> Mapping[str, Price]:
    text = Path(__file__).with_name("prices.toml").read_text(encoding="utf-8")
    return {
        f"{provider}/{model}": _price(row)
        for provider, rows in tomllib.loads(text).items()
        for model, row in rows.items()
    }


def _price(row: Mapping[str, Any]) -> Price:
    long = row.get("long")
    return Price(
        input=row["input"],
        output=row["output"],
        cached=row.get("cached"),
        above=long["above"] if long else 0,
        long=_price(long) if long else None,
        call=row.get("call", 0.0),
    )
