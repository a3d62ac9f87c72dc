"""Provider texts without keys in them."""

from __future__ import annotations

import base64
import re
from typing import Final
from urllib.parse import quote

from fingerpost.config.secrets import MASK, Secret

__all__ = ["Scrubber"]

_SHOWN: Final = 200
_LOOKED_AT: Final = 4096
_PREFIX: Final = 8
_LEAST_KEY: Final = 4
_KEY_SHAPED: Final = re.compile(
    r"(?i:bearer)\s+\S+"
    r"|\b(?:sk|pk|rk|gsk|xai|tgp|key|hf)[-_][A-Za-z0-9*_-]{6,}"
    r"|\b(?:github_pat|gh[a-z]|glpat|glptt|xox[a-z])[-_][A-Za-z0-9_.-]{10,}"
    r"|\bAIza[A-Za-z0-9_-]{10,}"
    r"|\b(?:AKIA|ASIA)[A-Z0-9]{12,}"
    # Cut off before its end, a key of PEM is still a key.
    r"|-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----(?s:.*?)(?:-----END [A-Z0-9 ]*PRIVATE KEY-----|\Z)"
    r"|(?<=://)[^\s/?#@:]*:[^\s/?#@]+(?=@)"
    # Of 40 characters with a slash or a plus among them, as secrets of AWS have: a path has
    # neither a plus nor, so long, both cases and digits in one piece.
    r"|(?<![A-Za-z0-9/+])(?=[a-z0-9/+]*[A-Z])(?=[A-Za-z/+]*[0-9])(?=[A-Z0-9/+]*[a-z])"
    r"[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+])"
    r"|(?<![A-Za-z0-9_-])(?=[A-Za-z_-]*[0-9])[A-Za-z0-9_-]{32,}"
)


class Scrubber:
    """Takes a key out of texts that come from outside, in each form that it may have there.

    Args:
        key: The key that was sent; ``None`` leaves only what looks like some key.
    """

    def __init__(self, key: Secret | None) -> None:
        self._known = _forms(key) if key else None

    def without_key(self, text: str) -> str:
        """Return ``text`` with the key shown as ``***``."""
        return text if self._known is None else self._known.sub(MASK, text)

    def masked(self, text: str) -> str:
        """Return ``text`` with the key, and whatever else looks like one, shown as ``***``."""
        return _KEY_SHAPED.sub(MASK, self.without_key(text))

    def clean(self, text: str) -> str:
        """Return the first 200 characters of ``text`` on one line, keys shown as ``***``.

        Takes out whatever looks like a key, too.
        """
        text = self.masked(text[:_LOOKED_AT])
        line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
        return line if len(line) <= _SHOWN else line[: _SHOWN - 1] + "…"


def _forms(key: Secret) -> re.Pattern[str] | None:
    """Return what finds a key as it is, URL-encoded, in base64 at any offset, or its beginning."""
    value = key.reveal()
    if len(value) < _LEAST_KEY:
        return None
    forms = {value, quote(value, safe="")}
    raw = value.encode("utf-8", "replace")
    for offset in range(3):
        # Only the characters that depend on nothing before or after the key.
        whole = base64.b64encode(b"\0" * offset + raw).decode().rstrip("=")
        inner = whole[(0, 2, 3)[offset] : -1]
        if len(inner) >= _PREFIX:
            forms |= {inner, inner.replace("+", "-").replace("/", "_")}
    if len(value) > _PREFIX:
        forms.add(value[:_PREFIX])
    longest_first = sorted(forms, key=len, reverse=True)
    return re.compile("|".join(re.escape(form) for form in longest_first))
