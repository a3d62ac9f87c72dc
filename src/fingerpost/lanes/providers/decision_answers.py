"""Answers of decision models as APIs tell them, whatever is in them. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from fingerpost.lanes.providers.fields import as_count, as_mapping, as_text
from fingerpost.types.question import AnswerStatus, Choice, DecisionAnswer, Question, Score, YesNo

__all__ = ["UnfitError", "name_of", "read_answer", "read_usage"]

_KINDS: Final = {YesNo: "noul", Choice: "choice", Score: "score"}
_KNOWN: Final = frozenset(
    {"type", "name", "noul", "probability", "choice", "score", "legend", "probabilities"}
    | {"confidence", "unknown_probability", "abstain", "abstained"}
)
_MOST_EXTRAS: Final = 32
_MOST_ITEMS: Final = 64
_MOST_CHARACTERS: Final = 1000
_DEEPEST: Final = 6
_LARGEST: Final = 2**63
_MOST_USD: Final = 1_000.0


class UnfitError(Exception):
    """Answers that do not fit the questions; says how."""


def name_of(place: int) -> str:
    """Return what the question at ``place`` is called on the wire."""
    return f"q{place}"


def read_answer(question: Question, told: object) -> DecisionAnswer:
    """Return the answer in a System One object; its numbers have not been checked.

    Fields that are no part of the format go to ``extras``, long and deep ones cut.

    Raises:
        UnfitError: There is none, or it is of another type than the question.
    """
    said = as_mapping(told)
    kind = said.get("type")
    if kind == "refusal":
        return DecisionAnswer(question.id, AnswerStatus.REFUSED, extras=_extras(said))
    if not said or kind not in (None, _KINDS[type(question)]):
        raise UnfitError(f"gave no answer of its type to {question.id!r}")
    abstained = said.get("abstained") is True or said.get("abstain") is True
    probabilities = _probabilities(question, said)
    return DecisionAnswer(
        question.id,
        AnswerStatus.ABSTAINED if abstained else AnswerStatus.ANSWERED,
        probabilities,
        label=_label(question, said),
        value=_number(question, said, "score") if isinstance(question, Score) else None,
        provider_confidence=_within(said.get("confidence"), 1),
        unknown_probability=_unknown(question, said),
        extras=_extras(said),
    )


def read_usage(data: Mapping[str, Any]) -> tuple[int | None, int | None, float | None]:
    """Return tokens in and out and US dollars, each ``None`` when it is not told."""
    usage = as_mapping(data.get("usage"))
    counts = (
        as_count(usage.get(name, usage.get(f"total_{name}")))
        for name in ("input_tokens", "output_tokens")
    )
    n_in, n_out = counts
    return n_in, n_out, _within(usage.get("cost"), _MOST_USD)


def _probabilities(question: Question, said: Mapping[str, Any]) -> Mapping[str, float]:
    if isinstance(question, YesNo):
        name = "noul" if "noul" in said else "probability"
        yes = _number(question, said, name)
        if yes is None:
            return {}
        if not 0 <= yes <= 1:
            raise UnfitError(f"gave a probability outside 0 to 1 for {question.id!r}")
        return {"yes": yes, "no": 1 - yes}
    told = said.get("probabilities")
    if told is not None and not isinstance(told, dict):
        raise UnfitError(f"gave no map of probabilities for {question.id!r}")
    return told or {}


def _label(question: Question, said: Mapping[str, Any]) -> str:
    label = said.get("choice") if isinstance(question, Choice) else None
    if label is not None and not isinstance(label, str):
        raise UnfitError(f"chose no option of {question.id!r}")
    return label or ""


def _number(question: Question, said: Mapping[str, Any], name: str) -> float | None:
    value = said.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UnfitError(f"gave no number for {question.id!r}")
    return value


def _unknown(question: Question, said: Mapping[str, Any]) -> float | None:
    value = said.get("unknown_probability")
    share = _within(value, 1)
    if value is not None and share is None:
        raise UnfitError(f"gave a probability outside 0 to 1 for {question.id!r}")
    return share


def _within(value: object, most: float) -> float | None:
    """Return a number from 0 to ``most``, ``None`` for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= most else None


def _extras(said: Mapping[str, Any]) -> Mapping[str, object]:
    names = [name for name in said if name not in _KNOWN][:_MOST_EXTRAS]
    return {as_text(name)[:_MOST_CHARACTERS]: _bounded(said[name], _DEEPEST) for name in names}


def _bounded(value: object, depth: int) -> object:
    """Return a JSON value within bounds; ``None`` for what nests deeper or is no finite number."""
    if isinstance(value, str):
        return as_text(value)[:_MOST_CHARACTERS]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, int):
        return value if -_LARGEST <= value < _LARGEST else None
    if depth == 0:
        return None
    if isinstance(value, list):
        return [_bounded(item, depth - 1) for item in value[:_MOST_ITEMS]]
    if isinstance(value, dict):
        items = list(value.items())[:_MOST_ITEMS]
        return {as_text(k)[:_MOST_CHARACTERS]: _bounded(v, depth - 1) for k, v in items}
    return None
