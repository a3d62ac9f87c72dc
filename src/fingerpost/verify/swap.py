"""Names that changed places or were replaced: nearly the same words, another meaning."""

from __future__ import annotations

from collections import Counter

from fingerpost.text.language import detect_language
from fingerpost.verify.align import Alignment
from fingerpost.verify.lexicon import lexicon
from fingerpost.verify.words import Word

_JOINING = frozenset(("and", "or", "und", "oder", "et", "ou", "y", "e", "o", "as", "well"))
_SYMMETRIC = frozenset(
    [
        "meet",
        "meets",
        "met",
        "marry",
        "marries",
        "married",
        "equal",
        "equals",
        "differ",
        "differs",
        "join",
        "joined",
        "versus",
        "vs",
        "together",
        "same",
        "similar",
        "both",
        "between",
        "heiratet",
        "traf",
        "gleich",
        "rencontre",
        "epouse",
        "igual",
    ]
)
# Where word order alone tells who does what to whom.
_FIXED_ORDER = frozenset(("en", "fr", "es", "it", "pt", "und"))
_TITLES = frozenset(("mr", "mrs", "ms", "miss", "dr", "sir", "herr", "frau", "mme", "sr", "sra"))
_TO = frozenset(("to", "into", "onto", "vers", "hacia", "naar"))
_LEAST_BETWEEN = 1
_FULL = 0.97


def swapped(
    text: str, claim: list[Word], evidence: list[Word], alignment: Alignment
) -> tuple[Word, Word] | None:
    """Return two content words of the claim that changed places in the evidence.

    Only when the evidence has all the claim's words, function words too, and nothing but two
    of the content words stand in another order: a passive or a list in another order is none.
    """
    if alignment.coverage < _FULL or len(alignment.pairs) < 3:  # noqa: PLR2004 - two and what is between
        return None
    if Counter(word.text for word in claim) - Counter(word.text for word in evidence):
        return None
    if any(word.text in _SYMMETRIC for word in claim):
        return None
    pairs = [pair for pair in alignment.pairs if pair[0].text not in _TITLES]
    wanted = sorted(other.start for _, other, _ in pairs)
    found = [other.start for _, other, _ in pairs]
    moved = [at for at, (one, other) in enumerate(zip(wanted, found, strict=True)) if one != other]
    if len(moved) != 2:  # noqa: PLR2004 - a pair
        return None
    one, other = pairs[moved[0]][0], pairs[moved[1]][0]
    if moved[1] - moved[0] <= _LEAST_BETWEEN:
        turned = _directed(one, other, claim)
        turned = turned and _directed(pairs[moved[1]][1], pairs[moved[0]][1], evidence)
        return (one, other) if turned else None
    between = [word.text for word in claim if one.start < word.start < other.start]
    n_content = moved[1] - moved[0] - 1
    if n_content < 2 and any(word in _JOINING for word in between):  # noqa: PLR2004 - a list of three
        return None
    return (one, other) if detect_language(text) in _FIXED_ORDER else None


def _directed(one: Word, other: Word, parts: list[Word]) -> bool:
    """Return whether nothing but a *to* stands between the two: *JSON to YAML*."""
    between = [word.text for word in parts if one.end <= word.start < other.start]
    return len(between) == 1 and between[0] in _TO


def replaced(alignment: Alignment) -> tuple[Word, Word] | None:
    """Return (claim's name, evidence's name) when a name is all that the two sentences differ in.

    Every other content word of the claim stands in the evidence, and the evidence has a
    capitalised word of its own between the same neighbours or at the same end.
    """
    if not alignment.missing or len(alignment.pairs) < 2:  # noqa: PLR2004 - not by chance
        return None
    if not all(_may_be_name(word) for word in alignment.missing):
        return None
    partner = {one.start: other for one, other, _ in alignment.pairs}
    extra = {word.start: word for word in alignment.extra}
    content = sorted([*(one for one, _, _ in alignment.pairs), *alignment.missing], key=_start)
    borne = sorted([*(other for _, other, _ in alignment.pairs), *alignment.extra], key=_start)
    for at, word in enumerate(content):
        if word.start in partner:
            continue
        before = partner.get(content[at - 1].start) if at else None
        after = partner.get(content[at + 1].start) if at + 1 < len(content) else None
        for place, rival in enumerate(borne):
            if rival.start not in extra or not _may_be_name(rival) or rival.text[0] == word.text[0]:
                continue
            left = borne[place - 1] if place else None
            right = borne[place + 1] if place + 1 < len(borne) else None
            same = left == before and right == after
            beside = word.start == 0 and before is None and after is not None and left == after
            if (same and (before or after)) or beside:
                return word, rival
    return None


def _may_be_name(word: Word) -> bool:
    table = lexicon()
    return word.capital and word.text not in table.existential | table.universal


def _start(word: Word) -> int:
    return word.start
