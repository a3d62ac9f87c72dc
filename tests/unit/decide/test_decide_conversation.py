"""What of a conversation a decision model is shown."""

import pytest

from fingerpost.decide.conversation import ConversationWindow, shortened
from fingerpost.types.conversation import ConversationMessage, ToolCall


def user(text):
    return ConversationMessage("user", text)


def assistant(text="", *ids):
    calls = tuple(ToolCall(name, "search", '{"q": 1}') for name in ids)
    return ConversationMessage("assistant", text, calls)


def result(of, text="found"):
    return ConversationMessage("tool", text, tool_call_id=of)


SYSTEM = ConversationMessage("system", "Be brief.")
TALK = [message for n in range(10) for message in (user(f"ask {n}"), assistant(f"reply {n}"))]


def texts(conversation, **options):
    return [message.text for message in ConversationWindow(**options).shown(conversation)]


def test_a_query_without_a_conversation_is_sent_as_it_is():
    assert ConversationWindow().input("How?", []) == "How?"


def test_by_default_the_nine_messages_before_the_query_are_sent():
    shown = texts(TALK)
    assert len(shown) == 9
    assert shown == [message.text for message in TALK[-9:]]


def test_the_query_itself_counts():
    assert texts(TALK, max_messages=3) == ["ask 9", "reply 9"]


def test_one_message_is_the_query_alone_and_the_system_message():
    alone = ConversationWindow(max_messages=1)
    assert alone.input("How?", TALK) == "How?"
    assert alone.input("How?", [SYSTEM, *TALK]) == {
        "query": "How?",
        "messages": [{"role": "system", "text": "Be brief."}],
    }


def test_the_system_message_comes_first_and_does_not_count():
    assert texts([*TALK[:4], SYSTEM, *TALK[4:]], max_messages=3) == [
        "Be brief.",
        "ask 9",
        "reply 9",
    ]


def test_the_last_of_several_system_messages_is_the_one_that_holds():
    assert texts([SYSTEM, user("a"), ConversationMessage("system", "Be long.")]) == [
        "Be long.",
        "a",
    ]


def test_the_previous_user_message_comes_along_when_it_is_older():
    late = [user("old"), user("asked"), *(assistant(f"step {n}") for n in range(5))]
    assert texts(late, max_messages=3) == ["asked", "step 3", "step 4"]
    assert texts(late, max_messages=7) == ["asked", *(f"step {n}" for n in range(5))]


def test_a_call_with_its_message_counts_as_one_and_each_result_as_one():
    talk = [user("ask"), assistant("look", "a", "b"), result("a", "A"), result("b", "B")]
    assert texts(talk, max_messages=5) == ["ask", "look", "A", "B"]
    assert texts(talk, max_messages=4) == ["ask", "look", "A", "B"]  # the user message is extra


def test_a_result_is_left_out_when_its_assistant_message_does_not_fit():
    talk = [user("ask"), assistant("look", "a", "b"), result("a", "A"), result("b", "B")]
    assert texts([*talk, assistant("so")], max_messages=4) == ["ask", "so"]


def test_a_result_of_a_call_that_nobody_made_is_left_out():
    assert texts([user("ask"), result("z"), assistant("look", "a"), result("a", "A")]) == [
        "ask",
        "look",
        "A",
    ]


def test_calls_and_results_are_sent_with_what_ties_them():
    shown = ConversationWindow().input("How?", [assistant("look", "a"), result("a", "A")])
    assert shown["messages"] == [
        {
            "role": "assistant",
            "text": "look",
            "tool_calls": [{"id": "a", "name": "search", "arguments": '{"q": 1}'}],
        },
        {"role": "tool", "text": "A", "tool_call_id": "a"},
    ]


def test_the_filter_decides_before_messages_are_counted():
    no_replies = {"message_filter": lambda message: message.role != "assistant"}
    assert texts(TALK, max_messages=3, **no_replies) == ["ask 8", "ask 9"]


def test_the_filter_rules_over_the_last_user_message_and_the_system_message():
    talk = [SYSTEM, user("secret"), *(assistant(f"step {n}") for n in range(5))]

    def public(message):
        return message.role == "assistant"

    assert texts(talk, max_messages=3, message_filter=public) == ["step 3", "step 4"]


def test_a_result_goes_with_the_call_that_the_filter_left_out():
    talk = [user("ask"), assistant("look", "a"), result("a", "A")]
    assert texts(talk, message_filter=lambda m: m.role != "assistant") == ["ask"]


def test_the_query_is_sent_whatever_the_filter_says():
    assert ConversationWindow(message_filter=lambda _: False).input("How?", TALK) == "How?"


def test_a_query_that_the_conversation_ends_with_is_sent_once():
    assert ConversationWindow().input("How?", [user("How?")]) == "How?"
    twice = ConversationWindow().input(
        "How?", [user("How?"), assistant("Like this."), user("How?")]
    )
    assert [message["text"] for message in twice["messages"]] == ["How?", "Like this."]


def test_a_long_text_keeps_beginning_and_end_and_tells_what_is_missing():
    text = "begin" + "x" * 5000 + "end"
    shown = shortened(text, 2000)
    assert len(shown) <= 2000
    assert shown.startswith("beginxxx")
    assert shown.endswith("xxxend")
    kept = len(shown) - len(_note_of(shown))
    assert f" {len(text) - kept} characters " in _note_of(shown)


def _note_of(shown):
    return shown[shown.index(" [...") : shown.index("...] ") + 5]


def test_the_note_takes_about_90_characters():
    assert 80 <= len(_note_of(shortened("x" * 5000, 2000))) <= 100


def test_texts_arguments_and_the_query_are_cut_but_not_the_system_message():
    long = "x" * 3000
    call = ToolCall("a", "search", long)
    talk = [
        ConversationMessage("system", long),
        ConversationMessage("assistant", long, (call,)),
        result("a", long),
        user(long),
    ]
    shown = ConversationWindow(max_message_length=500).input("y" * 3000, talk)
    system, asked, found, said = shown["messages"]
    assert system["text"] == long
    cut = [asked["text"], asked["tool_calls"][0]["arguments"], found["text"], said["text"]]
    assert [len(text) for text in (*cut, shown["query"])] == [500] * 5


@pytest.mark.parametrize("limit", [1, 2, 5, 90, 150])
def test_a_limit_with_little_room_for_the_note_keeps_half(limit):
    shown = shortened("abcdefghij" * 100, limit)
    kept = len(shown) - len(_note_of(shown))
    assert kept == max(2, (limit + 1) // 2, limit - len(_note_of(shown)))
