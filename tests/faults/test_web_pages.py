"""Pages and search services that misbehave: nothing is late, too large, or left open."""

import contextlib
import random
import time

import anyio
import pytest

from fingerpost import errors as e
from fingerpost.lanes.web import PageReader, WebSearch
from fingerpost.lanes.web.page import MAX_BYTES
from fingerpost.testing.provider import faults
from fingerpost.testing.web import WebServer

LATE_S = 0.25
KEY = "serper-canary-key-0123456789"
PAGE = "<title>Quokka</title><p>The quokka sleeps nine hours.</p>"
RESULTS = [
    {"link": f"/{name}", "title": name, "snippet": f"The quokka of {name}."} for name in "abc"
]
PAGE_FAULTS = [
    faults.stall(),
    faults.drip("head", 0.01),
    faults.drip("body", 0.01),
    faults.reset(),
    faults.redirect("/a"),
    faults.redirect("http://127.0.0.1:1/"),
    faults.status(500),
    faults.raw(b"%PDF-1.7", "application/pdf"),
    faults.raw(b"<p>cut", "text/html", headers={"content-length": "99999"}),
    faults.huge(4 * MAX_BYTES),
    faults.gzip_bomb(2**20),
    PAGE,
]
SEARCH_FAULTS = [
    faults.stall(),
    faults.drip("head", 0.01),
    faults.drip("body", 0.01),
    faults.reset(),
    faults.status(429, headers={"retry-after": "1"}),
    faults.status(403),
    faults.html(),
    faults.raw({"organic": "none"}),
    faults.raw({"organic": [None, 3, {"link": 5}, {"title": "no link"}, {"link": "javascript:1"}]}),
    faults.huge(4 * MAX_BYTES),
    faults.redirect("http://127.0.0.1:1/search"),
]


async def read(site, path, seconds=2.0):
    with anyio.fail_after(5):
        return await site.reader.read(site.link(path), until=time.monotonic() + seconds)


async def find(site, seconds=2.0, **more):
    search = WebSearch(KEY, base_url=site.url, reader=site.reader, seconds=seconds, **more)
    with anyio.fail_after(5):
        return await search.retrieve("How long does the quokka sleep?", 5)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("page", "error"),
    [
        (faults.raw(b" " * (MAX_BYTES + 1), "text/html"), e.ResponseTooLargeError),
        (faults.gzip_bomb(2**20), e.PageRefusedError),
        (faults.raw(b"%PDF-1.7", "application/pdf"), e.PageRefusedError),
        (faults.raw(b"{}"), e.PageRefusedError),
        (faults.raw(b"x", "text/javascript"), e.PageRefusedError),
        (faults.status(404), e.PageRefusedError),
        (faults.reset(), e.ProviderUnreachableError),
        (faults.raw(b"x", "text/html", headers={"content-length": "9", "connection": "close"}),
         e.ProviderTimeoutError),
    ],
)  # fmt: skip
async def test_what_is_no_readable_page_is_refused(page, error):
    with WebServer({"/": page}) as site:
        with pytest.raises(error):
            await read(site, "/", seconds=0.5 if error is e.ProviderTimeoutError else 3.0)
        assert site.wait_for(lambda one: not one.n_open_connections)


@pytest.mark.anyio
@pytest.mark.parametrize("fault", [faults.stall(), faults.drip("head"), faults.drip("body")])
async def test_a_slow_page_ends_in_time(fault):
    with WebServer({"/": fault}) as site:
        began = time.monotonic()
        with pytest.raises((e.ProviderTimeoutError, e.PageRefusedError)):
            await read(site, "/", seconds=0.2)
        assert time.monotonic() - began < 0.2 + LATE_S
        assert site.wait_for(lambda one: not one.n_open_connections)


@pytest.mark.anyio
@pytest.mark.parametrize("fault", [f for f in PAGE_FAULTS if not isinstance(f, str)], ids=repr)
async def test_a_page_that_cannot_be_read_leaves_the_excerpt_of_the_service(fault):
    with WebServer({"/b": PAGE, "/a": fault, "/c": PAGE}, RESULTS) as site:
        passages = await find(site, seconds=1.0)
    assert passages[0].text in {"The quokka of a.", "The quokka sleeps nine hours."}
    assert passages[1].text == "The quokka sleeps nine hours."


@pytest.mark.anyio
@pytest.mark.parametrize("fault", SEARCH_FAULTS, ids=repr)
async def test_a_service_that_fails_is_a_typed_error_without_the_key(fault):
    with WebServer(results=fault) as site:
        began = time.monotonic()
        found, told = [], ""
        try:
            found = await find(site, seconds=0.5)
        except e.ProviderError as error:
            told = f"{error!r} {error.hint}"
        assert found == []
        assert KEY not in told
        assert time.monotonic() - began < 0.5 + LATE_S
        assert all(one.path == "/search" for one in site.requests)
        assert site.wait_for(lambda one: not one.n_open_connections)


@pytest.mark.parametrize(("seed", "backend"), [(1, "asyncio"), (2, "trio")])
def test_no_search_outlives_the_caller_and_nothing_is_left_open(seed, backend):
    rng, late, held_up = random.Random(seed), [], []

    async def one(site, limiter):
        async with limiter:
            search = WebSearch(KEY, base_url=site.url, reader=site.reader)
            patience = rng.uniform(0.0, 0.3)
            began = time.monotonic()
            with anyio.move_on_after(patience):
                with contextlib.suppress(e.ProviderError):
                    await search.retrieve("How long does the quokka sleep?", 5)
            late.append(time.monotonic() - began - patience)

    async def watch():
        while True:
            began = time.monotonic()
            await anyio.sleep(0.01)
            held_up.append(time.monotonic() - began - 0.01)

    async def work(sites):
        await find(sites[0])  # loads what is loaded once
        limiter = anyio.CapacityLimiter(8)
        async with anyio.create_task_group() as watching:
            watching.start_soon(watch)
            with anyio.fail_after(60):
                async with anyio.create_task_group() as group:
                    for _ in range(100):
                        group.start_soon(one, rng.choice(sites), limiter)
            watching.cancel_scope.cancel()

    def some_site():
        pages = {f"/{name}": rng.choice(PAGE_FAULTS) for name in "abc"}
        return WebServer(pages, rng.choice([*SEARCH_FAULTS, *[RESULTS] * 12]))

    well = WebServer({"/a": PAGE}, RESULTS)
    with well, some_site() as a, some_site() as b, some_site() as c, some_site() as d:
        anyio.run(work, [well, a, b, c, d], backend=backend)
        for site in (well, a, b, c, d):
            assert site.wait_for(lambda one: not one.n_open_connections)
    assert len(late) == 100
    assert max(late) <= LATE_S + 2 * max(held_up), f"seed {seed}, {sorted(late)[-5:]}"


@pytest.mark.anyio
async def test_no_page_is_read_where_none_is_wanted():
    with WebServer({"/a": PAGE}, RESULTS) as site:
        passages = await find(site, n_pages=0)
        assert [one.path for one in site.requests] == ["/search"]
    assert [one.text for one in passages] == [one["snippet"] for one in RESULTS]


@pytest.mark.anyio
async def test_pages_at_addresses_inside_are_neither_read_nor_shown():
    inside = [{"link": "http://127.0.0.1:9/", "title": "x", "snippet": "The quokka is inside."}]
    with WebServer(results=inside) as site:
        search = WebSearch(KEY, base_url=site.url, reader=PageReader())
        assert await search.retrieve("quokka", 5) == []
