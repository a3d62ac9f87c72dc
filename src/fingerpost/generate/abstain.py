"""When not to answer, and what to say then."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.resources import files

from fingerpost.generate.phrases import phrase
from fingerpost.generate.score import error_codes, heading_tokens
from fingerpost.generate.units import Unit, UnitKind, split_hits
from fingerpost.text.analyse import analyse, query_tokens, topic_tokens
from fingerpost.text.language import detect_language
from fingerpost.text.versions import versions_missing, versions_there, without_versions
from fingerpost.types import AbstentionReason, Answer, Evidence, GenerationMode
from fingerpost.types.document import Document

_MAX_TERMS = 12
_MAX_QUESTION = 4000
# A capital inside the sentence, an inner capital, a digit, an underscore or a dot in a word.
_NAME = re.compile(
    r"(?<=[\w,;:)\]] )[A-Z][\w.+#-]+|\b[A-Za-z]+[a-z][A-Z]\w*|\b[A-Z]{2,}\w*|\b\w+[_.][\w.]+\b"
)
# Below this share of the question's terms in the best hit, nothing matches at all.
_NO_MATCH = 0.25
# Below this cosine (or share of terms) a name that stands nowhere is not excused by the rest.
_NEAR = 0.5
# Questions of few terms, and the coverage below which the term that is missing is the topic.
_SHORT = 4
_TURNS_ON = 0.35
_VERY_NEAR = 0.65
# Cosines below which nothing of the index is about the question.
_FAR = 0.45
_VERY_FAR = 0.25
_HALF = 0.5
# A heading that makes up this share of the question, by weight, is what is asked for.
_SECTION_SHARE = 0.7


def abstain(reason: AbstentionReason, question: str, language: str = "en") -> Answer:
    """Return the answer that says, in the given language, that and why there is none.

    Args:
        reason: Chosen by the caller, or by `should_abstain`.
        question: Not repeated in the text: it may hold anything.
        language: ISO 639-1 code; English stands in for languages without a phrase.
    """
    del question
    return Answer(phrase(reason.value, language), GenerationMode.ABSTAINED, abstention=reason)


def should_abstain(question: str, evidence: Evidence) -> AbstentionReason | None:
    """Return why the evidence cannot answer the question, ``None`` when it may.

    A logistic model on how much of the question stands in the evidence and, where vectors
    were searched, how near the nearest lies; fitted by ``scripts/fit_abstain.py``. Rules stand
    beside it: a section of that very name answers; a name, or in a short question the topic,
    that stands nowhere in the index has no answer. A question of several parts may be answered
    when one of them may.
    """
    return judge(question, evidence, split_hits(evidence.hits)).reason


@dataclass(frozen=True, slots=True)
class Judgement:
    """Whether a question is answered, and which of its parts.

    Attributes:
        reason: Why it is not, ``None`` when it is.
        covered: Sub-questions that the evidence may answer; empty for a question of one part.
        answerability: How likely the evidence answers the question as a whole, 0 to 1: one half
            is where as many questions of the fit had an answer as had none. ``None`` when that
            was not asked.
    """

    reason: AbstentionReason | None
    covered: tuple[str, ...] = ()
    answerability: float | None = None


def judge(question: str, evidence: Evidence, units: Sequence[Unit]) -> Judgement:
    """Return the same as `should_abstain` with the parts; ``units`` are those of its hits.

    An overview of the whole corpus rests on no word of the question.
    """
    if evidence.overview and units:
        return Judgement(None)
    covered = tuple(part for part in evidence.sub_queries if _is_covered(part, evidence))
    whole = _judge_whole(question, evidence, units)
    # One usual word that stands somewhere ("how did it end?") is no answer to a weak whole.
    if any(len(topic_tokens(part)) > 1 or _names_section(part, evidence) for part in covered):
        return Judgement(None, covered)
    return replace(whole, covered=covered)


def _is_covered(part: str, evidence: Evidence) -> bool:
    if part in evidence.uncovered:
        return False
    own = _of_part(part, evidence)
    return _judge_whole(part, own, split_hits(own.hits)).reason is None


def _of_part(part: str, evidence: Evidence) -> Evidence:
    """Return what speaks for a part: no hit of another part, whose cosine is to that one."""
    return Evidence(
        hits=tuple(hit for hit in evidence.hits if hit.sub_query in {"", part}),
        unknown_terms=evidence.unknown_terms,
    )


def _judge_whole(question: str, evidence: Evidence, units: Sequence[Unit]) -> Judgement:
    """Return whether the evidence answers a question, or a part, taken as one."""
    if not evidence.hits:
        return Judgement(AbstentionReason.NO_DOCUMENT_MATCHES)
    too_weak = Judgement(AbstentionReason.EVIDENCE_TOO_WEAK)
    if not units:
        return too_weak
    pages = [hit.document for hit in evidence.hits]
    if _lacks_version(question, pages, units):
        return too_weak
    question = without_versions(question, versions_there(question, pages))
    if _names_section(question, evidence):
        return Judgement(None)
    language = detect_language(question)
    values = support(question, evidence, units)
    near = values.get("vector", values["best"])
    if near < _NEAR and _names_unknown(question, evidence, language):
        return too_weak
    model = _model("vector" in values, language)
    score = model["bias"] + sum(model[name] * value for name, value in values.items())
    likely = 1 / (1 + math.exp(-score))
    lacking = language == "en" and _lacks_topic(question, evidence, units, values)
    if score >= model["threshold"] and not lacking:
        return Judgement(None, answerability=likely)
    nothing = values["best"] < _NO_MATCH
    reason = AbstentionReason.NO_DOCUMENT_MATCHES if nothing else AbstentionReason.EVIDENCE_TOO_WEAK
    return Judgement(reason, answerability=likely)


def _lacks_version(question: str, pages: Sequence[Document], units: Sequence[Unit]) -> bool:
    """Return whether a version is asked for that no page is of and no text speaks of."""
    missing = versions_missing(question, pages)
    told = {token for unit in units for token in unit.tokens} if missing else set()
    return any(not told.issuperset(analyse(one.version)) for one in missing)


def _names_unknown(question: str, evidence: Evidence, language: str) -> bool:
    """Return whether the question is about a name that stands nowhere in the index.

    Only in English, where a capital inside a sentence marks a name, and only when not every
    word has one.
    """
    words = question[:_MAX_QUESTION].split()
    capitals = sum(word[:1].isupper() for word in words)
    if language != "en" or not evidence.unknown_terms or 2 * capitals > len(words):
        return False
    return any(name <= evidence.unknown_terms for name in _name_tokens(question))


def _name_tokens(question: str) -> list[frozenset[str]]:
    """Return the tokens of each name and identifier of the question, none of them empty."""
    names = _NAME.findall(question[:_MAX_QUESTION])
    return [tokens for name in names if (tokens := frozenset(analyse(name)))]


def _lacks_topic(
    question: str, evidence: Evidence, units: Sequence[Unit], values: Mapping[str, float]
) -> bool:
    """Return whether what a question turns on stands nowhere, or only inside code far from it.

    In a short question a word that the index lacks, and that outweighs all the rest or is all
    that it says, is what it is about; so is a compound name of which only parts are known when
    nothing is near.
    """
    terms = query_tokens(question)
    near = values.get("vector", 0.0)
    if evidence.unknown_terms:
        short = len(terms) <= _SHORT and near < _VERY_NEAR
        topic = topic_tokens(question).keys()
        is_unknown = bool(topic) and topic <= evidence.unknown_terms
        if short and (is_unknown or 0 < evidence.coverage < _TURNS_ON):
            return True
        if "vector" in values and near < _FAR:
            return any(name & evidence.unknown_terms for name in _name_tokens(question))
    if "vector" not in values or near >= _VERY_FAR:
        return False
    prose = [set(heading_tokens(hit)) for hit in evidence.hits]
    prose += [set(unit.tokens) for unit in units if unit.kind is not UnitKind.CODE]
    return _share(terms, set().union(*prose)) <= _HALF


def _names_section(question: str, evidence: Evidence) -> bool:
    """Return whether the question is little more than the heading of a section that was found.

    "What does ECONNREFUSED mean?" asks for the section ECONNREFUSED, whose text need not say
    one word of the question; so does whatever names the error code that a heading consists of.
    """
    terms = query_tokens(question)
    codes = [set(analyse(code)) for code in error_codes(question) if not code.isdigit()]
    needed = _SECTION_SHARE * sum(terms.values())
    for hit in evidence.hits:
        own = set(analyse(hit.chunk.heading_path[-1])) if hit.chunk.heading_path else set()
        if own and own <= terms.keys() and sum(terms[token] for token in own) >= needed:
            return True
        if own and own in codes:
            return True
    return False


def support(question: str, evidence: Evidence, units: Sequence[Unit]) -> dict[str, float]:
    """Return how much speaks for the evidence; shares of the question's terms, 0 to 1.

    ``coverage`` weighs them by rarity in the corpus, ``best`` is the share in the best hit,
    ``pooled`` in all hits, ``unit`` in the best single unit; ``names`` is the share of the
    names and identifiers that stand in any hit, 1 without any; ``length`` is the number of
    terms by 12, at most 1; ``vector`` the best cosine, left out when none is known.
    """
    terms = query_tokens(question)
    above = [set(heading_tokens(hit)) for hit in evidence.hits]
    unit = 0.0
    for item in units:
        above[item.hit].update(item.tokens)
        unit = max(unit, _share(terms, frozenset(item.tokens)))
    everywhere = frozenset().union(*above)
    pooled = _share(terms, everywhere)
    known = [bool(everywhere & name) for name in _name_tokens(question)]
    values = {
        "coverage": evidence.coverage or pooled,
        "best": max(_share(terms, tokens) for tokens in above),
        "pooled": pooled,
        "unit": unit,
        "names": sum(known) / len(known) if known else 1.0,
        "length": min(len(terms), _MAX_TERMS) / _MAX_TERMS,
    }
    cosines = [hit.vector_score for hit in evidence.hits if hit.vector_score is not None]
    if cosines:
        values["vector"] = max(cosines)
    return values


def _share(terms: Mapping[str, float], tokens: frozenset[str] | set[str]) -> float:
    total = sum(terms.values())
    return sum(map(terms.__getitem__, terms.keys() & tokens)) / total if total else 0.0


def _model(has_vectors: bool, language: str) -> Mapping[str, float]:  # noqa: FBT001 - private
    """Return weights, bias and threshold; the local embedder knows English best."""
    spoken = "english" if language in {"en", "und"} else "other"
    return _models()[f"{'vectors' if has_vectors else 'words'}-{spoken}"]


@lru_cache(maxsize=1)
def _models() -> Mapping[str, Mapping[str, float]]:
    raw = files("fingerpost.generate").joinpath("abstain.json").read_text("utf-8")
    return json.loads(raw)["models"]  # type: ignore[no-any-return]
