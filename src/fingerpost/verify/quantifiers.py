"""How much a sentence claims: all, some or none of something, and how surely."""

from __future__ import annotations

from collections.abc import Sequence

from fingerpost.verify.lexicon import lexicon
from fingerpost.verify.quantity_words import quantity_words
from fingerpost.verify.words import Word

_SMALL = frozenset(
    ("a", "an", "one", "if", "when", "ein", "eine", "un", "une", "una", "wenn", "si")
)
_NUMBER_WITHIN = 3
_LEAST = frozenset(("at", "the"))
_ONLY = frozenset(
    ("only", "solely", "exclusively", "nur", "lediglich", "ausschliesslich", "seulement",
     "uniquement", "exclusivement", "solo", "solamente", "unicamente", "exclusivamente")
)  # fmt: skip
# Words that leave others out in ways of their own.
_LEAVES_OUT = frozenset(
    ("alone", "just", "restricted", "limited", "reserved", "unless", "sole", "single", "allein",
     "beschrankt", "vorbehalten", "bloss", "einzig", "seul", "seule", "seuls", "limite", "reserve",
     "ne", "limitado", "reservado", "unico", "unica")
)  # fmt: skip
_MODALS = frozenset(
    ("may", "might", "can", "could", "kann", "konnte", "peut", "puede", "often", "sometimes",
     "usually", "generally", "probably", "possibly", "partly", "partially", "veces")
)  # fmt: skip


def overclaims(claim: Sequence[Word], evidence: Sequence[Word]) -> bool:
    """Return whether the claim says all or surely where the evidence says some, only or may."""
    table = lexicon()
    said, borne = _quantifiers(claim), _quantifiers(evidence)
    whole = said & table.universal - _ONLY
    if whole and not borne & (table.universal | table.every) and borne & table.existential:
        return True
    some = borne & table.existential - _MODALS
    if said & table.every and some and not borne & table.every:
        return True
    if said & table.every and borne & table.exceptions and not said & table.exceptions:
        return True
    if said & table.every and borne & _ONLY and not said & _ONLY:
        return True
    return bool(said & table.certain) and bool(borne & table.hedges) and not said & table.hedges


def excludes(claim: Sequence[Word], evidence: Sequence[Word], extra: Sequence[Word]) -> bool:
    """Return whether *only* stands on one side and the other does not bear it out.

    The claim says that something holds of one thing alone, which the evidence does not say; or
    the evidence says so of a thing that the claim does not name.
    """
    table = lexicon()
    said, borne = _quantifiers(claim), _quantifiers(evidence)
    leaving = _ONLY | _LEAVES_OUT | table.exceptions | table.negations
    ours = _only_of(claim)
    if ours is not None and not borne & leaving:
        return True
    theirs = _only_of(evidence)
    opens = bool(evidence) and evidence[0].text in _ONLY
    return opens and theirs is not None and not said & leaving and theirs in extra


def turned_round(claim: Sequence[Word], evidence: Sequence[Word]) -> bool:
    """Return whether one says *only* what the other says by an exception: *except X, none*."""
    exceptions = lexicon().exceptions
    said, borne = _quantifiers(claim), _quantifiers(evidence)
    ours = said & _ONLY and borne & exceptions and not said & exceptions
    theirs = borne & _ONLY and said & exceptions and not borne & exceptions
    return bool(ours or theirs)


def _only_of(parts: Sequence[Word]) -> Word | None:
    """Return the content word after an *only*; none where that is a number or *not only*."""
    table = lexicon()
    for at, word in enumerate(parts):
        if word.text not in _ONLY or (at and parts[at - 1].text in table.negations):
            continue
        following = parts[at + 1 : at + 1 + _NUMBER_WITHIN]
        if not following or following[0].text in _SMALL or any(map(_is_number, following)):
            continue
        content = (one for one in parts[at + 1 :] if one.text not in table.stops)
        return next(content, None)
    return None


def _is_number(word: Word) -> bool:
    return word.text[0].isdigit() or word.text in quantity_words().cardinals


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
