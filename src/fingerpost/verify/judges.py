"""Judges beside the local one: an entailment hook, a decision model, a chat model."""

from __future__ import annotations

import json
import logging
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import anyio

from fingerpost.errors import MissingRecordingError
from fingerpost.lanes.asked import ask
from fingerpost.lanes.base import ChatModel, DecisionModel
from fingerpost.lanes.structured import ask_json
from fingerpost.prompts.load import load_prompt
from fingerpost.types.chat import ChatRequest, Message
from fingerpost.types.question import AnswerStatus, Choice, DecisionAnswer
from fingerpost.verify.base import ClaimJudge, ClaimPair, Entailment, EntailmentHook
from fingerpost.verify.hooks import entailment

_LOG = logging.getLogger("fingerpost.verify")
_MOST_PAIRS = 32
_MOST_CHARS = 24_000
_SURE: Final = 0.9
_VERDICTS: Final[Mapping[str, str | None]] = {
    "supports": "everything that the claim says follows from the passage",
    "contradicts": "the passage says something that cannot be true together with the claim",
    "silent": "the passage leaves open whether the claim holds, or a part of it",
}


async def opinions(
    judge: ClaimJudge, pairs: Sequence[ClaimPair], *, deadline: float | None = None
) -> tuple[list[Entailment | None], str]:
    """Return one opinion per pair, and the name of the fallback when the judge failed.

    A judge that fails, is late, or answers for another number of pairs has no opinion on any:
    the local judgement stands. The name, ``judge:nli:VerificationError``, is empty without a
    failure.
    """
    none: list[Entailment | None] = [None] * len(pairs)
    if not pairs:
        return none, ""
    patience = math.inf if deadline is None else max(0.0, deadline - time.monotonic())
    try:
        with anyio.fail_after(None if patience == math.inf else patience):
            said = list(await judge.judge(pairs, deadline=deadline))
    except MissingRecordingError:
        raise
    except Exception as error:
        _LOG.warning("claims are judged locally, as the %s judge failed: %s", judge.name, error)
        return none, f"judge:{judge.name}:{type(error).__name__}"
    if len(said) != len(pairs) or not all(one is None or _is_sound(one) for one in said):
        _LOG.warning("claims are judged locally, as the %s judge answered nonsense", judge.name)
        return none, f"judge:{judge.name}:unusable"
    return said, ""


def _is_sound(said: object) -> bool:
    if not isinstance(said, Entailment):
        return False
    parts = (said.entailed, said.neutral, said.contradicted)
    return all(0.0 <= part <= 1.0 for part in parts) and abs(sum(parts) - 1.0) < 0.05  # noqa: PLR2004 - rounding


class HookClaimJudge:
    """Asks an entailment hook, one pair after the other.

    Args:
        hook: Takes premise and hypothesis; plain or asynchronous.
        time_limit_s: Seconds for one pair, > 0.
    """

    name = "nli"

    def __init__(self, hook: EntailmentHook, *, time_limit_s: float = 30.0) -> None:
        self._hook = hook
        self._time_limit_s = time_limit_s

    async def judge(
        self, pairs: Sequence[ClaimPair], *, deadline: float | None = None
    ) -> list[Entailment | None]:
        """Return one opinion per pair; see `ClaimJudge.judge`.

        Raises:
            VerificationError: The hook failed, was late, or gave something else.
        """
        said: list[Entailment | None] = []
        for pair in pairs:
            left = math.inf if deadline is None else max(0.0, deadline - time.monotonic())
            seconds = min(self._time_limit_s, left)
            said.append(await entailment(self._hook, seconds, pair.passage, pair.claim))
        return said


class DecisionClaimJudge:
    """Asks a decision model, all claims in one call as far as it takes them (32 pairs).

    Claims and passages are the input, never the question: text of documents cannot ask.
    """

    name = "decision"

    def __init__(self, model: DecisionModel) -> None:
        self._model = model

    async def judge(
        self, pairs: Sequence[ClaimPair], *, deadline: float | None = None
    ) -> list[Entailment | None]:
        """Return one opinion per pair, ``None`` where the model refused or abstained.

        Raises:
            LaneError: A call failed, or an answer does not fit.
        """
        said: list[Entailment | None] = []
        for batch in _batches(pairs):
            questions = [
                Choice(
                    f"pair-{number}",
                    f"What does the passage of pair {number} say about the claim of pair {number}?",
                    _VERDICTS,
                )
                for number in range(1, len(batch) + 1)
            ]
            response = await ask(self._model, _numbered(batch), questions, deadline=deadline)
            said += [_decided(response.answers[question.id]) for question in questions]
        return said


class ChatClaimJudge:
    """Asks a chat model for a list of verdicts, 32 pairs a call."""

    name = "chat"

    def __init__(self, model: ChatModel) -> None:
        self._model = model

    async def judge(
        self, pairs: Sequence[ClaimPair], *, deadline: float | None = None
    ) -> list[Entailment | None]:
        """Return one opinion per pair.

        Raises:
            MalformedOutputError: The reply does not name one verdict for each pair, twice.
            LaneError: A call failed.
        """
        said: list[Entailment | None] = []
        for batch in _batches(pairs):
            said += await self._asked(batch, deadline)
        return said

    async def _asked(
        self, batch: Sequence[ClaimPair], deadline: float | None
    ) -> list[Entailment | None]:
        listed = json.dumps(_numbered(batch), ensure_ascii=False, indent=1)
        request = ChatRequest(
            (Message("user", load_prompt("judge").fill(pairs=listed)),),
            job="judge", temperature=0.0, schema=_SCHEMA, deadline=deadline,
        )  # fmt: skip
        return await ask_json(self._model, request, lambda value: _read(value, len(batch)))


_SCHEMA: Final[Mapping[str, object]] = {
    "type": "object",
    "properties": {
        "verdicts": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "pair": {"type": "integer"},
                    "verdict": {"type": "string", "enum": list(_VERDICTS)},
                },
                "required": ["pair", "verdict"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["verdicts"],
    "additionalProperties": False,
}


def _batches(pairs: Sequence[ClaimPair]) -> Iterator[Sequence[ClaimPair]]:
    """Yield the pairs in order, as many at a time as one call takes."""
    start, size = 0, 0
    for at, pair in enumerate(pairs):
        length = len(pair.claim) + len(pair.passage)
        if at > start and (at - start >= _MOST_PAIRS or size + length > _MOST_CHARS):
            yield pairs[start:at]
            start, size = at, 0
        size += length
    yield pairs[start:]


def _numbered(batch: Sequence[ClaimPair]) -> list[dict[str, object]]:
    return [
        {"pair": number, "claim": pair.claim, "passage": pair.passage}
        for number, pair in enumerate(batch, start=1)
    ]


def _decided(answer: DecisionAnswer) -> Entailment | None:
    if answer.status is not AnswerStatus.ANSWERED or not answer.label:
        return None
    shares = answer.probabilities or _shares(answer.label)
    return Entailment(shares["supports"], shares["silent"], shares["contradicts"])


def _shares(verdict: str) -> dict[str, float]:
    """Return probabilities for a verdict that came without any: sure, never certain."""
    rest = (1.0 - _SURE) / (len(_VERDICTS) - 1)
    return {name: _SURE if name == verdict else rest for name in _VERDICTS}


def _read(value: object, n_pairs: int) -> list[Entailment | None] | None:
    """Return the opinions in a reply, ``None`` unless it names one verdict for each pair."""
    listed = value.get("verdicts") if isinstance(value, dict) else value
    if not isinstance(listed, list):
        return None
    found: dict[int, str] = {}
    for item in listed:
        number = item.get("pair") if isinstance(item, dict) else None
        verdict = item.get("verdict") if isinstance(item, dict) else None
        if isinstance(number, bool) or not isinstance(number, int):
            return None
        if not isinstance(verdict, str) or verdict not in _VERDICTS:
            return None
        if found.setdefault(number, verdict) != verdict:
            return None
    if set(found) != set(range(1, n_pairs + 1)):
        return None
    by_pair = [_shares(found[number]) for number in range(1, n_pairs + 1)]
    return [Entailment(one["supports"], one["silent"], one["contradicts"]) for one in by_pair]
