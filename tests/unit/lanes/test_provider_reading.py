"""Bodies that come in parts: lines, events, thoughts; and addresses in many spellings."""

import itertools

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fingerpost.config.endpoint import Endpoint
from fingerpost.config.secrets import Secret
from fingerpost.errors import ConfigError
from fingerpost.lanes.providers import load_chat
from fingerpost.lanes.providers.address import api_url, path_name
from fingerpost.lanes.providers.lines import MAX_LINE, LineTooLongError, events, split_lines
from fingerpost.lanes.providers.schema_note import is_strict
from fingerpost.lanes.providers.thoughts import ThoughtFilter


def lines_of(parts):
    found, rest = [], b""
    for part in parts:
        lines, rest = split_lines(rest, part)
        found += lines
    return found, rest


def events_of(text):
    async def each():
        for line in text.split("\n"):
            yield line

    async def collect():
        return [item async for item in events(each())]

    return anyio.run(collect)


def cut_up(whole, places):
    edges = [0, *sorted(place % (len(whole) + 1) for place in places), len(whole)]
    return [whole[a:b] for a, b in itertools.pairwise(edges)]


@given(
    st.lists(st.sampled_from([b"a", b"\n", b"\r", b"\r\n", "日".encode()])),
    st.lists(st.integers(0, 99)),
)
def test_lines_do_not_depend_on_how_the_body_comes(pieces, places):
    whole = b"".join(pieces)
    assert lines_of([p for p in cut_up(whole, places) if p]) == lines_of([whole])


def test_a_line_ends_in_each_of_the_three_ways():
    assert lines_of([b"a\nb\r\nc\rd\r", b"\ne"]) == (["a", "b", "c", "d"], b"e")


def test_a_line_beyond_the_limit_is_refused_ended_or_not():
    with pytest.raises(LineTooLongError):
        split_lines(b"x" * MAX_LINE, b"x")
    with pytest.raises(LineTooLongError):
        split_lines(b"x" * MAX_LINE, b"x\n")
    assert split_lines(b"x" * (MAX_LINE - 1), b"x")[0] == []


def test_an_event_is_what_a_blank_line_ends():
    stream = (
        "\ufeffdata: one\n: comment\nevent: x\nid: 1\n\n\ndata:two\ndata:  three\n\ndata: cut off"
    )
    assert events_of(stream) == ["one", "two\n three"]


def filtered(pieces):
    keep = ThoughtFilter()
    return "".join([*(keep.feed(piece) for piece in pieces), keep.end()])


WHOLE = st.lists(st.sampled_from(["<think>", "</think>", "<thi", " ", "\n", "a", "<", "日本"])).map(
    "".join
)


@given(WHOLE, st.lists(st.integers(0, 99)))
def test_what_is_kept_does_not_depend_on_how_the_reply_is_cut_up(whole, places):
    assert filtered(cut_up(whole, places)) == filtered([whole])


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("<think>Hm.</think>Yes.", "Yes."),
        (" \n<think>Hm.</think>\n\n Yes.\n", "Yes.\n"),
        ("<think>Hm.", ""),
        ("<think></think>", ""),
        ("Yes. <think>is a tag</think>", "Yes. <think>is a tag</think>"),
        ("<thing>", "<thing>"),
        ("<th", "<th"),
        (" Yes.", " Yes."),
    ],
)
def test_only_a_leading_block_of_thoughts_is_left_out(said, kept):
    assert filtered(list(said)) == kept


@pytest.mark.parametrize(
    ("base", "expected"),
    [
        ("https://h", "https://h/v1/chat/completions"),
        ("https://h/", "https://h/v1/chat/completions"),
        (" https://h/v1 ", "https://h/v1/chat/completions"),
        ("https://h/v1/", "https://h/v1/chat/completions"),
        ("https://h/openai/v1", "https://h/openai/v1/chat/completions"),
        ("https://h/api/v1/", "https://h/api/v1/chat/completions"),
        ("https://h/v1beta/openai", "https://h/v1beta/openai/chat/completions"),
        ("https://h/proxy", "https://h/proxy/v1/chat/completions"),
        ("https://h:8000/v1/chat/completions", "https://h:8000/v1/chat/completions"),
        ("https://v1.h/", "https://v1.h/v1/chat/completions"),
        ("http://[::1]:8080", "http://[::1]:8080/v1/chat/completions"),
    ],
)
def test_a_base_url_may_be_written_in_several_ways(base, expected):
    assert api_url(base, "v1", "chat/completions") == expected


@pytest.mark.parametrize("model", ["../../x", "a?key=b", "a#b", "a/b", "@evil", "a b", "models/a"])
def test_a_model_s_name_cannot_change_the_address(model):
    assert not set(path_name(model)) & set("/?#@ ")


@pytest.mark.parametrize(
    "fields",
    [
        {"base_url": "ftp://h"},
        {"base_url": "h/v1"},
        {"base_url": ""},
        {"base_url": "https://user:pass@h"},
        {"base_url": "https://h:99999999"},
        {"key": Secret("sk-line\nend")},
        {"key": Secret("sk-ключ")},
        {"key": Secret(" sk-blank")},
        {"api": "soap"},
    ],
)
def test_an_endpoint_that_cannot_be_used_is_refused_at_once_without_its_key(fields):
    given_fields = {"api": "openai", "base_url": "https://h", "key": None, **fields}
    place = Endpoint("openai", model="m", key_name="THE_KEY", **given_fields)
    with pytest.raises(ConfigError) as caught:
        load_chat(place)
    assert "sk-" not in str(caught.value)
    assert "pass" not in str(caught.value)


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "object", "properties": {}, "additionalProperties": False}, True),
        (
            {
                "type": "object",
                "properties": {"a": {"type": "string"}},
                "additionalProperties": False,
                "required": ["a"],
            },
            True,
        ),
        (
            {
                "type": "object",
                "properties": {"a": {"type": "string"}},
                "additionalProperties": False,
            },
            False,
        ),
        (
            {
                "type": "object",
                "properties": {"a": {"type": "object"}},
                "additionalProperties": False,
                "required": ["a"],
            },
            False,
        ),
        ({"type": "object"}, False),
        ({"type": "array", "items": {"type": "object"}}, False),
        ({"type": "array", "items": {"type": "integer"}}, True),
    ],
)
def test_only_a_closed_schema_can_constrain(schema, expected):
    assert is_strict(schema) == expected
