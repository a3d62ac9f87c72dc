"""Waits before a retry, and how many retries there may be."""

import pytest

from fingerpost.lanes.backoff import jittered
from fingerpost.lanes.limits import RetryBudget


def test_a_wait_is_drawn_from_a_span_that_doubles_up_to_eight_seconds():
    assert [jittered(n, 1.0) for n in range(7)] == [0.5, 1.0, 2.0, 4.0, 8.0, 8.0, 8.0]
    assert jittered(3, 0.25) == 1.0
    assert jittered(10_000, 0.0) == 0.0


@pytest.mark.parametrize(("n_requests", "n_retries"), [(0, 3), (5, 4), (100, 23)])
def test_a_fifth_of_the_requests_may_be_retried_and_three_more(n_requests, n_retries):
    budget = RetryBudget()
    for _ in range(n_requests):
        budget.asked(0.0)
    assert [budget.take(1.0) for _ in range(n_retries + 2)] == [True] * n_retries + [False] * 2
    assert not budget.left(1.0)


def test_retries_are_forgotten_after_ten_seconds():
    budget = RetryBudget()
    assert [budget.take(0.5) for _ in range(4)] == [True, True, True, False]
    assert not budget.left(9.9)
    assert budget.left(10.5)
