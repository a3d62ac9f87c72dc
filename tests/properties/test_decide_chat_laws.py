"""Laws of what a chat model's replies say: always distributions over all options, or nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fingerpost.decide.chat_prompt import lettered, orders_of
from fingerpost.decide.chat_read import averaged, read_shares, token_masses
from fingerpost.lanes.asked import labels_of
from fingerpost.types.chat import ChatResponse, TokenLogprob
from fingerpost.types.question import Choice, Score, YesNo

FITS = YesNo("fits", "Could the page help?")
LANE = Choice("lane", "Which lane?", {"howto": "Steps", "reference": None, "none": None})
DEPTH = Score("depth", "How deep?", ("One line", "One page", "A book"))
TOKENS = st.sampled_from(
    ["A", " a", "B", "b)", "▁C", "The", "", "\n", "<think>", "Ġ", "é"]
) | st.text(max_size=3)
LOGS = st.floats(-60, 0) | st.sampled_from([0.0, -0.0, -1e-12])


@given(
    tokens=st.lists(
        st.builds(TokenLogprob, TOKENS, LOGS, st.dictionaries(TOKENS, LOGS, max_size=6)), max_size=4
    ),
    question=st.sampled_from([FITS, LANE, DEPTH]),
)
def test_masses_of_any_tokens_are_probabilities_of_all_labels(tokens, question):
    asked = lettered(question)
    masses = token_masses(ChatResponse("A", "m", logprobs=tuple(tokens)), asked)
    if masses is None:
        return
    assert set(masses) == set(labels_of(question))
    assert all(0 <= mass <= 1 for mass in masses.values())
    assert sum(masses.values()) <= 1 + 1e-9
    found = averaged([masses])
    if found is not None:
        shares, unknown = found
        assert sum(shares.values()) == pytest.approx(1)
        assert 0 <= unknown <= 0.8 + 1e-9


NUMBERS = st.floats() | st.integers() | st.booleans() | st.none() | st.text(max_size=4)
KEYS = st.sampled_from(["A", "b", " C ", "q1", "q2", "D"]) | st.text(max_size=3)
VALUES = st.recursive(
    NUMBERS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4)
)


@given(value=VALUES | st.fixed_dictionaries({"q1": VALUES, "q2": VALUES}))
def test_any_json_is_read_as_distributions_or_not_at_all(value):
    shares = read_shares(value, [lettered(FITS), lettered(LANE)])
    if shares is None:
        return
    for told, question in zip(shares, (FITS, LANE), strict=True):
        if told:
            assert set(told) == set(labels_of(question))
            assert all(0 <= p <= 1 for p in told.values())
            assert sum(told.values()) == pytest.approx(1)


@given(n=st.integers(2, 12), count=st.integers(1, 30), kind=st.sampled_from(["choice", "score"]))
def test_orders_hold_every_label_once_and_differ(n, count, kind):
    labels = [str(i) for i in range(n)]
    question = (
        Choice("c", "?", dict.fromkeys(labels))
        if kind == "choice"
        else Score("s", "?", tuple(labels))
    )
    orders = orders_of(question, count)
    assert 1 <= len(orders) <= count
    assert orders[0] == tuple(labels)
    assert len(set(orders)) == len(orders)
    assert all(sorted(order) == sorted(labels) for order in orders)
