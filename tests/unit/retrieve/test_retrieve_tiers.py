import re

import pytest

from fingerpost.corpus import CorpusRoot, IndexOptions, index_corpus
from fingerpost.observe.observer import ignore
from fingerpost.retrieve import Research, RetrieveRequest, RetrieveTools, retrieve
from fingerpost.stores.open import open_store
from fingerpost.types import Filters, MatchType, Strategy, Tier

pytestmark = pytest.mark.anyio

PAGES = {
    "install.md": (
        "# Install\n\nRun the installer. See [the upgrade guide](upgrade.md).\n\n"
        "## Requirements\n\nThe installer needs four gigabytes of memory.\n"
    ),
    "upgrade.md": "# Upgrade\n\nStop the service, then replace the binary.\n",
    "backup.md": "# Backup\n\nCopy the database folder every night to another disk.\n",
    "redis.md": "# Redis\n\nRedis keeps queues in memory and loses them at a crash.\n",
    "rabbit.md": "# RabbitMQ\n\nRabbitMQ writes queues to disk and survives a crash.\n",
}
EVERY_TIER = [1, 2, 3]


def ask(text, tier, **more):
    return RetrieveRequest(text, Tier(tier), Strategy.for_tier(tier), **more)


def paths(evidence):
    return [hit.document.path for hit in evidence.hits]


async def test_the_trivial_tier_reads_nothing(index, without):
    reader = without(index(PAGES), "search_words", "chunks")
    evidence = await retrieve(reader, ask("hello", 0), RetrieveTools())
    assert (evidence.hits, evidence.tiers_used) == ((), (0,))


@pytest.mark.parametrize("tier", EVERY_TIER)
async def test_every_tier_finds_the_page_and_says_that_it_ran(index, embedder, tier):
    reader = index(PAGES, embedder)
    tools = RetrieveTools(embedder=embedder)
    evidence = await retrieve(reader, ask("copy the database folder", tier), tools)
    assert paths(evidence)[0] == "backup.md"
    assert evidence.tiers_used == (tier,)
    assert evidence.generation == reader.info.generation
    ids = [hit.chunk.id for hit in evidence.candidates]
    assert len(ids) == len(set(ids))
    assert ids[: len(evidence.hits)] == [hit.chunk.id for hit in evidence.hits]
    scores = [hit.score for hit in evidence.hits]
    assert scores == sorted(scores, reverse=True)


async def test_a_stronger_strategy_runs_the_stronger_tier(index):
    request = RetrieveRequest("redis", Tier.LOOKUP, Strategy.COMPLEX)
    evidence = await retrieve(index(PAGES), request, RetrieveTools())
    assert evidence.tiers_used == (3,)


@pytest.mark.parametrize("tier", EVERY_TIER)
async def test_top_k_overrides_the_number_of_the_tier(index, tier):
    evidence = await retrieve(
        index(PAGES), ask("queues crash memory", tier, top_k=1), RetrieveTools()
    )
    assert len(evidence.hits) == 1


@pytest.mark.parametrize("tier", EVERY_TIER)
@pytest.mark.parametrize("with_model", [True, False])
async def test_filters_hold_on_every_leg_of_every_tier(index, embedder, tier, with_model):
    pages = {
        f"{'in' if n < 2 else 'out'}/{n}.md": (
            f"# Install step {n}\n\nInstall the agent and upgrade the agent {n}.\n\n"
            f"See [in](../in/0.md) and [out](../out/{n % 3 + 2}.md).\n\n"
            f"## Install notes {n}\n\nInstall notes for the agent.\n"
        )
        for n in range(5)
    }
    reader = index(pages, embedder)
    evidence = await retrieve(
        reader,
        ask(
            "How do I install the agent and how do I upgrade it?",
            tier,
            top_k=8,
            filters=Filters(paths=("in/**",)),
        ),
        RetrieveTools(embedder=embedder if with_model else None),
    )
    assert evidence.hits
    assert {path.split("/")[0] for path in paths(evidence)} == {"in"}
    assert {hit.document.path.split("/")[0] for hit in evidence.candidates} == {"in"}


async def test_the_second_tier_follows_a_link(tmp_path):
    (tmp_path / "docs").mkdir()
    for name, text in PAGES.items():
        (tmp_path / "docs" / name).write_text(text, "utf-8")
    store = open_store(str(tmp_path / "index"))
    roots = [CorpusRoot("docs", (tmp_path / "docs").resolve())]
    options = IndexOptions(embed=False, workers=0)
    index_corpus(store, roots, embedder=None, options=options, observe=ignore)
    with store.reader() as reader:
        request = ask("installer memory requirements", 2)
        evidence = await retrieve(reader, request, RetrieveTools())
    store.close()
    linked = [hit for hit in evidence.candidates if hit.document.path.endswith("upgrade.md")]
    assert linked[0].match_type is MatchType.GRAPH
    assert linked[0].note.startswith("linked with")


async def test_no_link_is_followed_when_the_graph_is_off(index):
    tools = RetrieveTools(graph_enabled=False)
    evidence = await retrieve(index(PAGES), ask("installer memory requirements", 2), tools)
    assert all(hit.match_type is not MatchType.GRAPH for hit in evidence.candidates)
    assert "graph-skip" not in evidence.fallbacks


async def test_a_comparison_brings_both_sides_and_names_what_was_found(index, embedder):
    tools = RetrieveTools(embedder=embedder)
    text = "What is the difference between Redis and RabbitMQ?"
    evidence = await retrieve(index(PAGES, embedder), ask(text, 3), tools)
    assert evidence.sub_queries == ("Redis", "RabbitMQ")
    assert {"redis.md", "rabbit.md"} <= set(paths(evidence)[:3])
    cited = {
        chunk_id
        for line in evidence.synthesis.splitlines()
        for chunk_id in re.findall(r"\[(\w+)\]", line)
    }
    assert cited
    assert cited <= {hit.chunk.id for hit in evidence.candidates}
    assert evidence.uncovered == ()


async def test_a_part_that_nothing_answers_is_said_to_be_uncovered(index):
    text = "How do I copy the database? How do I tune the quantum flux capacitor?"
    evidence = await retrieve(index(PAGES), ask(text, 3), RetrieveTools())
    assert evidence.uncovered == ("How do I tune the quantum flux capacitor",)
    assert "nothing found" in evidence.synthesis


@pytest.mark.parametrize(
    ("page", "text", "missing"),
    [
        (
            "# Server\n\nStarte den Server mit serve.\n\n# Häufig\n\n## Wie ändere ich das Passwort?\n\nMit passwd.",
            "Wie starte ich den Server, und wie ändere ich das Passwort?",
            (),
        ),
        (
            "# Server\n\nStarte den Server mit serve.",
            "Wie starte ich den Server, und wie ändere ich das Passwort?",
            ("wie ändere ich das Passwort",),
        ),
        ("# 服务器\n\n## 安装\n\n使用安装程序安装服务器。", "什么是服务器，以及如何安装？", ()),
        (
            "# 服务器\n\n## 安装\n\n使用安装程序安装服务器。",
            "什么是服务器，以及如何修改密码？",
            ("如何修改密码",),
        ),
    ],
)
async def test_a_part_with_a_page_on_its_topic_is_covered_in_any_language(
    index, page, text, missing
):
    pages = {"page.md": page, "other.md": "# Other\n\nThe pump is cleaned with vinegar."}
    evidence = await retrieve(index(pages), ask(text, 3), RetrieveTools())
    assert len(evidence.sub_queries) == 2
    assert evidence.uncovered == missing


async def test_words_about_the_asking_weigh_nothing_in_what_is_covered(index):
    evidence = await retrieve(
        index({"pump.md": "# Pump\n\nThe pump is loud."}),
        ask("Explain what the pump means", 1),
        RetrieveTools(),
    )
    assert evidence.coverage == 1.0
    assert evidence.unknown_terms == frozenset()


@pytest.mark.parametrize(
    ("tools", "name"),
    [
        ({"graph_expand": lambda hits: 1 / 0}, "graph-skip"),
        ({"graph_expand": lambda hits: ["no hit"]}, "graph-skip"),
        ({"rerank": lambda query, hits, n: 1 / 0}, "rerank-skip"),
        ({"rerank": lambda query, hits, n: []}, "rerank-skip"),
        ({"deep_research": lambda query, sources: 1 / 0}, "research-skip"),
        ({"deep_research": lambda query, sources: "text"}, "research-skip"),
    ],
)
async def test_a_hook_that_fails_is_named_and_the_built_in_way_answers(index, tools, name):
    evidence = await retrieve(index(PAGES), ask("copy the database", 3), RetrieveTools(**tools))
    assert name in evidence.fallbacks
    assert paths(evidence)[0] == "backup.md"


async def test_hooks_may_be_plain_or_async(index):
    async def turned(query, hits, top_n):
        return list(hits)[::-1][:top_n]

    def plain(query, hits, top_n):
        return list(hits)[::-1][:top_n]

    request = ask("queues memory crash", 2)
    found = [
        paths(await retrieve(index(PAGES), request, RetrieveTools(rerank=hook)))
        for hook in (turned, plain)
    ]
    assert found[0] == found[1]


async def test_a_research_hook_gets_hints_and_its_synthesis_is_kept(index):
    asked = []

    async def deep(query, sources):
        asked.append((query, tuple(sources)))
        return Research("notes", ())

    request = ask("queues", 3, suggested_sources=("web", "nonsense"))
    evidence = await retrieve(index(PAGES), request, RetrieveTools(deep_research=deep))
    assert asked == [("queues", ("web",))]
    assert evidence.synthesis == "notes"


async def test_without_time_the_first_search_is_the_evidence_and_says_so(index):
    tools = RetrieveTools(remaining_s=lambda: 0.0)
    evidence = await retrieve(index(PAGES), ask("copy the database", 3), tools)
    assert evidence.fallbacks[1:] == ("deadline-reached",)
    assert evidence.tiers_used == (1,)
    assert paths(evidence)[0] == "backup.md"


async def test_when_the_time_ends_in_between_the_other_stages_are_left_out_and_named(index):
    left = iter([9.0])
    tools = RetrieveTools(remaining_s=lambda: next(left, 0.0))
    evidence = await retrieve(index(PAGES), ask("copy the database", 3), tools)
    assert set(evidence.fallbacks) >= {"graph-skip", "rerank-skip", "research-skip"}
    assert paths(evidence)[0] == "backup.md"


async def test_events_tell_the_stages_in_order_and_a_failing_observer_breaks_nothing(index):
    seen = []

    def observe(event):
        seen.append((event.type, event.query_id))
        raise ValueError("observer")

    tools = RetrieveTools(observe=observe)
    await retrieve(index(PAGES), ask("copy the database", 3, query_id="q1"), tools)
    types = [kind for kind, _ in seen]
    assert types[0] == "retrieve:start"
    assert types[-1] == "retrieve:complete"
    for kind in (
        "retrieve:vector",
        "retrieve:graph",
        "retrieve:rerank",
        "strategy:decompose",
        "research:start",
        "research:complete",
        "retrieve:fallback",
    ):
        assert kind in types
    assert {query_id for _, query_id in seen} == {"q1"}


async def test_each_search_of_a_question_is_told_with_what_both_legs_found(index, embedder):
    seen = []
    tools = RetrieveTools(embedder=embedder, observe=seen.append)
    text = "What is the difference between Redis and RabbitMQ?"
    evidence = await retrieve(index(PAGES, embedder), ask(text, 3), tools)
    searched = [event for event in seen if event.type == "retrieve:vector"]
    rounds = [event.n_queries for event in seen if event.type == "research:phase"]
    assert len(searched) == 1 + len(evidence.sub_queries) + sum(rounds)
    assert all(event.n_vector == len(PAGES) + 1 for event in searched)
    assert evidence.vectors_searched


@pytest.mark.parametrize("tier", EVERY_TIER)
async def test_a_vector_leg_that_gives_nothing_is_told(
    index, embedder, failing_embedder, without, tier
):
    text = "What is the difference between Redis and RabbitMQ?"
    whole = index(PAGES, embedder)
    for reader, model in (
        (whole, None),
        (whole, failing_embedder),
        (without(whole, "search_vectors"), embedder),
        (index(PAGES), embedder),
    ):
        evidence = await retrieve(reader, ask(text, tier), RetrieveTools(embedder=model))
        assert evidence.hits
        assert "keyword-fallback" in evidence.fallbacks
        assert not evidence.vectors_searched


async def test_a_vector_leg_that_fails_in_a_sub_question_alone_is_named(index, embedder):
    class FailsLater(type(embedder)):
        def embed(self, texts):
            if "difference" not in texts[0]:
                raise OSError("the model is gone")
            return super().embed(texts)

    text = "What is the difference between Redis and RabbitMQ?"
    tools = RetrieveTools(embedder=FailsLater())
    evidence = await retrieve(index(PAGES, embedder), ask(text, 3), tools)
    assert "keyword-fallback" in evidence.fallbacks
    assert evidence.vectors_searched


async def test_a_part_whose_search_fails_leaves_the_others_and_the_whole(index):
    class Fails:
        def __init__(self, reader):
            self._reader = reader
            self._n_searches = 0

        def search_words(self, *arguments):
            self._n_searches += 1
            if self._n_searches == 2:  # the whole comes first, then its parts
                raise OSError("gone")
            return self._reader.search_words(*arguments)

        def __getattr__(self, name):
            return getattr(self._reader, name)

    text = "What is the difference between Redis and RabbitMQ?"
    evidence = await retrieve(Fails(index(PAGES)), ask(text, 3), RetrieveTools())
    assert {"redis.md", "rabbit.md"} <= set(paths(evidence))
    assert "part-skip" in evidence.fallbacks


@pytest.mark.parametrize("tier", EVERY_TIER)
async def test_the_same_question_gives_the_same_evidence(index, embedder, tier):
    reader = index(PAGES, embedder)
    request = ask("queues in memory and on disk?", tier)
    tools = RetrieveTools(embedder=embedder)
    first, second = [await retrieve(reader, request, tools) for _ in range(2)]
    assert first.hits == second.hits
    assert first.candidates == second.candidates
