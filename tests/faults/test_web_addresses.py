"""R13: no address, however it is written, looked up or redirected, leads a reader inside."""

import contextlib
import socket
import threading
import time
from ipaddress import ip_address

import pytest

from fingerpost.errors import LaneError, PageRefusedError
from fingerpost.lanes.web.page import PageReader
from fingerpost.lanes.web.public import is_public
from fingerpost.lanes.web.target import read_target
from fingerpost.lanes.web.visit import Visitor, look_up
from fingerpost.testing.provider import faults
from fingerpost.testing.web import WebServer

pytestmark = pytest.mark.anyio
HOME = ip_address("127.0.0.1")
INSIDE = [
    # loopback as browsers, resolvers and C libraries read it
    "127.0.0.1", "127.0.0.2", "127.1", "127.0.1", "2130706433", "0x7f000001", "0x7f.0.0.1",
    "0x7f.1", "017700000001", "0177.0.0.1", "0177.1", "00000177.0.0.1", "127.0.0.1.", "0",
    "0.0.0.0", "0x0", "127.0.0.01", "127.000.000.001", "4294967295", "6425673729",
    # IPv6, and IPv4 inside it
    "[::1]", "[::]", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]",
    "[0:0:0:0:0:ffff:127.0.0.1]", "[::127.0.0.1]", "[64:ff9b::7f00:1]", "[64:ff9b::127.0.0.1]",
    "[64:ff9b:1::7f00:1]", "[2002:7f00:1::]", "[2001:0:7f00:1::1]", "[fe80::1]", "[fc00::1]",
    "[::1%25lo]", "[::ffff:10.0.0.1]",
    # names that are always at home, and ones inside networks
    "localhost", "LOCALHOST", "localhost.", "www.localhost", "printer.local", "db.internal",
    "router", "metadata",
    # other writings of digits and dots
    "127。0。0。1", "127．0．0．1", "127｡0｡0｡1", "１２７.0.0.1", "①②⑦.⓪.⓪.①", "127%2e0%2e0%2e1",
    "%31%32%37.0.0.1", "ⓛocalhost", "loc\u00adalhost",
    # who is it meant for
    "site.example@127.0.0.1", "127.0.0.1:80@127.0.0.1", "site.example%40127.0.0.1",
    "127.0.0.1\\@site.example", "site.example\\.127.0.0.1", "127.0.0.1#@site.example",
    "127.0.0.1?@site.example", "\t127.0.0.1", "127.0.\n0.1",
    # other places that are not public
    "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.100.100.200",
    "168.63.129.16", "224.0.0.1", "255.255.255.255", "198.18.0.1",
]  # fmt: skip


class Canary:
    """Listens at home and counts who comes."""

    def __enter__(self):
        self._sockets = []
        v4 = socket.create_server(("127.0.0.1", 0))
        self.port = v4.getsockname()[1]
        self._sockets.append(v4)
        with contextlib.suppress(OSError):  # no IPv6 here
            self._sockets.append(socket.create_server(("::1", self.port), family=socket.AF_INET6))
        for one in self._sockets:
            one.setblocking(False)
        return self

    def __exit__(self, *_):
        for one in self._sockets:
            one.close()

    @property
    def n_connections(self):
        n = 0
        for one in self._sockets:
            with contextlib.suppress(BlockingIOError):
                while True:
                    one.accept()[0].close()
                    n += 1
        return n


async def read(url, seconds=2.0, **reader):
    return await PageReader(Visitor(**reader)).read(url, until=time.monotonic() + seconds)


def test_there_are_sixty_addresses():
    assert len(set(INSIDE)) >= 60


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_no_writing_of_an_address_inside_is_connected_to(scheme):
    with Canary() as canary:
        for host in INSIDE:
            port = "" if "@site" in host or host.endswith("#@site.example") else f":{canary.port}"
            for url in (f"{scheme}://{host}{port}/", f"{scheme}://{host}/"):
                with pytest.raises(PageRefusedError):
                    await read(url)
        assert canary.n_connections == 0


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd", "ftp://site.example/", "gopher://127.0.0.1/", "data:text/plain,x",
        "javascript:alert(1)", "//127.0.0.1/", "127.0.0.1", "", "http:127.0.0.1", "http:///x",
        "http://", "HTTP://[::1", "http://site.example:99999/", "http://site.example:25/",
        "http://site..example/", "http://-a-.example/", "http://a" + "a" * 3000 + ".example/",
        "unix:///var/run/docker.sock", "http://site.example:0/", "dict://127.0.0.1:11211/", "http://user:secret@site.example/", "http://user@site.example/",
    ],
)  # fmt: skip
async def test_what_is_no_address_of_a_page_is_refused(url):
    with pytest.raises(PageRefusedError):
        await read(url)


@pytest.mark.parametrize(
    "addresses",
    [
        ["127.0.0.1"], ["::1"], ["93.184.216.34", "127.0.0.1"], ["10.1.2.3"], ["0.0.0.0"],
        ["::ffff:127.0.0.1"], ["64:ff9b::7f00:1"], ["169.254.169.254"], ["fd00:ec2::254"],
    ],
)  # fmt: skip
async def test_a_name_is_refused_when_any_of_its_addresses_is_inside(addresses):
    with Canary() as canary:
        url = f"http://site.example:{canary.port}/"
        with pytest.raises(PageRefusedError, match="not public"):
            await read(url, look_up=lambda *_: [ip_address(one) for one in addresses])
        assert canary.n_connections == 0


async def test_a_name_that_changes_its_mind_is_looked_up_once_and_held_to_its_word():
    answers = [[HOME], [ip_address("127.0.0.9")], [ip_address("127.0.0.9")]]
    with WebServer({"/": "<p>Hello</p>"}) as site:
        page = await read(
            site.link("/"),
            look_up=lambda *_: answers.pop(0),
            is_allowed=lambda address: address == HOME,
        )
        assert len(site.requests) == 1
    assert page.text == "<p>Hello</p>"
    assert len(answers) == 2


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1", "[::1]", "localhost", "inside.example"])
async def test_no_redirect_leads_inside(host):
    names = {"site.example": HOME, "inside.example": ip_address("127.0.0.9")}
    with Canary() as canary:
        with WebServer({"/go": faults.redirect(f"http://{host}:{canary.port}/")}) as site:
            # Only one name may be at home here, so that its redirect can be seen at all.
            allowed = iter([True])
            with pytest.raises(PageRefusedError):
                await read(
                    site.link("/go"),
                    look_up=lambda name, _: [names[name]],
                    is_allowed=lambda _: next(allowed, False),
                )
            assert len(site.requests) == 1
        assert canary.n_connections == 0


async def test_each_redirect_is_looked_up_again_and_they_end_after_three():
    looked_up = []
    pages = {f"/{n}": faults.redirect(f"/{n + 1}") for n in range(9)}
    with WebServer(pages) as site:
        with pytest.raises(PageRefusedError, match="redirects"):
            await read(
                site.link("/0"),
                look_up=lambda name, _: looked_up.append(name) or [HOME],
                is_allowed=lambda _: True,
            )
        assert len(site.requests) == len(looked_up) == 4


async def test_a_redirect_may_not_leave_http():
    go = faults.redirect("file:///etc/passwd")
    with WebServer({"/go": go}) as site, pytest.raises(PageRefusedError, match="neither http nor"):
        await read(site.link("/go"), look_up=lambda *_: [HOME], is_allowed=lambda _: True)


async def test_a_page_gets_no_key_no_cookie_and_no_word_of_ours():
    with WebServer({"/": "<p>Hello</p>"}) as site:
        await read(site.link("/?q=1#part"), look_up=lambda *_: [HOME], is_allowed=lambda _: True)
        (received,) = site.requests
    assert received.method == "GET"
    assert set(received.headers) == {
        "host", "accept", "accept-encoding", "connection", "user-agent",
    }  # fmt: skip
    assert received.headers["host"].startswith("site.example:")
    assert received.path == "/?q=1"


async def test_a_name_that_cannot_be_looked_up_in_time_ends_in_time():
    released = threading.Event()
    began = time.monotonic()
    with pytest.raises(LaneError, match="too slow"):
        await read(
            "http://site.example/", seconds=0.1, look_up=lambda *_: [HOME] * released.wait(5)
        )
    assert time.monotonic() - began < 0.1 + 0.25
    released.set()


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("93.184.216.34", True), ("2606:2800:220:1::1", True), ("::ffff:93.184.216.34", True),
        ("64:ff9b::5db8:d822", True), ("2002:5db8:d822::1", True), ("::ffff:10.0.0.1", False),
        ("64:ff9b::a00:1", False), ("2002:a00:1::1", False), ("ff02::1", False),
        ("fec0::1", False), ("192.0.2.1", False), ("240.0.0.1", False), ("::7f00:1", False),
    ],
)  # fmt: skip
def test_public_is_what_everybody_reaches(address, expected):
    assert is_public(ip_address(address)) is expected


def test_an_address_is_told_in_one_way_of_writing():
    assert read_target("HTTPS://Bücher.Example:443/a b/../ü?q=ä#x".replace(" ", "%20")).url == (
        "https://xn--bcher-kva.example/a%20b/../%C3%BC?q=%C3%A4"
    )
    assert read_target("http://[2606:2800::1]:8080").url == "http://[2606:2800::1]:8080/"


def test_the_resolver_of_the_system_gives_addresses():
    assert HOME in look_up("localhost", 80)
