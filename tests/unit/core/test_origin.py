"""Documents of repositories: their places on the web, and what may not pass for one."""

import pytest

from fingerpost.config.endpoint import Endpoint
from fingerpost.config.github import github_pages
from fingerpost.config.repository import read_repository
from fingerpost.types.document import Document
from fingerpost.types.origin import Origin, at_lines, commit_of

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def document(path, **more):
    return Document("d1", path, "s", f"file:///x/{path}", "t", "hash", **more)


@pytest.mark.parametrize(
    ("web", "path", "expected"),
    [
        ("https://github.com/a/b", "docs/x.md", f"/blob/{COMMIT}/docs/x.md?plain=1#L3-L9"),
        ("https://github.com/a/b", "x.txt", f"/blob/{COMMIT}/x.txt#L3-L9"),
        ("https://github.com/a/b", "a b/ü#?.txt", f"/blob/{COMMIT}/a%20b/%C3%BC%23%3F.txt#L3-L9"),
        ("https://ghe.example.org/a/b", "x.rst", f"/blob/{COMMIT}/x.rst?plain=1#L3-L9"),
        ("https://gitlab.com/g/sub/b", "x.md", f"/-/blob/{COMMIT}/x.md?plain=1#L3-9"),
        ("https://codeberg.org/a/b", "x.md", f"/src/commit/{COMMIT}/x.md?display=source#L3-L9"),
        ("https://bitbucket.org/a/b", "x.txt", f"/src/{COMMIT}/x.txt#lines-3:9"),
    ],
)
def test_lines_are_opened_in_the_way_of_their_host(web, path, expected):
    labelled = Origin("a/b", COMMIT, web).label(document(path))
    assert at_lines(labelled, 3, 9) == web + expected
    assert commit_of(labelled) == ("a/b", COMMIT)


def test_a_host_that_is_not_known_and_a_folder_have_no_lines_on_the_web():
    labelled = Origin("/srv/x", COMMIT, address="/srv/x").label(document("docs/x.md"))
    assert labelled.uri == f"git+/srv/x@{COMMIT}#docs/x.md"
    assert at_lines(labelled, 1, 2) is None


def test_front_matter_cannot_make_a_file_look_like_one_of_a_repository():
    forged = document("x.md", metadata={"repo": "a/b", "commit": COMMIT})
    assert commit_of(forged) == ("", "")
    assert at_lines(forged, 1, 2) is None
    named = document(f"{COMMIT}/x.md", metadata={"repo": "a/b", "commit": COMMIT})
    assert commit_of(named) == ("", "")


def test_front_matter_of_a_repository_s_file_does_not_hide_its_commit():
    written = document("x.md", metadata={"repo": "other", "commit": 7, "tag": "kept"})
    labelled = Origin("a/b", COMMIT, "https://github.com/a/b").label(written)
    assert labelled.metadata == {"repo": "a/b", "commit": COMMIT, "tag": "kept"}


@pytest.mark.parametrize(
    ("api", "pages"),
    [
        ("https://api.github.com", "https://github.com"),
        ("https://ghe.example.org/api/v3/", "https://ghe.example.org"),
        ("https://api.acme.ghe.com", "https://acme.ghe.com"),
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
    ],
)
def test_the_pages_of_a_server_are_found_by_its_api(api, pages):
    assert github_pages(Endpoint("github", "", "", api)) == pages


@pytest.mark.parametrize(
    ("text", "kind", "name", "ref"),
    [
        ("acme/mill", "github", "github:acme/mill", ""),
        ("github:acme/mill.git@v1.2", "github", "github:acme/mill@v1.2", "v1.2"),
        ("acme/mill@release/1.2", "github", "github:acme/mill@release/1.2", "release/1.2"),
        ("https://github.com/acme/mill.git", "github", "github:acme/mill", ""),
        ("git+https://h.example/a/b.git@x", "http", "https://h.example/a/b.git@x", "x"),
        ("https://me@h.example:8443/a.git", "http", "https://h.example:8443/a.git", ""),
        ("git@github.com:acme/mill.git", "ssh", "git@github.com:acme/mill.git", ""),
        ("git@h.example:a/b@v1", "ssh", "git@h.example:a/b@v1", "v1"),
        ("ssh://git@h.example:22/a/b", "ssh", "ssh://git@h.example/a/b", ""),
        ("/srv/x", "local", "/srv/x", ""),
        ("file:///srv/x@v1", "local", "/srv/x@v1", "v1"),
    ],
)
def test_what_names_a_repository_is_read_one_way(text, kind, name, ref):
    found = read_repository(text)
    assert (found.kind, found.name, found.ref) == (kind, name, ref)


def test_a_folder_with_an_at_sign_in_its_name_is_a_folder(tmp_path):
    folder = tmp_path / "team@work"
    folder.mkdir()
    assert read_repository(str(folder)).ref == ""
    assert read_repository(f"{folder}@v1").ref == "v1"
