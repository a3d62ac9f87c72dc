"""Hits that stand next to each other are one passage, and are cited as one."""

import json
from dataclasses import replace

import pytest

from fingerpost import QueryRouter
from fingerpost.corpus import CorpusRoot, IndexOptions, index_corpus
from fingerpost.corpus.index import prepare_text
from fingerpost.observe.observer import ignore
from fingerpost.retrieve import RetrieveRequest, RetrieveTools, retrieve
from fingerpost.retrieve.beside import MOST, filled, holds, joined_neighbours, regrouped
from fingerpost.retrieve.pack import spread
from fingerpost.retrieve.unified import UnifiedRetriever
from fingerpost.stores.open import open_store
from fingerpost.testing.chat import ScriptedChat
from fingerpost.types import Hit, Strategy, Tier

pytestmark = pytest.mark.anyio

PUMP = "# Pump\n\nThe pump moves water.\n\n## Clean\n\nVinegar cleans the pump.\n\n## Store\n\nStore the pump dry.\n"
OTHER = "# Boat\n\nThe boat has a pump for its water.\n"


def hits_of(text, path="pump.md"):
    prepared = prepare_text(text, path=path, source="docs", format="markdown")
    n = len(prepared.chunks)
    return [
        Hit(chunk, prepared.document, 1 - at / (n + 1)) for at, chunk in enumerate(prepared.chunks)
    ]


def long_section(n=5):
    said = [f"Step {at} " + "turns the wheel of the mill slowly. " * 30 for at in range(n)]
    return "# Mill\n\n" + "\n\n".join(said) + "\n"


def test_a_section_and_what_stands_below_it_are_one_passage():
    opening, clean, store = hits_of(PUMP)
    (passage,) = joined_neighbours([clean, opening])
    assert passage.chunk.text == opening.chunk.text + clean.chunk.text
    assert passage.chunk.text == PUMP[passage.chunk.span.start : passage.chunk.span.end]
    assert passage.chunk.heading_path == ("Pump",)
    assert (passage.chunk.line_start, passage.chunk.line_end) == (1, clean.chunk.line_end)
    assert (passage.score, passage.n_chunks, passage.next_ordinal) == (clean.score, 2, 2)
    assert passage.note.startswith("joined from lines 1-")
    assert holds(passage, clean)
    assert not holds(passage, store)


def test_two_sections_side_by_side_stay_two_places():
    _, clean, store = hits_of(PUMP)
    assert joined_neighbours([store, clean]) == [store, clean]


def test_with_a_gap_or_in_another_document_hits_stay_apart():
    first, _, third, *_ = hits_of(long_section())
    other = hits_of(OTHER, path="boat.md")
    assert joined_neighbours([first, third, *other]) == [first, third, *other]


def test_a_passage_takes_so_many_chunks_and_no_more():
    hits = hits_of(long_section(9))
    passages = joined_neighbours(hits)
    assert max(passage.n_chunks for passage in passages) == MOST
    assert sum(passage.n_chunks for passage in passages) == len(hits)


def test_the_head_of_a_table_that_each_part_of_a_notebook_repeats_is_read_once(tmp_path):
    rows = [f"| key{n} | {'value ' * 20} |\n" for n in range(40)]
    source = ["# Keys\n", "\n", "| Key | Meaning |\n", "|---|---|\n", *rows]
    cell = {"cell_type": "markdown", "metadata": {}, "source": source}
    page = json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "keys.ipynb").write_text(page, "utf-8")
    store = open_store(str(tmp_path / "index"))
    options = IndexOptions(embed=False, workers=0)
    roots = [CorpusRoot("docs", (tmp_path / "docs").resolve())]
    index_corpus(store, roots, embedder=None, options=options, observe=ignore)
    with store.reader() as reader:
        (document,) = reader.documents()
        stored = reader.document_chunks(document.id)
        hits = [Hit(one.chunk, one.document, 0.5) for one in stored]
    store.close()
    assert sum(bool(hit.chunk.prefix) for hit in hits) > 1
    for passage in joined_neighbours(hits):
        assert passage.chunk.search_text.count("Meaning") <= 1


def test_what_a_part_of_the_question_found_is_the_passage_that_it_became():
    opening, clean, _ = hits_of(PUMP)
    (boat,) = hits_of(OTHER, path="boat.md")
    passages = joined_neighbours([clean, boat, opening])
    assert regrouped([clean, opening], passages) == (passages[0],)
    assert regrouped([boat], passages) == (boat,) == (passages[-1],)


@pytest.mark.parametrize("tier", [2, 3])
async def test_a_higher_tier_gives_neighbours_as_one_hit_and_lists_each_among_the_candidates(
    index, tier
):
    reader = index({"pump.md": PUMP, "boat.md": OTHER})
    request = RetrieveRequest(
        "How is the pump cleaned with vinegar and how does it move water?",
        Tier(tier),
        Strategy.for_tier(tier),
    )
    evidence = await retrieve(reader, request, RetrieveTools())
    joined = [hit for hit in evidence.hits if hit.n_chunks > 1]
    assert [hit.document.path for hit in joined] == ["pump.md"]
    looked_at = [hit for hit in evidence.candidates if hit.n_chunks == 1]
    assert sum(holds(joined[0], hit) for hit in looked_at) == joined[0].n_chunks
    shown = [hit for part in evidence.parts for hit in part.hits]
    assert all(hit in evidence.hits for hit in shown)
    scores = [hit.score for hit in evidence.hits]
    assert scores == sorted(scores, reverse=True)


async def test_the_first_tier_cites_each_chunk_alone(index):
    reader = index({"pump.md": PUMP})
    evidence = await retrieve(
        reader, RetrieveRequest("pump water vinegar", Tier(1), Strategy("simple")), RetrieveTools()
    )
    assert [hit.n_chunks for hit in evidence.hits] == [1] * len(evidence.hits)


@pytest.mark.parametrize("with_model", [True, False])
async def test_a_citation_of_joined_neighbours_resolves_to_its_exact_lines(tmp_path, with_model):
    corpus = tmp_path / "docs"
    corpus.mkdir()
    (corpus / "pump.md").write_text(PUMP, "utf-8")
    (corpus / "boat.md").write_text(OTHER, "utf-8")
    shown = []

    def reply(request):
        shown.append(request.messages[-1].text)
        return "The pump moves water [1]. Vinegar cleans the pump [1]."

    router = QueryRouter(
        knowledge_corpus=[corpus],
        chat_model=ScriptedChat([reply]) if with_model else None,
        embedding_provider="none",
        include_platform_knowledge=False,
        strategy_config={"force_strategy": "moderate", "classifier_mode": "heuristic"},
    )
    async with router:
        result = await router.route("What does the pump move and what cleans the pump?", tier=2)
    joined = next(source for source in result.sources if source.path == "pump.md")
    lines = PUMP.splitlines()[joined.line_start - 1 : joined.line_end]
    assert {"The pump moves water.", "Vinegar cleans the pump."} <= set(lines)
    for citation in result.citations:
        quote = citation.quote
        if quote is not None and citation.source_index == joined.index:
            assert PUMP[quote.start : quote.end].strip() in "\n".join(lines)
    if with_model:
        (prompt,) = [text for text in shown if "Question:" in text]
        assert prompt.count("pump.md |") == 1
        assert result.grounding.overall_grounded


def scored(hits, *scores):
    return [replace(hit, score=score) for hit, score in zip(hits, scores, strict=True)]


def test_where_neighbours_are_joined_the_next_hits_take_the_free_places():
    first, second, *_ = hits_of(long_section(), "mill.md")
    others = [hits_of(OTHER, path=f"boat{n}.md")[0] for n in range(3)]
    ranked = scored([first, second, *others], 0.9, 0.8, 0.7, 0.6, 0.5)
    kept = filled(ranked[:3], ranked, 3)
    passages = joined_neighbours(kept)
    assert [hit.document.path for hit in passages] == ["mill.md", "boat0.md", "boat1.md"]
    assert passages[0].n_chunks == 2
    assert len(joined_neighbours(filled(ranked[:5], ranked, 5))) == 4  # the ranked hits end


def test_what_fills_a_free_place_is_not_one_file_more_while_others_help():
    page = hits_of("# A\n\n" + "".join(f"## S{n}\n\nWord {n}.\n\n" for n in range(6)), "mill.md")
    first, second = page[:2]  # the opening and the section below it are one
    others = [hits_of(OTHER, path=f"boat{n}.md")[0] for n in range(2)]
    ranked = scored([first, second, *page[2:5], *others], 0.9, 0.9, 0.9, 0.88, 0.87, 0.8, 0.1)
    kept = joined_neighbours(filled(spread(ranked, 4), ranked, 4))
    assert [hit.document.path for hit in kept].count("mill.md") == 3
    assert [hit.document.path for hit in kept].count("boat0.md") == 1


def test_a_hit_that_cuts_a_passage_in_two_leaves_no_more_places_than_asked():
    hits = hits_of(long_section(9))
    one, two, three, four = hits[:4]
    ranked = scored([two, three, four, one], 0.9, 0.8, 0.7, 0.6)
    assert len(joined_neighbours(filled(ranked[:2], ranked, 2))) <= 2


@pytest.mark.parametrize("tier", [2, 3])
@pytest.mark.parametrize("planned", [False, True])
async def test_a_higher_tier_gives_as_many_passages_as_were_asked_for(index, tier, planned):
    boats = {
        f"{name}.md": f"# {name.title()}\n\nA {name} has a pump that moves its water.\n"
        for name in ("boat", "barge", "ferry", "raft", "canoe", "dinghy")
    }
    reader = index({"pump.md": PUMP, **boats})
    strategy = Strategy.for_tier(tier)
    text = "How is the pump cleaned with vinegar and how does it move water?"
    request = RetrieveRequest(text, Tier(tier), strategy, top_k=4)
    search = UnifiedRetriever().retrieve if planned else retrieve
    evidence = await search(reader, request, RetrieveTools())
    assert max(hit.n_chunks for hit in evidence.hits) > 1
    assert len(evidence.hits) == 4
