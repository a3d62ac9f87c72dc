import pytest

from fingerpost.retrieve import first_look, search
from fingerpost.retrieve.pack import spread
from fingerpost.types import Filters

TEXT = (
    "# Get-Item\n\nThe cmdlet gets the item at the given location and returns it as an object, "
    "with its name, its parent folder, its length and the time of the last write to it. "
    "Hidden items are left out unless Force is given{}."
)


def versions():
    return {
        f"reference/{version}/Get-Item.md": TEXT.format(f" in {version}")
        for version in ("5.1", "7.4", "7.10", "7.5")
    } | {"other.md": "# Set-Item\n\nChanges the value of an item at a location."}


def paths(result):
    return [hit.document.path for hit in result.hits]


def test_versions_of_a_page_are_one_hit_the_newest_with_the_others_noted(index):
    result = search(index(versions()), "get the item at a location", embedder=None, k=5)
    assert paths(result) == ["reference/7.10/Get-Item.md", "other.md"]
    (newest, other) = result.hits
    assert set(newest.copies) == {f"reference/{v}/Get-Item.md" for v in ("5.1", "7.4", "7.5")}
    assert other.copies == ()


def test_a_version_that_the_question_names_is_kept(index):
    result = search(index(versions()), "Get-Item location in 7.4", embedder=None, k=5)
    assert paths(result)[0] == "reference/7.4/Get-Item.md"


def test_pages_of_two_versions_may_differ_more_than_two_pages_of_one_version(index):
    body = " ".join(f"word{n}" for n in range(40))
    old, new = " ".join(f"old{n}" for n in range(5)), " ".join(f"new{n}" for n in range(5))

    def found(left, right):
        pages = {left: f"# Page\n\n{body} {old}", right: f"# Page\n\n{body} {new}"}
        return paths(search(index(pages), "word1 word2 word3", embedder=None, k=5))

    assert found("docs/v1/page.md", "docs/v2/page.md") == ["docs/v2/page.md"]
    assert len(found("docs/v1/page.md", "docs/v1/pages.md")) == 2
    assert len(found("page-1.md", "page-2.md")) == 2


def test_texts_that_differ_in_a_word_of_the_question_stay_apart(index):
    body = " ".join(f"word{n}" for n in range(40))
    pages = {"linux.md": f"{body} on linux", "windows.md": f"{body} on windows"}
    asked = search(index(pages), "word1 word2 linux", embedder=None, k=5)
    not_asked = search(index(pages), "word1 word2 word3", embedder=None, k=5)
    assert paths(asked) == ["linux.md", "windows.md"]
    assert len(not_asked.hits) == 1


def test_one_file_does_not_fill_the_list_when_others_help(index):
    sections = "\n\n".join(
        f"## Cache {n}\n\nThe cache keeps entry {n} of kind {'abcdefgh'[n] * 3}." for n in range(8)
    )
    pages = {"long.md": f"# Cache\n\n{sections}"}
    pages |= {f"p{n}.md": f"# Cache of p{n}\n\nThe cache keeps entry p{n}." for n in range(3)}
    found = paths(search(index(pages), "cache keeps entry", embedder=None, k=5))
    assert found.count("long.md") <= 3
    assert len(found) == 5


def test_a_lone_file_may_fill_the_list(index):
    sections = "\n\n".join(
        f"## Cache {n}\n\nThe cache keeps {'abcdefgh'[n] * 9} {'hgfedcba'[n] * 7}."
        for n in range(8)
    )
    reader = index({"long.md": f"# Cache\n\n{sections}"})
    hits = search(reader, "cache keeps", embedder=None, k=5).hits
    assert len(hits) == 5
    assert [hit.chunk.id for hit in spread(hits, 2)] == [hit.chunk.id for hit in hits[:2]]


def test_a_first_look_tells_how_much_of_the_question_one_chunk_covers(index):
    reader = index(versions())
    full = first_look(reader, "item at the given location", Filters())
    none = first_look(reader, "zebra quagga", Filters())
    assert full.coverage == 1.0
    assert full.known_terms == 1.0
    assert 0 <= full.score_gap <= 1
    assert (none.coverage, none.known_terms, none.n_documents) == (0.0, 0.0, 0)


def test_sections_of_one_file_that_differ_in_a_word_stay_apart(index):
    sections = "\n\n".join(
        f"### -{name}\n\nThe parameter is optional, takes no value, is off by default, can be "
        f"given once, in any place of the line, and has no alias at all ({name})."
        for name in ("Force", "Recurse", "Hidden")
    )
    reader = index({"get.md": f"# Get-Item\n\n{sections}"})
    result = search(reader, "optional parameter without a value", embedder=None, k=3)
    assert len({hit.chunk.id for hit in result.hits}) == len(result.hits) >= 1
    text = " ".join(hit.chunk.text for hit in result.hits)
    assert all(name in text for name in ("Force", "Recurse", "Hidden"))


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("ms.date: 11/08/2023", "ms.date: 02/01/2024"),
        ("lastmod: 2023-11-08", "lastmod: 2024-02-01"),
        ("date: 2023-11-08T10:00:00Z", "date: 2024-02-01T09:00:00Z"),
        ("date: 2024-01-01\nlastmod: 2024-01-02", "date: 2023-01-01\nlastmod: 2024-02-01"),
        ("title: undated", "date: 2001-01-01"),
    ],
)
@pytest.mark.parametrize("turned", [False, True])
def test_of_copies_the_one_that_was_changed_last_is_kept_however_that_is_told(
    index, older, newer, turned
):
    text = "# Pump\n\nThe pump moves the water of the mill.\n"
    pages = [("a.md", f"---\n{older}\n---\n{text}"), ("b.md", f"---\n{newer}\n---\n{text}")]
    reader = index(dict(reversed(pages) if turned else pages))
    found = search(reader, "pump water mill", embedder=None, k=5)
    assert [(hit.document.path, hit.copies) for hit in found.hits] == [("b.md", ("a.md",))]
