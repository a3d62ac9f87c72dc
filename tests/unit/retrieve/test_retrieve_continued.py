"""What a kept chunk stops short of is among the candidates."""

import pytest

from fingerpost.retrieve import RetrieveRequest, RetrieveTools, retrieve
from fingerpost.types import Filters, Strategy, Tier

pytestmark = pytest.mark.anyio

LONG = "of which there are very many words to be read by everyone who wants to know them all"
ITEMS = "".join(f"- item {n} {LONG}\n" for n in range(60))
PAGE = f"# Guide\n\n## Zebra crossing\n\nThe zebra crossing has these parts:\n\n{ITEMS}\n"
OTHER = "## Elsewhere\n\nNothing to see.\n"


async def found(reader, text="zebra crossing", tier=1, **more):
    request = RetrieveRequest(text, Tier(tier), Strategy.for_tier(tier), top_k=1, **more)
    return await retrieve(reader, request, RetrieveTools(graph_enabled=False))


def going_on(evidence):
    return [hit for hit in evidence.candidates if hit.note.startswith("goes on from")]


@pytest.mark.parametrize("tier", [1, 2, 3])
async def test_a_list_goes_on_in_the_next_chunks_of_its_section(index, tier):
    reader = index({"guide.md": PAGE + OTHER})
    evidence = await found(reader, "zebra crossing has these parts", tier)
    (first,) = evidence.hits
    further = going_on(evidence)
    start = first.chunk.ordinal + 1
    assert [hit.chunk.ordinal for hit in further] == [start, start + 1, start + 2]
    assert {hit.chunk.heading_path for hit in further} == {first.chunk.heading_path}
    assert {hit.note for hit in further} == {f"goes on from guide.md:{first.chunk.line_start}"}
    assert all(hit.score == first.score and hit.fused_rank is None for hit in further)


async def test_a_chunk_that_ends_with_its_thought_goes_on_nowhere(index):
    prose = f"It is striped {LONG}. " * 30
    reader = index({"guide.md": f"# Guide\n\n## Zebra crossing\n\nZebra crossing. {prose}"})
    evidence = await found(reader)
    assert reader.info.n_chunks > evidence.hits[0].chunk.ordinal + 1
    assert going_on(evidence) == []


async def test_nothing_goes_on_under_another_heading_or_past_the_end(index):
    lead = "# Guide\n\n## Zebra crossing\n\nThe zebra crossing has these parts:\n\n"
    assert going_on(await found(index({"guide.md": lead + OTHER}))) == []
    assert going_on(await found(index({"guide.md": lead}))) == []


async def test_a_filter_of_languages_keeps_out_what_goes_on_in_another(index):
    english_items = "".join(f"- item {n} {LONG}\n" for n in range(9))
    russian_items = "".join(
        f"- часть {n}, которую читают все, кто хочет знать, что в ней написано и как это делать\n"
        for n in range(30)
    )
    lead = "# Guide\n\n## Zebra crossing\n\nThese are the parts that everyone wants to see:\n\n"
    reader = index({"guide.md": f"{lead}{english_items}{russian_items}"})
    assert {hit.chunk.language for hit in going_on(await found(reader))} >= {"ru"}
    english = await found(reader, filters=Filters(languages=("en",)))
    assert english.hits[0].chunk.language == "en"
    assert {hit.chunk.language for hit in going_on(english)} <= {"en"}
