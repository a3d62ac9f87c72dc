"""Links to pages that come later, leave or move, and links of an index from before."""

import sqlite3

import pytest

from fingerpost.corpus import CorpusRoot, IndexOptions, index_corpus
from fingerpost.observe.observer import ignore
from fingerpost.stores.base import EdgeKind
from fingerpost.stores.open import open_store
from fingerpost.types.ids import document_id


def run(store, folder):
    root = CorpusRoot("docs", folder.resolve())
    options = IndexOptions(embed=False, workers=0)
    return index_corpus(store, [root], embedder=None, options=options, observe=ignore)


def linked(store, path):
    """Return the paths that the first chunk of a page is linked with."""
    with store.reader() as reader:
        key = reader.document_chunks(document_id("docs", path))[0].key
        keys = [one.key for one in reader.neighbours([key])[key] if one.kind is EdgeKind.LINK]
        return sorted({one.document.path for one in reader.chunks(keys)})


@pytest.mark.parametrize("written", ["guide.md", "guide", "./guide/", "/docs/guide", "guide.html"])
def test_a_link_leads_to_a_page_that_comes_later(docs, store, written):
    (docs / "a.md").write_text(f"# A\n\n[The guide]({written}).\n")
    run(store, docs)
    assert linked(store, "a.md") == []
    (docs / "guide.md").write_text("# Guide\n\nText.\n")
    run(store, docs)
    assert linked(store, "a.md") == ["guide.md"]


def test_a_link_follows_the_better_page_and_goes_back_when_that_leaves(docs, store):
    (docs / "a.md").write_text("# A\n\n[The guide](guide/).\n")
    (docs / "guide.rst").write_text("Guide\n=====\n\nText.\n")
    run(store, docs)
    assert linked(store, "a.md") == ["guide.rst"]
    (docs / "guide.md").write_text("# Guide\n\nText.\n")
    run(store, docs)
    assert linked(store, "a.md") == ["guide.md"]
    (docs / "guide.md").unlink()
    run(store, docs)
    assert linked(store, "a.md") == ["guide.rst"]


def test_a_page_that_is_renamed_to_what_it_links_to_does_not_link_to_itself(docs, store):
    (docs / "a.md").write_text("# A\n\n[b](b.md) and [a](a.md).\n\n## Part\n\nText.\n")
    run(store, docs)
    (docs / "a.md").rename(docs / "b.md")
    run(store, docs)
    (docs / "a.md").write_text("# Another\n\nText.\n")
    run(store, docs)
    assert linked(store, "b.md") == ["a.md"]


def test_a_file_without_text_takes_no_link_from_a_page_with_text(docs, store):
    (docs / "guide.rst").write_text("Guide\n=====\n\nText.\n")
    (docs / "guide.md").write_text("")
    (docs / "a.md").write_text("# A\n\n[The guide](guide).\n")
    run(store, docs)
    assert linked(store, "a.md") == ["guide.rst"]


def test_an_index_from_before_links_were_kept_gets_them_without_new_documents(
    docs, store, tmp_path
):
    (docs / "a.md").write_text("# A\n\n[The guide](guide).\n")
    (docs / "b.md").write_text("# B\n\nText.\n")
    run(store, docs)
    store.close()
    with sqlite3.connect(tmp_path / "index" / "index.sqlite") as database:
        database.execute("DROP TABLE written_links")
        database.execute("PRAGMA user_version = 3")
    database.close()
    (docs / "guide.md").write_text("# Guide\n\nText.\n")
    old = open_store(str(tmp_path / "index"))
    assert linked(old, "a.md") == []
    first = run(old, docs)
    assert (first.n_added, first.n_changed, first.n_unchanged) == (1, 0, 2)
    assert linked(old, "a.md") == ["guide.md"]
    assert run(old, docs).generation == first.generation
    (docs / "guide.md").rename(docs / "guide.mdx")
    run(old, docs)
    assert linked(old, "a.md") == ["guide.mdx"]
    old.close()
