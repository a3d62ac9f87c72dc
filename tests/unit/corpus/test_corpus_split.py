"""Chunks: under the limit, whole where they can be, headed where they cannot."""

import time

import pytest

from fingerpost.corpus import FileToPrepare, prepare_file, prepare_text
from fingerpost.text.tokens import estimate_tokens

LIMIT = 220


def prepared(text, path="page.md"):
    return prepare_file(FileToPrepare(text.encode(), "docs", path)).document


def check(text, path="page.md"):
    document = prepared(text, path)
    assert "".join(chunk.text for chunk in document.chunks) == text
    for chunk in document.chunks:
        assert text[chunk.span.start : chunk.span.end] == chunk.text
        path_tokens = estimate_tokens(" > ".join(chunk.heading_path))
        assert estimate_tokens(chunk.search_text) <= LIMIT
        assert estimate_tokens(chunk.search_text) + path_tokens <= LIMIT + 36
    return document.chunks


@pytest.mark.parametrize(
    "text",
    [
        "QUJD" * 50_000,
        "https://x.example/" + "path/" * 600,
        "word " + "a" * 50_000,
        "# H\n\n" + "一" * 30_000,
        "-" * 50_000,
        " " * 50_000 + "x",
        "> " * 20_000,
        "- " * 5_000 + "x",
        "[" * 50_000,
        "`" * 30_001,
        "<" * 50_000,
        "<!-- " * 10_000,
        "*_" * 25_000,
        "![[](" * 10_000,
        "| a " * 5_000 + "|\n" + "|---" * 5_000 + "|\n" + "| b " * 5_000 + "|\n",
        "".join(f"[r{n}]: /u{n}\n" for n in range(5_000)),
        "\n".join("  " * n + "- x" for n in range(300)),
        "&amp;" * 20_000,
    ],
    ids=lambda text: repr(text[:12]),
)
def test_text_without_places_to_break_is_cut_in_linear_time(text):
    # Field case 5 and the hostile shapes of goal R9.
    started = time.process_time()
    check(text)
    assert time.process_time() - started < 10


@pytest.mark.slow
@pytest.mark.parametrize(
    ("unit", "size"), [("QUJDREVGR0hJSktMTU5P", 10_000_000), ("ab cd. ", 2_000_000)]
)
def test_a_single_line_of_megabytes_is_split_within_seconds(unit, size):
    text = unit * (size // len(unit))
    started = time.process_time()
    document = prepared(text)
    assert time.process_time() - started < 30
    assert "".join(chunk.text for chunk in document.chunks) == text
    assert max(chunk.n_tokens for chunk in document.chunks) <= LIMIT


def test_a_table_over_the_limit_is_split_at_rows_with_its_head_repeated():
    rows = "".join(f"| key_{n} | what the setting number {n} means |\n" for n in range(100))
    chunks = check(f"# T\n\n| Key | Meaning |\n|---|---|\n{rows}")
    assert len(chunks) > 3
    for chunk in chunks[1:]:
        assert chunk.prefix == "| Key | Meaning |\n|---|---|\n"
        assert chunk.search_text.startswith("Key Meaning")
        assert chunk.text.startswith("| key_")
        assert chunk.text.endswith("|\n")


def test_a_fence_over_the_limit_is_split_at_lines_with_its_opening_line_as_prefix():
    lines = "".join(f"call_number_{n}(argument={n})\n" for n in range(100))
    chunks = check(f"# F\n\n```python\n{lines}```\n\nafter\n")
    assert len(chunks) > 3
    for chunk in chunks[1:-1]:
        assert chunk.prefix == "```python\n"
        assert chunk.text.startswith("call_number_")
        assert "```" not in chunk.search_text


def test_code_and_tables_that_fit_stay_whole():
    code = "```sh\n" + "run the thing --with option\n" * 15 + "```\n"
    prose = ("Some words that fill the section with text. " * 8 + "\n\n") * 3
    chunks = check(f"# A\n\n{prose}{code}\n{prose}")
    assert sum(chunk.text.count("```sh") for chunk in chunks) == 1
    assert any(code in chunk.text for chunk in chunks)


def test_a_list_breaks_between_its_items():
    items = "".join(f"- item number {n} says something useful about it\n" for n in range(60))
    chunks = check(f"# L\n\n{items}")
    assert len(chunks) > 2
    assert all(chunk.text.startswith("- item") for chunk in chunks[1:])


def test_a_line_that_announces_code_goes_with_it():
    filler = "Plain words about the subject of this part of the page. " * 14
    code = "```\n" + "some code line here\n" * 20 + "```\n"
    chunks = check(f"# A\n\n{filler}\n\nRun this now:\n\n{code}")
    holder = next(chunk for chunk in chunks if "Run this now:" in chunk.text)
    assert "some code line here" in holder.text


def test_a_long_paragraph_breaks_at_sentences():
    text = " ".join(f"Sentence number {n} says that the pump is fine." for n in range(80))
    chunks = check(f"# P\n\n{text}\n")
    assert all(chunk.text.rstrip().endswith(".") for chunk in chunks)


def test_a_very_long_heading_leaves_room_for_text():
    chunks = check("# " + "long " * 400 + "\n\n## " + "deep " * 400 + "\n\n" + "word " * 400 + "\n")
    assert len(chunks) > 1


def test_each_section_is_a_chunk_of_its_own():
    chunks = check("# A\n\na\n\n## B\n\nb\n\n## C\n\nc\n")
    assert [chunk.search_text for chunk in chunks] == ["a", "b", "c"]


def test_chunk_ids_survive_edits_elsewhere_and_tell_repeats_apart():
    before = {c.id for c in prepared("# A\n\nsame\n\n## B\n\nold\n").chunks}
    after = {c.id for c in prepared("# A\n\nsame\n\n## B\n\nnew\n").chunks}
    assert len(before & after) == 1
    twins = prepared("# A\n\n## S\n\nx\n\n# A\n\n## S\n\nx\n\n").chunks
    assert len({chunk.id for chunk in twins}) == len(twins)


def test_a_passage_is_prepared_like_a_document():
    document = prepare_text("A passage.\ud800", source="set", path="000001", title="Its title")
    assert document.document.title == "Its title"
    assert document.chunks[0].heading_path == ("Its title",)
    assert document.chunks[0].search_text == "A passage.\ufffd"
    assert prepare_text("", source="set", path="x").chunks == []
