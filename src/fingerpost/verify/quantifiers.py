"""How much a sentence claims: all, some or none of something, and how surely."""

from __future__ import annotations

from collections.abc import Sequence

from fingerpost.verify.lexicon import lexicon
from fingerpost.verify.words import Word

_LEAST = frozenset(("at", "the"))
_ONLY = frozenset(("only", "nur", "seulement", "solo", "uniquement", "solamente"))


def overclaims(claim: Sequence[Word], evidence: Sequence[Word]) -> bool:
    """Return whether the claim says all or surely where the evidence says some, only or may."""
    table = lexicon()
    said, borne = _quantifiers(claim), _quantifiers(evidence)
    whole = said & table.universal - _ONLY
    if whole and not borne & (table.universal | table.every) and borne & table.existential:
        return True
    if said & table.every and borne & _ONLY and not said & _ONLY:
        return True
    return bool(said & table.certain) and bool(borne & table.hedges) and not said & table.hedges


def narrows(claim: Sequence[Word], evidence: Sequence[Word]) -> bool:
    """Return whether the claim says *only some* where the evidence says *all*."""
    table = lexicon()
    said, borne = _quantifiers(claim), _quantifiers(evidence)
    some = bool(said & _ONLY) and bool(said & table.existential)
    return some and bool(borne & table.every) and not borne & table.existential


def _quantifiers(parts: Sequence[Word]) -> set[str]:
    """Return the folded words; *at most*, *at least* and *the most* are bounds, no quantifiers."""
    found = set()
    for at, word in enumerate(parts):
        if not (word.text == "most" and at and parts[at - 1].text in _LEAST):
            found.add(word.text)
    return found
