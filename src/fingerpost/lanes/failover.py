"""A lane of chat models, of which the next is asked when one fails."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace

from fingerpost.errors import LaneError, StreamTruncatedError
from fingerpost.lanes.base import ChatModel
from fingerpost.lanes.lane import Lane, LaneCall
from fingerpost.types.chat import ChatRequest, ChatResponse


class FailoverModel(Lane[ChatModel]):
    """A `ChatModel` that asks the next of its models when one fails in a way that may help.

    What each error means is one table, `faults.FAULTS`. A stream is never begun again once a
    piece of it has been yielded. Arguments as `Lane`.
    """

    api = "lane"

    async def complete(self, request: ChatRequest) -> ChatResponse:
        """Return the first reply that one of the models gives.

        Raises:
            LaneExhaustedError: Several attempts failed, or no endpoint may be asked now.
            ProviderTimeoutError: The deadline had passed before the first attempt.
            LaneError: The only attempt failed, or no other model could cure it.
        """
        return await self._call(request).first_reply(
            lambda model: model.complete(_request_for(model, request))
        )

    async def stream(self, request: ChatRequest) -> AsyncGenerator[str | ChatResponse]:
        """Yield the pieces of the first model that gives one. See `ChatModel.stream`.

        Raises:
            StreamTruncatedError: It broke off after a piece; no other model is asked.
            LaneError: As `complete`, before any piece.
        """
        call = self._call(request)
        response: ChatResponse | None = None
        while response is None:
            model = await call.next_model()
            said: list[str] = []
            failure: LaneError | None = None
            try:
                async with aclosing(model.stream(_request_for(model, request))) as items:
                    async for item in items:
                        if isinstance(item, ChatResponse):
                            response = item
                        else:
                            call.alive()
                            said.append(item)
                            yield item
            except LaneError as error:
                response, failure = None, error
            except BaseException:
                call.dropped()
                raise
            if response is None:
                call.failed(
                    _truncated(failure, said) if said or failure is None else failure,
                    has_said=bool(said),
                )
        yield replace(response, usage=call.answered(response.usage))

    def _call(self, request: ChatRequest) -> LaneCall[ChatModel]:
        return LaneCall(self, request.job, request.deadline, request.query_id)


def _request_for(model: ChatModel, request: ChatRequest) -> ChatRequest:
    """Return the request without a model's name that means another provider's model."""
    ref = request.model
    if ref is None or not ref.provider or ref.provider == model.provider:
        return request
    return replace(request, model=None)


def _truncated(error: LaneError | None, said: Sequence[str]) -> StreamTruncatedError:
    cut = error
    if not isinstance(cut, StreamTruncatedError):
        told = f"{type(error).__name__}: {error}" if error else "its end was not announced"
        cut = StreamTruncatedError(
            f"the reply broke off after {len(said)} pieces: {told}",
            provider=getattr(error, "provider", ""),
            model=getattr(error, "model", ""),
            request_id=getattr(error, "request_id", ""),
        )
        cut.__cause__ = error
        cut.usage = error.usage if error else ()
    cut.text = "".join(said)
    return cut
