"""Answers of a decision model, and how each API tells them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from fingerpost.lanes.asked import confidence_of, labels_of
from fingerpost.testing.provider.answer import Received
from fingerpost.types.question import AnswerStatus, Choice, Question, Score, YesNo

__all__ = ["Decided", "Said", "api_of", "distribution", "questions_of", "whole_decision"]

Said: TypeAlias = float | str | Mapping[str, float] | Sequence[float] | AnswerStatus
"""One answer: the probability of yes; an option, or some options with their probabilities; the
probability of each level; or that it was refused or abstained from."""

_ANSWERS: Final = (
    "give the probability of yes, an option, options with their probabilities, the probability "
    "of each level, or an AnswerStatus"
)
_SURE: Final = 0.9
_UNKNOWN: Final = 0.6
_KINDS: Final = {"noul": YesNo, "predicate": YesNo, "choice": Choice, "score": Score}


@dataclass(frozen=True, slots=True)
class Decided:
    """Answers to one request, told in the shape of whichever API was asked.

    Attributes:
        answers: One for each question, in their order, or one for all of them; empty says yes,
            the first option and the lowest level.
        model: The build that is said to have answered; empty takes the one that was asked for.
        usage: Tokens in and out; ``None`` leaves them out.
        extras: More fields of each answer.
        delay_s: Seconds until the answer begins.
    """

    answers: tuple[Said, ...] = ()
    model: str = ""
    usage: tuple[int, int] | None = (11, 0)
    extras: Mapping[str, Any] = field(default_factory=dict, hash=False)
    delay_s: float = 0.0

    def __post_init__(self) -> None:
        """Refuse what answers no question.

        Raises:
            TypeError: An answer is none.
        """
        for said in self.answers:
            is_number = isinstance(said, int | float) and not isinstance(said, bool)
            if not is_number and not isinstance(said, str | Mapping | Sequence | AnswerStatus):
                raise TypeError(f"{said!r} is no answer: {_ANSWERS}")

    def said(self, place: int, question: Question) -> Said:
        """Return the answer to the question at ``place``."""
        if self.answers:
            return self.answers[place if len(self.answers) > 1 else 0]
        sure = {labels_of(question)[0]: _SURE}
        return _SURE if isinstance(question, YesNo) else sure


def api_of(body: Mapping[str, Any]) -> str:
    """Return the API that a request for decisions is written in, empty when it is none."""
    questions = body.get("questions")
    if isinstance(questions, list):
        return "openai"
    if not isinstance(questions, dict):
        return ""
    return "systemone" if "state" in body else "gemini"


def questions_of(body: Mapping[str, Any]) -> tuple[Question, ...]:
    """Return the questions of a request, under their names on the wire."""
    asked = body["questions"]
    named = asked.items() if isinstance(asked, dict) else ((q.get("name", ""), q) for q in asked)
    return tuple(_question(name, told) for name, told in named)


def distribution(question: Question, said: Said) -> Mapping[str, float]:
    """Return the probability of each label, even where no answer is given.

    Raises:
        ValueError: The answer does not fit the question.
    """
    labels = labels_of(question)
    if isinstance(said, AnswerStatus):
        return dict.fromkeys(labels, 1 / len(labels))
    told: object = said
    if isinstance(said, str):
        said = {said: _SURE}
    if isinstance(said, int | float):
        said = {"yes": said, "no": 1 - said}
    if not isinstance(said, Mapping):
        said = dict(zip(labels, said, strict=False)) if len(said) == len(labels) else {}
    shares = list(said.values())
    if not said or not set(said) <= set(labels) or not all(0 <= share <= 1 for share in shares):
        kind = type(question).__name__
        raise ValueError(
            f"{told!r} does not answer the {kind} {question.id!r} ({', '.join(labels)}): {_ANSWERS}"
        )
    others = [label for label in labels if label not in said]
    rest = (1 - sum(said.values())) / len(others) if others else 0.0
    return {label: said.get(label, rest) for label in labels}


def whole_decision(received: Received, decided: Decided) -> Mapping[str, Any]:
    """Return the answers as the JSON object of the API that was asked.

    Raises:
        ValueError: The answers do not fit the questions.
    """
    n_said, n_asked = len(decided.answers), len(received.questions)
    if n_said > 1 and n_said != n_asked:
        raise ValueError(
            f"{n_said} answers to {n_asked} questions: give one for each, or one for all of them"
        )
    told = [
        {**_answer(received.api, question, decided.said(place, question)), **decided.extras}
        for place, question in enumerate(received.questions)
    ]
    usage = _usage(received.api, decided)
    if received.api == "openai":
        named = zip(received.questions, told, strict=True)
        answers: Any = [{**answer, "name": question.id} for question, answer in named]
        return {"model": decided.model or received.model, "answers": answers, **usage}
    if received.api == "gemini" and any(answer["type"] == "refusal" for answer in told):
        return {"prompt_feedback": {"block_reason": "safety"}, **usage}
    answers = {q.id: answer for q, answer in zip(received.questions, told, strict=True)}
    if received.api == "gemini":
        return {"answers": answers, **usage}
    return {"model": decided.model or received.model, "answers": answers, **usage}


def _question(name: str, told: Mapping[str, Any]) -> Question:
    text = str(told.get("instructions", ""))
    kind = _KINDS[told["type"]]
    criteria = told.get("criteria") or {}
    if kind is YesNo:
        yes, no = (
            criteria.get(side, criteria.get(f"{side}_description")) for side in ("true", "false")
        )
        return YesNo(name, text, yes, no)
    if kind is Choice:
        listed = {item["value"]: item.get("description") for item in told.get("choices", ())}
        return Choice(name, text, listed or dict(criteria))
    levels = [level["description"] for level in told.get("levels", ())]
    return Score(name, text, tuple(levels or criteria))


def _answer(api: str, question: Question, said: Said) -> dict[str, Any]:
    if said is AnswerStatus.REFUSED:
        return {"type": "refusal"}
    shares = distribution(question, said)
    abstained = {"abstained": True, "unknown_probability": _UNKNOWN}
    more = abstained if said is AnswerStatus.ABSTAINED else {}
    if isinstance(question, YesNo):
        name = ("predicate", "probability") if api == "openai" else ("noul", "noul")
        return {"type": name[0], name[1]: shares["yes"], **more}
    told: dict[str, Any] = {"confidence": confidence_of(question, shares), **more}
    if isinstance(question, Choice):
        told |= {"type": "choice", "choice": max(shares, key=shares.__getitem__)}
    else:
        expected = sum(int(level) * share for level, share in shares.items())
        told |= {"type": "score", "score": expected}
    told["probabilities"] = _listed(question, shares) if api == "openai" else shares
    if isinstance(question, Score) and api != "openai":
        told["legend"] = {str(n): text for n, text in enumerate(question.levels)}
    return told


def _listed(question: Question, shares: Mapping[str, float]) -> list[Mapping[str, Any]]:
    if isinstance(question, Choice):
        return [{"value": label, "probability": share} for label, share in shares.items()]
    return [
        {"value": int(level), "label": level, "probability": share}
        for level, share in shares.items()
    ]


def _usage(api: str, decided: Decided) -> Mapping[str, Any]:
    if decided.usage is None:
        return {}
    n_in, n_out = decided.usage
    before = "total_" if api == "gemini" else ""
    return {"usage": {f"{before}input_tokens": n_in, f"{before}output_tokens": n_out}}
