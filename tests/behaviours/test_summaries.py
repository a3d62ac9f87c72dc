"""Overview questions have their summaries without a command: made beside the questions."""

import threading
import time

import anyio
import pytest

from fingerpost import QueryRouter
from fingerpost.retrieve.unified import UnifiedRetriever
from fingerpost.testing.chat import ScriptedChat

pytestmark = pytest.mark.anyio
ABOUT = "What is this documentation about?"
PATIENCE_S = 10


@pytest.fixture
def mill(tmp_path):
    docs = tmp_path / "mill"
    docs.mkdir()
    (docs / "index.md").write_text(
        "# The mill\n\nGrain comes in at the gate and flour goes out at the back door.\n", "utf-8"
    )
    (docs / "wheel.md").write_text(
        "# Care of the wheel\n\nThe wheel is greased each morning before it turns.\n", "utf-8"
    )
    (docs / "zebra.md").write_text(
        "# About questions\n\nThis documentation is about nothing, what is this about?\n", "utf-8"
    )
    return docs


def router(docs, summaries="background", **more):
    return QueryRouter(
        knowledge_corpus=[docs],
        summaries=summaries,
        embedding_provider="none",
        include_platform_knowledge=False,
        strategy_config={"classifier_mode": "heuristic"},
        **more,
    )


def info(asked):
    return asked._library.store.info()


async def made(asked):
    """Wait until the thread that makes them has ended."""
    with anyio.fail_after(PATIENCE_S):
        background = asked._library._background
        await anyio.to_thread.run_sync(background.wait_for, "fingerpost-summaries")


def texts(asked):
    with asked._library.store.reader() as reader:
        tree = reader.summaries()
    return [one.text for one in tree], any(one.written for one in tree)


async def test_what_it_is_about_is_answered_from_the_opening_soon_after_init(mill):
    async with router(mill) as asked:
        await made(asked)
        result = await asked.route(ABOUT)
    assert result.sources[0].path == "index.md"
    assert result.answer.startswith("Grain comes in at the gate")
    assert "The wheel is greased each morning" in result.answer
    assert result.grounding.overall_grounded


@pytest.mark.parametrize(
    "text",
    [
        "Worum geht es in dieser Dokumentation?",
        "¿De qué trata esta documentación?",
        "О чём эта документация?",
        "このドキュメントは何について書かれていますか？",
        "عن ماذا تتحدث هذه الوثائق؟",
    ],
)
async def test_an_overview_may_be_asked_for_in_another_language_than_the_documents(mill, text):
    async with router(mill) as asked:
        await made(asked)
        result = await asked.route(text)
    assert result.sources[0].path == "index.md"
    assert result.answer.startswith("Grain comes in at the gate")


async def test_a_tree_of_other_documents_is_made_anew(mill):
    async with router(mill) as asked:
        await made(asked)
    (mill / "index.md").write_text("# The mill\n\nOxen turn the stones at night and at noon.\n")
    async with router(mill) as asked:
        await made(asked)
        assert "Oxen turn the stones" in texts(asked)[0][-1]


async def test_a_tree_that_is_up_to_date_is_left_as_it_is(mill):
    async with router(mill) as asked:
        await made(asked)
        before = info(asked).generation
    async with router(mill) as asked:
        assert info(asked).summaries_current
        await made(asked)
        assert info(asked).generation == before


async def test_never_makes_none(mill):
    async with router(mill, "never") as asked:
        await asked.route(ABOUT)
    async with router(mill, "never") as asked:
        assert info(asked).n_summaries == 0


async def test_a_model_writes_them_where_the_settings_say_so_and_only_what_is_new(mill):
    jobs = []

    def reply(request):
        jobs.append(request.job)
        return "A mill: its gate, its wheel, its questions."

    for _ in range(2):
        async with router(mill, "written", chat_model=ScriptedChat([reply])) as asked:
            await made(asked)
            assert texts(asked) == (["A mill: its gate, its wheel, its questions."], True)
    assert jobs == ["summarise"]


async def test_a_model_that_fails_leaves_the_openings_and_a_later_run_tries_again(mill):
    chat = ScriptedChat([OSError("the model is gone"), "A mill."])
    async with router(mill, "written", chat_model=chat) as asked:
        await made(asked)
        assert texts(asked)[1] is False
        assert not info(asked).summaries_current
    async with router(mill, "written", chat_model=chat) as asked:
        await made(asked)
        assert texts(asked)[0] == ["A mill."]


async def test_closing_ends_a_call_that_hangs_and_questions_never_wait_for_it(mill):
    asked_model = threading.Event()

    async def hang(request):
        asked_model.set()
        await anyio.sleep(600)

    chat = ScriptedChat([hang])
    async with router(mill, "written", chat_model=chat, generation_provider="none") as asked:
        assert await anyio.to_thread.run_sync(asked_model.wait, PATIENCE_S)
        stats = asked.get_corpus_stats()
        assert stats.chunk_count == 3
        began = time.monotonic()
    assert time.monotonic() - began < PATIENCE_S


@pytest.mark.parametrize("tier", [1, 2, 3])
async def test_under_a_plan_what_it_is_about_is_answered_as_without(mill, tier):
    answers = []
    for unified in (None, UnifiedRetriever()):
        asked = router(mill)
        asked.set_unified_retriever(unified)
        async with asked:
            await made(asked)
            answers.append(await asked.route(ABOUT, tier=tier))
    assert answers[0].answer == answers[1].answer
    assert answers[1].sources[0].path == "index.md"
    assert "policy-escalation" not in answers[1].fallbacks_used
