"""Measures against values worked out by hand, and the laws that they must hold."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fingerpost.eval import metrics

SCORES = st.lists(st.tuples(st.booleans(), st.floats(0, 1, width=16)), min_size=2, max_size=40)
ITEMS = st.lists(st.sampled_from("abcdefghij"), unique=True)


def test_the_first_relevant_item_is_counted_from_one():
    assert metrics.first_relevant(["a", "b", "c"], frozenset("bc")) == 2
    assert metrics.first_relevant(["a"], frozenset("z")) is None


def test_recall_counts_the_share_of_gold_among_the_first_k():
    assert metrics.recall_at(["a", "b", "c", "d"], frozenset("adz"), 2) == pytest.approx(1 / 3)
    assert metrics.recall_at(["a", "b", "c", "d"], frozenset("adz"), 4) == pytest.approx(2 / 3)


def test_recall_without_gold_is_refused():
    with pytest.raises(ValueError, match="at least one"):
        metrics.recall_at(["a"], frozenset(), 5)


def test_ndcg_of_binary_gold_matches_the_hand_computed_value():
    # gold at places 2 and 3 of two: (1/log2(3) + 1/log2(4)) / (1/log2(2) + 1/log2(3))
    expected = (1 / math.log2(3) + 1 / 2) / (1 + 1 / math.log2(3))
    assert metrics.ndcg_at(["x", "a", "b"], {"a": 1, "b": 1}, 10) == pytest.approx(expected)


def test_ndcg_uses_the_grades():
    # found: grade 1, then grade 3; ideal the other way round
    expected = (1 + 3 / math.log2(3)) / (3 + 1 / math.log2(3))
    assert metrics.ndcg_at(["a", "b"], {"a": 1, "b": 3}, 10) == pytest.approx(expected)


def test_ndcg_ignores_what_stands_below_k_and_repeats():
    assert metrics.ndcg_at(["x", "y", "a"], {"a": 1}, 2) == 0.0
    assert metrics.ndcg_at(["a", "a"], {"a": 1}, 10) == 1.0


@given(ITEMS, st.dictionaries(st.sampled_from("abcdefghij"), st.integers(0, 4)), st.integers(1, 12))
def test_ndcg_stays_between_zero_and_one(ranked, grades, k):
    assert 0.0 <= metrics.ndcg_at(ranked, grades, k) <= 1.0 + 1e-12


@given(st.dictionaries(st.sampled_from("abcdefghij"), st.integers(1, 4), min_size=1))
def test_ndcg_of_the_ideal_order_is_one(grades):
    ideal = sorted(grades, key=lambda item: -grades[item])
    assert metrics.ndcg_at(ideal, grades, 10) == pytest.approx(1.0)


@given(ITEMS, st.sets(st.sampled_from("abcdefghij"), min_size=1), st.integers(1, 11))
def test_recall_never_falls_as_k_grows(ranked, gold, k):
    gold = frozenset(gold)
    assert metrics.recall_at(ranked, gold, k) <= metrics.recall_at(ranked, gold, k + 1)


def test_macro_f1_is_the_mean_over_true_labels():
    gold = ["a", "a", "b", "b"]
    chosen = ["a", "b", "b", "c"]
    # a: precision 1, recall 1/2, F1 2/3; b: precision 1/2, recall 1/2, F1 1/2; c is never true
    assert metrics.macro_f1(gold, chosen) == pytest.approx((2 / 3 + 1 / 2) / 2)
    assert metrics.accuracy(gold, chosen) == 0.5


def test_confusion_counts_every_pair_once():
    assert metrics.confusion_of(["a", "a", "b"], ["a", "b", "b"], labels=["c"]) == {
        "a": {"a": 1, "b": 1, "c": 0},
        "b": {"a": 0, "b": 1, "c": 0},
        "c": {"a": 0, "b": 0, "c": 0},
    }


def test_balanced_accuracy_is_the_mean_of_both_recalls():
    gold = [True, True, True, False]
    assert metrics.balanced_accuracy(gold, [True, True, False, False]) == pytest.approx(5 / 6)
    assert metrics.balanced_accuracy(gold, [True] * 4) == 0.5


def test_auroc_matches_the_hand_counted_pairs():
    # pairs (true, false): .9>.8, .9>.1, .4<.8, .4>.1 -> 3 of 4
    assert metrics.auroc([True, False, True, False], [0.9, 0.8, 0.4, 0.1]) == 0.75


def test_auroc_without_both_classes_has_no_value():
    assert metrics.auroc([True, True], [0.1, 0.2]) is None


@given(SCORES)
def test_auroc_is_the_share_of_pairs_in_the_right_order_ties_counting_half(cases):
    gold, scores = [a for a, _ in cases], [b for _, b in cases]
    wins = [
        1.0 if a > b else 0.5 if a == b else 0.0
        for a, left in zip(scores, gold, strict=True)
        if left
        for b, right in zip(scores, gold, strict=True)
        if not right
    ]
    found = metrics.auroc(gold, scores)
    if wins:
        assert found == pytest.approx(sum(wins) / len(wins))
    else:
        assert found is None


@given(SCORES)
def test_the_area_under_the_roc_points_is_the_auroc(cases):
    gold, scores = [a for a, _ in cases], [b for _, b in cases]
    points = metrics.roc_points(gold, scores)
    found = metrics.auroc(gold, scores)
    if found is None:
        assert points == []
        return
    area = sum(
        (right[0] - left[0]) * (right[1] + left[1]) / 2
        for left, right in itertools.pairwise(points)
    )
    assert points[0] == (0.0, 0.0)
    assert points[-1] == (1.0, 1.0)
    assert area == pytest.approx(found)


def test_spearman_matches_the_textbook_formula_and_shares_tied_ranks():
    # d = 0, 1, 1, 0 -> 1 - 6*2/(4*15)
    assert metrics.spearman([1, 2, 3, 4], [10, 30, 20, 40]) == pytest.approx(0.8)
    # ranks 1, 2.5, 2.5, 4 against 1, 2, 3, 4
    assert metrics.spearman([1, 2, 2, 3], [1, 2, 3, 4]) == pytest.approx(4.5 / math.sqrt(4.5 * 5))
    assert metrics.spearman([1, 1], [1, 2]) is None


def test_calibration_error_weighs_the_gaps_by_bin_size():
    bins = metrics.reliability([True, False, True, True], [0.95, 0.91, 0.95, 0.25])
    # bin .9-1: n 3, accuracy 2/3, confidence 2.81/3; bin .2-.3: n 1, accuracy 1, confidence .25
    expected = (3 * abs(2 / 3 - 2.81 / 3) + 1 * 0.75) / 4
    assert [one.n for one in bins] == [1, 3]
    assert metrics.calibration_error(bins) == pytest.approx(expected)


def test_full_confidence_falls_into_the_last_bin():
    (only,) = metrics.reliability([True], [1.0])
    assert (only.low, only.high) == (0.9, 1.0)


@given(SCORES)
def test_calibration_error_is_bounded_and_bins_lose_no_case(cases):
    bins = metrics.reliability([a for a, _ in cases], [b for _, b in cases])
    assert sum(one.n for one in bins) == len(cases)
    assert 0.0 <= metrics.calibration_error(bins) <= 1.0


def test_accuracy_by_coverage_starts_with_the_surest_and_ends_with_all():
    assert metrics.accuracy_by_coverage([True, False, True], [0.9, 0.5, 0.7]) == [
        (pytest.approx(1 / 3), 1.0),
        (pytest.approx(2 / 3), 1.0),
        (1.0, pytest.approx(2 / 3)),
    ]


@given(SCORES)
def test_coverage_does_not_depend_on_the_order_of_equal_cases(cases):
    def curve(items):
        return metrics.accuracy_by_coverage([a for a, _ in items], [b for _, b in items])

    assert curve(cases) == curve(list(reversed(cases)))


def test_percentile_is_the_median_at_one_half():
    assert metrics.percentile([3.0, 1.0, 2.0], 0.5) == 2.0
    assert metrics.percentile([], 0.5) == 0.0
