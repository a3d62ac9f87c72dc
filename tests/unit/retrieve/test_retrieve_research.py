import anyio
import pytest

from fingerpost.retrieve import search
from fingerpost.retrieve.research import Means, research
from fingerpost.retrieve.research_notes import Notes

pytestmark = pytest.mark.anyio
PAGES = {
    "pump.md": "# Pump\n\nThe pump moves water and is cleaned with vinegar each month.",
    "valve.md": "# Valve\n\nThe valve closes at high pressure. Its seal is made of rubber.",
    "seal.md": "# Seal\n\nA rubber seal is replaced every second year by a technician.",
}


async def run(reader, parts, hits, **more):
    asked = []

    async def find(query):
        asked.append(query)
        return search(reader, query, embedder=None, k=3).hits

    means = Means(
        find, **{"remaining_s": lambda: 9.0, "in_thread": anyio.to_thread.run_sync, **more}
    )
    with anyio.fail_after(5):
        return await research(Notes(reader, list(hits)), " ".join(parts), parts, means), asked


async def test_what_the_evidence_leaves_open_is_searched_again(index):
    reader = index(PAGES)
    hits = search(reader, "pump vinegar", embedder=None, k=1).hits
    found, asked = await run(reader, ["clean the pump", "valve pressure rubber"], hits)
    assert "valve.md" in {hit.document.path for hit in found.hits}
    assert found.uncovered == ()
    assert len(asked) <= 4


async def test_nothing_is_searched_when_all_is_covered(index):
    reader = index(PAGES)
    hits = search(reader, "pump vinegar", embedder=None, k=1).hits
    found, asked = await run(reader, ["pump vinegar"], hits)
    assert (asked, found.n_rounds, found.hits) == ([], 0, ())


async def test_no_round_begins_without_time(index):
    reader = index(PAGES)
    found, asked = await run(reader, ["valve pressure"], [], remaining_s=lambda: 0.0)
    assert (asked, found.uncovered) == ([], ("valve pressure",))


async def test_every_further_query_stays_in_the_script_of_the_question(index):
    pages = {
        "ru.md": "# Насос\n\nНасос качает воду, pump version two, чистка уксусом каждый месяц.",
        "de.md": "# Pumpe\n\nDie Pumpe fördert Wasser.",
    }
    reader = index(pages)
    hits = search(reader, "насос", embedder=None, k=2).hits
    _, asked = await run(reader, ["как почистить насос щёткой и маслом зимой"], hits)
    assert asked
    for query in asked:
        assert not any("a" <= letter <= "z" for letter in query.casefold())


async def test_the_synthesis_names_where_each_part_is_answered(index):
    reader = index(PAGES)
    hits = search(reader, "pump vinegar", embedder=None, k=1).hits
    found, _ = await run(reader, ["pump vinegar", "quantum zebra"], hits)
    lines = found.synthesis.splitlines()
    said = "The pump moves water and is cleaned with vinegar each month."
    assert lines[0] == f'pump vinegar: "{said}" [{hits[0].chunk.id}]'
    assert lines[1] == "quantum zebra: nothing found"
    assert found.uncovered == ("quantum zebra",)
