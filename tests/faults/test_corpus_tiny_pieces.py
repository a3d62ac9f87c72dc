"""Files of very many tiny pieces: nothing is lost, and work and memory stay bounded."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from fingerpost.corpus import FileToPrepare, prepare_file
from fingerpost.corpus.index import prepare_all
from fingerpost.text.html import MAX_BLOCKS, read_html

PREPARE = """
import re, sys
from pathlib import Path
from fingerpost.corpus import FileToPrepare, prepare_file
file = Path(sys.argv[1])
prepared = prepare_file(FileToPrepare(file.read_bytes(), "docs", file.name, content_hash="h"))
chunks = prepared.document.chunks
assert "".join(chunk.text for chunk in chunks) == file.read_text()
own = re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]
print(int(own) // 1024)
"""


def notebook(lines):
    return json.dumps({"cells": [{"cell_type": "markdown", "source": lines}]})


def calls_of(name, work):
    """Return how often functions of a name are called."""
    n_calls = 0

    def count(frame, event, _):
        nonlocal n_calls
        n_calls += event == "call" and frame.f_code.co_name == name

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return n_calls


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="asks Linux for the memory")
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.html", "<p>a b</p>" * 300_000),
        ("b.html", "<h2>a</h2>" * 300_000),
        ("c.ipynb", notebook(["a\n"] * 300_000)),
    ],
    ids=["paragraphs", "headings", "source lines"],
)
def test_three_hundred_thousand_tiny_pieces_take_a_fraction_of_the_memory_of_a_file(
    tmp_path, name, text
):
    """Goal R9: in a process of its own, since the peak of memory never falls."""
    (tmp_path / name).write_text(text)
    run = subprocess.run(
        [sys.executable, "-c", PREPARE, str(tmp_path / name)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) <= 256  # a file of ten megabytes may take 512


def test_a_crowded_page_has_prose_of_a_hundred_lines_to_a_block_and_loses_nothing():
    page = "<p>a b</p>" * (MAX_BLOCKS + 10_000) + "<h2>late</h2>" + "<pre>c  d</pre>"
    found = read_html(page)
    assert found.crowded
    assert len(found.blocks) <= MAX_BLOCKS + 101
    assert not read_html(page[: 10 * (MAX_BLOCKS - 1)]).crowded
    file = FileToPrepare(page.encode(), "docs", "a.html")
    (finished,) = prepare_all(iter([file]), 1)
    assert finished.outcome.note == "more than 100,000 blocks; the rest was read without headings"
    chunks = finished.outcome.document.chunks
    assert "".join(chunk.text for chunk in chunks) == page
    assert all(page[chunk.span.start : chunk.span.end] == chunk.text for chunk in chunks)
    assert sum(chunk.search_text.split().count("a") for chunk in chunks) == MAX_BLOCKS + 10_000
    assert "late" in chunks[-1].search_text


def test_tokens_of_many_short_lines_are_counted_many_lines_at_a_time():
    n_lines = 60_000
    text = "# h\n" * n_lines
    file = FileToPrepare(text.encode(), "docs", "a.md", plain=True)
    prepared = []
    n_calls = calls_of("estimate_tokens", lambda: prepared.append(prepare_file(file)))
    assert "".join(chunk.text for chunk in prepared[0].document.chunks) == text
    assert n_calls < n_lines // 4


def test_a_source_line_of_a_notebook_without_escapes_is_not_decoded_twice():
    lines = ["a\n"] * 5_000
    file = FileToPrepare(notebook(lines).encode(), "docs", "a.ipynb")
    prepared = []
    n_calls = calls_of("loads", lambda: prepared.append(prepare_file(file)))
    assert n_calls < 10
    assert sum(c.search_text.split().count("a") for c in prepared[0].document.chunks) == 5_000
