"""Overview questions: the summaries lead to chunks and are never among the hits."""

import asyncio

import pytest

from fingerpost.corpus.index import index_identity, prepare_text
from fingerpost.corpus.summaries import summarise
from fingerpost.retrieve import retrieve
from fingerpost.retrieve.base import RetrieveRequest, RetrieveTools
from fingerpost.stores.open import open_store
from fingerpost.types import Filters
from fingerpost.types.decision import Strategy, Tier

ABOUT = "What is this documentation about?"


@pytest.fixture
def mill(tmp_path):
    """Return a function that opens an index of a mill's pages, with summaries or without."""
    store = open_store(str(tmp_path / "index"))
    pages = {
        "index.md": ("The mill", "Grain comes in at the gate and flour goes out at the back door."),
        "wheel/care.md": (
            "Care of the wheel",
            "The wheel is greased each morning before it turns.",
        ),
        "wheel/size.md": (
            "Size of the wheel",
            "The wheel is nine feet across and made of oak wood.",
        ),
        "zebra.md": ("About questions", "This documentation is about nothing, what is this about?"),
    }
    with store.writer(index_identity()) as writer:
        writer.put(
            prepare_text(text, source="docs", path=path, title=title)
            for path, (title, text) in pages.items()
        )
        writer.commit()
    readers = []

    def opened(*, summaries=True):
        if summaries:
            asyncio.run(summarise(store))
        readers.append(store.reader())
        return readers[-1].__enter__()

    yield opened
    for reader in readers:
        reader.__exit__(None, None, None)
    store.close()


def asked(reader, text, tier=2, **given):
    tools = RetrieveTools(raptor_enabled=given.pop("raptor_enabled", True))
    request = RetrieveRequest(text, Tier(tier), Strategy.for_tier(tier), **given)
    return asyncio.run(retrieve(reader, request, tools))


def paths(evidence):
    return [hit.document.path for hit in evidence.hits]


@pytest.mark.parametrize("tier", [1, 2, 3])
def test_what_it_is_about_is_answered_from_the_opening_not_from_the_words_asked(mill, tier):
    reader = mill()
    evidence = asked(reader, ABOUT, tier=tier)
    assert paths(evidence)[0] == "index.md"
    assert evidence.hits[0].note.startswith("stands for 4 documents")
    assert [hit.score for hit in evidence.hits] == sorted(
        (hit.score for hit in evidence.hits), reverse=True
    )
    stored = {
        one.chunk.id for item in reader.documents() for one in reader.document_chunks(item.id)
    }
    assert {hit.chunk.id for hit in evidence.hits} <= stored
    assert paths(asked(reader, ABOUT, tier=tier, raptor_enabled=False))[0] == "zebra.md"


def test_without_summaries_the_search_stands(mill):
    reader = mill(summaries=False)
    evidence = asked(reader, ABOUT)
    assert paths(evidence)[0] == "zebra.md"
    assert evidence.fallbacks == asked(reader, "what is the wheel").fallbacks


def test_an_overview_of_something_has_the_search_and_what_the_summaries_lead_to(mill):
    evidence = asked(mill(), "Give me an overview of the wheel")
    assert {"wheel/care.md", "wheel/size.md"} <= set(paths(evidence)[:2])


def test_a_filter_holds_for_what_the_summaries_lead_to(mill):
    evidence = asked(mill(), ABOUT, filters=Filters(paths=("wheel/**",)))
    assert set(paths(evidence)) == {"wheel/care.md", "wheel/size.md"}


def test_other_questions_are_left_alone(mill):
    reader = mill()
    text = "How large is the wheel?"
    assert asked(reader, text).hits == asked(reader, text, raptor_enabled=False).hits
