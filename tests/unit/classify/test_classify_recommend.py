"""Capabilities recommended by words, and through a router."""

import json

import pytest

from fingerpost import QueryRouter
from fingerpost.testing import ScriptedChat
from fingerpost.types.plan import Capability

pytestmark = pytest.mark.anyio
OFFERED = (
    Capability("tool", "convert-image", "converts images between formats"),
    Capability("skill", "write-changelog", "writes a changelog from commits"),
    Capability("extension", "calendar", "reads the calendar"),
)


class _Engine:
    def capabilities(self):
        return OFFERED


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "images.md").write_text("# Images\n\nConvert images with the converter.\n")
    return tmp_path


def _router(folder, **settings):
    router = QueryRouter(knowledge_corpus=[folder], embedding_provider="none", **settings)
    router.set_capability_discovery_engine(_Engine())
    return router


async def test_without_a_model_shared_words_recommend_and_an_event_tells(folder):
    told = []
    async with _router(folder, on_event=told.append) as router:
        result = await router.route("How do I convert images between formats?")
    (best,) = result.recommendations
    assert (best.kind, best.id, best.priority) == ("tool", "convert-image", 1)
    assert 0 < best.confidence <= 1
    (event,) = [event for event in told if event.type == "capabilities:activate"]
    assert event.capability_ids == ("tool:convert-image",)


@pytest.mark.parametrize("excluded", ["convert-image", "tool:convert-image"])
async def test_what_is_excluded_is_not_recommended(folder, excluded):
    async with _router(folder) as router:
        result = await router.route("How do I convert images?", excluded_capability_ids=[excluded])
    assert result.recommendations == ()


async def test_a_model_is_offered_what_is_not_excluded_and_plans(folder):
    def say(request):
        if request.job != "classify":
            return "Use the converter [1]."
        return json.dumps(
            {
                "tier": 1,
                "strategy": "simple",
                "confidence": 0.9,
                "plan": {"sources": {"graph": True}, "graph_depth": 1},
                "recommendations": [
                    {"id": "tool:convert-image", "reasoning": "it converts", "priority": 1},
                    {"id": "extension:calendar", "priority": 2},
                ],
            }
        )

    chat = ScriptedChat([say])
    async with _router(folder, chat_model=chat) as router:
        result = await router.route(
            "How do I convert images?", excluded_capability_ids=["calendar"]
        )
    prompt = chat.requests[0].messages[0].text
    assert "tool:convert-image: converts images" in prompt
    assert "calendar" not in prompt
    assert [item.id for item in result.recommendations] == ["convert-image"]
    assert result.classification.plan.graph_depth == 1
    assert result.classification.prompt.startswith("plan@")


async def test_taking_another_engine_forgets_cached_results(folder):
    async with _router(folder) as router:
        await router.route("How do I convert images?")
        router.set_capability_discovery_engine(None)
        again = await router.route("How do I convert images?")
    assert not again.cached
    assert again.recommendations == ()
