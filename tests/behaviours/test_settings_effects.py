"""Each setting changes something that a user can see; here what no other file shows."""

from pathlib import Path

import pytest

from fingerpost import (
    DeadlineExceededError,
    QueryRouter,
    QueryRouterStrategyConfig,
    Strategy,
    Turn,
)
from fingerpost.text.tokens import estimate_tokens

pytestmark = pytest.mark.anyio
QUESTION = "What is the default mode?"
TALK = [
    Turn("user", "How do I install Heron on Windows?"),
    Turn("assistant", "Run the installer."),
    Turn("user", "Thanks!"),
    Turn("assistant", "You are welcome."),
]


def _router(corpus, **settings):
    return QueryRouter(knowledge_corpus=[corpus], embedding_provider="none", **settings)


@pytest.mark.parametrize(("size", "is_seen"), [(0, False), (2, False), (4, True)])
async def test_only_the_messages_of_the_window_make_a_follow_up_stand_alone(corpus, size, is_seen):
    async with _router(corpus, conversation_window_size=size) as router:
        result = await router.route("and on macOS?", history=TALK)
    assert ("install" in (result.rewritten_query or "").lower()) == is_seen


async def test_an_answer_is_made_from_no_more_tokens_than_allowed(corpus):
    page = "\n\n".join(f"The pump number {n} of the station needs oil twice." for n in range(60))
    (corpus / "pumps.md").write_text(f"# Pumps\n\n{page}\n")
    answers = []
    for most in (64, 4000):
        async with _router(corpus, max_context_tokens=most) as router:
            answers.append(await router.route("Which pump of the station needs oil?", tier=3))
    short, long = (estimate_tokens(result.answer.replace("[1]", "")) for result in answers)
    assert 0 < short <= 64 < long


async def test_a_file_larger_than_allowed_is_skipped_and_listed(corpus):
    (corpus / "large.md").write_text(
        "# Whales\n\nThe blue whale weighs 150 tons.\n" + "Waves. " * 400
    )
    async with _router(corpus, max_file_mb=0.002) as router:
        stats = router.get_corpus_stats()
        narrow = await router.route("How many tons does the blue whale weigh?")
    async with _router(corpus) as router:
        wide = await router.route("How many tons does the blue whale weigh?")
        assert router.get_corpus_stats().skipped == ()
    assert [(Path(file.path), file.reason) for file in stats.skipped] == [
        (corpus / "large.md", "too-large")
    ]
    assert stats.document_count == 4
    assert narrow.abstention is not None
    assert "150 tons" in wide.answer


@pytest.mark.parametrize("address", ["https://docs.example.org", "https://docs.example.org/"])
async def test_every_source_has_its_published_address(corpus, address):
    async with _router(corpus, docs_url=address) as router:
        (source,) = (await router.route("What does error E1042 mean?")).sources
    assert source.url.startswith("https://docs.example.org/guides/errors")


async def test_a_deadline_of_the_settings_holds_unless_the_request_has_its_own(corpus):
    async with _router(corpus, deadline_s=1e-9) as router:
        with pytest.raises(DeadlineExceededError):
            await router.route(QUESTION)
        assert (await router.route(QUESTION, deadline=60)).sources


async def test_a_question_is_split_into_no_more_parts_than_allowed(corpus):
    question = "What is E1042? What is ECONNREFUSED? What is the mode? What is Python?"
    parts = []
    for most in (2, 5):
        settings = QueryRouterStrategyConfig(max_sub_queries=most)
        async with _router(corpus, strategy_config=settings) as router:
            parts.append((await router.route(question, tier=3)).sub_queries)
    assert [len(some) for some in parts] == [2, 4]


@pytest.mark.parametrize("strategy", list(Strategy))
async def test_a_forced_strategy_fixes_the_tier_of_every_question(corpus, strategy):
    settings = QueryRouterStrategyConfig(force_strategy=strategy)
    async with _router(corpus, strategy_config=settings) as router:
        result = await router.route(QUESTION)
    chosen = result.classification
    assert (chosen.strategy, chosen.tier) == (strategy, strategy.rank)
    assert (chosen.decided_by, chosen.confidence) == ("forced", 1)
    assert result.tiers_used == (strategy.rank,)


async def test_a_request_may_fix_another_tier_than_the_forced_strategy(corpus):
    settings = QueryRouterStrategyConfig(force_strategy=Strategy.SIMPLE)
    async with _router(corpus, strategy_config=settings) as router:
        chosen = (await router.route(QUESTION, tier=2)).classification
    assert (chosen.tier, chosen.strategy) == (2, Strategy.MODERATE)


@pytest.mark.parametrize("mode", ["hybrid", "heuristic", "local"])
async def test_without_a_model_every_way_to_classify_is_the_offline_one(corpus, mode):
    settings = QueryRouterStrategyConfig(classifier_mode=mode)
    async with _router(corpus, strategy_config=settings) as router:
        chosen = await router.classify(QUESTION)
    assert chosen.decided_by in ("local", "heuristic")
    assert (chosen.tier, bool(chosen.scores)) == (1, True)


async def test_the_highest_tier_caps_every_question(corpus):
    question = "Compare the fast mode and the safe mode and analyze the risks of both"
    async with _router(corpus) as router:
        free = await router.route(question)
    async with _router(corpus, max_tier=1) as router:
        capped = await router.route(question)
        asked = await router.route(question, max_tier=3)
    assert free.classification.tier > 1
    assert (capped.classification.tier, capped.tiers_used) == (1, (1,))
    assert asked.classification.tier == 1


async def test_a_tool_that_the_question_names_is_said_to_be_needed(corpus):
    async with _router(corpus, available_tools=("web_search", "calculator")) as router:
        chosen = await router.classify("Use the calculator: how many threads are 3 fast modes?")
    assert chosen.tools_needed == ("calculator",)


async def test_without_the_research_pass_there_are_no_notes_of_it(corpus, story):
    question = "Compare the fast mode and the safe mode"
    async with _router(corpus, deep_research_enabled=False, on_event=story) as router:
        result = await router.route(question, tier=3)
        stats = router.get_corpus_stats()
    async with _router(corpus) as router:
        assert (await router.route(question, tier=3)).research_synthesis
    assert (result.research_synthesis, result.uncovered) == (None, ())
    assert (stats.deep_research_enabled, stats.deep_research_runtime_mode) == (False, "disabled")
    assert story.of("research:start") == []
    assert "research-skip" not in result.fallbacks_used


@pytest.mark.parametrize(
    ("settings", "is_kept"),
    [
        ({}, True),
        ({"cache_max_entries": 1}, False),
        ({"cache_max_entries": 2}, True),
        ({"cache_max_age_s": 1e-9}, False),
        ({"cache_results": False}, False),
    ],
)
async def test_a_result_is_kept_as_long_as_the_settings_say(corpus, story, settings, is_kept):
    async with _router(corpus, on_event=story, **settings) as router:
        first = await router.route(QUESTION)
        await router.route("What does error E1042 mean?")
        again = await router.route(QUESTION)
    assert again.cached is is_kept
    assert len(story.of("classify:start")) == (2 if is_kept else 3)
    assert len(story.of("route:complete")) == 3
    assert again.answer == first.answer
    assert again.trace_id != first.trace_id


@pytest.mark.parametrize(
    "request_",
    [
        {"top_k": 1},
        {"tier": 2},
        {"max_tier": 1},
        {"explain": True},
        {"history": [("user", "Hello!")]},
        {"filters": {"paths": "guides/**"}},
    ],
    ids=lambda request: next(iter(request)),
)
async def test_a_kept_result_is_given_to_the_same_request_only(corpus, request_):
    async with _router(corpus) as router:
        await router.route(QUESTION)
        other = await router.route(QUESTION, **request_)
        again = await router.route(QUESTION, **request_)
        plain = await router.route(QUESTION, deadline=60)
    assert [result.cached for result in (other, again, plain)] == [False, True, True]


async def test_the_index_lives_where_the_settings_say(corpus, tmp_path):
    async with _router(corpus, index_dir=tmp_path / "elsewhere") as router:
        place = router.get_corpus_stats().index_path
    assert place.startswith(str(tmp_path / "elsewhere"))
    assert (tmp_path / "elsewhere" / "index.sqlite").exists()
    assert not (corpus / ".fingerpost").exists()


async def test_a_variable_sets_what_the_caller_left_out_and_no_more(corpus, monkeypatch):
    monkeypatch.setenv("FINGERPOST_MAX_TIER", "1")
    monkeypatch.setenv("FINGERPOST_CONFIDENCE_THRESHOLD", "0.9")
    async with _router(corpus, confidence_threshold=0.2) as router:
        chosen = await router.classify("Compare the fast mode and the safe mode")
    assert (router.config.max_tier, router.config.confidence_threshold) == (1, 0.2)
    assert (chosen.tier, chosen.threshold) == (1, 0.2)
    assert "FINGERPOST_MAX_TIER" in router.origins["max_tier"]
