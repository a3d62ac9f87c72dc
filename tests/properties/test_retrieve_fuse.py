import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fingerpost.retrieve import reciprocal_rank
from fingerpost.retrieve.fuse import convex, order
from fingerpost.retrieve.weights import weights

RANKINGS = st.lists(st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=8), max_size=5)
SCORES = st.lists(
    st.tuples(st.floats(0, 1), st.floats(-1, 1), st.integers(0, 10**6)),
    min_size=1,
    max_size=20,
    unique_by=lambda row: row[2],
)


@given(RANKINGS, st.randoms(use_true_random=False))
def test_rank_fusion_does_not_depend_on_the_order_of_the_lists(rankings, random):
    shuffled = list(rankings)
    random.shuffle(shuffled)
    assert reciprocal_rank(rankings) == reciprocal_rank(shuffled)


@given(RANKINGS)
def test_rank_fusion_keeps_every_item_once_best_first_with_ties_by_id(rankings):
    fused = reciprocal_rank(rankings)
    assert {item for item, _ in fused} == {item for one in rankings for item in one}
    assert fused == sorted(fused, key=lambda pair: (-pair[1], pair[0]))


@given(st.lists(st.sampled_from("abcdefgh"), unique=True, min_size=2), st.data())
def test_an_item_that_moves_up_in_one_list_never_falls(ranking, data):
    place = data.draw(st.integers(1, len(ranking) - 1))
    item = ranking[place]
    raised = [item, *(other for other in ranking if other != item)]
    other = data.draw(st.permutations(ranking))
    before = dict(reciprocal_rank([ranking, other]))[item]
    assert dict(reciprocal_rank([raised, other]))[item] > before


def test_a_negative_constant_is_refused():
    with pytest.raises(ValueError, match="-1"):
        reciprocal_rank([["a"]], constant=-1)


@given(SCORES, st.floats(0, 1), st.data())
def test_the_fused_order_does_not_depend_on_the_order_of_the_candidates(rows, weight, data):
    mixed = data.draw(st.permutations(rows))
    assert ranked(rows, weight) == ranked(mixed, weight)


@given(SCORES, st.floats(0.01, 0.99), st.data())
def test_a_better_score_in_one_leg_never_lowers_a_candidate(rows, weight, data):
    chosen = data.draw(st.sampled_from(rows))
    raised = [
        (lexical + 0.5, vector, key) if key == chosen[2] else (lexical, vector, key)
        for lexical, vector, key in rows
    ]
    before, after = ranked(rows, weight), ranked(raised, weight)
    assert after.index(chosen[2]) <= before.index(chosen[2])


def ranked(rows, weight):
    lexical, vector, keys = (np.array(column) for column in zip(*rows, strict=True))
    scores = convex(lexical.astype(float), vector.astype(float), weight)
    return keys[order(scores, keys)].tolist()


def test_a_chunk_without_a_vector_counts_like_the_farthest_known_one():
    fused = convex(np.array([0.5, 0.5, 0.5]), np.array([0.9, np.nan, 0.2]), 0.5)
    assert fused.tolist() == pytest.approx([0.7, 0.35, 0.35])


@given(
    st.dictionaries(st.sampled_from(["bias", "foreign", "identifiers", "x"]), st.floats(-1e9, 1e9))
)
def test_the_lexical_weight_stays_between_0_and_1(features):
    assert 0 <= weights().lexical(features) <= 1


def test_identifiers_and_foreign_languages_move_the_weight_to_words():
    plain = weights().lexical({"bias": 1.0})
    assert weights().lexical({"bias": 1.0, "identifiers": 1.0}) > plain
    assert weights().lexical({"bias": 1.0, "foreign": 1.0}) > 0.8
