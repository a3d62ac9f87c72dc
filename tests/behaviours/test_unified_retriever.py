"""Retrieval by execution plan, through `QueryRouter.set_unified_retriever`."""

import os

import anyio
import pytest

from fingerpost import ConfigError, QueryRouter, UsageError
from fingerpost.retrieve.memory import TextMemory
from fingerpost.retrieve.plan import Policy, plan_for, under
from fingerpost.retrieve.unified import UnifiedRetriever
from fingerpost.types.decision import Tier
from fingerpost.types.plan import ExecutionPlan
from fingerpost.types.source import Passage

pytestmark = pytest.mark.anyio
DAY = 86_400


class Finds:
    """A retriever of the host's own."""

    def __init__(self, *passages, fails=None):
        self.passages, self.fails, self.asked = passages, fails, []

    async def retrieve(self, query, top_k):
        self.asked.append((query, top_k))
        if self.fails:
            raise self.fails
        return self.passages


def _router(corpus, unified, **settings):
    settings.setdefault("embedding_provider", "none")
    router = QueryRouter(knowledge_corpus=[corpus], **settings)
    router.set_unified_retriever(unified)
    return router


def _told(evidence):
    return {item.name: item for item in evidence.diagnostics}


async def test_branches_run_side_by_side_and_are_told(corpus):
    memory = Finds(Passage("Earlier we agreed that the default mode stays safe."))
    unified = UnifiedRetriever(policy="max-recall", memory=memory)
    async with _router(corpus, unified) as router:
        evidence = await router.retrieve("What is the default mode?", tier=2)
    told = _told(evidence)
    assert set(told) == {"hybrid", "graph", "raptor", "memory", "multimodal"}
    assert told["memory"].n_hits == 1
    assert told["hybrid"].n_hits > 0
    assert told["hybrid"].policy == "max-recall"
    assert {hit.document.source for hit in evidence.hits} >= {"memory", corpus.name}


async def test_a_branch_that_fails_leaves_the_others(corpus):
    unified = UnifiedRetriever(policy="max-recall", memory=Finds(fails=OSError("gone")))
    async with _router(corpus, unified) as router:
        result = await router.route("What is the default mode?", tier=2)
    assert "safe" in result.answer
    assert "memory-skip" in result.fallbacks_used
    assert "gone" in {item.name: item for item in result.diagnostics}["memory"].error


async def test_when_every_branch_fails_the_question_does(corpus):
    unified = UnifiedRetriever(policy="fast", hybrid=Finds(fails=OSError("gone")))
    async with _router(corpus, unified) as router:
        with pytest.raises(Exception, match="No source could be searched"):
            await router.retrieve("What is the default mode?", tier=1)


async def test_setting_and_taking_away_forgets_cached_results(corpus):
    async with _router(corpus, None) as router:
        first = await router.route("What is the default mode?")
        again = await router.route("What is the default mode?")
        router.set_unified_retriever(UnifiedRetriever())
        planned = await router.route("What is the default mode?")
        router.set_unified_retriever(None)
        back = await router.route("What is the default mode?")
    assert [first.cached, again.cached, planned.cached, back.cached] == [False, True, False, False]
    assert planned.diagnostics
    assert not back.diagnostics


async def test_weak_evidence_escalates_once(corpus):
    async with _router(corpus, UnifiedRetriever(policy="fast")) as router:
        weak = await router.retrieve("purple elephants orbiting quietly", tier=1)
        strong = await router.retrieve("What is the default mode?", tier=1)
    assert "policy-escalation" in weak.fallbacks
    assert {item.policy for item in weak.diagnostics} == {"fast", "balanced"}
    assert "policy-escalation" not in strong.fallbacks
    assert {item.policy for item in strong.diagnostics} == {"fast"}


async def test_newer_documents_win_when_the_plan_prefers_them(corpus, tmp_path):
    pages = tmp_path / "pages"
    pages.mkdir()
    for name, date in (("old", "2019-01-01"), ("new", "2026-11-01")):
        (pages / f"{name}.md").write_text(
            f"---\ndate: {date}\n---\n# Limits {name}\n\nThe upload limit of the {name} plan is 5 MB.\n"
        )
    now = 1_793_000_000.0
    found = {}
    for prefers in (False, True):
        unified = UnifiedRetriever(wall=lambda: now)
        async with _router(pages, unified) as router:
            pipeline_plan = ExecutionPlan(prefer_recent=prefers)
            evidence = await _retrieve_with(router, unified, pipeline_plan, "upload limit plan")
        found[prefers] = {hit.document.path: hit.score for hit in evidence.hits}
    assert found[True]["new.md"] > found[True]["old.md"]
    assert (
        found[True]["new.md"] - found[True]["old.md"]
        > found[False]["new.md"] - found[False]["old.md"]
    )


async def test_documents_beyond_the_greatest_age_are_left_out(corpus, tmp_path):
    page = tmp_path / "pages" / "old.md"
    page.parent.mkdir()
    page.write_text("# Limits\n\nThe upload limit is 5 MB.\n")
    young = page.parent / "young.md"
    young.write_text("# Upload\n\nThe upload limit is 7 MB.\n")
    now = young.stat().st_mtime
    os.utime(page, (now - 400 * DAY, now - 400 * DAY))
    unified = UnifiedRetriever(max_age_days=365, wall=lambda: now)
    async with _router(page.parent, unified) as router:
        evidence = await router.retrieve("What is the upload limit?", tier=1)
    assert [hit.document.path for hit in evidence.hits] == ["young.md"]


async def test_pictures_are_found_by_their_words(corpus, tmp_path):
    pages = tmp_path / "pages"
    pages.mkdir()
    (pages / "a.md").write_text("# Panel\n\n![The wiring panel of the pump](panel.png)\n")
    (pages / "b.md").write_text("# Panel text\n\nThe wiring panel of the pump has no picture.\n")
    plan = ExecutionPlan(multimodal=True)
    unified = UnifiedRetriever()
    async with _router(pages, unified) as router:
        evidence = await _retrieve_with(router, unified, plan, "wiring panel of the pump")
    (told,) = [item for item in evidence.diagnostics if item.name == "multimodal"]
    assert told.n_hits == 1


async def test_a_memory_gives_only_the_kinds_that_the_plan_names():
    memory = TextMemory(max_notes=2)
    memory.add("forgotten pump note", "semantic")
    memory.add("The pump was replaced in May.", "episodic")
    memory.add("A pump moves water.", "semantic")
    memory.add("   ")
    every = await memory.retrieve("pump", 5)
    named = await memory.retrieve("pump", 5, ExecutionPlan(memory_types=("semantic",)))
    assert len(every) == 2
    assert [passage.text for passage in named] == ["A pump moves water."]
    assert await memory.retrieve("unrelated", 5) == []


async def test_a_branch_that_hangs_ends_with_the_deadline(corpus):
    class Hangs:
        async def retrieve(self, query, top_k):
            await anyio.sleep_forever()

    unified = UnifiedRetriever(policy="max-recall", memory=Hangs())
    async with _router(corpus, unified) as router:
        with anyio.fail_after(5):
            evidence = await router.retrieve("What is the default mode?", tier=1, deadline=0.5)
    assert evidence.hits
    assert _told(evidence)["memory"].error


async def test_only_a_unified_retriever_can_be_set(corpus):
    router = _router(corpus, None)
    with pytest.raises(UsageError, match="UnifiedRetriever"):
        router.set_unified_retriever(object())


@pytest.mark.parametrize(
    "wrong",
    [{"policy": "slow"}, {"half_life_days": 0}, {"max_age_days": -1}, {"memory": object()}],
)
def test_values_that_cannot_work_are_refused(wrong):
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        UnifiedRetriever(**wrong)


def test_fast_searches_the_index_alone_and_max_recall_everything():
    plan = plan_for(Tier.RESEARCH)
    fast, most = under(Policy.FAST, plan), under(Policy.MAX_RECALL, plan)
    assert [fast.graph, fast.raptor, fast.memory, fast.deep_research] == [False] * 4
    assert [most.graph, most.raptor, most.memory, most.multimodal] == [True] * 4
    assert under(Policy.BALANCED, plan).graph_depth == 1


async def _retrieve_with(router, unified, plan, text):
    """Retrieve under a plan that a classifier with a model would have proposed."""
    from fingerpost.retrieve.base import RetrieveRequest, RetrieveTools
    from fingerpost.types.decision import Strategy

    request = RetrieveRequest(text, Tier.LOOKUP, Strategy.SIMPLE)
    with router._library.store.reader() as reader:
        return await unified.retrieve(reader, request, RetrieveTools(), plan)
