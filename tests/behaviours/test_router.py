"""What a router promises, through `QueryRouter` only. Words alone, so that each test is quick."""

import asyncio
import contextlib
import gc
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import anyio
import pytest

from fingerpost import (
    AbstentionReason,
    DeadlineExceededError,
    EmptyCorpusError,
    Filters,
    GenerateDelta,
    GenerationMode,
    QueryRouter,
    RouteComplete,
    Tier,
    Turn,
    UsageError,
    Verdict,
)
from fingerpost.errors import ConfigError, InvalidQueryError

pytestmark = pytest.mark.anyio
WORDS = {"embedding_provider": "none"}


def _router(corpus, **settings):
    return QueryRouter(knowledge_corpus=[corpus], **{**WORDS, **settings})


async def test_an_answer_names_its_source_down_to_the_line(corpus):
    async with _router(corpus) as router:
        result = await router.route("What does error E1042 mean?")
    source = result.sources[0]
    lines = (corpus / source.path).read_text().splitlines()
    assert "license file has expired" in result.answer
    assert "[1]" in result.answer
    assert (source.path, source.heading_path[-1], source.cited) == (
        "guides/errors.md",
        "E1042",
        True,
    )
    assert "license file has expired" in "\n".join(lines[source.line_start - 1 : source.line_end])


async def test_every_citation_cuts_its_quote_out_of_the_file(corpus):
    async with _router(corpus) as router:
        result = await router.route("How do I install Heron on Windows?")
    assert result.citations
    for citation in result.citations:
        assert result.answer[citation.span.start : citation.span.end] == citation.marker
        source = result.sources[citation.source_index - 1]
        text = (corpus / source.path).read_bytes().decode()
        assert text[citation.quote.start : citation.quote.end].strip()


async def test_claims_of_an_extractive_answer_are_supported(corpus):
    async with _router(corpus) as router:
        result = await router.route("What is the default mode?")
    assert (result.generation_mode, result.grounding_status) == (
        GenerationMode.EXTRACTIVE,
        "checked",
    )
    assert result.grounding.total_claims > 0
    assert {claim.verdict for claim in result.grounding.claims} == {Verdict.SUPPORTED}


async def test_words_alone_are_said_to_be_words_alone(corpus):
    async with _router(corpus) as router:
        result = await router.route("Which modes are there?")
        stats = router.get_corpus_stats()
    assert (result.retrieval_mode, stats.retrieval_mode) == ("keyword-only", "keyword-only")
    assert stats.embedding_status == "disabled-no-key"
    assert "keyword-fallback" in result.fallbacks_used


async def test_small_talk_searches_nothing(corpus):
    async with _router(corpus) as router:
        result = await router.route("Hello there!")
    assert (result.classification.tier, result.tiers_used, result.sources) == (
        Tier.TRIVIAL,
        (0,),
        (),
    )
    assert result.generation_mode is GenerationMode.SMALL_TALK


async def test_what_no_document_knows_is_not_answered(corpus):
    async with _router(corpus) as router:
        result = await router.route("zzqx plugh xyzzy?")
    assert (result.generation_mode, result.abstention) == (
        GenerationMode.ABSTAINED,
        AbstentionReason.NO_DOCUMENT_MATCHES,
    )
    assert not any(source.cited for source in result.sources)


async def test_a_filter_that_leaves_nothing_is_told_from_no_match(corpus):
    async with _router(corpus) as router:
        result = await router.route("What is the default mode?", filters={"paths": "nowhere/**"})
    assert result.abstention is AbstentionReason.FILTER_EXCLUDES_ALL


@pytest.mark.parametrize("tier", [1, 2, 3])
@pytest.mark.parametrize(
    ("filters", "allowed"),
    [
        (Filters(paths=("guides/**",)), {"guides/modes.md", "guides/errors.md"}),
        (Filters(tags=("SETUP",)), {"install.md"}),
        (Filters(metadata=(("product", "heron"),)), {"guides/errors.md"}),
        (Filters(languages=("de",)), {"de/faq.md"}),
        (
            Filters(sources=("docs",)),
            {"guides/modes.md", "guides/errors.md", "install.md", "de/faq.md"},
        ),
    ],
)
async def test_a_filter_holds_in_every_tier(corpus, tier, filters, allowed):
    async with _router(corpus) as router:
        evidence = await router.retrieve(
            "heron install mode errors Passwort", tier=tier, filters=filters
        )
    assert evidence.hits
    assert {hit.document.path for hit in evidence.candidates} <= allowed


async def test_a_cached_answer_keeps_to_the_filter(corpus):
    async with _router(corpus) as router:
        open_ = await router.route("heron")
        narrow = await router.route("heron", filters={"paths": "guides/**"})
        again = await router.route("heron", filters={"paths": "guides/**"})
    assert (open_.cached, narrow.cached, again.cached) == (False, False, True)
    assert all(source.path.startswith("guides/") for source in again.sources)


async def test_a_follow_up_is_made_to_stand_alone_and_shown(corpus):
    turns = [
        Turn("user", "How do I install Heron on Windows?"),
        Turn("assistant", "Run the installer."),
    ]
    async with _router(corpus) as router:
        result = await router.route("and on macOS?", history=turns)
    assert "heron" in result.rewritten_query.lower() or "install" in result.rewritten_query.lower()
    assert "brew" in result.answer


async def test_events_tell_the_route_in_order(corpus):
    seen = []
    async with _router(corpus) as router:
        end = router.subscribe(seen.append)
        result = await router.route("What is the default mode?", tier=1)
        end()
        await router.route("Which error is E1042?", tier=1)
    kinds = [event.type for event in seen]
    order = [
        "classify:start",
        "classify:complete",
        "strategy:select",
        "retrieve:start",
        "retrieve:complete",
        "generate:start",
        "generate:complete",
        "verify:complete",
        "route:complete",
    ]
    assert [kind for kind in kinds if kind in order] == order
    assert {event.query_id for event in seen} == {result.trace_id}


async def test_the_deltas_of_a_stream_are_the_answer(corpus):
    async with _router(corpus) as router:
        events = [event async for event in router.stream("How do I install Heron on Windows?")]
    assert isinstance(events[-1], RouteComplete)
    assert (
        "".join(e.text for e in events if isinstance(e, GenerateDelta)) == events[-1].result.answer
    )


async def test_a_failing_observer_breaks_nothing(corpus, caplog):
    def fail(event):
        raise ValueError("observer")

    async with _router(corpus, on_event=fail) as router:
        assert (await router.route("What is the default mode?")).sources
    assert "an observer failed" in caplog.text


@pytest.mark.parametrize("kind", ["sync", "async"])
async def test_hooks_see_classification_and_evidence(corpus, kind):
    seen = []

    def plain(value):
        seen.append(type(value).__name__)

    async def later(value):
        await anyio.lowlevel.checkpoint()
        seen.append(type(value).__name__)

    hook = plain if kind == "sync" else later
    async with _router(corpus, on_classification=hook, on_retrieval=hook) as router:
        await router.route("What is the default mode?")
    assert seen == ["ClassificationResult", "Evidence"]


@pytest.mark.parametrize(
    ("hook", "fallback"),
    [("rerank", "rerank-skip"), ("graph_expand", "graph-skip"), ("deep_research", "research-skip")],
)
async def test_a_failing_stage_hook_is_named_and_the_answer_stands(corpus, hook, fallback):
    def fail(*arguments):
        raise ValueError("hook")

    async with _router(corpus, **{hook: fail}) as router:
        result = await router.route("Compare the fast mode and the safe mode", tier=3)
    assert fallback in result.fallbacks_used
    assert result.sources


@pytest.mark.parametrize("hook", ["on_classification", "on_retrieval"])
@pytest.mark.parametrize("error", [SystemExit, asyncio.CancelledError], ids=lambda e: e.__name__)
@pytest.mark.parametrize("kind", ["sync", "async"])
async def test_a_hook_that_would_end_the_process_breaks_no_question(corpus, hook, error, kind):
    def plain(value):
        raise error

    async def later(value):
        raise error

    async with _router(corpus, **{hook: plain if kind == "sync" else later}) as router:
        assert (await router.route("What is the default mode?")).sources


@pytest.mark.parametrize("hook", ["on_classification", "on_retrieval"])
async def test_a_hook_that_hangs_holds_a_question_no_longer_than_its_deadline(corpus, hook):
    ended = threading.Event()

    def hang(value):
        ended.wait(20)

    async with _router(corpus, **{hook: hang}) as router:
        started = time.monotonic()
        try:
            with pytest.raises(DeadlineExceededError):
                await router.route("What is the default mode?", deadline=0.3)
            assert time.monotonic() - started < 10
        finally:
            ended.set()


async def test_thirty_two_equal_questions_at_once_run_once(corpus):
    starts = []
    async with _router(corpus) as router:
        router.subscribe(
            lambda event: starts.append(event) if event.type == "classify:start" else None
        )
        results = []

        async def ask():
            results.append(await router.route("What is the default mode?"))

        with anyio.fail_after(20):
            async with anyio.create_task_group() as group:
                for _ in range(32):
                    group.start_soon(ask)
    assert len(starts) == 1
    assert len({result.answer for result in results}) == 1


async def test_questions_at_once_do_not_mix(corpus):
    wanted = {
        "What does error E1042 mean?": "license",
        "What does ECONNREFUSED mean?": "not running",
        "What is the default mode?": "safe",
        "How do I install Heron on macOS?": "brew",
    }
    async with _router(corpus, cache_results=False) as router:
        answers, stories = [], {}
        router.subscribe(lambda event: stories.setdefault(event.query_id, []).append(event.type))

        async def ask(question):
            answers.append((question, await router.route(question)))

        with anyio.fail_after(30):
            async with anyio.create_task_group() as group:
                for question in list(wanted) * 8:
                    group.start_soon(ask, question)
    assert all(wanted[question] in result.answer for question, result in answers)
    assert all(story.count("route:complete") == 1 for story in stories.values())
    assert len(stories) == 32


async def test_a_deadline_that_passed_says_where(corpus):
    async with _router(corpus) as router:
        with pytest.raises(DeadlineExceededError) as caught:
            await router.route("What is the default mode?", deadline=1e-9)
    assert caught.value.stage
    assert caught.value.elapsed_s > caught.value.deadline_s


async def test_an_edit_is_seen_after_refresh_and_the_old_value_is_gone(corpus):
    page = corpus / "guides" / "modes.md"
    async with _router(corpus) as router:
        before = await router.route("How many modes has Heron?")
        page.write_text(
            page.read_text().replace(
                "three modes: fast, safe and quiet", "two modes: fast and safe"
            )
        )
        summary = await router.refresh()
        after = await router.route("How many modes has Heron?")
    assert "three modes" in before.answer
    assert "two modes" in after.answer
    assert "three modes" not in after.answer
    assert (summary.n_changed, summary.n_unchanged, after.cached) == (1, 3, False)


async def test_a_second_start_reads_nothing_again(corpus):
    async with _router(corpus) as router:
        first = router.index_summary
    async with _router(corpus) as router:
        second = router.index_summary
    assert (first.n_added, second.n_added, second.n_changed, second.n_unchanged) == (4, 0, 0, 4)
    assert first.generation == second.generation


async def test_what_sounds_like_chatter_but_names_a_topic_is_looked_up(corpus):
    async with _router(corpus) as router:
        assert (await router.classify("do you know Heron?", max_tier=3)).tier >= 1
        assert (await router.classify("do you know me?", max_tier=3)).tier == 0


async def test_statistics_tell_what_is_there(corpus):
    router = _router(corpus)
    before = router.get_corpus_stats()
    async with router:
        stats = router.get_corpus_stats()
    assert (before.initialized, before.configured_path_count, before.chunk_count) == (False, 1, 0)
    assert (stats.initialized, stats.document_count, stats.source_count) == (True, 4, 1)
    assert stats.chunk_count >= 7
    assert stats.topic_count == len(stats.topics) > 0
    assert (stats.graph_runtime_mode, stats.rerank_runtime_mode) == ("heuristic", "heuristic")


@pytest.mark.parametrize("question", ["", "   ", "\0", "x" * 9000])
async def test_what_cannot_be_asked_is_the_documented_error(corpus, question):
    async with _router(corpus) as router:
        with pytest.raises(InvalidQueryError):
            await router.route(question)


@pytest.mark.parametrize(
    "question",
    [
        '"',
        "*",
        "NEAR(",
        "a AND (b OR",
        "col:x",
        "'; DROP TABLE chunks; --",
        "\ud800?",
        "\u202eabc",
        "😀" * 50,
        "-" * 500,
        "a" * 8192,
    ],
)
async def test_hostile_questions_end_in_a_result(corpus, question):
    async with _router(corpus) as router:
        assert (await router.route(question)).answer


@pytest.mark.parametrize("make", ["missing", "empty", "unreadable", "binary"])
async def test_a_corpus_without_text_is_named_path_by_path(tmp_path, make):
    folder = tmp_path / "docs"
    if make != "missing":
        folder.mkdir()
    if make == "unreadable":
        (folder / "a.md").write_bytes(b"\x00\x01\x02" * 50)
    if make == "binary":
        (folder / "a.png").write_bytes(b"\x89PNG")
    with pytest.raises(EmptyCorpusError) as caught:
        async with _router(folder):
            pass
    assert "docs" in str(caught.value) or make in ("empty", "binary")
    assert caught.value.hint
    assert not (folder / ".fingerpost").exists()


async def test_a_file_is_a_corpus(corpus):
    async with _router(corpus / "install.md") as router:
        result = await router.route("How do I install Heron on macOS?")
        stats = router.get_corpus_stats()
    assert ("brew" in result.answer, stats.document_count) == (True, 1)


async def test_several_paths_and_globs_are_one_corpus(corpus):
    async with QueryRouter(
        knowledge_corpus=[corpus / "guides", str(corpus / "*.md")], **WORDS
    ) as router:
        stats = router.get_corpus_stats()
    assert (stats.configured_path_count, stats.document_count, stats.source_count) == (2, 3, 2)


async def test_a_router_that_is_not_open_says_so(corpus):
    router = _router(corpus)
    with pytest.raises(UsageError, match="not open"):
        await router.route("question")
    await router.init()
    await router.init()
    await router.close()
    await router.close()
    with pytest.raises(UsageError, match="closed"):
        await router.route("question")
    with pytest.raises(UsageError, match="closed"):
        await router.init()


async def test_a_blocking_call_inside_a_loop_is_refused(corpus):
    router = _router(corpus)
    with pytest.raises(UsageError, match="event loop"):
        router.route_sync("question")


def test_the_blocking_form_gives_the_same_answer(corpus):
    with _router(corpus) as router:
        result = router.route_sync("What does error E1042 mean?")
        assert router.classify_sync("Hello!").tier is Tier.TRIVIAL
        assert router.retrieve_sync("E1042").hits[0].document.path == "guides/errors.md"
    assert "license file has expired" in result.answer


async def test_settings_and_config_together_are_refused(corpus):
    config = _router(corpus).config
    assert QueryRouter(config).config is config
    with pytest.raises(UsageError):
        QueryRouter(config, max_tier=1)
    with pytest.raises(ConfigError, match="repair"):
        _router(corpus, on_unsupported="repair")


async def test_a_read_only_folder_keeps_its_index_in_the_cache(corpus, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    async with _router(corpus) as router:
        assert not router.get_corpus_stats().index_path.startswith(str(corpus))
    assert not (corpus / ".fingerpost").exists()


async def test_another_writer_does_not_stop_reading(corpus):
    async with _router(corpus), _router(corpus) as second:
        assert (await second.route("What is the default mode?")).sources


async def test_nothing_is_left_open(corpus):
    async with _router(corpus) as router:
        await router.route("What is the default mode?")
    gc.collect()
    assert [place for place in _open_files() if ".fingerpost" in place] == []


def _open_files():
    """Return what this process has open; nothing on a platform that does not tell."""
    folder = Path("/proc/self/fd")
    places = []
    for entry in folder.iterdir() if folder.is_dir() else ():
        with contextlib.suppress(OSError):
            places.append(str(entry.readlink()))
    return places


async def test_a_result_can_be_replayed_and_explained(corpus):
    """Field note 39: every candidate's scores, the threshold, the cause, and the record."""
    async with _router(corpus) as router:
        result = await router.route("What does ECONNREFUSED mean?", top_k=2, explain=True)
        again = await router.route(result.query.text, top_k=result.query.top_k, explain=True)
    assert result.classification.threshold == 0.7
    assert result.classification.decided_by in ("local", "heuristic")
    assert sum(result.classification.scores.values()) == pytest.approx(1, abs=1e-3)
    assert result.classification.signals
    for hit in result.candidates:
        assert hit.fused_rank is not None or hit.note or hit.match_type == "graph"
        assert hit.lexical_rank is not None or hit.match_type == "graph"
    assert {"index", "config", "generation"} <= set(result.fingerprints)
    assert again.fingerprints == result.fingerprints
    assert [source.id for source in again.sources] == [source.id for source in result.sources]


async def test_copies_of_front_matter_are_never_found_as_text(tmp_path):
    """Field note 3: thirty files with the same block; the block is not what they say."""
    folder = tmp_path / "docs"
    folder.mkdir()
    for number in range(30):
        text = "---\nstatus: draft\nupdated: 2026-06-12\ntags: [ops, zzqx]\n---\n"
        (folder / f"page{number}.md").write_text(f"{text}# Page {number}\n\nRunbook {number}.\n")
    (folder / "canary.md").write_text(
        "---\nstatus: [broken\n---\n# Staged rollout\n\nA canary stops a bad update reaching machines.\n"
    )
    async with _router(folder) as router:
        found = await router.route("What stops a bad update reaching machines?")
        nothing = await router.route("zzqx plugh")
        drafts = await router.retrieve(
            "runbook", filters={"metadata": {"status": "draft"}}, top_k=40
        )
    assert "canary" in found.answer.lower()
    assert nothing.abstention is not None
    assert drafts.hits
    assert not any("updated" in hit.chunk.text for hit in drafts.candidates)
    assert drafts.hits[0].document.metadata["updated"] == "2026-06-12"


@pytest.mark.parametrize(
    ("language", "page", "needle"),
    [
        ("zh", "# 检索\n\n系统会在解析完成后立即使用关键词检索文档内容。\n", "关键词"),
        ("ja", "# 設定\n\nこの機能を使うには設定ファイルを編集してください。\n", "編集"),
        ("ko", "# 색인\n\n문서를 저장하면 색인이 자동으로 갱신됩니다.\n", "갱신"),
        ("th", "# การตั้งค่า\n\nระบบจะค้นหาเอกสารทันทีหลังจากอ่านไฟล์เสร็จ\n", "เอกสาร"),
    ],
)
async def test_words_in_the_middle_of_text_without_spaces_are_found(
    tmp_path, language, page, needle
):
    """Field note 9: vectors off, a short substring of a sentence."""
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / f"{language}.md").write_text(page)
    (folder / "other.md").write_text("# Other\n\nNothing of the kind.\n")
    async with _router(folder) as router:
        evidence = await router.retrieve(needle, tier=1)
    assert evidence.hits[0].document.path == f"{language}.md"


@pytest.mark.parametrize(
    "question", ["Wie ändere ich das Passwort und warum?", "比较快速模式和安全模式，以及如何安装？"]
)
async def test_parts_of_a_question_stay_in_its_language(corpus, question):
    """Field note 11: expansions stay in the script of the question, and the question is kept."""
    async with _router(corpus) as router:
        evidence = await router.retrieve(question, tier=3)
    chinese = question[0] > "\u2e80"
    for part in evidence.sub_queries:
        assert any(char > "\u2e80" for char in part) == chinese
        assert part.isascii() is False or not chinese


def _ends(code, folder):
    return subprocess.run(
        [sys.executable, "-c", code, str(folder)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize(
    "use",
    [
        "router.route_sync('a question')",
        "router.init_sync(); router.route_sync('a question'); print('answered')",
        "router.__enter__(); router.close_sync(); router.route_sync('a question')",
    ],
)
def test_a_script_ends_even_when_the_router_was_not_opened_or_closed(corpus, use):
    code = (
        "import sys\nfrom fingerpost import QueryRouter\n"
        f"router = QueryRouter(knowledge_corpus=[sys.argv[1]], embedding_provider='none')\n{use}\n"
    )
    done = _ends(code, corpus)
    assert "answered" in done.stdout or "UsageError" in done.stderr


def test_one_router_serves_several_event_loops_at_once(corpus):
    question, outcomes = "What is the default mode?", []
    with _router(corpus) as router:

        def ask(number):
            asked = question if number % 4 < 2 else f"{question} {number}"
            if number % 2:
                outcomes.append(asyncio.run(router.route(asked)).answer)
            else:
                outcomes.append(router.route_sync(asked).answer)

        threads = [threading.Thread(target=ask, args=(n,), daemon=True) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
    assert len(outcomes) == 8
    assert all("safe" in answer for answer in outcomes)
