"""What is measured about a claim and one source, by name."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from fingerpost.lanes.base import EmbeddingModel
from fingerpost.types.document import Span
from fingerpost.verify.align import Alignment, align, content, weight
from fingerpost.verify.comparatives import Comparison as Order
from fingerpost.verify.comparatives import agreement, comparison, sequence
from fingerpost.verify.compare import Comparison, Finding, compare
from fingerpost.verify.evidence import Reading, SourceSentences, keys
from fingerpost.verify.lexicon import lexicon
from fingerpost.verify.names import Mention, abbreviated, rivals, stands_in
from fingerpost.verify.negation import denied, exchanged, polarity
from fingerpost.verify.possession import thing_missing
from fingerpost.verify.quantifiers import excludes, narrows, overclaims, turned_round
from fingerpost.verify.rates import rates
from fingerpost.verify.roles import misplaced
from fingerpost.verify.swap import replaced, swapped
from fingerpost.verify.words import Word, fold, words

LEXICAL_FEATURES = (
    "coverage", "coverage_squared", "coverage_window", "coverage_words", "coverage_source",
    "coverage_rare",
    "order", "adjacent", "extra", "names_missing", "names_elsewhere", "numbers_same",
    "numbers_differ", "numbers_other", "numbers_missing", "identifiers_missing",
    "identifiers_rival", "negation_flip", "negation_any", "opposed", "overclaim",
    "swapped", "replaced", "misplaced", "comparison",
    "claim_length", "source_length", "full",
)  # fmt: skip
EMBEDDING_FEATURES = ("cosine", "cosine_window", "cosine_coverage", "cosine_extra")
_CANDIDATES = 4
# A sentence that shares less than this part of what the best one shares is not aligned.
_PROMISING = 0.7
_FULL = 0.97
_PLACED = re.compile(r"\b(?:in|nach|aus|von|bei|durch)\s$")
_QUANTITY_WEIGHT = 1.2
_NEAR = 2
_NEAR_CHARS = 40
_SURE_SENTENCE = 0.6
_NUMBER_FEATURES = {
    "same": "numbers_same",
    "differs": "numbers_differ",
    "other": "numbers_other",
    "missing": "numbers_missing",
}


@dataclass(slots=True)
class Evidence:
    """The best passage of one source for a claim and all that was measured about the two.

    Attributes:
        focus: The sentence that decides, in the source's text; ``None`` when no word is shared.
        window: Up to three sentences around it.
        candidates: Texts worth embedding: best sentences, then the window.
        values: Feature name → value.
        reasons: Named findings for people.
        flags: Hard findings: ``number``, ``negation``, ``opposite``, ``identifier``, ``name``, …
    """

    focus: Span | None
    window: Span | None
    candidates: tuple[str, ...]
    values: dict[str, float]
    reasons: list[str] = field(default_factory=list)
    flags: set[str] = field(default_factory=set)


def measure(claim: Reading, source: SourceSentences) -> Evidence:
    """Return the lexical features of the claim and the best passage of the source."""
    wanted = keys(claim.words)
    ranked = source.rank(wanted, _CANDIDATES)
    values = dict.fromkeys(LEXICAL_FEATURES, 0.0)
    values["claim_length"] = math.log1p(len(claim.content)) / 3
    values["source_length"] = math.log1p(len(source.spans)) / 4
    if not ranked:
        values["names_missing"] = float(bool(claim.names))
        return Evidence(None, None, (), values)
    least = _PROMISING * ranked[0][1]
    held = [_Held(claim, source.reading(n, n)) for n, share in ranked if share >= least]
    best = max(range(len(held)), key=lambda at: (held[at].coverage, ranked[at][1], -at))
    focus = ranked[best][0]
    first, last = source.window(wanted, focus)
    around = source.reading(first, last)
    alone = held[best]
    wide = alone if first == last else _Held(claim, around)
    found = Evidence(
        source.spans[focus], source.passage(first, last).span,
        (*(source.passage(n, n).text for n, _ in ranked), around.text), values,
    )  # fmt: skip
    values["coverage_rare"] = ranked[best][1]
    values["coverage_source"] = source.coverage(wanted)
    _alignment(values, alone, wide)
    _numbers(found, claim.text, alone, wide, source)
    _rates(found, claim.text, alone.reading.text)
    _names(found, claim, around, source)
    _identifiers(found, claim, around, source)
    if thing := thing_missing(claim.text, wide.alignment.missing):
        found.flags.add("thing_missing")
        found.reasons.append(f"{thing} not in the source's passage")
    _polarity(found, claim, alone.reading, alone.alignment)
    _places(found, claim, alone.reading, alone.alignment)
    return found


class _Held:
    """A claim held against one passage: its words aligned, its quantities compared."""

    def __init__(self, claim: Reading, reading: Reading) -> None:
        self.reading = reading
        self.alignment: Alignment = align(claim.content, reading.content)
        self.comparison: Comparison = compare(claim.quantities, reading.quantities)
        asked = len(self.comparison.findings) * _QUANTITY_WEIGHT
        borne = self.comparison.count("same") * _QUANTITY_WEIGHT
        told = sum(weight(word) for word in claim.content)
        whole = told + asked
        self.coverage = (self.alignment.coverage * told + borne) / whole if whole else 0.0


def _alignment(values: dict[str, float], alone: _Held, wide: _Held) -> None:
    values["coverage"] = alone.coverage
    values["coverage_squared"] = alone.coverage**2
    values["coverage_window"] = wide.coverage
    values["coverage_words"] = wide.alignment.coverage
    values["full"] = float(wide.coverage >= _FULL)
    values["order"] = wide.alignment.order
    values["adjacent"] = wide.alignment.adjacent
    total = len(alone.alignment.extra) + len(alone.alignment.pairs)
    values["extra"] = len(alone.alignment.extra) / total if total else 0.0


def _numbers(
    found: Evidence, claim: str, alone: _Held, wide: _Held, source: SourceSentences
) -> None:
    sure = alone.alignment.coverage >= _SURE_SENTENCE
    for near, far in zip(alone.comparison.findings, wide.comparison.findings, strict=True):
        finding = near if near.relation == "same" or (near.relation == "differs" and sure) else far
        found.values[_NUMBER_FEATURES[finding.relation]] = 1.0
        kind, text = finding.claim.kind, finding.claim.text
        alike = finding.relation == "other" and alone.alignment.coverage >= _FULL
        if finding.relation == "differs" and _is_denied(finding, claim):
            found.flags.add("number_missing")
            found.reasons.append(f"{kind} {text} is denied, not in the source's sentence")
        elif finding.evidence is not None and (finding.relation == "differs" or alike):
            found.flags.add("number")
            found.reasons.append(f"{kind} {text} ≠ {finding.evidence.text}")
        elif finding.relation != "same":
            if not stands_in(text, source.text):
                found.flags.add("number_missing")
            found.reasons.append(f"{kind} {text} not in the source's sentence")


def _is_denied(finding: Finding, claim: str) -> bool:
    """Return whether the claim says *not 60 days*, which another number does not contradict."""
    return not finding.claim.bound and denied(claim, finding.claim.start)


def _rates(found: Evidence, claim: str, sentence: str) -> None:
    said, borne = rates(claim), rates(sentence)
    if said and borne and not said.keys() & borne.keys():
        found.flags.add("number")
        found.reasons.append(f"{next(iter(said.values()))} ≠ {next(iter(borne.values()))}")


def _names(found: Evidence, claim: Reading, around: Reading, source: SourceSentences) -> None:
    mentioned = _mentioned(claim)
    if not mentioned:
        return
    near = {word.text for word in around.words} | {word.stem for word in around.words}
    whole = source.folded
    missing = elsewhere = total = 0
    for mention in mentioned:
        if abbreviated(mention.text, source.text):
            total += 1
            continue
        for word in content(words(mention.text)):
            total += 1
            if word.text in near or word.stem in near:
                continue
            if word.text in whole:
                elsewhere += 1
            else:
                missing += 1
                found.reasons.append(f"name {mention.text} not in the source")
    if missing:
        found.flags.add("name_missing")
    found.values["names_missing"] = missing / max(total, 1)
    found.values["names_elsewhere"] = elsewhere / max(total, 1)


def _mentioned(claim: Reading) -> list[Mention]:
    """Return the names outside quantities; in German only those of several words."""
    spans = [(one.start, one.end) for one in claim.quantities]
    found = [
        name
        for name in claim.names
        if not any(start < name.end and name.start < end for start, end in spans)
    ]
    if not claim.nouns_are_capital:
        return found
    quantifiers = lexicon().existential | lexicon().universal
    return [
        name
        for name in found
        if fold(name.text.split()[0]) not in quantifiers
        and (" " in name.text or _PLACED.search(claim.text[: name.start]))
    ]


def _identifiers(found: Evidence, claim: Reading, around: Reading, source: SourceSentences) -> None:
    mentioned = claim.identifiers
    missing = 0
    for mention in mentioned:
        if stands_in(mention.text, around.text):
            continue
        others = rivals(mention.text, around.identifiers)
        others = [other for other in others if not stands_in(other.text, claim.text)]
        if others:
            found.flags.add("identifier")
            found.values["identifiers_rival"] = 1.0
            found.reasons.append(f"{mention.text} ≠ {others[0].text}")
        elif not stands_in(mention.text, source.text):
            missing += 1
            found.flags.add("identifier_missing")
            found.reasons.append(f"{mention.text} not in the source")
    if mentioned:
        found.values["identifiers_missing"] = missing / len(mentioned)


def _polarity(found: Evidence, claim: Reading, sentence: Reading, alone: Alignment) -> None:
    said, borne = polarity(claim.text, claim.words), polarity(sentence.text, sentence.words)
    differing = agreeing = 0.0
    for one, other, strength in alone.pairs:
        same = said.at(one.start) == borne.at(other.start)
        agreeing += strength * weight(one) * same
        differing += strength * weight(one) * (not same)
    narrow = [
        said.at(one.start) == borne.at(other.start)
        for one, other, _ in alone.pairs
        if said.at_narrow(one.start) or borne.at_narrow(other.start)
    ]
    # One shared word that is negated by chance is no contradiction.
    telling = len(alone.pairs) > 1 or alone.coverage >= _SURE_SENTENCE
    wrong = narrow.count(False) > narrow.count(True)
    negated = wrong if narrow else telling and differing > agreeing
    negated = negated and not turned_round(claim.words, sentence.words)
    against = alone.opposed()
    opposed = [
        (one, other)
        for one, other in against
        if said.at(one.start) == borne.at(other.start) and _beside(one, other, claim, alone)
    ]
    values = found.values
    compared = agreement(
        comparison(claim.text, claim.words), comparison(sentence.text, sentence.words)
    )
    if not opposed:
        opposed = exchanged(claim.words, sentence.words, said, borne)
    if opposed and agreement(_sequence(claim), _sequence(sentence)) > 0:
        opposed = []  # one before the other, the other after the one
    if compared > 0:
        opposed, negated = [], False
    values["comparison"] = float(compared)
    if compared < 0:
        found.flags.add("opposite")
        found.reasons.append("compared the other way round")
    values["negation_any"] = float(said.any != borne.any)
    values["negation_flip"] = float(negated and not against)
    values["opposed"] = float(bool(opposed))
    if values["negation_flip"]:
        found.flags.add("negation")
        found.reasons.append("negated in one, not in the other")
    if opposed and _mirrored(alone, against):
        found.flags.add("mirror")
    for one, other in opposed[:2]:
        found.flags.add("opposite")
        found.reasons.append(f"{one.text} ≠ {other.text}")


def _sequence(reading: Reading) -> Order | None:
    return sequence(reading.text, reading.words)


def _mirrored(alone: Alignment, against: Sequence[tuple[Word, Word]]) -> bool:
    """Return whether both sentences say the same but for one word and its opposite."""
    ours = {one.start for one, _ in against}
    theirs = {other.start for _, other in against}
    return (
        bool(alone.pairs)
        and len(ours) == 1
        and all(word.start in ours for word in alone.missing)
        and all(word.start in theirs for word in alone.extra)
    )


def _beside(one: Word, other: Word, claim: Reading, alone: Alignment) -> bool:
    """Return whether words around two opposites are the same: both speak of one thing."""
    at = next((n for n, word in enumerate(claim.content) if word.start == one.start), 0)
    around = {word.start for word in claim.content[max(0, at - _NEAR) : at + _NEAR + 1]}
    return any(
        abs(partner.start - other.start) <= _NEAR_CHARS
        for word, partner, _ in alone.pairs
        if word.start in around
    )


def _places(found: Evidence, claim: Reading, sentence: Reading, alone: Alignment) -> None:
    values = found.values
    exchanged = None
    if values["comparison"] <= 0 and not claim.nouns_are_capital:
        exchanged = swapped(claim.text, claim.words, sentence.words, alone)
    values["swapped"] = float(exchanged is not None)
    if exchanged:
        found.flags.add("swap")
        found.reasons.append(f"{exchanged[0].text} and {exchanged[1].text} changed places")
    wrong = misplaced(claim, sentence, alone)
    values["misplaced"] = float(wrong is not None)
    if wrong:
        found.flags.add("place")
        found.reasons.append(f"{wrong[0]} stands where the source has {wrong[1]}")
    exchanged = replaced(alone)
    values["replaced"] = float(exchanged is not None)
    if exchanged:
        found.flags.add("name")
        found.reasons.append(f"name {exchanged[0].text} ≠ {exchanged[1].text}")
    more = overclaims(claim.words, sentence.words)
    more = more or excludes(claim.words, sentence.words, alone.extra)
    values["overclaim"] = float(more)
    if values["overclaim"]:
        found.flags.add("overclaim")
        found.reasons.append("says more, or more surely, than the source")
    if narrows(claim.words, sentence.words):
        found.flags.add("opposite")
        found.reasons.append("says only some where the source says all")


def embed_candidates(
    found: Evidence, claim: str, embedder: EmbeddingModel, *, most: int | None = None
) -> int:
    """Add the embedding features; return how many texts that took.

    Nothing is embedded, and no feature added, when there is no candidate or it would take more
    than ``most`` texts.
    """
    texts = list(dict.fromkeys((claim, *found.candidates)))
    if not found.candidates or (most is not None and len(texts) > most):
        return 0
    vectors = embedder.embed(texts)
    cosine = dict(zip(texts, vectors @ vectors[0], strict=True))
    add_cosines(found, [float(cosine[text]) for text in found.candidates])
    return len(texts)


def add_cosines(found: Evidence, cosines: Sequence[float]) -> None:
    """Add the embedding features, given the claim's cosine to each candidate, in order."""
    values = found.values
    best = max(cosines, default=0.0)
    values["cosine"] = max(cosines[:-1], default=best)
    values["cosine_window"] = cosines[-1] if cosines else 0.0
    values["cosine_coverage"] = best * values["coverage_window"]
    values["cosine_extra"] = max(best - values["coverage_window"], 0.0)
