"""Front matter is metadata: never text, never a heading, never a reason to fail (field case 3)."""

import json
import time

import pytest

from fingerpost.corpus import FileToPrepare, prepare_file

BLOCK = "---\nstatus: active\nupdated: 2026-06-12\ntags: [a, b, a]\n---\n"


def prepared(text, path="page.md"):
    raw = text if isinstance(text, bytes) else text.encode()
    return prepare_file(FileToPrepare(raw, "docs", path)).document


def searched(document):
    return "\n".join(chunk.search_text for chunk in document.chunks)


@pytest.mark.parametrize("number", range(30))
def test_a_block_is_metadata_and_never_text(number):
    document = prepared(f"{BLOCK}# Page {number}\n\nText.\n")
    assert document.document.tags == ("a", "b")
    assert document.document.metadata == {"status": "active", "updated": "2026-06-12"}
    assert "".join(chunk.text for chunk in document.chunks) == f"# Page {number}\n\nText.\n"
    assert "status" not in searched(document) + " ".join(document.words + document.trail_words)


def test_dates_and_other_scalars_stay_json_safe_strings():
    text = "---\ndate: 2026-06-12\nversion: 1.10\nno: no\ntime: 12:30:45\ndeep: {a: [1]}\n---\nx\n"
    metadata = dict(prepared(text).document.metadata)
    assert json.loads(json.dumps(metadata)) == metadata
    assert metadata["version"] == "1.10"
    assert metadata["no"] == "no"
    assert metadata["time"] == "12:30:45"


def test_toml_is_read_and_its_dates_are_json_safe():
    text = (
        '+++\ntitle = "T"\ndate = 2026-06-12\nweight = 3\ntags = ["x"]\nlang = "de-AT"\n+++\nText\n'
    )
    document = prepared(text).document
    assert (document.title, document.tags, document.language) == ("T", ("x",), "de")
    assert document.metadata["date"] == "2026-06-12"
    json.dumps(dict(document.metadata))


@pytest.mark.parametrize(
    "block",
    [
        "title: Foo: bar: [\nstatus: x\n",
        "title: x\n\tbad: tab\n",
        "a: &a [x]\nb: *a\n",
        "title: " + "[" * 5000 + "\n",
        "key: {" * 12 + "\n",
    ],
)
def test_bad_yaml_costs_neither_the_file_nor_a_character_and_makes_no_heading(block):
    text = f"---\n{block}---\n\n# Real\n\nText.\n"
    document = prepared(text)
    assert "".join(chunk.text for chunk in document.chunks) == text
    assert ("Real",) in [chunk.heading_path for chunk in document.chunks]
    headings = {heading for chunk in document.chunks for heading in chunk.heading_path}
    assert headings <= {"Real", "Foo: bar: [", "x"} | {"[" * 5000}
    assert "status" not in searched(document)


def test_bad_yaml_still_gives_its_title():
    document = prepared("---\ntitle: Foo: the bar\nx: [\n---\n\nText.\n")
    assert document.document.title == "Foo: the bar"


def test_an_alias_bomb_is_refused_at_once():
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9)]
    started = time.process_time()
    document = prepared("---\n" + "\n".join(lines) + "\n---\nText.\n")
    assert time.process_time() - started < 5
    assert "Text." in searched(document)


def test_a_rule_after_text_is_no_front_matter():
    text = "Intro text.\n\n---\n\nkey: value\n\n---\n\nmore\n"
    document = prepared(text)
    assert "".join(chunk.text for chunk in document.chunks) == text
    assert "key: value" in searched(document)
    assert not document.document.metadata


def test_a_rule_above_prose_at_the_start_is_no_front_matter():
    text = "---\n\n# Head\n\nSome prose here.\n\n---\n\nmore\n"
    document = prepared(text)
    assert "".join(chunk.text for chunk in document.chunks) == text
    assert document.chunks[-1].heading_path == ("Head",)


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_every_line_end_and_a_byte_order_mark_are_read(mark, end):
    text = mark + end.join(["---", "title: T", "tags: x, y", "---", "# H", "", "Text.", ""])
    document = prepared(text)
    assert document.document.title == "T"
    assert document.document.tags == ("x", "y")
    body = end.join(["# H", "", "Text.", ""])
    assert "".join(chunk.text for chunk in document.chunks) == body
    assert document.chunks[0].span.start == len(text) - len(body)
    assert document.chunks[0].line_start == 5


def test_an_unclosed_or_oversized_block_is_text():
    unclosed = "---\ntitle: x\n\nText.\n"
    assert "title: x" in searched(prepared(unclosed))
    huge = "---\n" + "k: v\n" * 20_000 + "---\nText.\n"
    document = prepared(huge)
    assert "".join(chunk.text for chunk in document.chunks) == huge


def test_surrogate_escapes_in_a_value_are_made_valid_text():
    document = prepared('---\ntitle: "a\\uD800b"\n---\nText\n').document
    document.title.encode()
