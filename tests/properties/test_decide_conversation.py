"""Laws of what a decision model is shown of a conversation."""

from hypothesis import given, settings
from hypothesis import strategies as st

from fingerpost.decide.conversation import ConversationWindow, shortened
from fingerpost.types.conversation import ConversationMessage, ToolCall

_TEXT = st.text(max_size=300)
_CALLS = st.lists(st.builds(ToolCall, st.sampled_from("abcd"), st.just("find"), _TEXT), max_size=3)
_MESSAGES = st.one_of(
    st.builds(ConversationMessage, st.sampled_from(["system", "user"]), _TEXT),
    st.builds(ConversationMessage, st.just("assistant"), _TEXT, _CALLS.map(tuple)),
    st.builds(
        ConversationMessage,
        st.just("tool"),
        _TEXT,
        tool_call_id=st.sampled_from(["a", "b", "c", "d", ""]),
    ),
)
_TALK = st.lists(_MESSAGES, max_size=25)
_MOST = st.integers(1, 12)


@settings(deadline=None)
@given(_TALK, _MOST)
def test_never_more_messages_than_allowed_and_one_user_message_and_the_system_message(talk, most):
    shown = ConversationWindow(most, 10**6).shown(talk)
    said = [message for message in shown if message.role != "system"]
    assert len(shown) - len(said) <= 1
    assert len(said) <= most - 1 + (most > 1)
    assert len(said) <= most - 1 or said[0].role == "user"


@settings(deadline=None)
@given(_TALK, _MOST)
def test_order_is_kept_and_the_system_message_comes_first(talk, most):
    shown = ConversationWindow(most, 10**6).shown(talk)
    assert all(message.role != "system" for message in shown[1:])
    rest = iter([message for message in talk if message.role != "system"])
    assert all(message in rest for message in shown if message.role != "system")


@settings(deadline=None)
@given(_TALK, _MOST)
def test_no_tool_result_without_the_message_that_called_it(talk, most):
    called = set()
    for message in ConversationWindow(most, 10**6).shown(talk):
        called |= {call.id for call in message.tool_calls}
        assert message.role != "tool" or message.tool_call_id in called


@settings(deadline=None)
@given(_TALK, st.integers(2, 12))
def test_the_last_user_message_is_always_shown(talk, most):
    asked = [message for message in talk if message.role == "user"]
    assert not asked or asked[-1] in ConversationWindow(most, 10**6).shown(talk)


@settings(deadline=None)
@given(_TALK, _MOST, st.sampled_from(["system", "user", "assistant", "tool"]))
def test_what_the_filter_leaves_out_is_never_shown(talk, most, role):
    window = ConversationWindow(most, 10**6, lambda message: message.role != role)
    assert all(message.role != role for message in window.shown(talk))


@settings(deadline=None)
@given(_TALK, _MOST, st.integers(200, 400))
def test_no_text_but_the_system_message_is_longer_than_allowed(talk, most, limit):
    for message in ConversationWindow(most, limit).shown(talk):
        texts = [message.text, *(call.arguments for call in message.tool_calls)]
        assert message.role == "system" or all(len(text) <= limit for text in texts)


@settings(deadline=None)
@given(st.text(st.characters(exclude_characters="["), max_size=2000), st.integers(1, 500))
def test_a_cut_text_holds_beginning_and_end_and_counts_what_is_missing(text, limit):
    shown = shortened(text, limit)
    if len(text) <= limit:
        assert shown == text
        return
    head, note = shown.split(" [... ")
    n_missing, note = note.split(" ", 1)
    tail = note.split(" ...] ", 1)[1]
    assert head
    assert tail
    assert text == head + text[len(head) : len(head) + int(n_missing)] + tail
