"""A chat model behind a provider's API, whatever its shape."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing, suppress
from dataclasses import replace
from http import HTTPStatus
from typing import Any, Final

from fingerpost.config.endpoint import Endpoint
from fingerpost.errors import (
    BadResponseError,
    EmptyCompletionError,
    ProviderError,
    ProviderTimeoutError,
    ProviderUnavailableError,
    RefusedError,
    RequestRejectedError,
    StreamTruncatedError,
)
from fingerpost.lanes.providers.draft import Draft
from fingerpost.lanes.providers.failure import error_for, error_in, request_id
from fingerpost.lanes.providers.fields import parse_json
from fingerpost.lanes.providers.limits import chat_limits
from fingerpost.lanes.providers.lines import Failed, Whole, events
from fingerpost.lanes.providers.remote import Remote
from fingerpost.lanes.providers.reply import Reply
from fingerpost.lanes.providers.shape import ChatShape
from fingerpost.lanes.providers.thoughts import ThoughtFilter
from fingerpost.text.tokens import estimate_tokens
from fingerpost.types.chat import ChatRequest, ChatResponse, StopReason
from fingerpost.types.result import Usage

__all__ = ["ProviderChat"]

_ERROR_BYTES: Final = 64 * 1024
_DONE: Final = "[DONE]"
_THOUGHTS: Final = 4096


class ProviderChat(Remote):
    """A `ChatModel` at one endpoint. One call is one request: what fails is not tried again.

    Two things are learnt of a model, at the price of one more request, and kept in mind:

    - It rejects what not every model of the provider has (JSON mode, temperature,
      log-probabilities): it is asked without, and a schema is told in words.
    - It thinks until ``max_tokens`` are spent and says nothing: it gets room to think.

    Args:
        endpoint: Provider, model, address and key.
        shape: How its API is spoken.
        clock: Monotonic seconds, the clock of deadlines.
        now: Seconds since the epoch, for ``retry-after`` dates.

    Raises:
        ConfigError: The address or the key cannot be used.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        shape: ChatShape,
        *,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
    ) -> None:
        super().__init__(endpoint, clock=clock, now=now)
        self._shape = shape
        self._plain: set[str] = set()
        self._thinkers: set[str] = set()

    @property
    def api(self) -> str:
        """The API shape."""
        return self._endpoint.api

    async def complete(self, request: ChatRequest) -> ChatResponse:
        """Return the whole reply. See `ChatModel.complete`."""
        return await self._complete(self._begin(request))

    def stream(self, request: ChatRequest) -> AsyncGenerator[str | ChatResponse]:
        """Yield the pieces, then the whole reply. See `ChatModel.stream`."""
        return self._stream(self._begin(request))

    def _begin(self, request: ChatRequest) -> _Call:
        model = (request.model.name if request.model is not None else "") or self.model
        limits = chat_limits(self._endpoint, request.job, stream=False)
        deadline = self._http.clock() + limits.total_s
        if request.deadline is not None:
            deadline = min(deadline, request.deadline)
        return _Call(request, model, deadline, has_room=model in self._thinkers)

    async def _complete(self, call: _Call) -> ChatResponse:
        reply = await self._open(call, stream=False)
        try:
            self._whole(call, await reply.read(), reply)
            again = self._with_room(call)
            if again is None:
                return self._response(call, reply)
        except ProviderError as error:
            raise self._with_usage(error, call) from error.__cause__
        finally:
            await reply.close()
        return await self._complete(again)

    async def _stream(self, call: _Call) -> AsyncGenerator[str | ChatResponse]:
        reply = await self._open(call, stream=True)
        try:
            async with aclosing(self._pieces(call, reply)) as pieces:
                async for piece in pieces:
                    if piece:
                        yield piece
            again = self._with_room(call)
            if again is None:
                yield self._response(call, reply)
                return
        except ProviderError as error:
            broken = self._broken(error, call)
            raise broken from broken.__cause__
        finally:
            await reply.close(drain=call.draft.is_over)
        async with aclosing(self._stream(again)) as items:
            async for item in items:
                yield item

    def _with_room(self, call: _Call) -> _Call | None:
        """Return the call once more with room to think, ``None`` when that is not what it lacks.

        Providers count a model's thoughts as tokens of its reply.
        """
        draft, request = call.draft, call.request
        has_thought = draft.has_thought or call.thoughts.is_thinking
        if call.has_room or not (draft.is_cut and has_thought) or call.text:
            return None
        if request.max_tokens is None:
            return None
        self._thinkers.add(call.model)
        again = _Call(request, call.model, call.deadline, has_room=True)
        again.spent = (*call.spent, self._usage(call, EmptyCompletionError.__name__))
        return again

    async def _open(self, call: _Call, *, stream: bool) -> Reply:
        """Send the request and return its reply of status 200; any other is raised."""
        try:
            full = self._body(call, stream=stream, plain=call.model in self._plain)
            try:
                return await self._send(call, full, stream=stream)
            except (RequestRejectedError, ProviderUnavailableError) as error:
                plain = self._body(call, stream=stream, plain=True)
                if not self._is_too_much(call, error) or plain == full:
                    raise
                call.spent = (*call.spent, self._usage(call, type(error).__name__, error))
            reply = await self._send(call, plain, stream=stream)
            self._plain.add(call.model)
        except ProviderError as error:
            raise self._with_usage(error, call) from error.__cause__
        return reply

    def _is_too_much(self, call: _Call, error: ProviderError) -> bool:
        """Return whether the server may have refused what is optional in the request.

        The server of llama-cpp-python 0.3 answers a JSON schema with status 500. A vendor's 500
        is an outage.
        """
        has_schema = self.provider == "custom" and call.request.schema is not None
        is_broken = error.status == HTTPStatus.INTERNAL_SERVER_ERROR
        return type(error) is RequestRejectedError or (has_schema and is_broken)

    def _body(self, call: _Call, *, stream: bool, plain: bool) -> bytes:
        request = call.request
        if call.has_room and request.max_tokens is not None:
            request = replace(request, max_tokens=request.max_tokens + _THOUGHTS)
        body = self._shape.body(request, call.model, stream=stream, plain=plain)
        return json.dumps(body).encode()

    async def _send(self, call: _Call, body: bytes, *, stream: bool) -> Reply:
        request = call.request
        reply = await self._http.send(
            self._shape.url(call.model, stream=stream),
            body,
            self._shape.headers,
            chat_limits(self._endpoint, request.job, stream=stream),
            call.deadline,
        )
        if reply.status == HTTPStatus.OK:
            call.is_accepted = True
            return reply
        try:
            beginning = await reply.beginning(_ERROR_BYTES)
        finally:
            await reply.close()
        raise error_for(
            reply.status,
            reply.headers,
            beginning,
            endpoint=self._endpoint,
            model=call.model,
            now=self._now(),
        )

    async def _pieces(self, call: _Call, reply: Reply) -> AsyncGenerator[str]:
        """Yield the answer's text as it comes, empty pieces among it."""
        kind = reply.headers.get("content-type", "").lower()
        if self._shape.has_events and kind.startswith(("application/json", "text/html")):
            # It does not stream, or has gone wrong.
            yield self._whole(call, await reply.read(), reply)
            return
        lines = reply.lines()
        items = events(lines) if self._shape.has_events else lines
        async with aclosing(lines), aclosing(items):
            async for item in items:
                if isinstance(item, Whole):
                    yield self._whole(call, item, reply)
                    return
                yield self._piece(call, item, reply)
                if call.draft.is_over:
                    break
        rest = call.thoughts.end()
        call.keep(rest)
        yield rest

    def _whole(self, call: _Call, body: bytes | str, reply: Reply) -> str:
        """Return the answer's text in a reply that came in one."""
        self._shape.read(self._parsed(call, body, reply), call.draft)
        if not call.draft.is_reply:
            raise self._error(BadResponseError, call, "answered without the fields of a reply")
        call.draft.is_ended = True
        call.keep(call.thoughts.feed(call.draft.text) + call.thoughts.end())
        return call.text

    def _piece(self, call: _Call, item: str, reply: Reply) -> str:
        """Return the answer's text in one event of a stream, empty when it has none."""
        if not item.strip():
            return ""
        draft = call.draft
        if item.strip() == _DONE:
            draft.is_over = draft.is_ended = True
            return ""
        n_pieces, draft.has_progress = len(draft.pieces), False
        self._shape.read(self._parsed(call, item, reply), draft)
        if draft.has_progress:
            reply.content_came()
        piece = call.thoughts.feed("".join(draft.pieces[n_pieces:]))
        call.keep(piece)
        return piece

    def _parsed(self, call: _Call, body: bytes | str, reply: Reply) -> Mapping[str, Any]:
        """Return the JSON object in ``body``; an error told in it is raised."""
        data: Any = None
        with suppress(ValueError):
            data = parse_json(body)
        if not isinstance(data, dict):
            said = body if isinstance(body, str) else body[:4096].decode("utf-8", "replace")
            shown = self._scrubber.clean(said)
            is_cut = reply.has_open_line and said.lstrip().startswith("{")
            kind = StreamTruncatedError if is_cut else BadResponseError
            error = self._error(kind, call, f"answered no JSON object: {shown}")
            if said.lstrip().startswith("<"):
                error.hint = "A web page answers there. Check base_url."
            raise error
        is_named = isinstance(body, Failed) and "error" not in data
        fields: Mapping[str, Any] = {"error": data} if is_named else data
        told = error_in(
            fields, reply.headers, endpoint=self._endpoint, model=call.model, now=self._now()
        )
        if told is not None:
            raise told
        return data

    def _response(self, call: _Call, reply: Reply) -> ChatResponse:
        """Return the reply when it is a whole one, or raise what it is instead."""
        draft, text = call.draft, call.text
        if draft.refusal:
            raise self._error(
                RefusedError, call, f"declined: {self._scrubber.clean(draft.refusal)}"
            )
        if draft.is_failed:
            raise self._error(BadResponseError, call, "gave up on its reply")
        if not draft.is_ended:
            raise self._error(StreamTruncatedError, call, "stopped without saying that it is done")
        if not text.strip():
            raise self._error(EmptyCompletionError, call, "answered nothing")
        found = request_id(reply.headers, {}) or draft.request_id
        return ChatResponse(
            text,
            f"{self.provider}/{call.model}",
            StopReason.LENGTH if draft.is_cut else StopReason.COMPLETE,
            (*call.spent, self._usage(call, "ok")),
            tuple(draft.logprobs),
            self._scrubber.without_key(found),
        )

    def _error(self, kind: type[ProviderError], call: _Call, what: str) -> ProviderError:
        return kind(
            f"{self.provider}/{call.model} {what}.",
            provider=self.provider,
            model=call.model,
            status=int(HTTPStatus.OK),
            request_id=self._scrubber.without_key(call.draft.request_id),
        )

    def _broken(self, error: ProviderError, call: _Call) -> ProviderError:
        """Return what a failure within a stream is to the caller, who may have text already."""
        is_broken = not isinstance(error, RefusedError | EmptyCompletionError)
        if call.text and is_broken and not isinstance(error, StreamTruncatedError):
            broken = StreamTruncatedError(
                f"{self.provider}/{call.model} broke off: {error}",
                provider=self.provider,
                model=call.model,
                status=error.status,
                request_id=error.request_id,
                retry_after_s=error.retry_after_s,
            )
            broken.__cause__ = error.with_traceback(None)
            error = broken
        if isinstance(error, StreamTruncatedError):
            error.text = call.text
        return self._with_usage(error, call)

    def _with_usage(self, error: ProviderError, call: _Call) -> ProviderError:
        """Return ``error`` with what was spent, ready to leave.

        Without its frames so far: their variables hold what the provider said, which may be the
        key, said back.
        """
        error.usage = (*call.spent, self._usage(call, type(error).__name__, error))
        return error.with_traceback(None)

    def _usage(self, call: _Call, outcome: str, error: ProviderError | None = None) -> Usage:
        """Return what a call took; what was turned away took nothing, as far as is known."""
        draft = call.draft
        is_spent = call.is_accepted or isinstance(error, ProviderTimeoutError)
        told_in, told_out = draft.input_tokens, draft.output_tokens
        estimated = is_spent and (told_in is None or told_out is None)
        if told_in is None:
            told_in = call.estimated_input() if is_spent else 0
        if told_out is None:
            told_out = estimate_tokens(draft.text) if is_spent else 0
        return Usage(
            job=call.request.job,
            model=f"{self.provider}/{call.model}",
            input_tokens=told_in,
            output_tokens=told_out,
            outcome=outcome,
            estimated=estimated,
            cached_tokens=min(draft.cached_tokens, told_in),
        )


class _Call:
    """One call under way: what was asked, and what has come."""

    def __init__(
        self, request: ChatRequest, model: str, deadline: float, *, has_room: bool
    ) -> None:
        self.request = request
        self.model = model
        self.deadline = deadline
        self.has_room = has_room
        self.spent: tuple[Usage, ...] = ()
        self.draft = Draft()
        self.thoughts = ThoughtFilter()
        self.is_accepted = False
        self._kept: list[str] = []

    @property
    def text(self) -> str:
        """The answer so far, without the model's thoughts."""
        return "".join(self._kept)

    def keep(self, piece: str) -> None:
        """Take a piece of the answer."""
        if piece:
            self._kept.append(piece)

    def estimated_input(self) -> int:
        """Return about how many tokens were sent."""
        return sum(estimate_tokens(message.text) for message in self.request.messages)
