"""Repositories by GitHub's API, against a server that speaks it."""

import tarfile
import time
from ipaddress import ip_address

import pytest

from fingerpost.errors import (
    RepositoryError,
    RepositoryNotFoundError,
    RepositoryRefusedError,
    RepositoryUnavailableError,
)
from fingerpost.lanes.web.visit import Visitor
from fingerpost.testing.github import GithubServer, packed
from fingerpost.testing.provider import faults

FILES = {
    "README.md": "# Mill\n",
    "src/main.py": "print()\n",
    "docs/grain.md": "# Grain\n\nGrain is stored dry.\n",
    "docs/deep/er/water.md": "# Water\n",
}
KEY = "github-canary-token-0123456789"
HOME = ip_address("127.0.0.1")


def limited(**headers):
    return faults.status(403, body={"message": "rate limit"}, headers=headers)


def reset_in(seconds):
    reset = str(int(time.time() + seconds))
    return limited(**{"x-ratelimit-remaining": "0", "x-ratelimit-reset": reset})


def test_the_documentation_of_the_newest_commit_is_fetched_and_nothing_else(place):
    with GithubServer({"acme/mill": FILES}) as server:
        mill = place("acme/mill", server.url)
        assert mill.fetch()
        assert sorted(mill.files) == ["README.md", "docs/deep/er/water.md", "docs/grain.md"]
        assert mill.state.n_files == 3
        assert mill.state.error == ""
        assert mill.left_behind == []


def test_a_repository_that_did_not_change_costs_one_request_with_status_304(place):
    with GithubServer({"acme/mill": FILES}) as server:
        mill = place("acme/mill", server.url)
        mill.fetch()
        before = mill.state
        assert not mill.fetch()
        assert (server.n_asked("commits"), server.n_asked("archive")) == (2, 1)
        assert server.requests[-1].headers["if-none-match"] == f'"{before.commit}"'
        assert mill.state.fetched_at == before.fetched_at
        assert mill.state.checked_at >= before.checked_at


def test_a_new_commit_replaces_the_files_and_the_last_ones_stay_for_who_reads_them(place):
    with GithubServer({"acme/mill": FILES}) as server:
        mill = place("acme/mill", server.url)
        mill.fetch()
        first = mill.state.commit
        second = server.push("acme/mill", {"README.md": "# Mill 2\n"})
        assert mill.fetch()
        assert mill.files == {"README.md": "# Mill 2\n"}
        assert (mill.state.commit, mill.state.before) == (second, first)
        assert mill.mirror.snapshot(first).is_dir()
        server.push("acme/mill", {"README.md": "# Mill 3\n"})
        assert mill.fetch()
        assert not mill.mirror.snapshot(first).exists()
        assert mill.left_behind == []


def test_files_nearest_to_the_root_are_taken_and_the_rest_is_counted(place):
    files = {f"docs/{n}/page.md": "x\n" for n in range(20)} | {"a.md": "a\n", "README.md": "r\n"}
    with GithubServer({"acme/mill": files}) as server:
        mill = place("acme/mill", server.url, max_files=3)
        mill.fetch()
        assert list(mill.files) == ["README.md", "a.md", "docs/0/page.md"]
        assert mill.state.n_left_out == 19


def test_an_archive_beyond_the_limit_is_left_and_the_files_are_fetched_one_by_one(place):
    files = FILES | {"big.bin": bytes(range(256)) * 4000}
    archive = b"\0" * 200_000
    with GithubServer({"acme/mill": files}) as server:
        server.push("acme/mill", files, archive=archive)
        mill = place("acme/mill", server.url, max_bytes=100_000)
        mill.fetch()
        assert sorted(mill.files) == ["README.md", "docs/deep/er/water.md", "docs/grain.md"]
        assert server.n_asked("blobs") == 3
        server.push("acme/mill", files | {"README.md": "# New\n"}, archive=archive)
        assert mill.fetch()
        assert mill.files["README.md"] == "# New\n"
        assert server.n_asked("blobs") == 4  # the others are what they were


def test_a_branch_that_is_named_is_the_one_that_is_asked_for(place):
    with GithubServer({"acme/mill": FILES}) as server:
        place("acme/mill@release/1.2", server.url).fetch()
        assert server.requests[0].path == "/repos/acme/mill/commits/release/1.2"


def test_the_token_goes_to_the_api_and_not_to_where_the_archive_is(place):
    with GithubServer({}) as store, GithubServer({"acme/mill": FILES}, token=KEY) as server:
        port = store.url.rpartition(":")[2]
        server._archive_at = f"http://archives.example:{port}"
        commit = server._commits["acme/mill"]
        store._files[commit] = server._files[commit]
        visitor = Visitor(is_allowed=lambda one: one == HOME, look_up=lambda *_: [HOME])
        mill = place("acme/mill", server.url, key=KEY, visitor=visitor)
        mill.fetch()
        assert mill.files["README.md"] == "# Mill\n"
        assert [one.headers.get("authorization") for one in server.requests] == [
            f"Bearer {KEY}"
        ] * len(server.requests)
        (asked,) = store.requests
        assert "authorization" not in asked.headers
        assert KEY not in str(asked.headers)


def test_an_archive_of_the_api_s_own_host_is_fetched_without_the_token(place):
    with GithubServer({"acme/mill": FILES}, token=KEY) as server:
        place("acme/mill", server.url, key=KEY).fetch()
        (archive,) = [one for one in server.requests if one.path.startswith("/archive")]
        assert "authorization" not in archive.headers


def test_an_archive_at_a_private_address_is_not_asked_for(place):
    with GithubServer({}) as canary, GithubServer({"acme/mill": FILES}) as server:
        server._archive_at = canary.url
        mill = place("acme/mill", server.url)
        with pytest.raises(RepositoryRefusedError, match="not public"):
            mill.fetch()
        assert canary.requests == ()
        assert "not public" in mill.state.error


def test_an_api_that_leads_to_another_server_is_not_followed(place):
    with GithubServer({}) as other:
        away = faults.redirect(f"{other.url}/repos/acme/mill/commits/HEAD", 301)
        with GithubServer({"acme/mill": FILES}, faults={"commits": [away]}, token=KEY) as server:
            with pytest.raises(RepositoryRefusedError, match="another server"):
                place("acme/mill", server.url, key=KEY).fetch()
            assert other.requests == ()


def test_a_repository_that_was_renamed_is_found(place):
    moved = faults.redirect("/repos/acme/watermill/commits/HEAD", 301)
    files = {"acme/mill": FILES, "acme/watermill": {"README.md": "# Mill\n"}}
    with GithubServer(files, faults={"commits": [moved]}) as server:
        server._commits["acme/mill"] = server._commits["acme/watermill"]
        mill = place("acme/mill", server.url)
        assert mill.fetch()
        assert mill.files == {"README.md": "# Mill\n"}


def test_a_short_rate_limit_is_waited_for(place):
    with GithubServer(
        {"acme/mill": FILES}, faults={"commits": [limited(**{"retry-after": "0.05"})]}
    ) as server:
        mill = place("acme/mill", server.url)
        started = time.monotonic()
        assert mill.fetch()
        assert time.monotonic() - started >= 0.05


@pytest.mark.parametrize("kind", ["commits", "tarball", "archive"])
def test_a_long_rate_limit_is_an_error_that_says_when_and_what_helps(place, kind):
    with GithubServer({"acme/mill": FILES}, faults={kind: [reset_in(1800)]}) as server:
        mill = place("acme/mill", server.url)
        with pytest.raises(RepositoryUnavailableError, match=r"used up until 20.* UTC") as caught:
            mill.fetch()
        assert 1700 < caught.value.wait_s <= 1801
        assert "GITHUB_TOKEN" in caught.value.hint
        assert server.n_asked(kind) == 1
        assert "github:acme/mill: the rate limit" in mill.state.error


@pytest.mark.parametrize("kind", ["commits", "tarball", "archive"])
def test_a_server_that_fails_is_asked_again(place, kind):
    failing = [faults.status(502, body=b""), faults.reset()]
    with GithubServer({"acme/mill": FILES}, faults={kind: failing}) as server:
        mill = place("acme/mill", server.url)
        assert mill.fetch()
        assert server.n_asked(kind) == 3


def test_a_server_that_fails_each_time_leaves_the_files_that_are_there(place):
    down = [None, *[faults.status(503, body=b"")] * 3]
    with GithubServer({"acme/mill": FILES}, faults={"commits": down}) as server:
        mill = place("acme/mill", server.url)
        mill.fetch()
        with pytest.raises(RepositoryUnavailableError, match="status 503"):
            mill.fetch()
        assert "README.md" in mill.files
        assert mill.state.error == "github:acme/mill: the API failed (status 503)"
        mill.fetch()
        assert mill.state.error == ""


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (401, "does not accept the token"),
        (403, "refuses access"),
        (404, "does not exist, or is private and no token is set"),
        (409, "is empty"),
        (422, "no branch, tag or commit HEAD"),
        (451, "legal"),
        (418, "status 418"),
    ],
)
def test_what_a_status_means_is_said_once_and_not_asked_again(place, status, said):
    wrong = faults.status(status, body={"message": "no"})
    with GithubServer({"acme/mill": FILES}, faults={"commits": [wrong]}) as server:
        with pytest.raises(RepositoryNotFoundError, match=said):
            place("acme/mill", server.url).fetch()
        assert server.n_asked("commits") == 1


def test_a_private_repository_says_what_to_set(place):
    with GithubServer({"acme/mill": FILES}, token=KEY) as server:
        with pytest.raises(RepositoryNotFoundError, match="private") as caught:
            place("acme/mill", server.url).fetch()
        assert "GITHUB_TOKEN" in caught.value.hint


@pytest.mark.parametrize("body", [b"", b"main", b"<html>", b"../../etc", b"f" * 39])
def test_an_answer_that_is_no_commit_is_refused(place, body):
    odd = faults.raw(body, "text/plain")
    with (
        GithubServer({"acme/mill": FILES}, faults={"commits": [odd]}) as server,
        pytest.raises(RepositoryError, match="no commit"),
    ):
        place("acme/mill", server.url).fetch()


@pytest.mark.parametrize("cut", [0.1, 0.5, 0.95])
def test_an_archive_that_ends_early_is_fetched_again(place, cut):
    whole = packed([_member(f"acme-mill-1/{path}", text.encode()) for path, text in FILES.items()])
    half = faults.raw(whole[: int(len(whole) * cut)], "application/gzip")
    with GithubServer({"acme/mill": FILES}, faults={"archive": [half, half]}) as server:
        mill = place("acme/mill", server.url)
        assert mill.fetch()
        assert mill.files["docs/grain.md"] == FILES["docs/grain.md"]
        assert server.n_asked("archive") == 3


def test_an_archive_that_always_ends_early_leaves_no_half_of_it(place):
    broken = [faults.raw(b"\x1f\x8b\x08", "application/gzip")] * 3
    with GithubServer({"acme/mill": FILES}, faults={"archive": broken}) as server:
        mill = place("acme/mill", server.url)
        with pytest.raises(RepositoryUnavailableError):
            mill.fetch()
        assert mill.state.commit == ""
        assert mill.left_behind == []


def _member(name, content):
    member = tarfile.TarInfo(name)
    member.size = len(content)
    return member, content
