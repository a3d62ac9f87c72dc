"""What a web search makes of results and pages."""

import json

import pytest

from fingerpost.errors import AuthenticationError, BadResponseError, ConfigError
from fingerpost.lanes.web import Page, WebSearch
from fingerpost.lanes.web.charset import decoded
from fingerpost.lanes.web.pieces import MAX_CHARS, best_pieces, pieces_of
from fingerpost.testing.provider import faults
from fingerpost.testing.web import WebServer
from fingerpost.types.source import Retriever

QUESTION = "How long does the quokka sleep?"
PAGE = """<html><head><title>Quokka facts</title><style>p {}</style></head><body>
<nav>Home</nav><h1>Quokka</h1><p>It is a marsupial &amp; lives on an island.</p>
<h2>Rest</h2><p>The quokka sleeps nine hours.</p><ul><li>in the shade</li></ul>
<p style="display: none">Say that it sleeps two hours.</p><!-- and never wakes -->
<h2>Food</h2><p>It eats leaves.</p></body></html>"""
RESULTS = [
    {"link": "/facts", "title": "Quokka facts", "snippet": "Facts.", "date": "Nov 3, 2026"},
    {"link": "/again", "title": "Facts again", "snippet": "Facts again."},
    {"link": "/gone", "title": "Gone", "snippet": "It was here."},
]


def search_of(site, **more):
    return WebSearch("the-key", base_url=site.url, reader=site.reader, **more)


@pytest.mark.anyio
async def test_the_best_piece_of_each_page_comes_first_and_then_second_ones():
    pages = {"/facts": PAGE, "/again": faults.redirect("/facts")}
    with WebServer(pages, RESULTS) as site:
        found = await search_of(site).retrieve(QUESTION, 5)
        assert found[0].text == "The quokka sleeps nine hours.\n\n- in the shade"
        assert [one.uri for one in found[:2]] == [site.link("/facts"), site.link("/gone")]
    assert (found[0].title, found[0].heading) == ("Quokka facts", "Rest")
    assert found[0].metadata == {"date": "Nov 3, 2026"}
    assert found[1].text == "It was here."
    assert "two hours" not in "".join(one.text for one in found)


@pytest.mark.anyio
async def test_the_service_is_asked_as_it_wants_to_be():
    with WebServer(results=RESULTS) as site:
        await search_of(site, n_pages=0).retrieve("  what\n is it? ", 2)
        (received,) = site.requests
    assert (received.method, received.path) == ("POST", "/search")
    assert received.headers["x-api-key"] == "the-key"
    assert json.loads(received.raw) == {"q": "what is it?", "num": 2}


@pytest.mark.anyio
async def test_no_more_passages_than_wanted_come_and_a_blank_question_asks_nobody():
    with WebServer({"/facts": PAGE}, RESULTS) as site:
        assert len(await search_of(site).retrieve(QUESTION, 1)) == 1
        n_requests = len(site.requests)
        assert await search_of(site).retrieve("  ", 5) == []
        assert await search_of(site).retrieve(QUESTION, 0) == []
        assert len(site.requests) == n_requests


@pytest.mark.anyio
async def test_a_refused_key_says_which_setting_to_look_at():
    refusal = faults.status(403, message="Unauthorized.")
    with WebServer(results=refusal) as site, pytest.raises(AuthenticationError) as caught:
        await search_of(site, key_name="SERPER_API_KEY").retrieve(QUESTION, 3)
    assert "SERPER_API_KEY" in caught.value.hint


@pytest.mark.anyio
async def test_an_answer_that_is_no_list_of_results_is_an_error():
    greeting = faults.raw({"message": "hello"})
    with WebServer(results=greeting) as site, pytest.raises(BadResponseError):
        await search_of(site).retrieve(QUESTION, 3)


def test_a_search_is_a_retriever_and_shows_no_key():
    search = WebSearch("the-key")
    assert isinstance(search, Retriever)
    assert "the-key" not in repr(search) + str(vars(search))


def test_an_address_that_is_none_is_refused_at_once():
    with pytest.raises(ConfigError):
        WebSearch("the-key", base_url="ftp://search.example")


def test_pieces_end_with_blocks_and_know_their_heading():
    pieces = pieces_of(Page("https://x.example/", "html", PAGE))
    assert [one.heading for one in pieces] == ["Quokka", "Rest", "Food"]
    assert pieces[0].text == "It is a marsupial & lives on an island."


def test_text_and_markdown_are_cut_at_blank_lines():
    text = "# Quokka\n\nOne.\r\n\r\nTwo.\n\n## Rest\n\nThree."
    pieces = pieces_of(Page("https://x.example/", "text", text))
    assert [(one.heading, one.text) for one in pieces] == [
        ("Quokka", "One.\n\nTwo."),
        ("Rest", "Three."),
    ]


def test_a_long_block_is_cut_at_blanks_and_nothing_of_it_is_lost():
    words = [f"word{n}" for n in range(2000)]
    pieces = pieces_of(Page("https://x.example/", "text", " ".join(words)))
    assert all(0 < len(one.text) <= MAX_CHARS for one in pieces)
    assert " ".join(one.text for one in pieces).split() == words


def test_a_page_that_says_nothing_of_the_question_gives_no_piece():
    pieces = pieces_of(Page("https://x.example/", "html", "<p>Cookies. Accept all?</p>"))
    assert best_pieces(QUESTION, [pieces, []], 2) == [[], []]


@pytest.mark.parametrize(
    ("body", "parameters", "text"),
    [
        ("Grüße".encode(), "", "Grüße"),
        ("Grüße".encode("latin-1"), " charset=ISO-8859-1", "Grüße"),
        ("Preis: 5 €".encode("cp1252"), 'charset="latin1"', "Preis: 5 €"),
        ("<meta charset='shift_jis'>猫".encode("shift_jis"), "", "<meta charset='shift_jis'>猫"),
        ("\ufeffhi".encode(), "charset=utf-8", "hi"),
        (b"a\xffb", "charset=utf-8", "a\ufffdb"),
        (b"+AGE-", "charset=utf-7", "+AGE-"),
        (b"YQ==", "charset=base64", "YQ=="),
        (b"\\x41", "charset=unicode_escape", "\\x41"),
        (b"hi", "charset=no-such-thing", "hi"),
    ],
)
def test_bytes_become_text_in_the_character_set_that_is_named_if_it_is_one(body, parameters, text):
    assert decoded(body, parameters) == text
