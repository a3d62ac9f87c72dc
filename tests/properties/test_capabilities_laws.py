"""What holds for any catalogue and any question."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from fingerpost import CapabilityDiscoveryEngine

_WORD = st.sampled_from(["convert", "image", "mail", "send", "table", "row", "note", "zürich"])
_TEXT = st.lists(_WORD, max_size=6).map(" ".join)
_TOOL = st.fixed_dictionaries(
    {"name": st.lists(_WORD, min_size=1, max_size=3).map("_".join)},
    optional={
        "description": _TEXT,
        "inputSchema": st.fixed_dictionaries(
            {"properties": st.dictionaries(_WORD, st.fixed_dictionaries({"description": _TEXT}))}
        ),
    },
)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["tools", "result", "name", "function", "nextCursor", "type", "properties"]
            )
            | st.text(max_size=5),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)


@given(_JSON)
@settings(max_examples=300, deadline=None)
def test_any_json_is_read_or_listed_and_reads_the_same_from_its_text(value):
    given_value = CapabilityDiscoveryEngine(tools=[[value]], extensions=[[value]])
    again = json.loads(json.dumps([value]))
    from_text = CapabilityDiscoveryEngine(tools=[again], extensions=[again])
    assert given_value.capabilities() == from_text.capabilities()
    for item in given_value.capabilities():
        assert item.id.isprintable()
        assert item.summary == "" or item.summary.isprintable()


@given(st.lists(_TOOL, max_size=12), _TEXT | st.text(max_size=40), st.integers(0, 8), st.data())
@settings(max_examples=200, deadline=None)
def test_recommendations_are_offered_ordered_few_and_never_excluded(tools, question, k, data):
    engine = CapabilityDiscoveryEngine(tools=[tools])
    offered = [item.full_id for item in engine.capabilities()]
    excluded = data.draw(st.lists(st.sampled_from(offered or ["tool:x"]), max_size=3))
    bare = data.draw(st.booleans())
    names = [name.removeprefix("tool:") if bare else name for name in excluded]
    found = engine.recommend(question, names, k)
    ids = [f"{item.kind}:{item.id}" for item in found]
    assert len(ids) == len(set(ids)) <= k
    assert set(ids) <= set(offered) - set(excluded)
    confidences = [item.confidence for item in found]
    assert confidences == sorted(confidences, reverse=True)
    assert all(0 < confidence <= 1 for confidence in confidences)
    assert [item.priority for item in found] == list(range(1, len(found) + 1))


@given(st.lists(_TOOL, min_size=1, max_size=10, unique_by=lambda tool: tool["name"]), _TEXT)
@settings(max_examples=100, deadline=None)
def test_the_order_of_a_catalogue_does_not_change_what_is_sure_of_what(tools, question):
    one = CapabilityDiscoveryEngine(tools=[tools]).recommend(question, k=50)
    other = CapabilityDiscoveryEngine(tools=[tools[::-1]]).recommend(question, k=50)
    sure = {item.id: round(item.confidence, 5) for item in one}
    assert sure == {item.id: round(item.confidence, 5) for item in other}
