"""Websites saved on disk: pages with the address that a sitemap or llms.txt names."""

import gzip
import socket
import time

import pytest

from fingerpost import QueryRouter
from fingerpost.corpus import IndexOptions, index_corpus
from fingerpost.corpus.locate import locate
from fingerpost.corpus.site import read_site
from fingerpost.observe.observer import ignore
from fingerpost.stores.open import open_store

NAMESPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
HOST = "https://example.com"


def sitemap(*pages):
    rows = "".join(
        f"<url><loc>{HOST}{path}</loc>{f'<lastmod>{date}</lastmod>' if date else ''}</url>"
        for path, date in pages
    )
    return f'<?xml version="1.0"?>\n<urlset {NAMESPACE}>{rows}</urlset>'


def write(folder, files):
    for path, text in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text if isinstance(text, bytes) else text.encode())


def indexed(path, tmp_path):
    store = open_store(str(tmp_path / "index"))
    roots, skipped = locate([path])
    assert skipped == []
    options = IndexOptions(embed=False, workers=0)
    summary = index_corpus(store, roots, embedder=None, options=options, observe=ignore)
    with store.reader() as reader:
        documents = sorted(reader.documents(), key=lambda one: one.path)
    return documents, [(one.path, one.reason, one.detail) for one in summary.skipped]


def addresses(documents):
    return {one.path: one.uri for one in documents}


SAVED = {
    "a.html": "<h1>A</h1><p>about a</p>",
    "b/index.html": "<h1>B</h1><p>about b</p>",
    "example.com/c/d.html": "<h1>D</h1><p>about d</p>",
    "e.md": "# E\n\nabout e\n",
    "index.html": "<h1>Home</h1><p>welcome</p>",
    "other.html": "<h1>Other</h1><p>no page of the list</p>",
}
LIST = sitemap(
    ("/b/", "2026-05-06T07:08:09Z"), ("/a", ""), ("/c/d.html", "2025"), ("/e", "soon"), ("/", ""),
    ("/gone", ""),
)  # fmt: skip


def test_a_sitemap_stands_for_the_saved_pages_that_it_lists(tmp_path):
    site = tmp_path / "site"
    write(site, SAVED | {"sitemap.xml": LIST})
    documents, skipped = indexed(site / "sitemap.xml", tmp_path)
    assert addresses(documents) == {
        "a.html": f"{HOST}/a",
        "b/index.html": f"{HOST}/b/",
        "e.md": f"{HOST}/e",
        "example.com/c/d.html": f"{HOST}/c/d.html",
        "index.html": f"{HOST}/",
    }
    told = {one.path: (one.metadata["order"], one.metadata.get("date")) for one in documents}
    assert told["b/index.html"] == (0, "2026-05-06")
    assert told["example.com/c/d.html"] == (2, "2025")
    assert told["e.md"] == (3, None)
    assert skipped == [(f"{HOST}/gone", "not-saved", "no saved file")]


def test_a_folder_with_a_sitemap_gives_its_pages_their_address_and_keeps_the_others(tmp_path):
    site = tmp_path / "site"
    write(site, SAVED | {"sitemap.xml": LIST})
    documents, skipped = indexed(site, tmp_path)
    assert len(documents) == 6
    found = addresses(documents)
    assert found["a.html"] == f"{HOST}/a"
    assert found["other.html"] == (site / "other.html").as_uri()
    assert skipped == [(str(site), "not-saved", "1 of 6 listed addresses have no saved file")]


def test_an_index_of_sitemaps_is_followed_on_disk_compressed_or_not(tmp_path):
    site = tmp_path / "site"
    lists = "".join(
        f"<sitemap><loc>{HOST}/{name}</loc></sitemap>" for name in ("s/1.xml", "2.xml.gz", "3.xml")
    )
    write(site, SAVED | {
        "sitemap_index.xml": f"<sitemapindex {NAMESPACE}>{lists}</sitemapindex>",
        "s/1.xml": sitemap(("/a", "")),
        "2.xml.gz": gzip.compress(sitemap(("/e", "")).encode()),
    })  # fmt: skip
    documents, skipped = indexed(site / "sitemap_index.xml", tmp_path)
    assert addresses(documents) == {"a.html": f"{HOST}/a", "e.md": f"{HOST}/e"}
    assert skipped == []


def test_llms_txt_is_a_document_and_a_list(tmp_path):
    site = tmp_path / "site"
    text = f"# Example\n\n- [E]({HOST}/e.md): about e\n- [Gone]({HOST}/gone.md)\n"
    write(site, SAVED | {"llms.txt": text})
    documents, skipped = indexed(site / "llms.txt", tmp_path)
    assert addresses(documents) == {
        "e.md": f"{HOST}/e.md",
        "llms.txt": (site / "llms.txt").as_uri(),
    }
    assert [one.format for one in documents] == ["markdown", "markdown"]
    assert skipped == [(f"{HOST}/gone.md", "not-saved", "no saved file")]


def test_a_site_below_a_folder_of_its_host_is_found_without_that_folder():
    found = read_site(
        ["sitemap.xml"],
        {"sitemap.xml": sitemap(("/docs/v2/a/x", ""), ("/docs/v2/b/x", "")).encode()}.get,
        ["a/x.html", "b/x.html"],
    )
    assert {path: page.address for path, page in found.pages.items()} == {
        "a/x.html": f"{HOST}/docs/v2/a/x",
        "b/x.html": f"{HOST}/docs/v2/b/x",
    }


def pages_of(files, paths):
    """Return path → address of the pages that the first of some lists leads to."""
    raw = {name: text if isinstance(text, bytes) else text.encode() for name, text in files.items()}
    site = read_site([next(iter(raw))], raw.get, paths)
    return {path: page.address for path, page in site.pages.items()}, site


def test_a_site_that_lists_the_page_of_its_own_folder_is_found_without_that_folder():
    pages = sitemap(("/docs/", ""), ("/docs/a", ""), ("/docs/b/c", ""))
    found, _ = pages_of({"sitemap.xml": pages}, ["index.html", "a.html", "b/c.html"])
    assert found == {
        "index.html": f"{HOST}/docs/",
        "a.html": f"{HOST}/docs/a",
        "b/c.html": f"{HOST}/docs/b/c",
    }


def test_links_to_other_hosts_do_not_hide_the_folder_of_a_site():
    text = (
        f"- [A]({HOST}/docs/v2/a.md)\n- [B]({HOST}/docs/v2/b.md)\n- [Code](https://git.example/x)\n"
    )
    found, _ = pages_of({"llms.txt": text}, ["a.md", "b.md"])
    assert found == {"a.md": f"{HOST}/docs/v2/a.md", "b.md": f"{HOST}/docs/v2/b.md"}


def test_links_of_llms_txt_are_found_however_they_are_written():
    lines = [
        '- [a](H/a.md "Title")', "- <H/b.md>", "- [c](<H/c.md>)", "1. H/d.md", "+ H/e.md\r",
        "[f]: H/f.md", "- [g](H/g_(x).md): about it", "H/h.md",
    ]  # fmt: skip
    names = ["a.md", "b.md", "c.md", "d.md", "e.md", "f.md", "g_(x).md", "h.md"]
    found, _ = pages_of({"llms.txt": "\n".join(lines).replace("H/", f"{HOST}/")}, names)
    assert found == {name: f"{HOST}/{name}" for name in names}


@pytest.mark.parametrize(
    "address",
    [
        "https://[your-domain]/a",
        "https://[::1/a",
        "https://user:secret@example.com/a",
        "https:///a",
    ],
)
def test_what_is_no_address_or_holds_a_password_is_passed_over(address):
    lists = {"sitemap.xml": sitemap(("/b", "")).replace(f"{HOST}/b", address)}
    lists["llms.txt"] = f"Use [this]({address}), or [b]({HOST}/b).\n"
    for name, text in lists.items():
        found, site = pages_of({name: text}, ["a.html", "b.html"])
        assert "a.html" not in found
        assert site.missing == site.problems == []
        assert (found == {"b.html": f"{HOST}/b"}) == (name == "llms.txt")


def test_an_index_of_many_sitemaps_is_read_whole_and_one_of_too_many_says_so():
    def index(n_lists):
        rows = "".join(f"<sitemap><loc>{HOST}/s/{n}.xml</loc></sitemap>" for n in range(n_lists))
        lists = {f"s/{n}.xml": sitemap((f"/p{n}", "")) for n in range(n_lists)}
        return {"sitemap.xml": f"<sitemapindex>{rows}</sitemapindex>", **lists}

    found, site = pages_of(index(400), [f"p{n}.html" for n in range(400)])
    assert (len(found), site.problems) == (400, [])
    found, site = pages_of(index(600), [f"p{n}.html" for n in range(600)])
    assert len(found) == 499
    assert site.problems == [("s/499.xml", "one list more than the 500 read")]


def test_sitemaps_that_lead_from_one_to_the_next_end():
    chain = {
        f"{n}.xml": f"<i><sitemap><loc>{HOST}/{n + 1}.xml</loc></sitemap></i>" for n in range(490)
    }
    circle = f"<i><sitemap><loc>{HOST}/0.xml</loc></sitemap></i>"
    found, site = pages_of(chain | {"489.xml": circle}, ["a.html"])
    assert (found, site.problems) == ({}, [])


def test_a_sitemap_compressed_in_parts_is_read_whole():
    text = sitemap(("/a", ""), ("/b", "")).encode()
    found, _ = pages_of(
        {"sitemap.xml": gzip.compress(text[:99]) + gzip.compress(text[99:])}, ["a.html", "b.html"]
    )
    assert sorted(found) == ["a.html", "b.html"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("llms.txt", "\n" * 300_000),
        ("llms.txt", "](https://a" * 30_000),
        ("llms.txt", " " * 300_000 + "x"),
        ("sitemap.xml", f"<s><url><loc>{'a' + chr(10) * 300_000}</loc></url></s>"),
    ],
    ids=["empty lines", "links", "blanks", "long address"],
)
def test_a_hostile_list_takes_time_that_grows_with_its_length(name, text):
    started = time.process_time()
    found, _ = pages_of({name: text}, ["a.html"])
    assert found == {}
    assert time.process_time() - started < 1


def test_an_address_leads_to_no_file_outside_the_folder(tmp_path):
    site = tmp_path / "site"
    write(tmp_path, {"secret.html": "<p>canary</p>"})
    write(
        site,
        {
            "a.html": "<p>a</p>",
            "sitemap.xml": sitemap(("/../secret", ""), ("/%2e%2e/secret.html", ""), ("/a", "")),
        },
    )
    documents, _ = indexed(site / "sitemap.xml", tmp_path)
    assert [one.path for one in documents] == ["a.html"]


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (b'<!DOCTYPE x [<!ENTITY a "b">]><urlset/>', "document type"),
        (b"<urlset><url>", "not valid XML"),
        (b"\x1f\x8bnot gzip", "gzip"),
        (b'<?xml version="1.0" encoding="shift_jis"?><urlset/>', "save it as UTF-8"),
        (b'<?xml version="1.0" encoding="none"?><urlset/>', "save it as UTF-8"),
        (gzip.compress(b" " * (51 * 1024**2)), "unpacks to more than 50 MiB"),
    ],
    ids=["entities", "cut off", "no gzip", "two bytes", "no encoding", "bomb"],
)
def test_a_hostile_or_broken_list_is_listed_and_the_pages_stay(tmp_path, raw, why):
    site = tmp_path / "site"
    write(site, {"a.html": "<p>words</p>", "sitemap.xml": raw})
    documents, skipped = indexed(site, tmp_path)
    assert [one.path for one in documents] == ["a.html"]
    ((path, reason, detail),) = skipped
    assert (path, reason) == (f"{site}/sitemap.xml", "broken")
    assert why in detail


def test_a_list_that_changes_gives_unchanged_pages_their_new_address(tmp_path):
    site = tmp_path / "site"
    write(
        site,
        {
            "a.html": "<p>words</p>",
            "b.html": "<p>b</p>",
            "sitemap.xml": sitemap(("/a", ""), ("/b", "")),
        },
    )
    indexed(site, tmp_path)
    write(site, {"sitemap.xml": sitemap(("/b", "2026-01-02"))})
    documents, _ = indexed(site, tmp_path)
    assert addresses(documents) == {
        "a.html": (site / "a.html").as_uri(),
        "b.html": f"{HOST}/b",
    }
    assert documents[1].metadata["date"] == "2026-01-02"


def test_a_citation_carries_the_address_and_nothing_is_fetched(tmp_path, monkeypatch):
    def refuse(*_):
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    write(tmp_path, {"limits.html": "<h1>Limits</h1><p>The upload limit is 25 megabytes.</p>",
                     "sitemap.xml": sitemap(("/limits", ""), ("/gone", ""))})  # fmt: skip
    with QueryRouter(knowledge_corpus=[tmp_path], embedding_provider="none") as router:
        found = router.route_sync("What is the upload limit?")
    assert [one.url for one in found.sources] == [f"{HOST}/limits"]
