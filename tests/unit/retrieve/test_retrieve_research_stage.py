"""The research pass within retrieval: its model, its web, its time, and what is said of them."""

import json
import time

import anyio
import pytest

from fingerpost.errors import ProviderUnavailableError
from fingerpost.observe.events import ResearchComplete, ResearchPhase, ResearchStart
from fingerpost.retrieve import Research, RetrieveRequest, RetrieveTools, retrieve
from fingerpost.retrieve.imagine import Imagination
from fingerpost.testing import ScriptedChat
from fingerpost.types import Filters, Strategy, Tier
from fingerpost.types.evidence import MatchType
from fingerpost.types.source import Passage

pytestmark = pytest.mark.anyio
PAGES = {
    "pump.md": "# Pump\n\nThe pump moves water and is cleaned with vinegar each month.",
    "valve.md": "# Valve\n\nThe valve closes at high pressure. Its seal is made of rubber.",
    "seal.md": "# Seal\n\nA rubber seal is replaced every second year by a technician.",
}
QUESTION = "Who swaps worn gaskets of the zeppelin?"
ANSWER = Passage(
    "Gaskets of a zeppelin are swapped by riggers.", "https://zep.example/", "Zeppelin"
)
LATE_S = 0.25


def ask(text=QUESTION, **more):
    return RetrieveRequest(text, Tier.RESEARCH, Strategy.COMPLEX, **more)


def chat_that(queries):
    def reply(request):
        if request.job != "research":
            return '{"questions": []}'
        return queries(request) if callable(queries) else json.dumps({"queries": queries})

    return ScriptedChat([reply])


async def find(reader, request, **tools):
    with anyio.fail_after(5):
        return await retrieve(reader, request, RetrieveTools(**tools))


async def test_the_model_is_shown_what_is_open_and_found_and_its_queries_are_searched(index):
    chat = chat_that(["rubber seal technician"])
    evidence = await find(index(PAGES), ask(), imagine=Imagination(chat))
    (first, *_) = (one for one in chat.requests if one.job == "research")
    prompt = first.messages[-1].text
    assert f"- {QUESTION}" in prompt
    assert "{{" not in prompt
    assert first.deadline is not None
    found = [hit for hit in evidence.candidates if hit.sub_query == "rubber seal technician"]
    assert "seal.md" in {hit.document.path for hit in found}
    assert "research-by-rule" not in evidence.fallbacks


async def test_a_model_that_fails_leaves_the_rules_and_is_named(index):
    def fail(request):
        raise ProviderUnavailableError("it is down")

    evidence = await find(
        index(PAGES), ask("valve pressure oil"), imagine=Imagination(chat_that(fail))
    )
    assert "research-by-rule" in evidence.fallbacks
    assert "research-skip" not in evidence.fallbacks


async def test_a_model_that_hangs_takes_a_share_of_the_time(index):
    async def hang(request):
        await anyio.sleep(max(0.0, request.deadline - time.monotonic()))
        raise ProviderUnavailableError("too late")

    began = time.monotonic()
    evidence = await find(
        index(PAGES),
        ask("valve pressure oil"),
        imagine=Imagination(chat_that(hang)),
        remaining_s=lambda: began + 1.0 - time.monotonic(),
    )
    assert time.monotonic() - began < 1.0
    assert evidence.hits


async def test_the_web_joins_the_hits_and_its_words_are_no_longer_unknown(index):
    seen = []
    evidence = await find(
        index(PAGES),
        ask(),
        web=lambda *_: [ANSWER],
        web_always=True,
        observe=seen.append,
    )
    hit = next(hit for hit in evidence.hits if hit.match_type is MatchType.SOURCE)
    assert (hit.document.uri, hit.document.source) == ("https://zep.example/", "web")
    assert evidence.web_searched
    assert "zeppelin" not in " ".join(evidence.unknown_terms)
    told = [
        one for one in seen if isinstance(one, ResearchStart | ResearchPhase | ResearchComplete)
    ]
    assert isinstance(told[0], ResearchStart)
    assert isinstance(told[-1], ResearchComplete)
    assert told[1].n_web_hits == 1


@pytest.mark.parametrize(
    ("request_", "tools"),
    [
        (ask(), {"web_always": False}),
        (ask(suggested_sources=("docs", "media")), {}),
        (ask(filters=Filters(paths=("*.md",))), {"web_always": True}),
        (ask(), {"web_always": True, "deep_research_enabled": False}),
        (ask(), {"web_always": True, "research_rounds": 0}),
    ],
)
async def test_the_web_is_asked_only_where_it_is_wanted(index, request_, tools):
    asked = []
    evidence = await find(index(PAGES), request_, web=lambda *a: asked.append(a) or [], **tools)
    assert asked == []
    assert not evidence.web_searched


async def test_a_hint_has_the_web_asked(index):
    evidence = await find(index(PAGES), ask(suggested_sources=("web",)), web=lambda *_: [ANSWER])
    assert evidence.web_searched


@pytest.mark.parametrize("given", ["text", [None], 5, [Passage(" ")]])
async def test_a_search_that_gives_anything_else_than_passages_is_named(index, given):
    evidence = await find(index(PAGES), ask(), web=lambda *_: given, web_always=True)
    assert "web-skip" in evidence.fallbacks
    assert all(hit.match_type is not MatchType.SOURCE for hit in evidence.hits)


async def test_a_search_that_hangs_is_left_behind_in_time(index):
    async def hang(question, top_k):
        await anyio.sleep_forever()

    began = time.monotonic()
    evidence = await find(
        index(PAGES),
        ask(),
        web=hang,
        web_always=True,
        remaining_s=lambda: began + 0.5 - time.monotonic(),
    )
    assert time.monotonic() - began < 0.5 + 1.0  # a busy machine; it hangs for good
    assert "web-skip" in evidence.fallbacks


async def test_a_hook_is_given_the_three_hints_and_never_raw_labels(index):
    given = []

    def hook(question, sources):
        given.append(sources)
        return Research("nothing")

    for labels in (("Web search", "bm25"), ("the moon",), ()):
        await find(index(PAGES), ask(suggested_sources=labels), deep_research=hook)
    assert given == [["web", "docs"], ["docs"], ["docs"]]
