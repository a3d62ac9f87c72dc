"""A recorded call survives its way through JSON."""

import json

from hypothesis import given
from hypothesis import strategies as st

from fingerpost.lanes.record import Outcome, outcome_json, outcome_of
from fingerpost.types.chat import ChatResponse, StopReason
from fingerpost.types.result import Usage


@given(
    st.lists(st.text(min_size=1)),
    st.builds(
        ChatResponse,
        st.text(),
        st.text(),
        st.sampled_from(StopReason),
        st.tuples(
            st.builds(
                Usage, st.text(), st.text(), st.integers(0), cost_usd=st.none() | st.floats(0, 9)
            )
        ),
    ),
)
def test_an_outcome_survives_its_way_through_json(pieces, response):
    outcome = Outcome(tuple(pieces), response)
    assert outcome_of(json.loads(json.dumps(outcome_json(outcome)))) == outcome
