import re

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fingerpost.retrieve import search
from fingerpost.retrieve.foreign import hits_of
from fingerpost.retrieve.research import Means, research
from fingerpost.retrieve.research_notes import Notes
from fingerpost.retrieve.research_synthesis import inert
from fingerpost.types.evidence import MatchType
from fingerpost.types.source import Passage

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


def page(text, path="https://seal.example/"):
    return hits_of("web", [Passage(text, path, "Seals")])


async def test_the_web_is_asked_the_open_parts_as_they_are_and_then_what_they_still_lack(index):
    asked = []

    async def web(query):
        asked.append(query)
        return page("The price of a rubber seal is two pounds.") if len(asked) == 1 else ()

    part = "rubber seal price pounds sterling zloty"
    found, _ = await run(index(PAGES), [part], [], web=web)
    assert asked[0] == part
    assert asked[1] == "sterling zloty"
    assert found.web_searched
    (hit,) = (hit for hit in found.hits if hit.match_type is MatchType.SOURCE)
    assert (hit.document.uri, hit.sub_query) == ("https://seal.example/", part)
    assert f"[{hit.chunk.id}]" in found.synthesis


async def test_where_the_web_is_wanted_it_is_asked_even_about_what_the_documents_cover(index):
    asked = []

    async def web(query):
        asked.append(query)
        return ()

    reader = index(PAGES)
    hits = search(reader, "pump vinegar", embedder=None, k=1).hits
    found, _ = await run(reader, ["pump vinegar"], hits, web=web)
    assert asked == ["pump vinegar"]
    assert (found.hits, found.n_rounds) == ((), 1)


async def test_queries_of_the_model_come_before_those_of_the_rules(index):
    shown = []

    async def write(open_parts, notes, most):
        shown.append((list(open_parts), most))
        return ["rubber seal technician", "rubber seal technician"] if len(shown) == 1 else []

    reader = index(PAGES)
    found, asked = await run(reader, ["who replaces gaskets"], [], write=write)
    assert asked[0] == "rubber seal technician"
    assert shown[0] == (["who replaces gaskets"], 4)
    assert "seal.md" in {hit.document.path for hit in found.hits}


async def test_a_model_that_gives_nothing_leaves_the_rules(index):
    async def write(*_):
        return []

    reader = index(PAGES)
    hits = search(reader, "pump vinegar", embedder=None, k=1).hits
    parts = ["clean the pump", "valve pressure rubber"]
    with_model, asked = await run(reader, parts, hits, write=write)
    without, by_rule = await run(reader, parts, hits)
    assert (asked, with_model) == (by_rule, without)
    assert asked


async def test_no_more_rounds_run_than_allowed(index):
    found, asked = await run(index(PAGES), ["valve pressure oil"], [], rounds=0)
    assert (asked, found.n_rounds, found.ended_early) == ([], 0, False)


async def test_a_pass_that_ran_out_of_time_says_so(index):
    left = iter([9.0, 9.0, 0.0])
    reader = index(PAGES)
    hits = search(reader, "pump vinegar", embedder=None, k=1).hits
    parts = ["valve pressure rubber", "seal technician year"]
    found, asked = await run(reader, parts, hits, remaining_s=lambda: next(left, 0.0))
    assert (len(asked), found.ended_early) == (1, True)
    assert found.synthesis.endswith("the time was over.")


async def test_a_part_that_is_covered_in_part_names_what_is_open(index):
    reader = index(PAGES)
    part = "rubber seal technician zloty"
    hits = search(reader, "rubber seal", embedder=None, k=1).hits
    found, _ = await run(reader, [part], hits)
    assert found.synthesis.endswith("Open: zloty.")


@given(st.text(max_size=200))
def test_what_is_quoted_is_inert(text):
    told = inert(text)
    assert not set("[]<>`\\") & set(told)
    assert told == "".join(c for c in told if c.isprintable())
    assert "://" not in told or not re.search(r"[a-z]://\S", told, re.IGNORECASE)


@pytest.mark.parametrize(
    "text",
    [
        "![x](https://evil.example/?q=1)", "see https://evil.example/a", "WWW.evil.example now",
        "<img src=//evil.example/x>", "[a]: https://evil.example", "javascript:alert(1)",
        "mailto:a@evil.example", "data:text/html,evil.example", "\x1b]8;;https://evil.example\x07",
    ],
)  # fmt: skip
def test_no_address_is_left_in_a_quote(text):
    assert "evil.example" not in inert(text) or "//evil.example" in text
    assert "alert" not in inert(text)


async def test_a_hit_that_fills_no_gap_displaces_nothing(index):
    told = []
    reader = index(
        {"valve.md": "# Valve\n\nValve steam closes.", "steam.md": "# Steam\n\nSteam closes doors."}
    )
    hits = search(reader, "valve", embedder=None, k=1).hits
    found, _ = await run(
        reader, ["valve oil zloty krona"], hits, phase=lambda *numbers: told.append(numbers)
    )
    assert told[0][2] == 1
    assert found.hits == ()
