"""A question of several parts: what was found for each stays apart, and a part without is named."""

import json

import pytest

from fingerpost import QueryRouter
from fingerpost.testing import ScriptedChat

pytestmark = pytest.mark.anyio
MODE, LICENSE, CHEESE = (
    "What is the default mode?",
    "What does E1042 mean?",
    "Which cheeses ferment fastest in winter?",
)
QUESTION = f"{MODE} {LICENSE} {CHEESE}"


class Found:
    """Takes the last evidence."""

    def __call__(self, evidence):
        self.evidence = evidence


def router(corpus, **settings):
    given = {"embedding_provider": "none", "cache_results": False, "verify_citations": False}
    given |= {"strategy_config": {"force_strategy": "complex"}, "knowledge_corpus": [corpus]}
    return QueryRouter(**{**given, **settings})


async def asked(corpus, **settings):
    found = Found()
    async with router(corpus, on_retrieval=found, **settings) as one:
        return await one.route(QUESTION), found.evidence


def pages(part):
    return [hit.document.path for hit in part.hits]


@pytest.mark.parametrize("researched", [True, False])
async def test_the_evidence_of_each_part_is_kept_apart_and_one_has_none(corpus, researched):
    _, evidence = await asked(corpus, deep_research_enabled=researched)
    assert [part.question for part in evidence.parts] == list(evidence.sub_queries)
    mode, license_, cheese = evidence.parts
    assert pages(mode)[0] == "guides/modes.md"
    assert pages(license_)[0] == "guides/errors.md"
    assert cheese.hits == ()
    assert evidence.uncovered == (cheese.question,)
    kept = {hit.chunk.id for hit in evidence.hits}
    assert all(hit.chunk.id in kept for part in evidence.parts for hit in part.hits)


async def test_a_part_of_which_only_a_usual_word_is_found_has_no_evidence(corpus):
    found = Found()
    weak = "Which cheeses ferment fastest below the server in winter caves?"
    async with router(corpus, on_retrieval=found) as one:
        await one.route(f"{MODE} {weak}")
    part = found.evidence.parts[-1]
    assert "cheeses" in part.question
    assert any("server" in hit.chunk.text for hit in found.evidence.candidates)
    assert (part.hits, found.evidence.uncovered) == ((), (part.question,))


async def test_without_a_model_the_answer_names_the_part_without_evidence(corpus):
    result, evidence = await asked(corpus)
    assert "ferment fastest" in result.answer
    assert result.uncovered == evidence.uncovered
    assert "safe" in result.answer
    assert "expired" in result.answer


async def test_a_model_is_told_which_documents_belong_to_which_part_and_which_has_none(corpus):
    def reply(request):
        if request.job == "decompose":
            return json.dumps({"questions": [MODE, LICENSE, CHEESE]})
        if request.job == "generate":
            return "The default mode is safe. [1]"
        return "{}"

    chat = ScriptedChat([reply])
    result, evidence = await asked(corpus, chat_model=chat)
    request = next(one for one in chat.requests if one.job == "generate")
    told = request.messages[-1].text.split("Its parts, and the documents")[1].splitlines()[1:]
    assert len(told) == 3
    assert told[2] == f"- {CHEESE}: nothing"
    for line, part in zip(told[:2], evidence.parts[:2], strict=True):
        text, _, markers = line.removeprefix("- ").rpartition(": ")
        assert text == part.question
        assert markers.startswith("[")
    shown = request.messages[-1].text
    first = told[0].rpartition(": ")[2].partition("]")[0] + "]"
    assert f"{first} guides/modes.md" in shown
    assert CHEESE in result.uncovered


async def test_a_question_of_one_part_has_no_list_of_parts(corpus):
    chat = ScriptedChat(["The default mode is safe. [1]"])
    async with router(corpus, chat_model=chat, strategy_config={}) as one:
        await one.route(MODE, tier=1)
    assert not any("Its parts" in m.text for r in chat.requests for m in r.messages)
