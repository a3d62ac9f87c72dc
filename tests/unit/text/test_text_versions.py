"""What a label, a path and a question say of versions, and which version comes before which."""

import pytest

from fingerpost import QueryRouter
from fingerpost.text.versions import (
    asked_versions,
    label_version,
    version_order,
    versioned_path,
    versions_missing,
    versions_there,
    without_versions,
)
from fingerpost.types.document import Document


@pytest.mark.parametrize(
    ("label", "version"),
    [
        ("7.4", "7.4"), ("v1.2", "1.2"), ("1.2.x", "1.2.x"), ("version-1.2", "1.2"),
        ("version-3", "3"), ("V3", "3"), ("helm-v3", "3"), ("python-3.11", "3.11"),
        ("release-1.28", "1.28"), ("2.0-beta", "2.0-beta"), ("v2.0.0-rc.1", "2.0.0-rc.1"),
        ("latest", "latest"), ("next", "next"),
        ("12", ""), ("2019", ""), ("1-setup", ""), ("ps101", ""), ("chapter-1.2", ""),
        ("2024-10-07-kubecon-na-24", ""), ("guides", ""), ("", ""),
    ],
)  # fmt: skip
def test_a_label_is_a_version_or_none(label, version):
    assert label_version(label) == version


def test_versions_are_ordered_released_before_unreleased_and_by_number_not_by_letter():
    rising = ["1.0-beta", "next", "5.1", "7.4", "7.4.2", "7.4.x", "7.10", "latest"]
    assert sorted(rising, key=version_order) == rising
    assert version_order("") == version_order("stable")


@pytest.mark.parametrize("told", ["Spring 2024", "1.\u00b2", "beta", "9" * 5000, "1..2", "v"])
def test_a_page_may_call_its_version_anything_and_is_found(tmp_path, told):
    limit = "# Upload limit\n\nThe upload limit is 25 megabytes.\n"
    (tmp_path / "a.md").write_text(f"---\nversion: '{told}'\n---\n{limit}")
    (tmp_path / "b.md").write_text(f"---\nversion: 1.2\n---\n{limit}")
    with QueryRouter(knowledge_corpus=[tmp_path], embedding_provider="none") as router:
        found = router.route_sync("What is the upload limit in version 1.2?")
    assert "25 megabytes" in found.answer


def test_of_a_version_in_other_words_the_leading_numbers_count():
    rising = ["Spring 2024", "22.04 LTS", "22.10 LTS", "24.04", "latest"]
    assert sorted(rising, key=version_order) == rising


def test_versions_of_a_page_have_one_page_and_the_last_folder_tells():
    old, new = (versioned_path("docs", f"ref/{v}/v1/a.md") for v in ("5.1", "7.4"))
    assert (old.version, new.version) == ("1", "1")
    old, new = (versioned_path("docs", f"ref/{v}/a.md") for v in ("5.1", "7.4"))
    assert (old.version, new.version, old.page) == ("5.1", "7.4", new.page)
    current = versioned_path("site", "docs/a.md")
    kept = versioned_path("site", "versioned_docs/version-3/a.md")
    assert (current.version, kept.version, kept.page) == ("", "3", current.page)
    assert versioned_path("docs/v2", "a.md").version == "2"
    assert versioned_path("x", "src/main/docs/a.md").version == ""
    assert versioned_path("x", "notes/1.2.md").version == ""


@pytest.mark.parametrize(
    ("question", "versions"),
    [
        ("What changed between 5.1 and 7.4?", ["5.1", "7.4"]),
        ("Which aliases are there in PowerShell 7.4.", ["7.4"]),
        ("charts in v3", ["3"]),
        ("how do I install version 2", ["2"]),
        ("what is in the next release", ["next"]),
        ("what's new in v2.0-beta?", ["2.0-beta"]),
        ("give me 5 examples", []),
        ("what do I do next", []),
        ("it costs $1.50 or 99.9%", []),
    ],
)
def test_a_question_names_versions(question, versions):
    assert [one.version for one in asked_versions(question)] == versions


def test_a_whole_number_behind_a_name_counts_where_the_name_is_that_of_the_documents():
    (asked,) = asked_versions("How do I install Helm 3?")
    assert asked.fits("3.2", "helm/docs/install.md installing") == 1
    assert asked.fits("3", "helm/docs/install.md installing") == 2
    assert asked.fits("3", "docker/install.md installing") == 0


def test_a_version_fits_its_line_and_what_is_said_more_exactly():
    (asked,) = asked_versions("in 7.4")
    assert [asked.fits(v, "") for v in ("7.4", "7.4.2", "7.5", "7", "")] == [2, 1, 0, 0, 0]
    (asked,) = asked_versions("in 7.4.2")
    assert asked.fits("7.4", "") == 1
    (asked,) = asked_versions("a limit of 1.5 seconds")
    assert asked.fits("1", "") == 0


def _page(path):
    return Document(
        id="id", path=path, source="docs", uri="", title="Pumps", content_hash="", format="markdown"
    )


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("How do I install it in version 7.4?", "How do I install it in ?"),
        ("Is Pumps 7.4 faster than 5.1?", "Is Pumps faster than 5.1?"),
        ("What is new in v7.4 and 7.4?", "What is new in  and ?"),
        ("Is 7.45 enough?", "Is 7.45 enough?"),
    ],
)
def test_a_version_that_a_page_is_of_is_taken_out_of_a_question_and_no_other(text, rest):
    assert without_versions(text, versions_there(text, [_page("7.4/pumps.md")])) == rest


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("in version 3.0", ["3.0"]),
        ("How long does a pump run in 3.7?", ["3.7"]),
        ("Pumps 3.7 runs how long?", ["3.7"]),
        ("Is Python 3.8 enough?", []),  # the version of something else
        ("Is a pause of 0.5 minutes enough?", []),
        ("How long in version 7.4?", []),
        ("How long?", []),
    ],
)
def test_a_version_is_missing_where_no_page_is_of_it_and_no_measure_is(text, missing):
    pages = [_page("7.4/pumps.md"), _page("7.5/pumps.md")]
    assert [one.version for one in versions_missing(text, pages)] == missing
    assert versions_missing(text, [_page("pumps.md")]) == ()
