"""Circuits: when a provider rests, for how long, and how it comes back."""

import gc
import weakref

import pytest

from fingerpost import errors as e
from fingerpost.lanes.attempt import Place
from fingerpost.lanes.health import Health

A, B = Place("a", "m"), Place("b", "m")
DOWN = e.ProviderUnavailableError("down")


def rests(health, place=A, now=0.0):
    [rest] = health.rests([place], now)
    return rest


def fail(health, error=DOWN, now=0.0, place=A, alone=False):
    health.failed(health.begin(place, now), error, now, alone=alone)


def succeed(health, now=0.0, place=A):
    health.succeeded(health.begin(place, now), now)


def limited(retry_after_s=None, kind=e.RateLimitedError):
    return kind("later", retry_after_s=retry_after_s)


def opened():
    health = Health()
    for _ in range(5):
        fail(health)
    return health


def test_five_failures_open_the_circuit_for_ten_seconds():
    health = Health()
    for _ in range(4):
        fail(health)
    assert rests(health) is None
    fail(health)
    assert rests(health).left_s == 10.0
    assert type(rests(health).error) is e.ProviderUnavailableError
    assert rests(health, B) is None


def test_failures_that_are_less_than_half_of_the_calls_do_not_open_it():
    health = Health()
    for _ in range(6):
        succeed(health)
        fail(health)
        succeed(health)
    assert rests(health) is None


def test_failures_are_forgotten_after_thirty_seconds():
    health = Health()
    for now in range(0, 100, 8):
        fail(health, now=float(now))
    assert rests(health, now=96.0) is None


def test_half_failures_count_half():
    health = Health()
    empty = e.EmptyCompletionError("x")
    for _ in range(9):
        fail(health, empty)
    assert rests(health) is None
    fail(health, empty)
    assert rests(health) is not None


def test_after_the_rest_one_probe_is_let_through_and_the_others_are_not():
    health = opened()
    assert health.begin(A, 9.9) is None
    probe = health.begin(A, 10.0)
    assert probe is not None
    assert health.begin(A, 10.0) is None
    assert rests(health, now=10.0).left_s == 0.0
    health.succeeded(probe, 11.0)
    assert rests(health, now=11.0) is None


def test_a_failed_probe_doubles_the_rest_up_to_two_minutes():
    health, now, seen = opened(), 0.0, []
    for _ in range(6):
        left_s = rests(health, now=now).left_s
        seen.append(left_s)
        now += left_s
        fail(health, now=now)
    assert seen == [10.0, 20.0, 40.0, 80.0, 120.0, 120.0]


def test_a_success_begins_the_rests_anew():
    health = opened()
    fail(health, now=10.0)
    succeed(health, now=30.0)
    for _ in range(5):
        fail(health, now=31.0)
    assert rests(health, now=31.0).left_s == 10.0


def test_a_probe_that_its_caller_gave_up_frees_the_place_for_another():
    health = opened()
    health.dropped(health.begin(A, 10.0))
    assert health.begin(A, 10.0) is not None


def test_a_probe_that_begins_to_be_answered_lets_the_others_through():
    health = opened()
    permit = health.alive(health.begin(A, 10.0))
    assert rests(health, now=10.0) is None
    health.failed(permit, DOWN, 60.0, alone=False)
    assert rests(health, now=60.0) is None


def test_a_rest_that_does_not_end_by_itself_is_logged_by_class_and_without_its_text(caplog):
    fail(Health(), e.AuthenticationError("the key k-1 is wrong"))
    assert caplog.messages == ["a rests 300 s: AuthenticationError"]


def test_a_late_reply_of_an_older_call_does_not_close_the_circuit():
    health = Health()
    old = health.begin(A, 0.0)
    for _ in range(5):
        fail(health)
    health.succeeded(old, 1.0)
    assert rests(health, now=1.0) is not None


def test_late_failures_of_older_calls_do_not_lengthen_the_rest():
    health = Health()
    old = [health.begin(A, 0.0) for _ in range(20)]
    for permit in old:
        health.failed(permit, DOWN, 1.0, alone=False)
    assert rests(health, now=1.0).left_s == 10.0


@pytest.mark.parametrize(
    ("error", "seconds"),
    [
        (e.AuthenticationError("x"), 300),
        (e.ProviderTLSError("x"), 300),
        (e.ProviderRedirectedError("x"), 300),
        (e.QuotaError("x"), 900),
    ],
)
def test_what_does_not_cure_itself_rests_at_once_even_when_alone(error, seconds):
    health = Health()
    fail(health, error, alone=True)
    assert rests(health).left_s == seconds


def test_a_missing_model_rests_alone_and_the_provider_does_not():
    health = Health()
    fail(health, e.ModelNotFoundError("x"))
    assert rests(health).left_s == 300
    assert rests(health, Place("a", "other")) is None


def test_a_rate_limit_rests_the_provider_as_long_as_it_said():
    health = Health()
    fail(health, limited(42.0))
    assert rests(health).left_s == 42.0


def test_what_it_said_is_followed_for_a_quarter_of_an_hour_at_most():
    health = Health()
    fail(health, limited(86_400.0))
    assert rests(health).left_s == 900.0


def test_an_unavailable_provider_that_says_when_rests_until_then():
    health = Health()
    fail(health, limited(42.0, e.ProviderUnavailableError))
    assert rests(health).left_s == 42.0


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (limited(), [5.0, 10.0, 20.0, 40.0, 60.0, 60.0]),
        (e.ProviderOverloadedError("x"), [10.0, 20.0, 40.0, 80.0, 120.0, 120.0]),
    ],
)
def test_without_a_word_of_when_the_rest_grows(error, expected):
    health, now, seen = Health(), 0.0, []
    for _ in expected:
        fail(health, error, now)
        seen.append(rests(health, now=now).left_s)
        now += seen[-1]
    assert seen == expected


def test_the_last_healthy_provider_is_never_opened_by_rate_limits_alone():
    health = Health()
    for _ in range(100):
        fail(health, limited(60.0), alone=True)
    assert rests(health) is None


def test_the_last_healthy_provider_is_opened_when_it_is_overloaded_again_and_again():
    health = Health()
    for _ in range(5):
        fail(health, e.ProviderOverloadedError("x"), alone=True)
    assert rests(health) is not None


@pytest.mark.parametrize(
    "error",
    [
        e.RequestRejectedError("x"),
        e.ContextTooLongError("x"),
        e.RequestTooLargeError("x"),
        e.RefusedError("x"),
        e.ProviderConflictError("x"),
        e.ModelNotFoundError("x"),
    ],
)
def test_an_answer_that_is_an_error_of_ours_closes_the_circuit(error):
    health = opened()
    fail(health, error, now=10.0)
    assert rests(health, Place("a", "other"), now=10.0) is None


@pytest.mark.parametrize("error", [e.BudgetExceededError("x", spent_usd=1, allowed_usd=1)])
def test_an_error_that_is_not_the_providers_leaves_the_circuit_as_it_was(error):
    health = opened()
    fail(health, error, now=10.0)
    assert health.begin(A, 10.0).probes == {("a", "")}


def test_a_rate_limit_in_the_probe_of_the_last_healthy_provider_closes_it():
    health = opened()
    fail(health, limited(), now=10.0, alone=True)
    assert rests(health, now=10.0) is None


def test_the_error_that_is_kept_holds_on_to_nothing_of_the_call():
    class Held:
        pass

    def call(holding):
        raise e.AuthenticationError("x") from ValueError(holding)

    held, health = Held(), Health()
    try:
        call(held)
    except e.AuthenticationError as error:
        fail(health, error)
    gone = weakref.ref(held)
    del held
    gc.collect()
    assert gone() is None
    assert str(rests(health).error) == "x"
