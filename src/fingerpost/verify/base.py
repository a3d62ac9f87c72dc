"""What the verifier is given."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SourceText:
    """The whole text of one source that claims are held against.

    Attributes:
        text: All of it, whatever its length.
        index: Number that markers use, from 1.
        ref: Where it is, ``path``; lines are added by the verifier.
        line_start: Line of the text's first character in the document, from 1.
    """

    text: str
    index: int
    ref: str = ""
    line_start: int = 1


@dataclass(frozen=True, slots=True)
class Entailment:
    """What an entailment hook says of (premise, hypothesis); the three sum to 1."""

    entailed: float
    neutral: float
    contradicted: float


EntailmentHook = Callable[[str, str], Entailment | Awaitable[Entailment]]
