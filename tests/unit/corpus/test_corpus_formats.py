"""Bytes to text, and the formats beside Markdown."""

import json
import time

import pytest

from fingerpost.corpus import FileToPrepare, Prepared, prepare_file
from fingerpost.corpus.decode import Undecodable, decode


def prepared(text, path):
    raw = text if isinstance(text, bytes) else text.encode()
    outcome = prepare_file(FileToPrepare(raw, "docs", path))
    assert isinstance(outcome, Prepared)
    return outcome.document


def searched(document):
    return "\n".join(chunk.search_text for chunk in document.chunks)


def joined(document):
    return "".join(chunk.text for chunk in document.chunks)


PAGE = """<!doctype html>
<html lang="de"><head><title>Die  Seite</title><style>p { color: red }</style></head>
<body><nav><a href="/menu">Menu</a></nav>
<h1>Head &amp; one</h1><p>Some <b>bold</b> text, <code>a_b</code> &lt;T&gt;, 2 * 3 * 4.</p>
<h2>Sub</h2><ul><li>one<li>two</ul><pre>
# not a heading
    indented
</pre><table><tr><th>Key</th><th>Value</th></tr><tr><td>m</td><td>9</td></tr></table>
<!-- secret --><script>evil("<p>no</p>")</script><p style="display:none">unseen</p>
<img src=x alt="A cat">end <a href="other.html#x">Other</a></body></html>
"""


def test_html_gives_headings_and_prose_and_its_chunks_cut_the_file():
    document = prepared(PAGE, "page.html")
    assert joined(document) == PAGE
    assert (document.document.title, document.document.language) == ("Die Seite", "de")
    assert [chunk.heading_path for chunk in document.chunks][-2:] == [
        ("Head & one",), ("Head & one", "Sub"),
    ]  # fmt: skip
    found = searched(document)
    for part in (
        "bold text, a_b <T>, 2 * 3 * 4.",
        "- one\n- two",
        "```\n# not a heading\n    indented\n```",
        "Key | Value\n---|---\nm | 9",
        "A cat end",
    ):
        assert part in found
    for hidden in ("Menu", "color", "secret", "evil", "unseen", "<p"):
        assert hidden not in found
    assert document.chunks[-1].text.startswith("<h2>")


def test_a_minified_html_page_of_one_line_is_split_under_the_limit():
    text = "<h1>A</h1>" + "".join(f"<p>Sentence number {n} of the page.</p>" for n in range(500))
    document = prepared(text, "page.htm")
    assert joined(document) == text
    assert len(document.chunks) > 10
    assert max(chunk.n_tokens for chunk in document.chunks) <= 220


@pytest.mark.parametrize(
    "text",
    ["<nav>" * 50_000, "<div hidden>" * 20_000, "<" * 200_000, "<!--" * 50_000, "<p " * 50_000],
)
def test_hostile_html_takes_linear_time(text):
    started = time.process_time()
    assert joined(prepared(text + "x", "page.html")) in (text + "x", "")
    assert time.process_time() - started < 10


def test_a_notebook_gives_the_cells_and_its_chunks_cut_the_json():
    notebook = {
        "cells": [
            {"cell_type": "markdown", "source": ["# Title\n", "\n", 'Say "hi" \u00e9.']},
            {
                "cell_type": "code",
                "outputs": [{"text": "noise"}],
                "source": "import os\n# no heading\n",
            },
            {"cell_type": "markdown", "source": "## Two\nlast"},
            {"cell_type": "raw", "source": []},
        ],
        "metadata": {"kernelspec": {"language": "python"}},
    }
    for raw in (json.dumps(notebook, indent=1), "\ufeff" + json.dumps(notebook)):
        document = prepared(raw, "book.ipynb")
        assert joined(document) == raw.removeprefix("\ufeff")
        assert [chunk.heading_path for chunk in document.chunks] == [("Title",), ("Title", "Two")]
        found = searched(document)
        assert 'Say "hi" \u00e9.' in found
        assert "import os\n# no heading" in found
        assert "noise" not in found


@pytest.mark.parametrize("raw", ["{", "[" * 3000, "[]", '{"cells": 3}', "plain words"])
def test_a_broken_notebook_is_read_as_plain_text(raw):
    assert joined(prepared(raw, "book.ipynb")) == raw


RST = """=====
Title
=====

Intro with :ref:`label <x>`, ``code_x`` and `link <other.rst>`_.

Section
-------

.. code-block:: python

   # not a heading
   x = 1

.. note:: Be careful

.. a comment that is hidden

Example::

    literal *text*
    ----

Sub
~~~
last
"""


def test_restructured_text_gives_sections_code_and_prose():
    document = prepared(RST, "page.rst")
    assert joined(document) == RST
    assert document.document.title == "Title"
    assert [chunk.heading_path for chunk in document.chunks] == [
        ("Title",), ("Title", "Section"), ("Title", "Section", "Sub"),
    ]  # fmt: skip
    found = searched(document)
    for part in ("Intro with label, code_x and link.", "x = 1", "Be careful", "literal *text*"):
        assert part in found
    for mark in ("code-block", "hidden", "::"):
        assert mark not in found


def test_plain_text_is_taken_as_it_is():
    text = "# no heading\n\nsecond *paragraph*\r\n\r\n"
    document = prepared(text, "notes.txt")
    assert joined(document) == text
    assert document.chunks[0].heading_path == ()
    assert "# no heading" in searched(document)
    assert "*paragraph*" in searched(document)


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "utf-32", "cp1252"]
)
def test_encodings_are_recognised_and_spans_count_the_mark(encoding):
    text = "# Größe\n\nDie Düse mißt 5 mm – genau.\n"
    raw = text.encode(encoding)
    if encoding == "utf-16-be":
        raw = b"\xfe\xff" + raw
    document = prepared(raw, "page.md")
    assert joined(document) == text
    decoded = decode(raw).text
    for chunk in document.chunks:
        assert decoded[chunk.span.start : chunk.span.end] == chunk.text
    if encoding == "cp1252":
        assert document.document.metadata["encoding"] == "cp1252"


def test_utf8_with_a_few_broken_bytes_keeps_the_rest():
    document = prepared("Grüße ".encode() * 20 + b"\xff end", "page.md")
    assert "Grüße" in joined(document)
    assert document.document.metadata["undecodable"] == 1


def test_a_byte_that_windows_1252_does_not_know_makes_it_latin_1():
    document = prepared("Grüße an alle und noch ein Wort ".encode("cp1252") + b"\x81", "page.md")
    assert "Grüße" in joined(document)
    assert document.document.metadata["encoding"] == "latin-1"


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"text \0 more", "binary"),
        (bytes(range(1, 256)) * 9, "encoding"),
        ("Насос работает исправно.".encode("cp1251"), "encoding"),
        ("x".encode("utf-16-le"), "binary"),
    ],
)
def test_bytes_that_are_no_text_are_refused_with_a_reason(raw, reason):
    outcome = prepare_file(FileToPrepare(raw, "docs", "page.md"))
    assert isinstance(outcome, Undecodable)
    assert outcome.reason == reason
