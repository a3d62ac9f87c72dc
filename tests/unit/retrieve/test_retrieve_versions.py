"""Versions of a page: the one that is meant is found, and says where else the page stands."""

import pytest

from fingerpost.retrieve import search
from fingerpost.types import Filters

OLD = "# Limits\n\nA client may send 10 requests each minute before it has to wait."
NEW = "# Limits\n\nEvery account is given a quota of 500 calls an hour, shared by its keys."


def pages(**more):
    return {
        "docs/v1/limits.md": OLD,
        "docs/v2/limits.md": NEW,
        "docs/v3.0-beta/limits.md": "# Limits\n\nRequests are counted by weight, 90 a minute.",
        "about.md": "# About\n\nWho makes this product and since when.",
    } | more


def found(index, documents, text, **arguments):
    hits = search(index(documents), text, embedder=None, k=5, **arguments).hits
    return [hit.document.path for hit in hits]


def test_of_versions_whose_texts_differ_the_newest_released_one_is_found(index):
    result = search(index(pages()), "requests each minute", embedder=None, k=5)
    (hit,) = (hit for hit in result.hits if "limits" in hit.document.path)
    assert hit.document.path == "docs/v2/limits.md"
    assert set(hit.copies) == {"docs/v1/limits.md", "docs/v3.0-beta/limits.md"}


@pytest.mark.parametrize(
    ("asked", "version"),
    [
        ("requests each minute in v1", "v1"),
        ("requests each minute, version 2", "v2"),
        ("quota of an account in 3.0-beta", "v3.0-beta"),
        ("quota of an account in version 1", "v1"),
    ],
)
def test_a_version_that_the_question_names_gives_its_own_page(index, asked, version):
    assert found(index, pages(), asked)[0] == f"docs/{version}/limits.md"


def test_a_question_about_two_versions_gets_both(index):
    both = found(index, pages(), "what changed in the limits of requests between v1 and v2")
    assert {"docs/v1/limits.md", "docs/v2/limits.md"} <= set(both)
    assert "docs/v3.0-beta/limits.md" not in both


def test_a_filter_wins_over_the_newest_and_over_the_question(index):
    old = Filters(metadata=(("version", "1"),))
    assert found(index, pages(), "requests each minute", filters=old) == ["docs/v1/limits.md"]
    assert found(index, pages(), "requests in v2", filters=old) == ["docs/v1/limits.md"]
    spelled = Filters(metadata=(("version", "v1"),))
    assert found(index, pages(), "requests", filters=spelled) == ["docs/v1/limits.md"]


def test_an_identifier_that_only_the_old_version_has_is_answered_from_there(index):
    documents = {
        "docs/v1/cli.md": "# Options\n\nUse `--wait-all` to wait for every pod of the release.",
        "docs/v2/cli.md": "# Options\n\nUse `--wait` to wait for the pods of the release.",
    }
    assert found(index, documents, "what does --wait-all do?")[0] == "docs/v1/cli.md"
    assert found(index, documents, "how do I wait for pods?") == ["docs/v2/cli.md"]


def test_pages_of_the_same_name_that_are_other_pages_stay_apart(index):
    chapters = {
        f"course/{number}/readme.md": f"# {title}\n\nThis part of the course is about {title}."
        for number, title in (("1.1", "Loops"), ("1.2", "Branches"), ("1.3", "Functions"))
    }
    assert len(found(index, chapters, "part of the course")) == 3


def test_a_page_beside_the_versions_is_the_current_one(index):
    documents = {
        "versioned_docs/version-3/charts.md": "# Charts\n\nCharts have the API version v1 here.",
        "docs/charts.md": "# Charts\n\nCharts carry the newest API, called v2, now.",
    }
    assert found(index, documents, "which API do charts have?") == ["docs/charts.md"]
    asked = found(index, documents, "which API do charts have in version 3?")
    assert asked == ["versioned_docs/version-3/charts.md"]


def test_the_meant_version_is_looked_up_where_the_search_did_not_bring_it(index):
    other = {
        f"docs/v2/page{n}.md": f"# Page {n}\n\nRequests each minute, note {n}: wait and see {n}."
        for n in range(60)
    }
    documents = {
        "docs/v1/limits.md": "# Limits\n\nRequests each minute: ten. Requests each minute again.",
        "docs/v2/limits.md": "# Limits\n\nA quota.",
    }
    result = search(index(documents | other), "requests each minute", embedder=None, k=5)
    paths = [hit.document.path for hit in result.hits]
    assert "docs/v2/limits.md" in paths
    assert "docs/v1/limits.md" not in paths


def test_another_section_of_an_old_page_gives_way_unless_it_fits_clearly_better(index):
    documents = {
        "docs/v1/a.md": "# A\n\n## Old name\n\nThe cache of pumps keeps nine entries.",
        "docs/v2/a.md": "# A\n\n## New name\n\nThe cache of pumps keeps five entries.",
    }
    assert found(index, documents, "cache of pumps entries") == ["docs/v2/a.md"]
    documents["docs/v2/a.md"] = "# A\n\n## New name\n\nPumps are described on another page."
    assert found(index, documents, "cache of pumps entries")[0] == "docs/v1/a.md"
