"""What a provider's status and error code mean, when it may be asked again, what is shown."""

import base64
import json
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fingerpost.config.endpoint import Endpoint
from fingerpost.config.secrets import Secret
from fingerpost.errors import (
    AuthenticationError,
    BadResponseError,
    ContextTooLongError,
    ModelNotFoundError,
    ProviderConflictError,
    ProviderError,
    ProviderOverloadedError,
    ProviderRedirectedError,
    ProviderTimeoutError,
    ProviderUnavailableError,
    QuotaError,
    RateLimitedError,
    RefusedError,
    RequestRejectedError,
    RequestTooLargeError,
)
from fingerpost.lanes.providers.failure import error_for, error_in
from fingerpost.lanes.providers.retry_after import retry_after_s
from fingerpost.lanes.providers.scrub import Scrubber

KEY = "sk-canary-0123456789abcdef/+="
ENDPOINT = Endpoint(
    "openai", "openai", "gpt-x", "http://h", Secret(KEY), "OPENAI_API_KEY", "classify"
)

EXPECTED = {
    **dict.fromkeys(range(300, 400), ProviderRedirectedError),
    **dict.fromkeys(range(400, 500), RequestRejectedError),
    **dict.fromkeys(range(500, 600), ProviderUnavailableError),
    **dict.fromkeys((*range(100, 200), *range(201, 300)), BadResponseError),
    401: AuthenticationError,
    402: QuotaError,
    403: AuthenticationError,
    404: ModelNotFoundError,
    408: ProviderTimeoutError,
    409: ProviderConflictError,
    413: RequestTooLargeError,
    429: RateLimitedError,
    529: ProviderOverloadedError,
}


def error(status, body=b"", headers=None, endpoint=ENDPOINT):
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return error_for(status, headers or {}, content, endpoint=endpoint)


@pytest.mark.parametrize("status", sorted(EXPECTED))
def test_every_status_has_its_error(status):
    for body in (b"", b"<html>", {"error": {"message": "no", "code": "some_new_code"}}, [1]):
        found = error(status, body)
        assert type(found) is EXPECTED[status]
        assert (found.status, found.provider, found.model) == (status, "openai", "gpt-x")


CODED = [
    (400, {"error": {"code": "context_length_exceeded"}}, ContextTooLongError),
    (400, {"error": {"type": "exceed_context_size_error"}}, ContextTooLongError),
    (413, {"error": {"code": "context_length_exceeded"}}, ContextTooLongError),
    (400, {"error": {"code": "insufficient_quota"}}, QuotaError),
    (429, {"error": {"code": "insufficient_quota"}}, QuotaError),
    (429, {"error": {"type": "insufficient_quota", "code": None}}, QuotaError),
    (403, {"error": {"code": "billing_not_active"}}, QuotaError),
    (400, {"error": {"details": {"error_code": "enforced_spend_limit_reached"}}}, QuotaError),
    (429, {"error": {"details": {"error_code": "enforced_spend_limit_reached"}}}, QuotaError),
    (400, {"error": {"code": "model_decommissioned"}}, ModelNotFoundError),
    (400, {"error": {"code": "content_policy_violation"}}, RefusedError),
    (403, {"error": {"code": "content_filter"}}, RefusedError),
    (400, {"error": {"details": [{"reason": "API_KEY_INVALID"}]}}, AuthenticationError),
    (400, {"error": {"code": 400, "status": "INVALID_ARGUMENT"}}, RequestRejectedError),
    (413, {"type": "error", "error": {"type": "request_too_large"}}, RequestTooLargeError),
    (500, {"type": "error", "error": {"type": "overloaded_error"}}, ProviderOverloadedError),
    (503, {"error": {"code": "overloaded"}}, ProviderOverloadedError),
    (503, {"error": {"code": 503, "status": "UNAVAILABLE"}}, ProviderUnavailableError),
    (401, {"error": {"code": "insufficient_quota"}}, AuthenticationError),
    (404, {"error": "model 'llama' not found"}, ModelNotFoundError),
]


@pytest.mark.parametrize(("status", "body", "expected"), CODED)
def test_a_code_says_more_than_its_status(status, body, expected):
    assert type(error(status, body)) is expected


TOLD_IN_200 = [
    ({"error": {"code": "insufficient_quota"}}, QuotaError),
    ({"error": {"code": 429, "message": "slow down"}}, RateLimitedError),
    ({"error": {"code": 402}}, QuotaError),
    ({"error": {"code": 502}}, ProviderUnavailableError),
    ({"type": "error", "error": {"type": "overloaded_error"}}, ProviderOverloadedError),
    ({"error": {"status": "RESOURCE_EXHAUSTED"}}, RateLimitedError),
    ({"error": "something broke"}, BadResponseError),
    ({"base_resp": {"status_code": 1002, "status_msg": "rate limit"}}, RateLimitedError),
    ({"base_resp": {"status_code": 1008}}, QuotaError),
    ({"base_resp": {"status_code": 1004}}, AuthenticationError),
    ({"base_resp": {"status_code": 4711}}, BadResponseError),
]


@pytest.mark.parametrize(("body", "expected"), TOLD_IN_200)
def test_an_error_told_with_status_200_is_that_error(body, expected):
    found = error_in(body, {}, endpoint=ENDPOINT)
    assert type(found) is expected
    assert found.status == 200


@pytest.mark.parametrize(
    "body", [{}, {"error": None}, {"error": {}}, {"choices": []}, {"base_resp": {"status_code": 0}}]
)
def test_a_reply_without_an_error_tells_none(body):
    assert error_in(body, {}, endpoint=ENDPOINT) is None


def test_a_hint_names_the_setting_or_the_variable_to_change():
    assert "classifier_model" in error(404).hint
    assert "OPENAI_API_KEY" in error(401).hint
    assert "base_url" in error(302).hint
    for job, setting in {
        "embed": "embedding_model",
        "generate_deep": "generation_model_deep",
    }.items():
        at = Endpoint("openai", "openai", "m", "http://h", job=job)
        assert setting in error(404, endpoint=at).hint


NOW = 1_800_000_000.0
DATE = "Fri, 15 Jan 2027 08:00:00 GMT"
WAITS = [
    ({"retry-after": "7"}, 7.0),
    ({"retry-after": "0.5"}, 0.5),
    ({"retry-after": " 7 "}, 7.0),
    ({"retry-after-ms": "1500", "retry-after": "7"}, 1.5),
    ({"retry-after-ms": "x", "retry-after": "7"}, 7.0),
    ({"retry-after": "Fri, 15 Jan 2027 08:00:30 GMT"}, 30.0),
    (
        {"retry-after": "Fri, 15 Jan 2027 08:00:30 GMT", "date": "Fri, 15 Jan 2027 08:00:10 GMT"},
        20.0,
    ),
    (
        {"retry-after": "Fri, 15 Jan 2027 09:00:30 GMT", "date": "Fri, 15 Jan 2027 09:00:00 GMT"},
        30.0,
    ),
    ({"retry-after": "Fri, 15 Jan 2027 09:00:00 +0100", "date": "nonsense"}, None),
    ({"retry-after": "Fri, 15 Jan 2027 07:59:59 GMT"}, None),
    ({"retry-after": DATE}, None),
    ({"retry-after": "0"}, None),
    ({"retry-after": "-3"}, None),
    ({"retry-after": "NaN"}, None),
    ({"retry-after": "inf"}, None),
    ({"retry-after": "1e400"}, None),
    ({"retry-after": "soon"}, None),
    ({"retry-after": ""}, None),
    ({}, None),
]


@pytest.mark.parametrize(("headers", "expected"), WAITS)
def test_the_time_to_wait_is_read_in_each_way_it_is_told(headers, expected):
    assert retry_after_s(headers, NOW) == expected


@given(st.text(max_size=40), st.text(max_size=40), st.text(max_size=40))
def test_the_time_to_wait_is_always_finite_and_in_the_future(milliseconds, seconds, date):
    headers = {"retry-after-ms": milliseconds, "retry-after": seconds, "date": date}
    found = retry_after_s(headers, NOW)
    assert found is None or 0 < found < float("inf")


def test_gemini_tells_the_time_to_wait_in_the_body():
    body = {"error": {"code": 429, "details": [{"retryDelay": "34s"}]}}
    assert error(429, body).retry_after_s == 34.0
    assert error(429, {"error": {"details": [{"retryDelay": "-1s"}]}}).retry_after_s is None


def forms(key):
    raw = key.encode()
    yield key
    yield quote(key, safe="")
    for before in (b"", b":", b"a:"):
        yield base64.b64encode(before + raw).decode()
        yield base64.urlsafe_b64encode(before + raw + b"!").decode()


@pytest.mark.parametrize("form", tuple(forms(KEY)))
def test_a_key_is_never_shown_in_any_form(form):
    shown = Scrubber(Secret(KEY)).clean(f"Incorrect key: {form} was given")
    assert "Incorrect key" in shown
    assert KEY[:8] not in shown
    assert form[4:-4] not in shown


@pytest.mark.parametrize(
    "text",
    [
        "sk-proj-abcdefghijklmnop",
        "gsk_abcdefghijkl1234",
        "xai-abcdefghijkl1234",
        "AIzaSyD-abcdefghijklmnop",
        "Authorization: Bearer abc.def",
        "deadbeef" * 5 + "0",
        "AKIAIOSFODNN7EXAMPLE",
        "glpat-abcDEF123456ghiJKL",
        "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "-----BEGIN PRIVATE KEY-----\nMIIabc",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIabc\n-----END RSA PRIVATE KEY-----",
    ],
)
def test_what_looks_like_some_key_is_not_shown(text):
    assert "***" in Scrubber(None).clean(f"no: {text}")
    assert text.split()[-1] not in Scrubber(None).clean(f"no: {text}")


def test_the_password_of_an_address_is_not_shown_and_its_host_is():
    shown = Scrubber(None).clean("no: postgres://app:hunter2@db.example.com:5432/main and 7:30")
    assert shown == "no: postgres://***@db.example.com:5432/main and 7:30"


def test_what_is_shown_is_short_and_on_one_line():
    shown = Scrubber(None).clean("a\x1b[31m\r\n\u202eb " + "long " * 1000)
    assert len(shown) == 200
    assert shown.isprintable()
    assert shown.startswith("a [31m b long")


@given(st.binary(max_size=200), st.integers(100, 599))
def test_any_body_gives_an_error_that_is_short_and_without_the_key(body, status):
    found = error(status, body + KEY.encode() + body)
    assert isinstance(found, ProviderError)
    assert len(str(found)) < 300
    assert KEY[:8] not in str(found)


@pytest.mark.parametrize(
    ("location", "told"),
    [
        ("https://other.example/v1?sig=hidden", "https://other.example:"),
        ("https://user:hidden@other.example:8443/hidden", "https://other.example:8443:"),
        ("/elsewhere/hidden", "Check base_url."),
        ("", "Check base_url."),
        ("javascript:hidden", "Check base_url."),
        ("https://[hidden", "Check base_url."),
        ("https://h:hidden/", "Check base_url."),
    ],
)
def test_a_redirect_says_to_which_server_it_leads_and_no_more(location, told):
    found = error(307, headers={"location": location})
    assert told in found.advice
    assert "hidden" not in found.advice


def test_a_key_in_the_host_of_a_redirect_is_not_shown():
    host = "sk-canary-0123456789abcdef"
    assert host not in error(307, headers={"location": f"https://{host}.example/"}).advice


@pytest.mark.parametrize("status", [307, 401, 402, 404, 429])
def test_what_a_person_can_mend_comes_with_what_to_do(status):
    assert error(status).hint
