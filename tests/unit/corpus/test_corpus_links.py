"""Links between pages."""

import pytest

from fingerpost.corpus import FileToPrepare, prepare_file
from fingerpost.corpus.links import Paths, written_links
from fingerpost.types.document import Link

PATHS = Paths(
    ["guide/start.md", "guide/pump/index.md", "ref/api.mdx", "README.md", "a/dup.md", "b/dup.md"]
)


@pytest.mark.parametrize(
    ("origin", "written", "target"),
    [
        ("guide/start.md", "pump/index.md", "guide/pump/index.md"),
        ("guide/start.md", "pump/", "guide/pump/index.md"),
        ("guide/start.md", "./pump", "guide/pump/index.md"),
        ("guide/start.md", "../ref/api", "ref/api.mdx"),
        ("guide/start.md", "../ref/api.html", "ref/api.mdx"),
        ("guide/start.md", "../../ref/api", "ref/api.mdx"),
        ("guide/pump/index.md", "/ref/api/", "ref/api.mdx"),
        ("guide/start.md", "/en/docs/ref/api", "ref/api.mdx"),
        ("guide/start.md", "/nowhere/page", ""),
        ("guide/start.md", "missing.md", "guide/missing.md"),
        ("guide/start.md", "missing", ""),
        ("README.md", "../../../etc/passwd.md", ""),
    ],
)
def test_a_link_leads_to_the_page_it_means(origin, written, target):
    assert PATHS.resolve(origin, written) == target


def test_addresses_and_anchors_of_the_same_page_are_no_links():
    targets = [
        "https://x.example/a.md",
        "#here",
        "mailto:a@b",
        "//cdn/x.md",
        "a%20b.md#s",
        "",
        "x.md 'T'",
    ]
    assert written_links(targets) == [("a b.md", "s"), ("x.md", "")]


def test_links_of_a_page_are_resolved_for_the_chunk_that_holds_them():
    text = "# A\n\n[one](../ref/api#m)\n\n## B\n\n[two][r] and `[no](pump/index.md)`\n\n[r]: pump/index.md\n"
    outcome = prepare_file(FileToPrepare(text.encode(), "docs", "guide/start.md"))
    links = outcome.resolved(PATHS).links
    assert links == (Link(0, "ref/api.mdx", "m"), Link(1, "guide/pump/index.md"))


def test_links_in_fences_are_code():
    text = "```\n[x](../ref/api.mdx)\n```\n"
    outcome = prepare_file(FileToPrepare(text.encode(), "docs", "guide/start.md"))
    assert outcome.resolved(PATHS).links == ()
