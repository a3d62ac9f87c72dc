"""What hooks give back, and what long questions cost."""

import threading
import time
from dataclasses import replace

import pytest

from fingerpost.retrieve import Research, RetrieveRequest, RetrieveTools, retrieve
from fingerpost.retrieve.features import identifiers
from fingerpost.retrieve.investigate import PART_CHARS, split
from fingerpost.types import Filters, MatchType, Strategy, Tier

pytestmark = pytest.mark.anyio

PAGES = {
    "backup.md": "# Backup\n\nCopy the database folder every night to another disk.\n",
    "redis.md": "# Redis\n\nRedis keeps queues in memory and loses them at a crash.\n",
    "rabbit.md": "# RabbitMQ\n\nRabbitMQ writes queues to disk and survives a crash.\n",
}


def ask(text, tier, **more):
    return RetrieveRequest(text, Tier(tier), Strategy.for_tier(tier), **more)


def foreign(hit):
    """Return a hit that the index does not hold, on a document that it does."""
    return replace(hit, score=1.0, chunk=replace(hit.chunk, id="foreign", text="evil"))


def elsewhere(hit):
    document = replace(hit.document, id="elsewhere", uri="https://evil.example/page")
    made = replace(foreign(hit), match_type=MatchType.RESEARCH, document=document)
    return replace(made, chunk=replace(made.chunk, document_id="elsewhere"))


def tools_with(name, change):
    """Return tools whose hook ``name`` returns what ``change`` makes of the hits at hand."""
    kept = []

    def graph(hits):
        kept[:] = hits
        return change(list(hits))

    def note(hits):
        kept[:] = hits
        return list(hits)

    if name == "graph-skip":
        return RetrieveTools(graph_expand=graph)
    if name == "rerank-skip":
        return RetrieveTools(rerank=lambda query, hits, n: change(list(hits)))
    return RetrieveTools(
        graph_expand=note, deep_research=lambda query, hints: Research("n", tuple(change(kept)))
    )


HOOKS = pytest.mark.parametrize("name", ["graph-skip", "rerank-skip", "research-skip"])


@HOOKS
@pytest.mark.parametrize("make", [foreign, elsewhere])
async def test_a_foreign_hit_is_never_cited_and_the_fallback_named(index, name, make):
    reader = index(PAGES)
    tools = tools_with(name, lambda hits: [*hits, make(hits[0])])
    evidence = await retrieve(reader, ask("queues crash", 3), tools)
    every = {hit.chunk.id for hit in (*evidence.hits, *evidence.candidates)}
    known = {
        hit.chunk.id
        for hit in (await retrieve(reader, ask("queues crash", 3), RetrieveTools())).candidates
    }
    assert every <= known
    assert name in evidence.fallbacks


@HOOKS
async def test_what_a_hook_writes_into_a_known_chunk_is_not_believed(index, name):
    def tampered(hits):
        return [replace(h, chunk=replace(h.chunk, text="evil")) for h in hits]

    evidence = await retrieve(index(PAGES), ask("queues crash", 3), tools_with(name, tampered))
    assert evidence.hits
    assert all(h.chunk.text != "evil" for h in (*evidence.hits, *evidence.candidates))


@HOOKS
@pytest.mark.parametrize("score", [float("nan"), float("inf"), "1", None])
async def test_a_score_that_is_no_finite_number_is_refused(index, name, score):
    tools = tools_with(name, lambda hits: [replace(hit, score=score) for hit in hits])
    evidence = await retrieve(index(PAGES), ask("queues crash", 3), tools)
    assert name in evidence.fallbacks
    assert all(0 <= hit.score <= 1 for hit in evidence.hits)


@HOOKS
@pytest.mark.parametrize(
    "field",
    [
        {"note": 5},
        {"note": None},
        {"copies": None},
        {"copies": (1, 2)},
        {"sub_query": None},
        {"match_type": "guess"},
        {"lexical_rank": "first"},
        {"vector_score": float("nan")},
        {"chunk": None},
        {"document": None},
    ],
    ids=str,
)
async def test_a_hit_with_a_field_that_nothing_could_read_is_refused(index, name, field):
    tools = tools_with(name, lambda hits: [replace(hit, **field) for hit in hits])
    evidence = await retrieve(index(PAGES), ask("queues crash", 3), tools)
    assert name in evidence.fallbacks
    assert evidence.hits


@HOOKS
async def test_a_hook_cannot_make_one_chunk_stand_for_several(index, name):
    tools = tools_with(name, lambda hits: [replace(hit, n_chunks=7) for hit in hits])
    evidence = await retrieve(index(PAGES), ask("queues crash", 3), tools)
    assert {hit.n_chunks for hit in evidence.hits} == {1}


@HOOKS
@pytest.mark.parametrize(
    "given", [None, 5, "text", [1, None], {"x": 1}, iter([])], ids=lambda g: type(g).__name__
)
async def test_anything_but_hits_is_refused(index, name, given):
    def hook(*arguments):
        return Research("n", given) if name == "research-skip" else given

    field = {
        "graph-skip": "graph_expand",
        "rerank-skip": "rerank",
        "research-skip": "deep_research",
    }
    tools = RetrieveTools(**{field[name]: hook})
    evidence = await retrieve(index(PAGES), ask("queues crash", 3), tools)
    assert name in evidence.fallbacks
    assert evidence.hits


async def test_a_graph_hook_cannot_bring_in_what_the_filters_keep_out(index):
    reader = index(PAGES)
    everything = (await retrieve(reader, ask("queues crash", 2), RetrieveTools())).hits
    tools = RetrieveTools(graph_expand=lambda hits: everything)
    request = ask("queues crash", 2, filters=Filters(paths=("redis.md",)))
    evidence = await retrieve(reader, request, tools)
    assert {hit.document.path for hit in evidence.hits} == {"redis.md"}
    assert "graph-skip" not in evidence.fallbacks


async def test_a_graph_hook_may_add_a_chunk_that_the_search_did_not_find(index):
    reader = index(PAGES)
    other = (await retrieve(reader, ask("copy the database", 1), RetrieveTools())).hits[:1]
    evidence = await retrieve(
        reader, ask("queues", 2), RetrieveTools(graph_expand=lambda hits: other)
    )
    assert "backup.md" in {hit.document.path for hit in evidence.hits}
    assert "graph-skip" not in evidence.fallbacks


@pytest.mark.parametrize(
    "text",
    [
        "a" * 8192,
        "1" * 8192,
        "A1" * 4096,
        "a_-" * 2700,
        "a." * 4096,
        "สวัสดีชาวโลก" * 667,
        "why and " * 1000,
    ],
    ids=lambda text: text[:3],
)
@pytest.mark.parametrize("tier", [2, 3])
async def test_a_long_question_leaves_the_event_loop_to_others(index, text, tier):
    reader = index(PAGES)
    used, used_by_loop = time.process_time(), time.thread_time()
    await retrieve(reader, ask(text, tier), RetrieveTools())
    # This thread is the loop's own: what it does not spend, others may use.
    assert time.thread_time() - used_by_loop < 0.05
    assert time.process_time() - used < 2


@pytest.mark.parametrize("tier", [1, 2, 3])
async def test_the_index_and_the_model_are_never_asked_on_the_event_loop(index, embedder, tier):
    asked = []

    class Watched:
        def __init__(self, watched):
            self._watched = watched

        def __getattr__(self, name):
            asked.append((name, threading.get_ident()))
            return getattr(self._watched, name)

    text = "How do I copy the database? What is the difference between Redis and RabbitMQ?"
    request = ask(text, tier, filters=Filters(languages=("en", "und")))
    tools = RetrieveTools(embedder=Watched(embedder))
    await retrieve(Watched(index(PAGES, embedder)), request, tools)
    used = {name for name, _ in asked}
    assert {"select", "search_words", "embed", "search_vectors", "chunks"} <= used
    on_loop = {name for name, thread in asked if thread == threading.get_ident()}
    assert on_loop <= {"info"}


def test_a_long_question_is_split_into_few_short_parts():
    text = "How do I copy the database folder and why does the filter work? " * 120
    parts = split(text, 5)
    assert 1 < len(parts) <= 5
    assert all(len(part) <= PART_CHARS for part in parts)


@pytest.mark.parametrize(
    "text", ["1" * 250, "a_-" * 80, "a_" * 120, "A" * 250, "a1" * 120, "-" * 250]
)
def test_looking_for_identifiers_is_quick_however_the_text_is_made(text):
    started = time.process_time()
    identifiers(f"{text} " * 16)
    assert time.process_time() - started < 2


def test_identifiers_are_found_as_written():
    text = "set snake_case, a.dotted.name, Class::member, --dry-run, `any thing`, E4021X, camelCase"
    assert identifiers(text) == [
        "snake_case", "a.dotted.name", "Class::member", "--dry-run", "any thing", "E4021X",
        "camelCase",
    ]  # fmt: skip
