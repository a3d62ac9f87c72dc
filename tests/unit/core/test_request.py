"""What a caller may ask."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fingerpost.errors import InvalidQueryError
from fingerpost.request import MAX_QUERY_CHARS, make_query
from fingerpost.types import Filters, Turn


@given(st.text(max_size=200))
def test_any_text_is_a_question_or_the_documented_error(text):
    try:
        query = make_query(text)
    except InvalidQueryError:
        assert not text.replace("\0", " ").strip()
    else:
        assert query.text.encode("utf-8")
        assert "\0" not in query.text


@pytest.mark.parametrize(
    "text", ["", "   ", "\0", "\n\t", "x" * (MAX_QUERY_CHARS + 1), "x" * 100_000, None, 7, b"x"]
)
def test_what_cannot_be_asked_is_refused(text):
    with pytest.raises(InvalidQueryError):
        make_query(text)


def test_lone_surrogates_become_a_replacement_character():
    assert make_query("a\ud800b").text == "a\ufffdb"


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("tier", 4),
        ("tier", -1),
        ("tier", True),
        ("tier", "1"),
        ("max_tier", 9),
        ("top_k", 0),
        ("top_k", 51),
        ("deadline", 0),
        ("deadline", -1),
        ("deadline", float("nan")),
        ("deadline", "soon"),
        ("budget", -0.1),
        ("filters", "path=x"),
        ("filters", {"folder": "x"}),
        ("filters", {"paths": 3}),
        ("filters", {1: 2, "x": 3}),
        ("filters", {"metadata": 5}),
        ("filters", {"metadata": "abc"}),
        ("filters", {"metadata": [1]}),
        ("filters", Filters(paths=5)),
        ("filters", Filters(paths=(3,))),
        ("filters", {"paths": ["x"] * 1001}),
        ("deadline", 10**400),
        ("excluded_capability_ids", 5),
        ("excluded_capability_ids", [1, "a"]),
        ("history", None),
        ("history", 5),
        ("history", [Turn("system", "x")]),
        ("history", [Turn("user", 3)]),
        ("history", "hello"),
        ("history", [("robot", "x")]),
        ("history", [{"role": "user"}]),
        ("history", [("user", "x")] * 201),
    ],
)
def test_an_argument_out_of_range_is_refused_by_name(argument, value):
    with pytest.raises(InvalidQueryError, match=argument):
        make_query("question", **{argument: value})


def test_history_is_taken_in_every_usual_shape():
    turns = make_query(
        "q",
        history=[
            Turn("user", "a"),
            ("assistant", "b"),
            {"role": "user", "content": "c"},
            ["assistant", "d"],
        ],
    ).history
    assert turns == (
        Turn("user", "a"),
        Turn("assistant", "b"),
        Turn("user", "c"),
        Turn("assistant", "d"),
    )


def test_filters_are_taken_as_a_value_or_a_mapping():
    mapping = {"paths": "guides/**", "tags": ["a", "b"], "metadata": {"product": "x"}}
    expected = Filters(paths=("guides/**",), tags=("a", "b"), metadata=(("product", "x"),))
    assert (
        make_query("q", filters=mapping).filters
        == expected
        == make_query("q", filters=expected).filters
    )


def test_two_requests_never_share_an_id():
    assert make_query("q").query_id != make_query("q").query_id


def test_one_text_as_a_filter_value_is_one_value_and_not_its_letters():
    assert make_query("q", filters=Filters(paths="docs")).filters.paths == ("docs",)
