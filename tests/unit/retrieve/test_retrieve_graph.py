"""Graph expansion: headings, links and names, each followed by itself, with what it is worth."""

import pytest

from fingerpost.corpus import CorpusRoot, IndexOptions, index_corpus
from fingerpost.observe.observer import ignore
from fingerpost.retrieve import search
from fingerpost.retrieve.graph import MOST_ADDED, expand
from fingerpost.stores.open import open_store
from fingerpost.types import Filters, MatchType

GUIDE = (
    "# Guide\n\nWhat stands here is an opening.\n\n"
    "## Before\n\nMake a copy.\n\n"
    "## Rotation of keys\n\nZebra material is exchanged every month.\n\n"
    "## Afterwards\n\nRestart all workers.\n\n"
    "## Then\n\nHave a rest.\n\n"
    "## Appendix\n\nNothing of interest.\n"
)
NOTES = "# Notes\n\n## Rotation of keys\n\nFiles are renamed at midnight.\n\n## Colours\n\nBlue.\n"


def expanded(reader, text, filters=None, embedder=None, k=1, depth=2):
    """Return the search for a question, and what stands around its best hits, best first."""
    within = reader.select(filters) if filters else None
    found = search(reader, text, embedder=embedder, filters=filters, k=k)
    known = {hit.chunk.id for hit in found.hits}
    every = expand(reader, found, found.hits, within, depth=depth)
    assert known <= {hit.chunk.id for hit in every}
    assert len(every) == len({hit.chunk.id for hit in every})
    assert [hit.score for hit in every] == sorted((hit.score for hit in every), reverse=True)
    return found, [hit for hit in every if hit.chunk.id not in known]


def noted(added):
    return {(hit.chunk.heading_path[-1], hit.note) for hit in added}


def test_what_stands_beside_and_above_a_hit_is_added_and_one_step_further_with_depth_two(index):
    reader = index({"guide.md": GUIDE})
    found, added = expanded(reader, "zebra material", depth=1)
    assert found.hits[0].chunk.heading_path[-1] == "Rotation of keys"
    near = {
        ("Before", "beside guide.md:9"),
        ("Afterwards", "beside guide.md:9"),
        ("Guide", "in one section with guide.md:9"),
    }
    assert noted(added) == near
    assert {hit.match_type for hit in added} == {MatchType.GRAPH}
    _, further = expanded(reader, "zebra material", depth=2)
    assert near < noted(further)
    assert ("Then", "beside guide.md:13") in noted(further)


def test_a_section_elsewhere_under_the_same_heading_is_added(index):
    _, added = expanded(index({"guide.md": GUIDE, "notes.md": NOTES}), "zebra material", depth=1)
    elsewhere = {hit.chunk.text: hit.note for hit in added if hit.document.path == "notes.md"}
    assert list(elsewhere.values()) == ["shares a name with guide.md:9"]
    assert "renamed at midnight" in next(iter(elsewhere))


def test_a_page_that_a_hit_names_comes_before_all_others_that_it_leads_to(index):
    pages = {
        "film.md": "# The Reel\n\nZebra material was played by Ada Lovelace in the evening.\n",
        "ada.md": "# Ada Lovelace (actor)\n\nBorn in a small town.\n",
        "other.md": "# Charles\n\nBorn in a town too.\n",
    }
    found, added = expanded(index(pages), "who played zebra material")
    assert [(hit.document.path, hit.note) for hit in added] == [("ada.md", "named with film.md:1")]
    assert 0 < added[0].score < found.hits[0].score


def test_a_hit_that_the_best_one_leads_to_is_raised_but_not_above_it(index):
    pages = {
        "film.md": "# Reel\n\nZebra material zebra, played by Ada Lovelace.\n",
        "noise.md": "# Noise\n\nZebra noise. Much of it, and on and on it goes here.\n",
        "ada.md": "# Ada Lovelace\n\nShe lived, in a small town, with a zebra of no name.\n",
    }
    reader = index(pages)
    found = search(reader, "zebra material", embedder=None, k=3)
    before = {hit.document.path: hit.score for hit in found.hits}
    after = {hit.document.path: hit.score for hit in expand(reader, found, found.hits)}
    assert after["ada.md"] > before["ada.md"]
    assert after["noise.md"] == before["noise.md"]
    assert after["film.md"] == before["film.md"] > after["ada.md"]


def test_an_anchor_leads_to_its_section(corpus):
    pages = {
        "start.md": "# Start\n\nZebra material. See [more](one.md#the-second-part).\n",
        "one.md": "# One\n\nFirst.\n\n## A part\n\nSecond.\n\n## The second part\n\nThird.\n",
    }
    _, added = expanded(corpus(pages), "zebra material", depth=1)
    assert noted(added) == {("The second part", "linked with start.md:1")}


def test_nothing_is_added_twice_nor_what_was_found_already(index, embedder):
    reader = index({"guide.md": GUIDE, "notes.md": NOTES}, embedder)
    _, added = expanded(reader, "zebra material", embedder=embedder, k=2)
    assert added
    assert all(hit.vector_score is not None for hit in added)


@pytest.fixture
def corpus(tmp_path):
    """Return a function that indexes files (``None`` removes one) and opens a reader."""
    folder = tmp_path / "docs"
    folder.mkdir()
    store = open_store(str(tmp_path / "index"))
    opened = []

    def update(files):
        for name, text in files.items():
            if text is None:
                (folder / name).unlink()
            else:
                (folder / name).parent.mkdir(exist_ok=True)
                (folder / name).write_text(text, "utf-8")
        roots = [CorpusRoot("docs", folder.resolve())]
        options = IndexOptions(embed=False, workers=0)
        index_corpus(store, roots, embedder=None, options=options, observe=ignore)
        opened.append(store.reader())
        return opened[-1].__enter__()

    yield update
    for reader in opened:
        reader.__exit__(None, None, None)
    store.close()


def linked(reader):
    _, added = expanded(reader, "zebra material")
    return {hit.document.path: hit.note for hit in added if hit.note.startswith("linked")}


def test_an_edit_that_moves_a_link_moves_the_edge(corpus):
    page = "# Start\n\nZebra material. See [more]({}).\n"
    others = {"one.md": "# One\n\nFirst of all.\n", "two.md": "# Two\n\nSecond of all.\n"}
    assert set(linked(corpus({"start.md": page.format("one.md"), **others}))) == {"one.md"}
    assert set(linked(corpus({"start.md": page.format("two.md")}))) == {"two.md"}
    assert linked(corpus({"start.md": "# Start\n\nZebra material alone.\n"})) == {}


def test_a_link_to_a_page_that_comes_goes_and_comes_back_is_an_edge_while_it_is_there(corpus):
    page, other = "# Start\n\nZebra material. See [more](one.md).\n", "# One\n\nFirst of all.\n"
    assert linked(corpus({"start.md": page})) == {}
    assert linked(corpus({"one.md": other})) == {"one.md": "linked with start.md:1"}
    assert linked(corpus({"one.md": None})) == {}
    assert linked(corpus({"one.md": other + "\nChanged.\n"})) == {
        "one.md": "linked with start.md:1"
    }


def test_a_filter_keeps_out_what_the_graph_leads_to(corpus):
    start = "# Start\n\nZebra material. See [more](../out/one.md) and [near](two.md).\n"
    pages = {
        "in/start.md": start,
        "in/two.md": "# Two\n\nSecond zebra.\n",
        "out/one.md": "# One\n\nFirst zebra.\n",
    }
    reader = corpus(pages)
    assert set(linked(reader)) == {"in/two.md", "out/one.md"}
    _, added = expanded(reader, "zebra material", Filters(paths=("in/**",)))
    assert {hit.document.path for hit in added} == {"in/two.md"}


def test_at_most_forty_chunks_are_added(corpus):
    section = "## Part {0}\n\nFollows {0}.\n\n## More {0}\n\nEnds {0}.\n"
    pages = {f"other{n}.md": f"# Page {n}\n\n{section.format(n)}" for n in range(25)}
    links = " ".join(f"[see](other{n}.md)" for n in range(25))
    pages["seed.md"] = f"# Seed\n\nOpens.\n\n## Zebra\n\nZebra material. {links}\n"
    _, added = expanded(corpus(pages), "zebra material")
    assert len(added) == MOST_ADDED
