"""What a model, or a document through it, does to break out of its place."""

import re
import time

import anyio
import pytest

from fingerpost import QueryRouter
from fingerpost.generate.safe import SafeStream
from fingerpost.lanes.structured import read_json
from fingerpost.testing.provider import ProviderServer, faults

IMAGE = "![x](//evil.test/?q=secret)"


def made_safe(text, known="", size=None):
    """Return the safe form of a reply, whole or in pieces."""
    stream = SafeStream(known)
    size = size or max(1, len(text))
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    return "".join(map(stream.feed, pieces)) + stream.close()


@pytest.mark.parametrize(
    ("reply", "safe"),
    [
        # A line less indented than a fence: for some renderers it has ended.
        (f"   ```\ncode\n```\n{IMAGE}.", "```\ncode\n```\n."),
        # A fence behind the mark of a list item, and what would have been its end.
        (f"- ```\n  code\n  ```\n  {IMAGE}.", "-\n  ```\n  code\n  ```\n  ."),
        (f"- ~~~\n  code\n  ~~~\n  {IMAGE}.", "-\n  ~~~\n  code\n  ~~~\n  ."),
        (f"12. ```\n```\n```\n{IMAGE}.", "12. '''\n```\n```\n."),
        # A fence, or the end of one, that is one only when something has gone.
        (f"<b>~~~\n~~~\n~~~\n{IMAGE}.", "\\~~~\n~~~\n~~~\n."),
        (f"<b>```\n```\n```\n{IMAGE}.", "'''\n```\n```\n."),
        (f"```\ncode\n\u202e```\n{IMAGE}.", "```\ncode\n```\n."),
        (f"\u202e~~~ \n~~~\n{IMAGE}.", "~~~ \n~~~\n."),
        # The head of a table.
        (f"```a | b\n--- | ---\n{IMAGE}.", "'''a | b\n--- | ---\n."),
    ],
)
@pytest.mark.parametrize("size", [1, 3, None])
def test_an_image_behind_a_fence_that_renderers_see_differently_goes(reply, safe, size):
    assert made_safe(reply, size=size).strip() == safe


@pytest.mark.parametrize(
    ("reply", "safe"),
    [
        ("Ninety days [^1][^2].", "Ninety days [1][2]."),
        ("Ninety days.[^1]\n\n[^1]: keys.md\n", "Ninety days.[1]"),
        ("It matches `[^1]` and `` [^2] ``.", "It matches `[^1]` and `` [^2] ``."),
        ("```\n[^1]\n```", "```\n[^1]\n```"),
        ("[^1](//evil.test) [^2][x] ![^1](//evil.test)", "[1] [2][x]"),
    ],
)
@pytest.mark.parametrize("size", [1, 3, None])
def test_a_footnote_that_stands_for_a_marker_is_one(reply, safe, size):
    assert made_safe(reply, size=size).strip() == safe


@pytest.mark.parametrize("reply", [f"`a\n`{IMAGE}`", f"a `` b\n``{IMAGE}``"])
def test_no_back_tick_is_left_that_another_line_could_close(reply):
    first, second = made_safe(reply).split("\n")
    assert "`" not in first
    assert second.count("`") == 2 * (len(second) - len(second.lstrip("`")))


@pytest.mark.parametrize("reply", [f"\\`{IMAGE}\\`", f"` {'a' * 2100} ` {IMAGE} `"])
def test_an_image_between_back_ticks_that_make_no_code_goes(reply):
    assert IMAGE not in made_safe(reply)


@pytest.mark.parametrize(
    "reply", [f"``a``http://known.test `{IMAGE}`", f"``a``<b>`b` `{IMAGE}`", f"\\<b>`{IMAGE}`"]
)
def test_code_does_not_join_its_neighbour_or_a_backslash(reply):
    safe = made_safe(reply, known="see http://known.test")
    assert re.sub(r"(?<![\\`])(`{1,2})(?!`)[^`]+(?<!`)\1(?!`)", "", safe).find("evil") < 0


def test_a_definition_of_a_link_that_stood_behind_an_image_goes():
    assert "evil" not in made_safe("![x](y)[r]: //evil.test\n2) 1. [r]: //evil.test\n\n[r]")


@pytest.mark.parametrize("before", ["_", "1", "é"])
def test_an_address_is_seen_behind_what_a_renderer_may_skip(before):
    assert "evil" not in made_safe(f"see {before}http://evil.test/a")


def test_code_in_a_list_item_stays_code():
    safe = made_safe("- ```html\n  <a href='http://x.test'>\n  ```\n- next")
    assert safe.split("\n")[-4:] == ["  ```html", "  <a href='http://x.test'>", "  ```", "- next"]


@pytest.mark.parametrize(
    "word", ["!", "1.", "www.", "sources: [1],", "`", "[", "<a", "[^1", "`[^1]"]
)
def test_a_line_without_an_end_takes_time_in_proportion_to_its_length(word):
    began = time.process_time()
    made_safe(word * (40_000 // len(word)), size=1)
    assert time.process_time() - began < 2.5


QUESTION = "Which modes does Heron have?"


def told(corpus, answer, tier=1, **settings):
    """Return the result of a question and the joined text of its stream, by a scripted model."""

    def script(request):
        return f'{{"tier": {tier}, "confidence": 0.9}}' if request.schema else answer

    async def both(url):
        given = {"embed": "never", "base_url": url, **settings}
        async with QueryRouter(knowledge_corpus=[corpus], **given) as router:
            events = [event async for event in router.stream(QUESTION)]
            return await router.route(QUESTION), events

    with ProviderServer(script) as server:
        result, events = anyio.run(both, server.url)
    return result, "".join(event.text for event in events if event.type == "generate:delta")


@pytest.mark.parametrize(
    "reply",
    ["NOTHING_IN_THE_DOCUMENTS", "**NOTHING_IN_THE_DOCUMENTS**", "> `NOTHING_IN_THE_DOCUMENTS`."],
)
def test_a_model_that_finds_nothing_is_told_as_the_abstention_in_a_stream_too(corpus, reply):
    result, text = told(corpus, reply)
    assert result.generation_mode == "abstained"
    assert text == result.answer != ""


def test_the_word_for_nothing_is_never_shown_within_an_answer(corpus):
    result, text = told(corpus, "I cannot say. NOTHING_IN_THE_DOCUMENTS")
    assert result.answer == text == "I cannot say."


def test_small_talk_does_not_abstain_for_want_of_documents(corpus):
    result, text = told(corpus, "NOTHING_IN_THE_DOCUMENTS", tier=0)
    assert result.generation_mode == "small_talk"
    assert text == result.answer


def test_no_more_is_read_than_the_tokens_that_were_asked_for_can_hold(corpus):
    endless = "Heron has three modes [1]. " * 40_000
    result, text = told(corpus, endless, max_answer_tokens=100)
    assert result.truncated
    assert result.answer == text == endless[: len(text)]
    assert 3_000 < len(text) <= 3_200


def test_a_reply_of_many_open_brackets_is_given_up_soon():
    began = time.thread_time()
    assert read_json("[," * 39 + ",x" * 15_900) is None
    assert time.thread_time() - began < 5  # tried anew at each bracket it takes minutes


def test_a_rewrite_with_half_a_character_can_be_searched_and_printed(corpus):
    def script(request):
        if "standalone" in request.prompt:
            return '{"standalone": "Which modes does Heron \\ud800 have?"}'
        return '{"tier": 1, "confidence": 0.9}' if request.schema else "Three modes [1]."

    with ProviderServer(script) as server:
        settings = {"embed": "never", "base_url": server.url}
        with QueryRouter(knowledge_corpus=[corpus], **settings) as router:
            result = router.route_sync("and which modes?", history=[("user", "What is Heron?")])
    assert result.rewritten_query.encode() == "Which modes does Heron \ufffd have?".encode()


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (faults.status(401, "invalid_api_key"), "Check api_key for openai."),
        (faults.status(404, "model_not_found"), "Set "),
        (faults.redirect("https://other.example/v1"), "https://other.example"),
        (faults.html(), "Check base_url."),
    ],
    ids=str,
)
def test_who_gets_no_answer_of_the_model_is_told_what_to_do(corpus, caplog, fault, told):
    given = {"classifier_provider": "openai", "generation_provider": "openai"}
    with (
        ProviderServer(fault) as server,
        QueryRouter(
            knowledge_corpus=[corpus],
            embedding_provider="none",
            base_url=f"{server.url}/v1",
            api_key="sk-canary-0123456789abcdef",
            **given,
        ) as router,
    ):
        router.route_sync("What is the default mode?", tier=1)
    [warning] = [m for m in caplog.messages if m.startswith("the model wrote no answer")]
    assert told in warning
    assert "sk-canary" not in caplog.text
