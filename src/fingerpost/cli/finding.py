"""What the doctor found out about one thing."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at.

    Attributes:
        name: What.
        status: ``ok``, ``note``, ``not-called``, ``warning`` or ``failure``.
        detail: What was found, and what to do.
    """

    name: str
    status: str
    detail: str


def counted(number: int, noun: str) -> str:
    """Return ``1 document`` or ``1,200 documents``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
