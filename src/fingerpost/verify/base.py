"""What the verifier is given: sources, and judges of claims."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol


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
    """What a judge says of a claim and a passage; the three sum to 1."""

    entailed: float
    neutral: float
    contradicted: float


EntailmentHook = Callable[[str, str], Entailment | Awaitable[Entailment]]


class ClaimPair(NamedTuple):
    """A claim and the passage of a source that may decide it: one to three sentences."""

    claim: str
    passage: str


class ClaimJudge(Protocol):
    """Has the last word on claims that are no verbatim quotes: a model, asked for many at once.

    Attributes:
        name: Stands in ``method`` and in the name of a fallback: ``nli``, ``chat``.
    """

    @property
    def name(self) -> str: ...

    async def judge(
        self, pairs: Sequence[ClaimPair], *, deadline: float | None = None
    ) -> Sequence[Entailment | None]:
        """Return one opinion per pair, in order; ``None`` where it has none.

        Args:
            pairs: At least one.
            deadline: When it must have answered, by ``time.monotonic``.

        Raises:
            FingerpostError: It has none at all.
        """
        ...
