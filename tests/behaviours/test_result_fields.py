"""Every field of a result and every event that a user may wait for, filled by a real question."""

from dataclasses import MISSING, fields

import pytest

from fingerpost import GenerateDelta, QueryResult, QueryRouter, Turn
from fingerpost.testing.chat import ScriptedChat
from fingerpost.types.chat import ChatResponse, StopReason

pytestmark = pytest.mark.anyio
CUT = StopReason.LENGTH
WORDS = {"embedding_provider": "none"}
HALF = "Compare the installer and the brew command, then explain the license and tulips"
# Nothing recommends capabilities where no engine that knows some is given.
# Without an engine, without a plan, and in the language of the documents.
NEVER_FILLED = {"recommendations", "diagnostics", "translated_query"}


def _router(corpus, **settings):
    return QueryRouter(knowledge_corpus=[corpus], **settings)


def _is_filled(field, result):
    value = getattr(result, field.name)
    if field.default is not MISSING:
        return value != field.default
    return bool(value)


async def test_every_field_of_a_result_is_filled_by_some_question(corpus, runtime):
    turns = [Turn("user", "How do I install Heron on Windows?"), Turn("assistant", "Run it.")]
    async with _router(corpus, embed="wait") as router:
        results = [
            await router.route("and on macOS?", history=turns, explain=True),
            await router.route(HALF, tier=3),
            await router.route(HALF, tier=3),
            await router.route("zzqx plugh xyzzy?"),
        ]
        runtime.error = RuntimeError("out of memory")
        results.append(await router.route("What does error E1042 mean?"))
    async with _router(corpus, web_search=lambda *_: [], web_research="always", **WORDS) as router:
        results.append(await router.route(HALF, tier=3))
    results += [await _written(corpus, ChatResponse("Heron is safe [1]. See [9]. And", "", CUT))]
    empty = {
        field.name
        for field in fields(QueryResult)
        if not any(_is_filled(field, result) for result in results)
    }
    assert empty <= NEVER_FILLED


async def _written(corpus, reply, **settings):
    """Return the result of a question whose answer a model writes from little evidence."""
    offline = {"strategy_config": {"classifier_mode": "heuristic"}, "max_context_tokens": 100}
    settings = {**offline, **WORDS, **settings, "chat_model": ScriptedChat([reply])}
    settings["budget_usd"] = 1.0
    async with _router(corpus, **settings) as router:
        return await router.route("How do I install Heron on Windows and on macOS?", tier=2)


async def test_a_marker_that_names_no_source_is_removed_and_counted(corpus):
    result = await _written(corpus, "Heron has an installer [1]. It is old [9], or not [12].")
    assert "[1]" in result.answer
    assert "[9]" not in result.answer
    assert "[12]" not in result.answer
    assert result.removed_markers == 2
    assert {citation.source_index for citation in result.citations} == {1}


async def test_an_answer_that_was_cut_off_and_what_did_not_fit_are_named(corpus):
    cut = await _written(corpus, ChatResponse("Heron has an installer [1]. It is", "", CUT))
    whole = await _written(corpus, "Heron has an installer [1].", max_context_tokens=4000)
    assert (cut.truncated, whole.truncated) == (True, False)
    assert cut.left_out
    assert whole.left_out == ()


async def test_the_time_of_each_stage_adds_up_to_no_more_than_the_whole(corpus):
    async with _router(corpus, **WORDS) as router:
        result = await router.route("What is the default mode?")
    stages = {name: spent for name, spent in result.timings.items() if name != "total"}
    assert set(stages) == {"classify", "retrieve", "generate", "verify"}
    assert all(spent > 0 for spent in stages.values())
    assert sum(stages.values()) <= result.timings["total"] == result.duration_ms


async def test_the_tokens_of_each_question_are_counted_and_cost_nothing_here(corpus, runtime):
    async with _router(corpus, embed="wait") as router:
        short = await router.route("Which modes are there?")
        long = await router.route("Which modes are there and which one of them is the default?")
    (used,), (more,) = short.usage, long.usage
    assert (used.job, used.model) == ("embed", "local/minilm-l6-v2-int8")
    assert (used.cost_usd, used.output_tokens) == (0, 0)
    assert more.input_tokens > used.input_tokens > 0


async def test_parts_that_nothing_covers_are_named_and_the_others_are_answered(corpus):
    async with _router(corpus, **WORDS) as router:
        result = await router.route(HALF, tier=3)
    covered, open_part = result.sub_queries
    assert result.uncovered == (open_part,)
    assert "tulips" in open_part
    assert f"{open_part}: nothing found" in result.research_synthesis
    assert f'{covered}: "Install' in result.research_synthesis
    assert f"Nothing found: {open_part}" in result.answer
    assert "brew install heron" in result.answer


async def test_a_citation_holds_its_place_in_the_answer_and_in_the_document(corpus):
    async with _router(corpus, **WORDS) as router:
        result = await router.route("How do I install Heron on Windows?", tier=2)
    places = [citation.span.start for citation in result.citations]
    assert places == sorted(set(places))
    assert [citation.marker for citation in result.citations] == [
        f"[{citation.source_index}]" for citation in result.citations
    ]
    assert {c.source_index for c in result.citations} == {s.index for s in result.sources}
    for citation in result.citations:
        said = result.answer[: citation.span.start].rstrip()
        text = (corpus / result.sources[citation.source_index - 1].path).read_bytes().decode()
        quote = text[citation.quote.start : citation.quote.end].strip()
        assert said.endswith(quote.rstrip("."))


async def test_a_source_says_where_it_stands(corpus):
    async with _router(corpus, **WORDS) as router:
        (source,) = (await router.route("What does error E1042 mean?")).sources
    page = corpus / "guides" / "errors.md"
    assert (source.index, source.path, source.title) == (1, "guides/errors.md", "Errors")
    assert (source.heading, source.heading_path) == ("E1042", ("Errors", "E1042"))
    assert (source.uri, source.source, source.language) == (page.as_uri(), "docs", "en")
    assert page.read_text().splitlines()[source.line_start - 1] == "## E1042"
    assert "license file has expired" in source.snippet
    assert 0 < source.relevance_score <= 1
    assert (source.match_type, source.url, source.cited) == ("keyword", None, True)
    assert source.id
    assert source.document_id


@pytest.mark.parametrize("question", ["What is the default mode?", HALF, "zzqx plugh?", "Hello!"])
async def test_the_pieces_of_a_stream_are_the_answer_of_the_same_question(corpus, question):
    async with _router(corpus, **WORDS) as router:
        events = [event async for event in router.stream(question)]
        whole = await router.route(question)
    streamed = "".join(event.text for event in events if isinstance(event, GenerateDelta))
    assert streamed == events[-1].result.answer == whole.answer
    assert events[-1].result.trace_id == events[0].query_id != whole.trace_id


async def test_the_research_pass_tells_each_round(corpus, story):
    async with _router(corpus, on_event=story, **WORDS) as router:
        result = await router.route(HALF, tier=3)
        rounds = story.of("research:phase")
        (done,) = story.of("research:complete")
        (split,) = story.of("strategy:decompose")
        await router.route("What is the default mode?", tier=2)
    assert [event.round for event in rounds] == list(range(1, done.n_rounds + 1))
    assert rounds
    assert all(event.n_queries > 0 for event in rounds)
    assert sum(event.n_new_hits for event in rounds) == done.n_hits
    assert split.n_sub_queries == len(result.sub_queries)
    assert len(story.of("research:start")) == 1


async def test_indexing_tells_how_far_it_is_until_it_is_done(corpus, runtime, story):
    async with _router(corpus, embed="wait", on_event=story) as router:
        n_chunks = router.get_corpus_stats().chunk_count
        told = story.of("ingest:progress")
        await router.refresh()
    ends = {event.phase: (event.done, event.total) for event in told}
    assert list(ends) == ["scan", "parse", "store", "done", "embed"]
    assert ends == {
        "scan": (4, 4),
        "parse": (4, 4),
        "store": (4, 4),
        "done": (1, 1),
        "embed": (n_chunks, n_chunks),
    }
    assert {event.query_id for event in told} == {""}
    assert len(story.of("ingest:progress")) > len(told)


async def test_no_event_but_the_last_and_the_pieces_holds_text_of_a_document(corpus, story):
    async with _router(corpus, on_event=story, **WORDS) as router:
        await router.route("What does error E1042 mean?", tier=2)
    for event in story.events:
        if event.type not in ("route:complete", "generate:delta"):
            assert "license" not in repr(event)
