"""How much each tier brings, what the graph and the reranker add, and who chose the tier."""

import pytest

from fingerpost import (
    QueryRouter,
    QueryRouterConfig,
    QueryRouterStrategyConfig,
    Strategy,
    Tier,
)

pytestmark = pytest.mark.anyio


def _router(corpus, **settings):
    return QueryRouter(knowledge_corpus=[corpus], embedding_provider="none", **settings)


@pytest.fixture
def many(tmp_path):
    """Return a corpus of forty pages that all speak of pumps, each of another valve."""
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(40):
        words = " ".join(f"part{number}x{place}" for place in range(30))
        (folder / f"valve{number}.md").write_text(
            f"# Valve {number}\n\nThe pump of valve number {number} needs oil. {words}\n"
        )
    return folder


@pytest.mark.parametrize(("tier", "n_hits"), [(1, 5), (2, 5), (3, 10)])
async def test_each_tier_keeps_its_number_of_hits(many, tier, n_hits):
    async with _router(many) as router:
        evidence = await router.retrieve("Which pump needs oil?", tier=tier)
    assert len(evidence.hits) == n_hits
    assert evidence.tiers_used == (tier,)


@pytest.mark.parametrize("tier", [1, 2, 3])
@pytest.mark.parametrize("top_k", [1, 3, 12])
async def test_a_request_may_ask_for_another_number(many, tier, top_k):
    async with _router(many) as router:
        evidence = await router.retrieve("Which pump needs oil?", tier=tier, top_k=top_k)
        result = await router.route("Which pump needs oil?", tier=tier, top_k=top_k)
    assert len(evidence.hits) == top_k
    assert len(result.sources) <= top_k


async def test_the_second_tier_reranks_fifteen_hits_or_more(many, story):
    async with _router(many, on_event=story) as router:
        await router.retrieve("Which pump needs oil?", tier=1)
        assert story.of("retrieve:rerank") == []
        await router.retrieve("Which pump needs oil?", tier=2)
    (reranked,) = story.of("retrieve:rerank")
    assert reranked.n_in >= 15


async def test_the_third_tier_brings_ten_hits_for_each_part(many, story):
    question = "Compare the pump of valve 7 and the pump of valve 8"
    async with _router(many, on_event=story) as router:
        evidence = await router.retrieve(question, tier=3)
    whole, *parts = story.of("retrieve:rerank")
    assert [part.n_in for part in parts] == [10] * len(evidence.sub_queries)
    assert len(evidence.sub_queries) == 2
    assert whole.n_in >= 15


GRAPH = {
    "faults.md": "# Faults\n\n## Overload rules\n\nE77 says that the fuse is gone. See "
    "[the plan](plan.md).\n\n## Afterwards\n\nWait a minute and switch it on.\n",
    "plan.md": "# Blueprint\n\nBoxes and arrows.\n",
    "other.md": "# Kiln\n\n## Overload rules\n\nNever more than nine bricks.\n",
    "apart.md": "# Garden\n\nTulips and roses.\n",
}


@pytest.fixture
def linked(tmp_path):
    """Return four pages: one answers, one is linked, one bears the same heading, one is apart."""
    folder = tmp_path / "linked"
    folder.mkdir()
    for name, text in GRAPH.items():
        (folder / name).write_text(text)
    return folder


async def test_links_neighbours_and_equal_headings_bring_hits_that_a_lookup_lacks(linked):
    async with _router(linked) as router:
        lookup = await router.retrieve("E77", tier=1)
        joined = await router.retrieve("E77", tier=2)
    assert [hit.document.path for hit in lookup.hits] == ["faults.md"]
    reasons = {(hit.document.path, hit.chunk.heading_path[-1]): hit.note for hit in joined.hits[1:]}
    assert reasons == {
        ("faults.md", "Afterwards"): "beside faults.md:1",
        ("plan.md", "Blueprint"): "linked with faults.md:1",
        ("other.md", "Overload rules"): "shares a name with faults.md:1",
    }
    assert {hit.match_type for hit in joined.hits[1:]} == {"graph"}


async def test_links_are_followed_from_the_page_that_is_linked_too(linked):
    async with _router(linked) as router:
        evidence = await router.retrieve("boxes arrows", tier=2)
    assert [hit.note for hit in evidence.hits if hit.document.path == "faults.md"] == [
        "linked with plan.md:1",
        "beside faults.md:1",
    ]


async def test_without_the_graph_only_what_was_found_is_there(linked, story):
    async with _router(linked, graph_enabled=False, on_event=story) as router:
        lookup = await router.retrieve("E77", tier=1)
        joined = await router.retrieve("E77", tier=2)
        stats = router.get_corpus_stats()
    assert [hit.chunk.id for hit in joined.hits] == [hit.chunk.id for hit in lookup.hits]
    assert (stats.graph_enabled, stats.graph_runtime_mode) == (False, "disabled")
    assert story.of("retrieve:graph") == []


async def test_edges_of_the_old_text_go_with_it(linked):
    """Field note 7: derived graph edges are rebuilt when a document changes."""
    page = linked / "faults.md"
    async with _router(linked) as router:
        page.write_text(page.read_text().replace("[the plan](plan.md)", "[roses](apart.md)"))
        await router.refresh()
        evidence = await router.retrieve("E77", tier=2)
    notes = {hit.document.path: hit.note for hit in evidence.hits[1:]}
    assert notes.get("apart.md") == "linked with faults.md:1"
    assert "plan.md" not in notes


async def test_the_built_in_reranker_changes_an_order_that_a_hook_keeps(tmp_path):
    folder = tmp_path / "docs"
    folder.mkdir()
    far, more = (" ".join(f"{name}{n}" for n in range(35)) for name in "uv")
    (folder / "apart.md").write_text(f"# A\n\nRotate {far} signing {far} key.\n")
    (folder / "together.md").write_text(f"# B\n\n{far} {far} {more[:40]} rotate signing key.\n")
    question = "rotate signing key"
    async with _router(folder, rerank=lambda text, hits, top_n: hits[:top_n]) as router:
        kept = await router.retrieve(question, tier=2)
        mode = router.get_corpus_stats().rerank_runtime_mode
    async with _router(folder) as router:
        reranked = await router.retrieve(question, tier=2)
    assert mode == "active"
    assert [hit.document.path for hit in kept.hits] == ["apart.md", "together.md"]
    assert [hit.document.path for hit in reranked.hits] == ["together.md", "apart.md"]


UNSURE = "How does the default mode affect the log level?"


async def test_an_unsure_tier_goes_up_by_one_and_the_fallback_says_so(corpus):
    async with _router(corpus) as router:
        raised = await router.route(UNSURE)
        capped = await router.route(UNSURE, max_tier=1)
    async with _router(corpus, confidence_threshold=0) as router:
        plain = await router.route(UNSURE)
    assert raised.classification.confidence < raised.classification.threshold == 0.7
    assert raised.classification.escalated_from == plain.classification.tier
    assert raised.classification.tier == plain.classification.tier + 1
    assert raised.tiers_used == (raised.classification.tier,)
    assert "tier-escalation" in raised.fallbacks_used
    for result in (plain, capped):
        assert result.classification.escalated_from is None
        assert "tier-escalation" not in result.fallbacks_used


@pytest.mark.parametrize("strategy", [Strategy.SIMPLE, Strategy.COMPLEX])
async def test_a_classification_that_fails_is_a_lookup_and_says_so(corpus, story, strategy):
    """A name of a tool that is no text gets past a configuration that nobody checked."""
    config = QueryRouterConfig.model_construct(
        knowledge_corpus=(corpus,),
        embedding_provider="none",
        available_tools=(None,),
        on_event=story,
        strategy_config=QueryRouterStrategyConfig(default_strategy=strategy),
    )
    async with QueryRouter(config) as router:
        result = await router.route("What is the default mode?")
    chosen = result.classification
    assert (chosen.tier, chosen.confidence, chosen.strategy) == (Tier.LOOKUP, 0, strategy)
    assert chosen.decided_by == "fallback"
    assert "classify-fallback" in result.fallbacks_used
    assert "tier-escalation" not in result.fallbacks_used
    assert result.tiers_used == (max(1, strategy.rank),)
    assert [event.error for event in story.of("classify:error")] == ["TypeError"]
    assert [event.source for event in story.of("strategy:select")] == ["fallback"]
    assert "safe" in result.answer
