"""Addresses of repositories: only public ones are asked, whatever way a private one is written."""

import http.server
import os
import socket
import subprocess
import threading
from contextlib import contextmanager
from ipaddress import ip_address
from typing import ClassVar

import pytest
from tests.unit.repos.conftest import Place
from tests.unit.repos.test_repos_git import commit, git

from fingerpost.config.repository import read_repository
from fingerpost.errors import RepositoryError, RepositoryRefusedError, RepositoryUnavailableError
from fingerpost.lanes.web.visit import Visitor

HOME = ip_address("127.0.0.1")
HOSTS = [
    "127.0.0.1",
    "localhost",
    "LOCALHOST",
    "localhost.",
    "127.1",
    "127.0.1",
    "2130706433",
    "0x7f000001",
    "0x7f.0.0.1",
    "017700000001",
    "0177.0.0.1",
    "127.000.000.001",
    "0",
    "0.0.0.0",
    "127.0.0.1.",
    "127.8.8.8",
    "10.0.0.1",
    "172.16.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "2852039166",
    "0xa9fea9fe",
    "168.63.129.16",
    "100.64.0.1",
    "192.0.2.1",
    "198.18.0.1",
    "224.0.0.1",
    "255.255.255.255",
    "240.0.0.1",
    "[::1]",
    "[::]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[64:ff9b::7f00:1]",
    "[2002:7f00:1::]",
    "[fe80::1]",
    "[fc00::1]",
    "[fd00::1]",
    "[0:0:0:0:0:0:0:1]",
    "[::1%25lo]",
    "①②⑦.⓪.⓪.①",
    "127。0。0。1",
    "１２７.0.0.1",
    "metadata.google.internal",
    "host.local",
    "printer.lan",
    "intranet",
    "a.localhost",
    "x.internal",
    "y.corp",
    "127.0.0.1%00.example.org",
    "127.0.0.1%2f.example.org",
    "host_name-.example",
    "user@127.0.0.1",
    "user:pass@127.0.0.1",
    "example.org@127.0.0.1",
    "127.0.0.1#@example.org",
    "127.0.0.1?@example.org",
    "127.0.0.1\\@example.org",
    "0x7f.1",
    "0177.1",
    "127.0.0.1,example.org",
]


@contextmanager
def canary():
    """Count the connections to a port of this machine."""
    made = []
    listener = socket.create_server(("127.0.0.1", 0))
    listener.settimeout(0.05)
    over = threading.Event()

    def listen():
        while not over.is_set():
            try:
                connection, _ = listener.accept()
            except TimeoutError:
                continue
            made.append(connection)
            connection.close()

    thread = threading.Thread(target=listen)
    thread.start()
    try:
        yield listener.getsockname()[1], made
    finally:
        over.set()
        thread.join()
        listener.close()


def test_there_are_sixty_addresses():
    assert len(HOSTS) >= 60


def test_no_way_to_write_a_private_address_is_connected_to(tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_TRACE_CURL", str(tmp_path / "curl"))
    with canary() as (port, made):
        for scheme in ("http", "https", "ssh"):
            for host in HOSTS:
                with pytest.raises((ValueError, RepositoryError)) as caught:
                    fetch(tmp_path, f"{scheme}://{host}:{port}/x.git")
                assert not isinstance(caught.value, RepositoryUnavailableError), host
        assert made == []
    assert not (tmp_path / "curl").exists()


def fetch(tmp_path, address, **more):
    read_repository(address)
    return Place(tmp_path / "mirror", address, "http://127.0.0.1:9", **more).fetch()


@pytest.mark.parametrize("private", ["127.0.0.1", "10.1.2.3", "::1", "169.254.169.254"])
@pytest.mark.parametrize("scheme", ["http", "https", "ssh"])
def test_a_name_that_leads_to_a_private_address_among_others_is_not_asked(
    tmp_path, scheme, private
):
    found = [ip_address("140.82.112.3"), ip_address(private)]
    with canary() as (port, made):
        with pytest.raises(RepositoryRefusedError, match="not public"):
            fetch(
                tmp_path,
                f"{scheme}://git.example.org:{port}/x.git",
                visitor=Visitor(look_up=lambda *_: found),
            )
        assert made == []


class Backend(http.server.BaseHTTPRequestHandler):
    """Git's own server, as a web server starts it."""

    root = ""
    redirect = ""
    hosts: ClassVar[list] = []

    def log_message(self, *_):
        pass

    def do_GET(self):
        self._serve(b"")

    def do_POST(self):
        self._serve(self.rfile.read(int(self.headers.get("content-length", 0))))

    def _serve(self, body):
        self.hosts.append(self.headers["host"])
        if self.redirect:
            self.send_response(302)
            self.send_header("location", self.redirect + self.path)
            self.end_headers()
            return
        path, _, query = self.path.partition("?")
        done = subprocess.run(
            ["git", "http-backend"],
            input=body,
            capture_output=True,
            check=True,
            env={
                **os.environ,
                "GIT_PROJECT_ROOT": self.root,
                "GIT_HTTP_EXPORT_ALL": "1",
                "REQUEST_METHOD": self.command,
                "PATH_INFO": path,
                "QUERY_STRING": query,
                "CONTENT_TYPE": self.headers.get("content-type", ""),
                "CONTENT_LENGTH": str(len(body)),
                "GIT_PROTOCOL": self.headers.get("git-protocol", ""),
                "HTTP_CONTENT_ENCODING": self.headers.get("content-encoding", ""),
                "REMOTE_ADDR": "127.0.0.1",
            },
        )
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
        self.send_response(int(fields.pop("Status", "200 OK").split()[0]))
        for name, value in fields.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


@contextmanager
def served(root, redirect=""):
    handler = type("Own", (Backend,), {"root": str(root), "redirect": redirect, "hosts": []})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield server.server_port, handler.hosts
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def mill(tmp_path):
    folder = tmp_path / "served" / "mill"
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main")
    commit(folder, {"README.md": "# Mill\n", "docs/grain.md": "# Grain\n"})
    return folder


def test_a_server_of_git_is_asked_at_the_address_that_was_checked(tmp_path, mill):
    asked = []

    def look_up(host, port):
        """The resolver of an attacker: public first, then inside."""
        asked.append(host)
        return [HOME]

    visitor = Visitor(is_allowed=lambda one: one == HOME, look_up=look_up)
    with served(mill.parent) as (port, hosts):
        address = f"http://git.example.org:{port}/mill"
        taken = Place(tmp_path / "mirror", address, "http://127.0.0.1:9", visitor=visitor)
        assert taken.fetch()
        assert taken.files == {"README.md": "# Mill\n", "docs/grain.md": "# Grain\n"}
        assert not taken.fetch()
        commit(mill, {"docs/flour.md": "# Flour\n"}, "two")
        assert taken.fetch()
        assert "docs/flour.md" in taken.files
        # No name server knows the name: git used the address that it was given.
        assert set(hosts) == {f"git.example.org:{port}"}
        assert asked == ["git.example.org"] * 3


def test_a_server_of_git_that_redirects_is_not_followed(tmp_path, mill):
    visitor = Visitor(is_allowed=lambda one: one == HOME, look_up=lambda *_: [HOME])
    with canary() as (inside, made):
        with served(mill.parent, f"http://127.0.0.1:{inside}") as (port, hosts):
            taken = Place(
                tmp_path / "mirror",
                f"http://git.example.org:{port}/mill",
                "http://127.0.0.1:9",
                visitor=visitor,
            )
            with pytest.raises(RepositoryUnavailableError, match="git ls-remote failed"):
                taken.fetch()
            assert hosts
        assert made == []


def test_ssh_is_told_the_address_and_reads_no_settings_of_the_user(tmp_path, mill, monkeypatch):
    """A program named ssh that notes what it was told, and runs what the other side would."""
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "ssh"
    program.write_text(
        f'#!/bin/sh\necho "$@" >> {tmp_path}/told\nfor last; do :; done\nexec sh -c "$last"\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    visitor = Visitor(look_up=lambda *_: [ip_address("140.82.112.3")])
    taken = Place(
        tmp_path / "mirror", f"git@git.example.org:{mill}", "http://127.0.0.1:9", visitor=visitor
    )
    assert taken.fetch()
    assert "README.md" in taken.files
    told = (tmp_path / "told").read_text().splitlines()[0]
    for part in (
        "-F none",
        "BatchMode=yes",
        "StrictHostKeyChecking=yes",
        "ProxyCommand=none",
        "HostName=140.82.112.3",
        "HostKeyAlias=git.example.org",
        "git@git.example.org",
    ):
        assert part in told
