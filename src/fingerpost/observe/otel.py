"""Events as OpenTelemetry spans, with the attributes of its GenAI conventions.

Span names are event names. Text of questions and answers is left out unless it is asked for.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from fingerpost.errors import MissingExtraError
from fingerpost.observe import events

if TYPE_CHECKING:
    from opentelemetry.trace import Span, Tracer, TracerProvider

_MOST_OPEN = 4_096
_NS = 1_000_000_000
_OPENS: dict[type[events.Event], str] = {
    events.ClassifyStart: "classify",
    events.RetrieveStart: "retrieve",
    events.ResearchStart: "research",
    events.GenerateStart: "generate",
}
_CLOSES: dict[type[events.Event], str] = {
    events.ClassifyComplete: "classify",
    events.RetrieveComplete: "retrieve",
    events.ResearchComplete: "research",
    events.GenerateComplete: "generate",
    events.GenerateError: "generate",
}
_MOMENTS = (
    events.RetrieveVector,
    events.RetrieveGraph,
    events.RetrieveRerank,
    events.VerifyComplete,
    events.ModelCall,
)


class OtelObserver:
    """An observer that makes spans: one for each question, one below it for each stage and call.

    Example::

        QueryRouter(knowledge_corpus=["./docs"], on_event=OtelObserver())

    Thread-safe. A question that never ends leaves the list of open ones when 4,096 newer ones
    have begun.

    Args:
        provider: Where spans go; ``None`` takes the process's own.
        capture_content: Put question and answer on the question's span.

    Raises:
        MissingExtraError: OpenTelemetry is not installed.
    """

    def __init__(
        self, provider: TracerProvider | None = None, *, capture_content: bool = False
    ) -> None:
        try:
            from opentelemetry import trace  # noqa: PLC0415 - an extra
        except ImportError as error:
            raise MissingExtraError(
                "OpenTelemetry is not installed",
                hint="In the repository: pip install '.[otel]'",
            ) from error
        self._trace = trace
        self._tracer: Tracer = trace.get_tracer("fingerpost", tracer_provider=provider)
        self._content = capture_content
        self._lock = threading.Lock()
        self._open: OrderedDict[str, dict[str, Span]] = OrderedDict()

    def __call__(self, event: events.Event) -> None:
        """Take an event."""
        if not event.query_id:
            return
        with self._lock:
            self._take(event)

    def _take(self, event: events.Event) -> None:
        kind = type(event)
        at = _nanoseconds(event.at)
        spans = self._spans(event)
        if kind in _OPENS:
            name = _OPENS[kind]
            spans[name] = self._start(name, spans["route"], at)
        elif kind in _CLOSES and (span := spans.pop(_CLOSES[kind], None)):
            self._end(span, event, at)
        elif isinstance(event, _MOMENTS):
            began = _nanoseconds(event.at - event.duration_ms / 1000)
            self._end(self._start(event.type, spans["route"], began), event, at)
        elif isinstance(event, events.RetrieveFallback | events.LaneFailover):
            spans["route"].add_event(event.type, _attributes(event), timestamp=at)
        elif isinstance(event, events.RouteComplete | events.RouteError):
            self._close(event, at)

    def _spans(self, event: events.Event) -> dict[str, Span]:
        """Return the open spans of the event's question, its own among them."""
        spans = self._open.get(event.query_id)
        if spans is None:
            took = event.duration_ms if isinstance(event, _MOMENTS) else 0.0
            began = _nanoseconds(event.at - took / 1000)
            spans = {"route": self._tracer.start_span("route", start_time=began)}
            spans["route"].set_attribute("fingerpost.query_id", event.query_id)
            self._open[event.query_id] = spans
            while len(self._open) > _MOST_OPEN:
                _, left = self._open.popitem(last=False)
                for span in reversed(left.values()):
                    span.end()
        return spans

    def _start(self, name: str, parent: Span, at: int) -> Span:
        context = self._trace.set_span_in_context(parent)
        return self._tracer.start_span(name, context=context, start_time=at)

    def _end(self, span: Span, event: events.Event, at: int) -> None:
        span.set_attributes(_attributes(event))
        error = getattr(event, "error", "")
        outcome = getattr(event, "outcome", "ok")
        if error or outcome not in {"ok", "closed"}:
            self._fail(span, error or outcome)
        span.end(end_time=at)

    def _fail(self, span: Span, error: str) -> None:
        span.set_attribute("error.type", error)
        span.set_status(self._trace.StatusCode.ERROR, error)

    def _close(self, event: events.RouteComplete | events.RouteError, at: int) -> None:
        spans = self._open.pop(event.query_id)
        root = spans.pop("route")
        for span in reversed(spans.values()):
            span.end(end_time=at)
        if isinstance(event, events.RouteError):
            self._fail(root, event.error)
        else:
            root.set_attributes(_result_attributes(event, content=self._content))
        root.end(end_time=at)


def _nanoseconds(seconds: float) -> int:
    return int(seconds * _NS)


def _attributes(event: events.Event) -> dict[str, Any]:
    """Return an event's plain values; those of a model call by the names of the conventions."""
    if isinstance(event, events.ModelCall):
        return _call_attributes(event)
    if isinstance(event, events.ClassifyComplete):
        found = event.classification
        return {
            "fingerpost.tier": int(found.tier),
            "fingerpost.confidence": found.confidence,
            "fingerpost.decided_by": found.decided_by.value,
        }
    return {
        f"fingerpost.{name}": value
        for name, value in event.as_dict().items()
        if name not in {"type", "at", "query_id", "reason"} and isinstance(value, str | int | float)
    }


def _call_attributes(event: events.ModelCall) -> dict[str, Any]:
    found: dict[str, Any] = {
        "gen_ai.operation.name": event.operation,
        "gen_ai.provider.name": event.provider,
        "gen_ai.request.model": event.model,
        "gen_ai.usage.input_tokens": event.input_tokens,
        "gen_ai.usage.output_tokens": event.output_tokens,
        "fingerpost.job": event.job,
    }
    if event.cost_usd is not None:
        found["fingerpost.cost_usd"] = event.cost_usd
    return found


def _result_attributes(event: events.RouteComplete, *, content: bool) -> dict[str, Any]:
    result = event.result
    found: dict[str, Any] = {
        "fingerpost.generation_mode": result.generation_mode.value,
        "fingerpost.grounding_status": result.grounding_status,
        "fingerpost.fallbacks": list(result.fallbacks_used),
        "fingerpost.tiers": list(result.tiers_used),
        "fingerpost.n_sources": len(result.sources),
        "fingerpost.cached": result.cached,
    }
    if content:
        found["fingerpost.question"] = result.query.text if result.query else ""
        found["fingerpost.answer"] = result.answer
    return found
