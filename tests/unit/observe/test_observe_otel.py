"""Questions as OpenTelemetry spans."""

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from fingerpost import DeadlineExceededError, QueryRouter
from fingerpost.observe.events import ModelCall
from fingerpost.observe.otel import OtelObserver
from fingerpost.testing import ScriptedChat

pytestmark = pytest.mark.anyio
TIER = '{"tier": 1, "strategy": "simple", "confidence": 0.9}'


def _answering(reply):
    return ScriptedChat([lambda request: TIER if request.job == "classify" else reply])


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "whales.md").write_text("# Whales\n\nThe blue whale weighs 150 tons.\n")
    return tmp_path


@pytest.fixture
def exporter():
    return InMemorySpanExporter()


@pytest.fixture
def provider(exporter):
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return provider


async def test_a_question_is_one_span_with_one_below_it_for_each_stage(folder, exporter, provider):
    observer = OtelObserver(provider)
    async with QueryRouter(
        knowledge_corpus=[folder], embedding_provider="none", on_event=observer
    ) as router:
        await router.route("How much does the blue whale weigh?")
    spans = {span.name: span for span in exporter.get_finished_spans()}
    assert {"route", "classify", "retrieve", "generate", "verify:complete"} <= spans.keys()
    root = spans["route"]
    assert root.parent is None
    for name in ("classify", "retrieve", "generate"):
        assert spans[name].parent.span_id == root.context.span_id
        assert root.start_time <= spans[name].start_time <= spans[name].end_time <= root.end_time
    assert spans["classify"].attributes["fingerpost.tier"] == 1
    assert root.attributes["fingerpost.grounding_status"] == "checked"


async def test_a_call_is_named_by_what_the_model_does(exporter, provider):
    observer = OtelObserver(provider)
    for operation in ("chat", "decide", "rerank"):
        observer(
            ModelCall(
                at=1.0,
                query_id="q",
                job="rerank",
                provider="p",
                model="m",
                input_tokens=1,
                output_tokens=1,
                cost_usd=None,
                duration_ms=1.0,
                first_piece_ms=None,
                outcome="ok",
                operation=operation,
            )
        )
    told = [span.attributes["gen_ai.operation.name"] for span in exporter.get_finished_spans()]
    assert told == ["chat", "decide", "rerank"]


async def test_no_text_is_told_unless_it_is_asked_for(folder, exporter, provider):
    async def ask(*, content):
        exporter.clear()
        observer = OtelObserver(provider, capture_content=content)
        async with QueryRouter(
            knowledge_corpus=[folder],
            embedding_provider="none",
            on_event=observer,
            chat_model=_answering("It weighs 150 tons [1]."),
        ) as router:
            await router.route("How much does the blue whale weigh?")
        return "".join(span.to_json() for span in exporter.get_finished_spans())

    assert "whale" not in await ask(content=False)
    told = await ask(content=True)
    assert "How much does the blue whale weigh?" in told
    assert "150 tons" in told


async def test_a_question_that_ends_in_an_error_is_a_failed_span(folder, exporter, provider):
    async with QueryRouter(
        knowledge_corpus=[folder], embedding_provider="none", on_event=OtelObserver(provider)
    ) as router:
        with pytest.raises(DeadlineExceededError):
            await router.route("How much does the blue whale weigh?", deadline=1e-9)
    (root,) = (span for span in exporter.get_finished_spans() if span.name == "route")
    assert root.status.status_code is StatusCode.ERROR
    assert root.attributes["error.type"] == "DeadlineExceededError"


async def test_a_cached_answer_is_a_span_too(folder, exporter, provider):
    async with QueryRouter(
        knowledge_corpus=[folder], embedding_provider="none", on_event=OtelObserver(provider)
    ) as router:
        for _ in range(2):
            await router.route("How much does the blue whale weigh?")
    cached = [
        span.attributes["fingerpost.cached"]
        for span in exporter.get_finished_spans()
        if span.name == "route"
    ]
    assert cached == [False, True]
