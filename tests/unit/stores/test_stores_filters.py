"""What filters mean."""

import pytest

from fingerpost.stores.filters import document_filter, language_passes, path_matches
from fingerpost.testing.store_documents import prepare
from fingerpost.types.query import Filters


@pytest.mark.parametrize(
    ("glob", "path", "passes"),
    [
        ("guide", "guide/a.md", True),
        ("guide/", "guide/x/a.md", True),
        ("./guide", "guide/a.md", True),
        ("guide", "guide.md", False),
        ("guide", "guides/a.md", False),
        ("guide/a.md", "guide/a.md", True),
        ("*.md", "a.md", True),
        ("*.md", "guide/a.md", False),
        ("**/*.md", "a.md", True),
        ("**/*.md", "x/y/a.md", True),
        ("guide/**", "guide/x/y.md", True),
        ("guide/**", "other/y.md", False),
        ("**/about/*.md", "x/about/a.md", True),
        ("**/about/*.md", "x/about/y/a.md", False),
        ("a/**/b/**/c.md", "a/x/b/b/y/c.md", True),
        ("a/**/b.md", "a/b.md", True),
        ("gu?de/a.md", "guide/a.md", True),
        ("gu?de/a.md", "gu/de/a.md", False),
        ("*a*b*.md", "xaxxb.md", True),
        ("*ab", "aab", True),
        ("G*/a.md", "guide/a.md", False),
        ("[a]/*.md", "[a]/x.md", True),
        ("[a]/*.md", "a/x.md", False),
        ("(x+)+*", "(x+)+y", True),
    ],
)
def test_globs_over_paths(glob, path, passes):
    assert path_matches(glob, path) is passes


def test_a_hostile_glob_takes_no_time():
    assert not path_matches("*a" * 200 + "b", "a" * 20_000)
    assert not path_matches("**/a/" * 60 + "b", "a/" * 400 + "c")


def test_fields_combine_with_and_values_with_or():
    document = prepare(
        "guide/a.md", ["x\n"], tags=("Ops",), metadata={"n": 2, "on": True, "who": ["Ann", "Bo"]}
    ).document
    assert document_filter(Filters()) is None
    assert document_filter(Filters(languages=("en",))) is None
    for filters, passes in (
        (Filters(tags=("x", "OPS")), True),
        (Filters(tags=("ops",), paths=("other",)), False),
        (Filters(metadata=(("n", "1"), ("n", "2"))), True),
        (Filters(metadata=(("n", "2"), ("who", "bo"), ("on", "true"))), True),
        (Filters(metadata=(("n", "2"), ("who", "eve"))), False),
        (Filters(metadata=(("missing", ""),)), False),
        (Filters(sources=("docs",)), True),
        (Filters(sources=("Docs",)), False),
    ):
        test = document_filter(filters)
        assert test is not None
        assert test(document) is passes, filters


def test_a_chunk_of_unknown_language_counts_as_its_documents():
    german = frozenset({"de"})
    assert language_passes(german, "de", "en")
    assert not language_passes(german, "en", "de")
    assert language_passes(german, "und", "de")
    assert language_passes(german, "de-CH", "en")
