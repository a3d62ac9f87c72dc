"""One recorded model call: what names it, and its outcome as JSON and back."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from fingerpost import errors
from fingerpost.config.secrets import MASK, Secret
from fingerpost.errors import LaneError, LaneExhaustedError
from fingerpost.types.chat import ChatRequest, ChatResponse, StopReason, TokenLogprob
from fingerpost.types.question import (
    AnswerStatus,
    DecisionAnswer,
    DecisionInput,
    DecisionResponse,
    Question,
)
from fingerpost.types.ranking import Ranking
from fingerpost.types.result import Usage
from fingerpost.types.wire import to_wire

FORMAT: Final = 1

# Only what can hardly be anything but a key: a reply that speaks of keys stays as it is.
_KEY: Final = re.compile(
    r"\b(?:sk|pk|rk|gsk|xai|tgp|hf|key)[-_](?=[A-Za-z0-9_-]*[0-9])[A-Za-z0-9_-]{16,}"
    r"|\bAIza[A-Za-z0-9_-]{30,}"
    r"|(?<=[Bb]earer )[A-Za-z0-9._~+/=-]{20,}"
)
_ERRORS: Final[Mapping[str, type[LaneError]]] = {
    name: kind
    for name in errors.__all__
    if isinstance(kind := getattr(errors, name), type) and issubclass(kind, LaneError)
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a call ended.

    Attributes:
        pieces: What was streamed; empty for a call that was not.
        end: The reply or the error; ``None`` when the caller gave the call up.
    """

    pieces: tuple[str, ...]
    end: ChatResponse | LaneError | None


def key_of(kind: str, model: Sequence[str], asked: object) -> str:
    """Return the hash that stands for a call: equal calls, equal hash.

    Args:
        kind: ``complete``, ``stream``, ``embed``, ``decide`` or ``rerank``.
        model: What says which model is asked.
        asked: JSON values.
    """
    told = json.dumps([FORMAT, kind, list(model), asked], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(told.encode("ascii")).hexdigest()[:32]


def request_json(request: ChatRequest) -> dict[str, Any]:
    """Return all of a request but its deadline and its question, which differ each time."""
    told = asdict(request)
    del told["deadline"], told["query_id"]
    return told


def decision_json(input: DecisionInput, questions: Sequence[Question]) -> object:
    """Return what a decision model is asked, the order of options included."""
    asked = [
        [type(one).__name__, to_wire(one), list(getattr(one, "options", ()))] for one in questions
    ]
    return {"input": to_wire(input), "questions": asked}


def decision_of(told: Mapping[str, Any]) -> DecisionResponse:
    """Return the response that ``to_wire`` has told."""
    answers = {
        name: DecisionAnswer(**{**answer, "status": AnswerStatus(answer["status"])})
        for name, answer in told["answers"].items()
    }
    usage = tuple(Usage(**item) for item in told["usage"])
    return DecisionResponse(answers, told["model"], usage, told["request_id"])


def ranking_of(told: Mapping[str, Any]) -> Ranking:
    """Return the ranking whose fields ``told`` holds."""
    usage = tuple(Usage(**item) for item in told["usage"])
    return Ranking(tuple(map(float, told["scores"])), usage)


def outcome_json(outcome: Outcome) -> dict[str, Any]:
    """Return an outcome as JSON values."""
    end = outcome.end
    told: dict[str, Any] = {"pieces": list(outcome.pieces)}
    if isinstance(end, ChatResponse):
        told["response"] = asdict(end)
    elif end is not None:
        told["error"] = error_json(end)
    return told


def outcome_of(told: Mapping[str, Any]) -> Outcome:
    """Return the outcome that `outcome_json` has told."""
    end: ChatResponse | LaneError | None = None
    if "response" in told:
        end = _response(told["response"])
    elif "error" in told:
        end = error_of(told["error"])
    return Outcome(tuple(told["pieces"]), end)


def error_json(error: LaneError) -> dict[str, Any]:
    """Return an error as JSON values."""
    fields = {k: v for k, v in vars(error).items() if k not in {"usage", "attempts"}}
    told = {
        "type": type(error).__name__,
        "message": str(error),
        "usage": [asdict(item) for item in error.usage],
        "fields": {k: v for k, v in fields.items() if isinstance(v, str | int | float | None)},
    }
    if isinstance(error, LaneExhaustedError):
        told["attempts"] = [error_json(one) for one in error.attempts]
    return told


def error_of(told: Mapping[str, Any]) -> LaneError:
    """Return the error that `error_json` has told; of an unknown class a `LaneError`."""
    kind = _ERRORS.get(told["type"], LaneError)
    error = kind.__new__(kind, told["message"])
    vars(error).update(told["fields"])
    error.usage = tuple(Usage(**item) for item in told["usage"])
    if isinstance(error, LaneExhaustedError):
        error.attempts = tuple(error_of(one) for one in told.get("attempts", ()))
    return error


class Cleaner:
    """Takes keys out of what is kept.

    Args:
        secrets: Known keys; whatever else is shaped like one goes as well.
    """

    def __init__(self, secrets: Sequence[Secret] = ()) -> None:
        known = sorted((re.escape(s.reveal()) for s in secrets if s), key=len, reverse=True)
        self._known = re.compile("|".join(known)) if known else None

    def clean(self, value: Any) -> Any:
        """Return JSON values with the keys in their texts shown as ``***``."""
        if isinstance(value, str):
            text = value if self._known is None else self._known.sub(MASK, value)
            return _KEY.sub(MASK, text)
        if isinstance(value, Mapping):
            return {k: self.clean(v) for k, v in value.items()}
        if isinstance(value, list | tuple):
            return [self.clean(item) for item in value]
        return value

    def clean_outcome(self, told: dict[str, Any]) -> dict[str, Any]:
        """Return an outcome without keys, those that are split over pieces included."""
        whole = "".join(told["pieces"])
        cleaned: dict[str, Any] = self.clean(told)
        if self.clean(whole) != whole:
            cleaned["pieces"] = [self.clean(whole)]
        return cleaned


def _response(told: Mapping[str, Any]) -> ChatResponse:
    return ChatResponse(
        text=told["text"],
        model=told["model"],
        stop=StopReason(told["stop"]),
        usage=tuple(Usage(**item) for item in told["usage"]),
        logprobs=tuple(TokenLogprob(**item) for item in told["logprobs"]),
        request_id=told["request_id"],
    )
