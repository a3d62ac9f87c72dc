"""What a router promises, through `QueryRouter` only. Words alone, so that each test is quick."""

import contextlib
import gc
import os
from pathlib import Path

import pytest

from fingerpost import (
    CorpusStats,
    DeadlineExceededError,
    EmptyCorpusError,
    GenerationMode,
    QueryRouter,
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


async def test_a_deadline_that_passed_says_where(corpus):
    async with _router(corpus) as router:
        with pytest.raises(DeadlineExceededError) as caught:
            await router.route("What is the default mode?", deadline=1e-9)
    assert caught.value.stage
    assert caught.value.elapsed_s > caught.value.deadline_s


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


async def test_settings_and_config_together_are_refused(corpus):
    config = _router(corpus).config
    assert QueryRouter(config).config is config
    with pytest.raises(UsageError):
        QueryRouter(config, max_tier=1)
    with pytest.raises(ConfigError, match="require_grounded: verify_citations is off"):
        _router(corpus, require_grounded=True, verify_citations=False)


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


async def test_statistics_tell_what_is_there(corpus):
    router = _router(corpus)
    before = router.get_corpus_stats()
    (corpus / "binary.md").write_bytes(b"a\0b")
    async with router:
        stats = router.get_corpus_stats()
    assert before == CorpusStats(configured_path_count=1)
    assert stats == CorpusStats(
        initialized=True,
        configured_path_count=1,
        chunk_count=7,
        document_count=4,
        topic_count=9,
        source_count=1,
        platform_knowledge=stats.platform_knowledge,
        retrieval_mode="keyword-only",
        embedding_status="disabled-no-key",
        skipped=stats.skipped,
        topics=stats.topics,
        languages={"en": 6, "de": 1},
        formats=stats.formats,
        graph_runtime_mode="active",
        generation=1,
        index_path=str(corpus / ".fingerpost"),
    )
    assert [(Path(item.path), item.reason) for item in stats.skipped] == [
        (corpus / "binary.md", "binary")
    ]
    assert stats.topics[:2] == ("Modes", "Installing Heron")
    assert set(stats.topics) == {
        "Modes",
        "Installing Heron",
        "On Windows",
        "On macOS",
        "Errors",
        "ECONNREFUSED",
        "E1042",
        "Häufige Fragen",
        "Wie ändere ich das Passwort?",
    }


EMPTY = {
    "missing": "no such file or folder",
    "empty": "no file of a format that is read",
    "binary": "NUL byte",
    "foreign": "no file of a format that is read",
}


@pytest.mark.parametrize("make", EMPTY)
async def test_a_corpus_without_text_is_named_path_by_path(tmp_path, make):
    folder, other = tmp_path / "docs", tmp_path / "other"
    if make != "missing":
        folder.mkdir()
    if make == "binary":
        (folder / "a.md").write_bytes(b"\x00\x01\x02" * 50)
    if make == "foreign":
        (folder / "a.png").write_bytes(b"\x89PNG")
    with pytest.raises(EmptyCorpusError) as caught:
        async with QueryRouter(
            knowledge_corpus=[folder, other], include_platform_knowledge=False, **WORDS
        ):
            pass
    first, second = caught.value.skipped
    assert Path(first.path) in (folder, folder / "a.md")
    assert EMPTY[make] in first.detail
    assert (second.path, second.reason) == (str(other), "unreadable")
    for words in (str(folder), EMPTY[make], str(other)):
        assert words in str(caught.value)
    assert ".md" in caught.value.hint
    assert not (folder / ".fingerpost").exists()
