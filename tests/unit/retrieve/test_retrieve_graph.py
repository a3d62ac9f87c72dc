"""Graph expansion: neighbours, links and overlapping headings, each found by itself."""

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
    "## Appendix\n\nNothing of interest.\n"
)
OTHER = "# Notes\n\n## Rotation of logs\n\nFiles are renamed at midnight.\n\n## Colours\n\nBlue.\n"


def expanded(reader, text, filters=None, embedder=None, k=1):
    """Return note → (heading, path) of what stands around the best hits."""
    within = reader.select(filters) if filters else None
    found = search(reader, text, embedder=embedder, filters=filters, k=k)
    return found, expand(reader, found, found.hits, within)


def test_the_chunks_before_and_after_a_hit_are_added_and_no_others_of_its_document(index):
    found, added = expanded(index({"guide.md": GUIDE}), "zebra material")
    assert found.hits[0].chunk.heading_path[-1] == "Rotation of keys"
    assert {(hit.chunk.heading_path[-1], hit.note) for hit in added} == {
        ("Before", "beside guide.md:9"),
        ("Afterwards", "beside guide.md:9"),
    }
    assert {hit.match_type for hit in added} == {MatchType.GRAPH}


def test_a_section_elsewhere_whose_heading_shares_words_is_added(index):
    _, added = expanded(index({"guide.md": GUIDE, "notes.md": OTHER}), "zebra material")
    elsewhere = {
        (hit.chunk.heading_path[-1], hit.note)
        for hit in added
        if hit.document.path == "notes.md"
    }  # fmt: skip
    assert elsewhere == {("Rotation of logs", "under an overlapping heading")}


def test_nothing_is_added_twice_nor_what_was_found_already(index, embedder):
    reader = index({"guide.md": GUIDE, "notes.md": OTHER}, embedder)
    found, added = expanded(reader, "zebra material", embedder=embedder, k=2)
    ids = [hit.chunk.id for hit in (*found.hits, *added)]
    assert len(ids) == len(set(ids))
    assert [hit.score for hit in added] == sorted((hit.score for hit in added), reverse=True)


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
    assert linked(corpus({"one.md": other})) == {"one.md": "linked with start.md"}
    assert linked(corpus({"one.md": None})) == {}
    assert linked(corpus({"one.md": other + "\nChanged.\n"})) == {"one.md": "linked with start.md"}


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


def test_at_most_forty_chunks_are_added_best_first(corpus):
    section = "## Rotation {0}\n\nFollows {0}.\n\n## More {0}\n\nEnds {0}.\n"
    pages = {f"other{n}.md": f"# Rotation other {n}\n\n{section.format(n)}" for n in range(15)}
    pages |= {f"apart{n}.md": f"# Rotation\n\nApart {n}.\n" for n in range(10)}
    for n in range(5):
        links = " ".join(f"[see](other{3 * n + m}.md)" for m in range(3))
        zebra = f"## Rotation\n\nZebra material of herd {n}. {links}\n\n"
        pages[f"seed{n}.md"] = f"# Seed {n}\n\nOpens {n}.\n\n{zebra}## Then {n}\n\nRest {n}.\n"
    found, added = expanded(corpus(pages), "zebra material", k=5)
    assert {hit.chunk.heading_path[-1] for hit in found.hits} == {"Rotation"}
    assert len(added) == MOST_ADDED
    assert [hit.score for hit in added] == sorted((hit.score for hit in added), reverse=True)
