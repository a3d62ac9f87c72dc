"""Laws of addresses, of what is public, and of what is read of a page."""

import contextlib
from ipaddress import IPv4Address, IPv6Address

from hypothesis import example, given
from hypothesis import strategies as st

from fingerpost.errors import PageRefusedError
from fingerpost.lanes.web import Page
from fingerpost.lanes.web.pieces import MAX_CHARS, best_pieces, pieces_of
from fingerpost.lanes.web.public import is_public
from fingerpost.lanes.web.target import read_redirect, read_target

HOSTS = st.sampled_from(
    ["site.example", "127.0.0.1", "[::1]", "93.184.216.34", "bücher.example", "a.b", "0x7f.1", "。"]
)
URLS = st.one_of(
    st.text(max_size=80),
    st.builds(
        "{}://{}{}{}{}".format,
        st.sampled_from(["http", "https", "HTTP", "ftp", ""]),
        st.sampled_from(["", "", "user@", "a:b@", "\\"]),
        HOSTS | st.text(max_size=12),
        st.sampled_from(["", ":80", ":443", ":8080", ":0", ":99999", ":x"]),
        st.one_of(st.just(""), st.text(max_size=40).map("/{}".format)),
    ),
)


@given(URLS)
@example("http://[::1")
@example("http://a.b/\ud800")
@example("http://xn--.example/")
@example("http://a..b/")
def test_any_text_is_an_address_or_refused_and_an_address_is_read_in_one_way(url):
    try:
        target = read_target(url)
    except PageRefusedError:
        return
    assert target.url.isascii()
    assert read_target(target.url) == target
    assert "@" not in target.authority


@given(URLS, URLS)
@example("http://a.b/", "http://[")
def test_where_a_redirect_leads_is_an_address_or_refused(url, location):
    with contextlib.suppress(PageRefusedError):
        read_redirect(read_target(url), location)


@given(st.integers(0, 2**32 - 1).map(IPv4Address))
def test_an_address_inside_another_is_as_public_as_it_is_alone(address):
    number = int(address)
    inside = [
        IPv6Address((0xFFFF << 32) | number),
        IPv6Address((0x0064FF9B << 96) | number),
        IPv6Address((0x2002 << 112) | (number << 80)),
    ]
    assert {is_public(one) for one in inside} == {is_public(address)}


@given(st.integers(0, 2**128 - 1).map(IPv6Address))
def test_whatever_python_knows_to_be_inside_is_not_public(address):
    inside = (
        address.is_private, address.is_loopback, address.is_link_local, address.is_site_local,
        address.is_multicast, address.is_unspecified,
    )  # fmt: skip
    assert not (any(inside) and is_public(address)) or address.sixtofour is not None


@given(
    st.sampled_from(["html", "text"]),
    st.lists(
        st.text(max_size=60)
        | st.sampled_from(["<p>", "</p>", "<h1>", "</h1>", "<!--", "<script>", "# a\n\n", "\n\n"]),
        max_size=40,
    ).map("".join),
)
def test_pieces_are_never_blank_or_too_long(kind, text):
    pieces = pieces_of(Page("https://x.example/", kind, text))
    assert all(one.text.strip() and len(one.text) <= MAX_CHARS for one in pieces)
    (best,) = best_pieces("a b c", [pieces], 2)
    assert len(best) <= 2
    assert set(best) <= set(pieces)
