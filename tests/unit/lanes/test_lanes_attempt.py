"""What a lane does next: the table of faults and the rules around it."""

import math

import pytest

from fingerpost import errors as e
from fingerpost.lanes.attempt import (
    Failed,
    Next,
    Place,
    Rest,
    Retry,
    Situation,
    Stop,
    decide,
)
from fingerpost.lanes.faults import FAULTS, rule_for

A, B, C, D = (Place(name, "m") for name in "abcd")


def around(places=(A, B), rests=None, *, left=100.0, spent=0.0, **more):
    return Situation(
        places=places,
        rests=rests or [None] * len(places),
        now=spent,
        started=0.0,
        deadline=spent + left,
        draw=1.0,
        **more,
    )


def timeout(phase, status=0):
    error = e.ProviderTimeoutError("slow", status=status)
    error.phase = phase
    return error


def limited(retry_after_s=None, kind=e.RateLimitedError):
    return kind("later", status=429, retry_after_s=retry_after_s)


def after(*errors, index=0):
    return [Failed(index, error) for error in errors]


NEXT = Next(0.0, 1)
HALF_S = Retry(0.5)

# error → first step with another provider at hand, and without one
ROWS = {
    "no connection is free": (timeout("pool"), NEXT, None),
    "no first byte": (timeout("first byte"), HALF_S, HALF_S),
    "slow drip": (timeout("idle"), NEXT, None),
    "total timeout": (timeout("total"), NEXT, None),
    "408": (timeout("total", 408), HALF_S, HALF_S),
    "DNS, refused, reset": (e.ProviderUnreachableError("x"), NEXT, None),
    "TLS": (e.ProviderTLSError("x"), NEXT, None),
    "redirect": (e.ProviderRedirectedError("x"), NEXT, None),
    "400, 422": (e.RequestRejectedError("x"), None, None),
    "context too long": (e.ContextTooLongError("x"), NEXT, None),
    "413": (e.RequestTooLargeError("x"), NEXT, None),
    "401, 403": (e.AuthenticationError("x"), NEXT, None),
    "402": (e.QuotaError("x"), NEXT, None),
    "404": (e.ModelNotFoundError("x"), NEXT, None),
    "409": (e.ProviderConflictError("x"), HALF_S, HALF_S),
    "429 with a short wait": (limited(4.0), NEXT, Retry(4.0)),
    "429 with a long wait": (limited(40.0), NEXT, None),
    "429 without": (limited(), NEXT, HALF_S),
    "500": (e.ProviderUnavailableError("x"), HALF_S, HALF_S),
    "503 with a short wait": (limited(4.0, e.ProviderUnavailableError), NEXT, Retry(4.0)),
    "503 with a long wait": (limited(40.0, e.ProviderUnavailableError), NEXT, None),
    "529": (e.ProviderOverloadedError("x"), NEXT, HALF_S),
    "no JSON": (e.BadResponseError("x"), HALF_S, HALF_S),
    "answers that do not fit": (e.InvalidDecisionResponseError("x"), NEXT, None),
    "too large": (e.ResponseTooLargeError("x"), NEXT, None),
    "empty": (e.EmptyCompletionError("x"), HALF_S, HALF_S),
    "truncated": (e.StreamTruncatedError("x"), NEXT, None),
    "refused": (e.RefusedError("x"), None, None),
    "unknown": (e.ProviderError("x"), NEXT, None),
    "lane within": (e.LaneExhaustedError("x", attempts=[e.LaneError("y")]), NEXT, None),
    "unrouted": (e.UnroutedModelError("x"), None, None),
}


@pytest.mark.parametrize("row", ROWS)
def test_each_fault_has_its_next_step(row):
    error, with_other, alone = ROWS[row]
    assert decide(after(error), around()) == (with_other or Stop(error))
    assert decide(after(error), around((A,))) == (alone or Stop(error))


def test_every_row_of_the_table_is_tried():
    kinds = {type(error) for error, _, _ in ROWS.values()}
    assert {kind for kind, _ in FAULTS} - kinds == {e.LaneError}


def test_every_error_of_a_call_has_a_rule():
    for name in e.__all__:
        kind = getattr(e, name)
        if issubclass(kind, e.ProviderError):
            assert rule_for(kind("x"))


def test_the_first_step_is_the_first_endpoint_that_may_be_asked():
    rest = Rest(e.QuotaError("x"), 60.0)
    assert decide([], around()) == Next(0.0, 0)
    assert decide([], around(rests=[rest, None])) == Next(0.0, 1)


def test_when_all_endpoints_rest_the_error_names_each_and_why():
    rests = [Rest(e.QuotaError("x"), 60.0), Rest(e.AuthenticationError("y", hint="set it"), 9.0)]
    stop = decide([], around(rests=rests))
    assert isinstance(stop.error, e.LaneExhaustedError)
    assert [type(one) for one in stop.error.attempts] == [e.QuotaError, e.AuthenticationError]
    assert "a/m rests for 60 s after QuotaError; b/m rests for 9 s" in str(stop.error)
    assert stop.error.hint == "set it"
    assert not stop.error.retryable


def test_after_the_one_retry_the_next_endpoint_is_asked():
    down = e.ProviderUnavailableError("x")
    assert decide(after(down, down), around()) == NEXT


def test_after_several_attempts_the_error_holds_all_in_order():
    first, second = e.ProviderUnavailableError("x"), e.ProviderUnreachableError("y")
    stop = decide([Failed(0, first), Failed(1, second)], around())
    assert stop.error.attempts == (first, second)
    assert stop.error.__cause__ is second
    assert stop.error.retryable


def test_a_fault_that_ends_the_call_is_surfaced_as_itself_after_others():
    rejected = e.RequestRejectedError("x")
    attempts = [Failed(0, e.ProviderUnreachableError("y")), Failed(1, rejected)]
    assert decide(attempts, around()) == Stop(rejected)


def test_a_provider_is_asked_twice_at_most_however_many_of_its_models_there_are():
    places = (Place("a", "big"), Place("a", "small"), Place("a", "tiny"), B)
    down = e.ProviderUnreachableError("x")
    assert decide(after(down), around(places)) == Next(0.0, 1)
    assert decide([Failed(0, down), Failed(1, down)], around(places)) == Next(0.0, 3)


def test_a_fourth_provider_is_not_asked():
    down = e.ProviderUnreachableError("x")
    attempts = [Failed(index, down) for index in range(3)]
    assert isinstance(decide(attempts, around((A, B, C, D))), Stop)


def test_a_fifth_attempt_is_not_made():
    down = e.ProviderUnavailableError("x")
    attempts = [Failed(0, down), Failed(0, down), Failed(1, down), Failed(1, down)]
    assert isinstance(decide(attempts, around((A, B, C))), Stop)


def test_an_empty_retry_budget_moves_on_at_once():
    assert decide(after(e.ProviderUnavailableError("x")), around(may_retry=False)) == NEXT


def test_a_provider_whose_circuit_opened_is_not_retried():
    error = e.ProviderUnavailableError("x")
    assert decide(after(error), around(rests=[Rest(error, 10.0), None])) == NEXT


def test_a_silent_provider_is_asked_again_only_while_more_than_half_of_the_time_is_left():
    silent = timeout("first byte")
    assert decide(after(silent), around(spent=20.0, left=21.0)) == HALF_S
    assert decide(after(silent), around(spent=20.0, left=20.0)) == NEXT


def test_a_wait_that_was_asked_for_is_held_for_up_to_a_quarter_of_what_is_left():
    assert decide(after(limited(4.0)), around((A,), left=16.0)) == Retry(4.0)
    assert isinstance(decide(after(limited(4.0)), around((A,), left=15.9)), Stop)
    assert decide(after(limited(10.0)), around((A,), left=math.inf)) == Retry(10.0)
    assert isinstance(decide(after(limited(10.1)), around((A,), left=math.inf)), Stop)


def test_no_wait_reaches_the_deadline():
    conflict = e.ProviderConflictError("x")
    assert decide(after(conflict), around(left=0.51)) == HALF_S
    assert decide(after(conflict), around(left=0.5)) == NEXT


def test_nothing_is_begun_once_the_deadline_has_passed():
    conflict = e.ProviderConflictError("x")
    assert decide(after(conflict), around(left=0.0)) == Stop(conflict)
    stop = decide([], around(left=0.0))
    assert isinstance(stop.error, e.ProviderTimeoutError)


def test_nothing_is_begun_once_text_has_reached_the_caller():
    cut = e.StreamTruncatedError("x")
    assert decide([Failed(0, cut, has_said=True)], around()) == Stop(cut)


def test_a_refusal_is_taken_elsewhere_only_when_that_is_asked_for():
    refused = e.RefusedError("x")
    assert decide(after(refused), around(failover_on_refusal=True)) == NEXT
    assert decide(after(e.RequestRejectedError("x")), around(failover_on_refusal=True)) != NEXT
