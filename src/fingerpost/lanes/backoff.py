"""How long to wait before the same provider is asked again."""

from __future__ import annotations

from typing import Final

_BASE_S: Final = 0.5
_CAP_S: Final = 8.0
_LONGEST_HELD_S: Final = 10.0
_SHARE_HELD: Final = 0.25


def jittered(n_earlier: int, draw: float) -> float:
    """Return seconds between 0 and 0.5, doubling with each earlier wait up to 8.

    Spread over the whole span ("full jitter"), so that callers who failed together do not come
    back together.

    Args:
        n_earlier: Waits of this request before this one, >= 0.
        draw: Random, 0 to 1.
    """
    return draw * float(min(_CAP_S, _BASE_S * 2.0 ** min(n_earlier, 16)))


def is_short(retry_after_s: float, left_s: float) -> bool:
    """Return whether a wait that a provider asked for is worth holding the caller for.

    Args:
        retry_after_s: What the provider asked for.
        left_s: Seconds to the deadline, ``inf`` without one.
    """
    return retry_after_s <= min(_LONGEST_HELD_S, _SHARE_HELD * left_s)
