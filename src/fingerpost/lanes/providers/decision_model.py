"""A decision model behind a provider's API, whatever its shape."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Any, Final, TypeVar

import anyio

from fingerpost.config.endpoint import Endpoint
from fingerpost.errors import (
    BadResponseError,
    InvalidDecisionResponseError,
    ProviderError,
    ProviderTimeoutError,
    RequestTooLargeError,
    UsageError,
)
from fingerpost.lanes.asked import checked
from fingerpost.lanes.providers.decision_answers import UnfitError, read_usage
from fingerpost.lanes.providers.decision_limits import DecisionLimits, check_questions
from fingerpost.lanes.providers.decision_shape import DecisionShape
from fingerpost.lanes.providers.failure import error_for, error_in, request_id
from fingerpost.lanes.providers.fields import as_text, parse_json
from fingerpost.lanes.providers.limits import DECIDE_S, decision_limits
from fingerpost.lanes.providers.remote import Remote
from fingerpost.lanes.providers.reply import Reply
from fingerpost.text.tokens import estimate_tokens
from fingerpost.types.question import DecisionInput, DecisionResponse, Question
from fingerpost.types.result import Usage
from fingerpost.types.wire import to_wire

__all__ = ["RemoteDecisionModel"]

E = TypeVar("E", bound=ProviderError)
_ERROR_BYTES: Final = 64 * 1024
_AT_ONCE: Final = 4
_JOB: Final = "decide"
_MOST_NAME: Final = 100


class RemoteDecisionModel(Remote):
    """A `DecisionModel` at one endpoint. What fails is not tried again.

    All questions go in one request. More than the API takes in one are spread over several,
    of which four are under way at once; when one fails, so does the call.

    Args:
        endpoint: Provider, model, address and key.
        shape: How its API is spoken.
        limits: What one request may hold.
        timeout_s: Seconds that a call may take, all its requests included.
        clock: Monotonic seconds, the clock of deadlines.
        now: Seconds since the epoch, for ``retry-after`` dates.

    Raises:
        ConfigError: The address or the key cannot be used.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        shape: DecisionShape,
        limits: DecisionLimits,
        *,
        timeout_s: float = DECIDE_S,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
    ) -> None:
        super().__init__(endpoint, clock=clock, now=now)
        self._shape = shape
        self._limits = limits
        self._call_limits = decision_limits(timeout_s)

    async def decide(
        self,
        input: DecisionInput,
        questions: Sequence[Question],
        *,
        deadline: float | None = None,
        query_id: str = "",  # noqa: ARG002 - it stands in events, not on the wire
    ) -> DecisionResponse:
        """Return the answers, checked. See `DecisionModel.decide`.

        Args:
            input: What the questions are about.
            questions: At least one; ids are unique.
            deadline: When the call must have ended, by the clock; shortens ``timeout_s``.
            query_id: Not sent.

        Raises:
            InvalidDecisionResponseError: The answers do not fit the questions.
            RequestTooLargeError: The input and one question are more than the API takes.
            ConfigError: A question has more options or levels than the API takes.
            UsageError: The input nests too deeply.
            ProviderError: There is no reply.
        """
        asked = tuple(questions)
        check_questions(asked, self._limits, self._name)
        until = self._http.clock() + self._call_limits.total_s
        until = until if deadline is None else min(until, deadline)
        requests = list(self._requests(_plain(input), asked))
        replies = await self._all(requests, until)
        given = (reply.response.answers.values() for reply in replies)
        answers = {answer.id: answer for group in given for answer in group}
        usage = tuple(reply.usage for reply in replies)
        return replace(replies[0].response, answers=answers, usage=usage)

    def _requests(
        self, input: DecisionInput, questions: tuple[Question, ...]
    ) -> Iterator[_Request]:
        """Yield the questions in as few requests as the limits allow, in order."""
        most = self._limits.questions
        for start in range(0, len(questions), most):
            yield from self._fitted(input, questions[start : start + most])

    def _fitted(self, input: DecisionInput, questions: tuple[Question, ...]) -> Iterator[_Request]:
        body = json.dumps(self._shape.body(input, questions), ensure_ascii=False)
        raw = body.encode("utf-8", "replace")
        most = self._limits.max_bytes
        if most is None or len(raw) <= most:
            yield _Request(questions, raw)
        elif len(questions) == 1:
            what = f"takes {most:,} bytes, and a question needs {len(raw):,}"
            raise self._error(RequestTooLargeError, what, status=0)
        else:
            half = len(questions) // 2
            yield from self._fitted(input, questions[:half])
            yield from self._fitted(input, questions[half:])

    async def _all(self, requests: Sequence[_Request], until: float) -> list[_Answered]:
        if len(requests) == 1:
            return [await self._ask(requests[0], until)]
        replies: dict[int, _Answered] = {}
        failures: list[ProviderError] = []
        spent: dict[int, tuple[Usage, ...]] = {}
        slots = anyio.Semaphore(_AT_ONCE)

        async def work(place: int) -> None:
            async with slots:
                # Stands for good when another request fails and this one is given up.
                spent[place] = (self._usage(requests[place], {}, "closed"),)
                try:
                    replies[place] = await self._ask(requests[place], until)
                    spent[place] = (replies[place].usage,)
                except ProviderError as error:
                    spent[place] = error.usage
                    failures.append(error)
                    group.cancel_scope.cancel()

        async with anyio.create_task_group() as group:
            for place in range(len(requests)):
                group.start_soon(work, place)
        if failures:
            failures[0].usage = tuple(item for place in sorted(spent) for item in spent[place])
            raise failures[0].with_traceback(None)
        return [replies[place] for place in range(len(requests))]

    async def _ask(self, request: _Request, until: float) -> _Answered:
        is_accepted = False
        try:
            reply = await self._http.send(
                self._shape.url(), request.body, self._shape.headers, self._call_limits, until
            )
            try:
                is_accepted = reply.status == HTTPStatus.OK
                if not is_accepted:
                    beginning = await reply.beginning(_ERROR_BYTES)
                    raise error_for(
                        reply.status,
                        reply.headers,
                        beginning,
                        endpoint=self._endpoint,
                        now=self._now(),
                    )
                return self._answered(request, await reply.read(), reply)
            finally:
                await reply.close()
        except ProviderError as error:
            if not error.usage:
                is_spent = is_accepted or isinstance(error, ProviderTimeoutError)
                error.usage = (self._usage(request, {}, type(error).__name__, is_spent=is_spent),)
            raise error.with_traceback(None) from error.__cause__

    def _answered(self, request: _Request, content: bytes, reply: Reply) -> _Answered:
        """Return the answers in a body, or raise what it is instead."""
        data: Any = None
        with suppress(ValueError):
            data = parse_json(content, is_strict=False, is_unique=True)
        if not isinstance(data, dict):
            shown = self._scrubber.clean(content[:4096].decode("utf-8", "replace"))
            raise self._error(BadResponseError, f"answered no JSON object: {shown}")
        told = error_in(data, reply.headers, endpoint=self._endpoint, now=self._now())
        if told is not None:
            raise told
        found = request_id(reply.headers, data) or data.get("id")
        try:
            response = self._response(request, data, self._told(found))
        except (UnfitError, InvalidDecisionResponseError) as error:
            what = str(error).removeprefix(f"{self._name} ")
            unfit = self._error(InvalidDecisionResponseError, what)
            unfit.request_id = self._told(found)
            unfit.usage = (self._usage(request, data, type(unfit).__name__),)
            raise unfit from None
        return _Answered(response, self._usage(request, data, "ok"))

    def _response(
        self, request: _Request, data: Mapping[str, Any], request_id: str
    ) -> DecisionResponse:
        answers = {
            answer.id: replace(answer, extras=self._without_key(answer.extras))
            for answer in self._shape.read(data, request.questions)
        }
        model = f"{self.provider}/{self._told(data.get('model')) or self.model}"
        given = DecisionResponse(answers, model, request_id=request_id)
        return checked(given, request.questions, self._name)

    def _told(self, text: object) -> str:
        """Return a name that the server gave, short, on one line and without the key."""
        line = "".join(c for c in as_text(text) if c.isprintable())
        return self._scrubber.without_key(line)[:_MOST_NAME]

    def _without_key(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._scrubber.without_key(value)
        if isinstance(value, list):
            return [self._without_key(item) for item in value]
        if isinstance(value, Mapping):
            return {self._without_key(k): self._without_key(v) for k, v in value.items()}
        return value

    def _usage(
        self, request: _Request, data: Mapping[str, Any], outcome: str, *, is_spent: bool = True
    ) -> Usage:
        """Return what a request took; what was turned away took nothing, as far as is known."""
        n_in, n_out, cost = read_usage(data)
        if n_in is None:
            n_in = estimate_tokens(request.body.decode()) if is_spent else 0
            is_estimated = is_spent
        else:
            is_estimated = n_out is None
        return Usage(_JOB, self._name, n_in, n_out or 0, cost, outcome, is_estimated)

    def _error(self, kind: type[E], what: str, status: int = int(HTTPStatus.OK)) -> E:
        return kind(
            f"{self._name} {what}.", provider=self.provider, model=self.model, status=status
        )


@dataclass(frozen=True, slots=True)
class _Request:
    questions: tuple[Question, ...]
    body: bytes


@dataclass(frozen=True, slots=True)
class _Answered:
    response: DecisionResponse
    usage: Usage


def _plain(input: DecisionInput) -> Any:
    """Return an input as JSON values.

    Raises:
        UsageError: It nests too deeply, or within itself.
    """
    with suppress(RecursionError):
        return to_wire(input)
    raise UsageError("the input of a decision model nests too deeply")
