"""JSON out of whatever a model wraps it in, and one re-ask with the schema."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fingerpost.errors import MalformedOutputError, ProviderUnavailableError
from fingerpost.lanes.structured import ask_json, read_json
from fingerpost.testing import ScriptedChat
from fingerpost.types.chat import ChatRequest, Message

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"tier": 2}', {"tier": 2}),
        ('```json\n{"tier": 2}\n```', {"tier": 2}),
        ("```json\n[]\n```", []),
        ('Output: {"tier": 2}', {"tier": 2}),
        ('Here you are: [1] {"tier": 2} as asked.', {"tier": 2}),
        ('<think>{"tier": 0}?</think>\n{"tier": 2}', {"tier": 2}),
        ('<thinking>never closed {"tier": 0}', None),
        ('{"tier": 2, "names": ["a",],}', {"tier": 2, "names": ["a"]}),
        ('[{"tier": 2}]', {"tier": 2}),
        ('{"thinking": "short", "tier": 2, "conf', {"thinking": "short", "tier": 2}),
        ('{"names": ["a", "b', {"names": ["a", "b"]}),
        ('{"text": "with } and \\" inside"}', {"text": 'with } and " inside'}),
        ('{"confidence": NaN, "tier": 1}', {"confidence": None, "tier": 1}),
        ('{"confidence": 1e999, "tier": 1}', {"confidence": None, "tier": 1}),
        ('{"confidence": -1e999, "tier": 1}', {"confidence": None, "tier": 1}),
        ('{"confidence": Infinity, "tier": 1}', {"confidence": None, "tier": 1}),
        ('{"confidence": ' + "9" * 5000 + ', "tier": 1}', {"confidence": None, "tier": 1}),
        ("{" * 5000, None),
        ("[" * 39 + "1" + "]" * 39, "deep"),
        ("9" * 6000, None),
        ("", None),
        ("no JSON at all", None),
    ],
)
def test_a_reply_gives_its_json(text, value):
    found = read_json(text)
    if value == "deep":
        assert isinstance(found, list)
    else:
        assert found == value


@given(st.text() | st.binary().map(lambda raw: raw.decode("utf-8", "surrogateescape")))
def test_no_text_makes_reading_raise(text):
    read_json(text)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
        max_leaves=10,
    ).filter(lambda value: isinstance(value, dict) and value),
    st.sampled_from(["{}", "```json\n{}\n```", "Output: {}", "<think>x</think>{}", "{} and so on"]),
)
def test_an_object_is_read_as_it_was_written(value, frame):
    import json

    assert read_json(frame.replace("{}", json.dumps(value), 1)) == value


def _read(value):
    return value["n"] if isinstance(value, dict) and isinstance(value.get("n"), int) else None


REQUEST = ChatRequest((Message("user", "How many?"),), schema={"type": "object"})


async def test_a_reply_that_cannot_be_read_is_asked_for_again_with_the_schema():
    chat = ScriptedChat(["four", '{"n": 4}'])
    assert await ask_json(chat, REQUEST, _read) == 4
    first, second = chat.requests
    assert second.messages[:2] == (*first.messages, Message("assistant", "four"))
    assert '{"type": "object"}' in second.messages[-1].text


async def test_it_is_asked_for_again_only_once():
    chat = ScriptedChat(["four"])
    with pytest.raises(MalformedOutputError):
        await ask_json(chat, REQUEST, _read)
    assert len(chat.requests) == 2


async def test_a_call_that_fails_is_not_made_again():
    chat = ScriptedChat([ProviderUnavailableError("down")])
    with pytest.raises(ProviderUnavailableError):
        await ask_json(chat, REQUEST, _read)
    assert len(chat.requests) == 1


def test_a_name_that_stands_twice_has_no_value():
    assert read_json('{"a": 1, "b": {"c": 1, "c": 2}, "a": 3}') == {"a": None, "b": {"c": None}}
