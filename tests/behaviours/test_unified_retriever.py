"""Retrieval by execution plan, through `QueryRouter.set_unified_retriever`."""

import os

import anyio
import pytest

from fingerpost import ConfigError, Filters, QueryRouter, UsageError
from fingerpost.errors import RetrievalError
from fingerpost.retrieve.base import RetrieveRequest, RetrieveTools
from fingerpost.retrieve.memory import TextMemory
from fingerpost.retrieve.plan import Policy, plan_for, under
from fingerpost.retrieve.unified import UnifiedRetriever
from fingerpost.types.decision import Strategy, Tier
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


class WithoutWords:
    """A reader whose words cannot be searched."""

    def __init__(self, reader):
        self._reader = reader

    def __getattr__(self, name):
        if name == "search_words":
            raise OSError("gone")
        return getattr(self._reader, name)


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
    request = RetrieveRequest(text, Tier.LOOKUP, Strategy.SIMPLE)
    with router._library.store.reader() as reader:
        return await unified.retrieve(reader, request, RetrieveTools(), plan)


def _pages(tmp_path, **texts):
    folder = tmp_path / "pages"
    folder.mkdir()
    for name, text in texts.items():
        (folder / f"{name}.md").write_text(text, "utf-8")
    return folder


async def test_no_step_brings_back_a_document_beyond_the_greatest_age(tmp_path):
    pages = _pages(
        tmp_path,
        new="---\ndate: 2026-11-01\n---\n# Limits\n\nThe upload limit is 5 MB.\n",
        old="---\ndate: 2001-01-01\n---\n# Quota\n\nThe zymurgy quota of a tenant is 3 users.\n",
    )
    text = "What is the upload limit? And what is the zymurgy quota of a tenant?"
    unified = UnifiedRetriever(policy="max-recall", max_age_days=365, wall=lambda: 1_793_000_000.0)
    async with _router(pages, unified) as router:
        evidence = await router.retrieve(text, tier=3)
    assert {hit.document.path for hit in evidence.hits} == {"new.md"}
    assert "3 users" not in evidence.synthesis


async def test_a_young_document_is_found_behind_many_old_ones(tmp_path):
    old = {
        f"old{n}": f"---\ndate: 2001-01-01\n---\n# Upload {n}\n\nThe upload limit is {n} MB.\n"
        for n in range(25)
    }
    young = (
        "---\ndate: 2026-11-01\n---\n# Sizes\n\nSomewhere an upload limit is named, among others.\n"
    )
    pages = _pages(tmp_path, young=young, **old)
    unified = UnifiedRetriever(policy="fast", max_age_days=365, wall=lambda: 1_793_000_000.0)
    async with _router(pages, unified) as router:
        evidence = await router.retrieve("What is the upload limit?", tier=1)
    assert [hit.document.path for hit in evidence.hits] == ["young.md"]


@pytest.mark.parametrize(
    ("filters", "asked"),
    [
        (Filters(paths=("*.md",)), False),
        (Filters(sources=("docs",)), False),
        (Filters(sources=("docs", "memory")), True),
        (Filters(sources=("memory",), languages=("en",)), False),
        (Filters(), True),
    ],
)
async def test_a_question_with_filters_goes_to_no_retriever_that_cannot_pass_them(
    corpus, filters, asked
):
    memory = Finds(Passage("The default mode of the secret is unsafe."))
    unified = UnifiedRetriever(policy="max-recall", memory=memory)
    async with _router(corpus, unified) as router:
        evidence = await router.retrieve("What is the default mode?", tier=2, filters=filters)
    assert bool(memory.asked) == asked
    assert ("memory-skip" in evidence.fallbacks) == (not asked)
    assert asked or all(hit.document.source != "memory" for hit in evidence.hits)


async def test_under_filters_the_index_stands_in_for_the_hosts_own_search(corpus):
    hybrid = Finds(Passage("Elsewhere."))
    async with _router(corpus, UnifiedRetriever(hybrid=hybrid)) as router:
        evidence = await router.retrieve(
            "What is the default mode?", tier=1, filters=Filters(paths=("**",))
        )
    assert not hybrid.asked
    assert "hybrid-skip" in evidence.fallbacks
    assert evidence.hits


async def test_hits_of_the_hosts_own_search_are_reranked_and_researched(corpus):
    told = []

    def rerank(question, hits, top_n):
        told.append([hit.chunk.text for hit in hits])
        return hits

    own = Finds(Passage("The host knows the default mode: bold."))
    async with _router(corpus, UnifiedRetriever(hybrid=own), rerank=rerank) as router:
        evidence = await router.retrieve("What is the default mode?", tier=3)
    assert told[0] == ["The host knows the default mode: bold."]
    assert evidence.synthesis
    assert _told(evidence)["graph"].skipped


async def test_when_the_search_of_the_index_fails_no_branch_that_hangs_on_it_hides_that(corpus):
    unified = UnifiedRetriever(policy="max-recall")
    request = RetrieveRequest("What is the default mode?", Tier(2), Strategy.MODERATE)
    async with _router(corpus, None) as router:
        with (
            router._library.store.reader() as reader,
            pytest.raises(RetrievalError, match="No source could be searched"),
        ):
            await unified.retrieve(WithoutWords(reader), request, RetrieveTools())


@pytest.mark.parametrize("n_looks", range(1, 8))
async def test_wherever_the_time_ends_what_was_found_first_stands(corpus, n_looks):
    looks = []

    def remaining_s():
        looks.append(1)
        return 1.0 if len(looks) <= n_looks else 0.0

    unified = UnifiedRetriever(policy="fast")
    request = RetrieveRequest("mode of purple elephants", Tier(2), Strategy.MODERATE)
    async with _router(corpus, None) as router:
        with router._library.store.reader() as reader:
            evidence = await unified.retrieve(
                reader, request, RetrieveTools(remaining_s=remaining_s)
            )
    assert evidence.hits


async def test_without_time_for_more_a_plan_says_that_one_search_ran(corpus):
    request = RetrieveRequest("What is the default mode?", Tier(3), Strategy.COMPLEX)
    async with _router(corpus, None) as router:
        with router._library.store.reader() as reader:
            evidence = await UnifiedRetriever().retrieve(
                reader, request, RetrieveTools(remaining_s=lambda: 0.0)
            )
    assert evidence.hits
    assert evidence.tiers_used == (1,)
    assert "deadline-reached" in evidence.fallbacks


async def test_an_escalation_that_finds_no_source_leaves_what_there_was(corpus):
    class Once(Finds):
        async def retrieve(self, query, top_k):
            if self.asked:
                raise OSError("gone")
            return await super().retrieve(query, top_k)

    unified = UnifiedRetriever(policy="fast", hybrid=Once(Passage("Something about nothing.")))
    async with _router(corpus, unified) as router:
        evidence = await router.retrieve("purple elephants orbiting quietly", tier=1)
    assert [hit.chunk.text for hit in evidence.hits] == ["Something about nothing."]
    assert "policy-escalation" in evidence.fallbacks


async def test_under_a_plan_a_list_goes_on_as_it_does_without(tmp_path):
    items = "".join(f"- part {n} {'is made of brass and steel ' * 12}\n" for n in range(20))
    pages = _pages(tmp_path, mill=f"# Mill\n\n## Parts\n\nThe mill has these parts:\n\n{items}")
    found = []
    for unified in (None, UnifiedRetriever()):
        async with _router(pages, unified) as router:
            evidence = await router.retrieve("Which parts has the mill?", tier=1, top_k=1)
        found.append({hit.chunk.ordinal for hit in evidence.candidates if "goes on" in hit.note})
    assert found[0] == found[1] != set()
