"""Embedding models behind a provider's API: every text its own vector, or a reason."""

import math
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from fingerpost.config.endpoint import Endpoint
from fingerpost.config.secrets import Secret
from fingerpost.errors import (
    AuthenticationError,
    BadEmbeddingError,
    BadResponseError,
    ConfigError,
    ProviderUnreachableError,
    QuotaError,
    RateLimitedError,
    RequestTooLargeError,
)
from fingerpost.lanes.providers import load_remote_embedder
from fingerpost.lanes.providers.embeddings import RemoteEmbedder
from fingerpost.testing.provider import ProviderServer, faults

APIS = ["openai", "gemini", "ollama"]
KEY = "sk-canary-0123456789abcdef"
TEXTS = ["the cache", "the signing key", "", "\ud800 lone", "缓存的大小", "the cache"]


@pytest.fixture(params=APIS)
def api(request):
    return request.param


def endpoint(api, url, **fields):
    given = {"key": Secret(KEY), "key_name": "THE_KEY", "job": "embed", **fields}
    return Endpoint(given.pop("provider", api), api, given.pop("model", "scripted"), url, **given)


class Waits:
    """Takes down how long a sleeper would have slept."""

    def __init__(self):
        self.seconds = []

    async def __call__(self, seconds):
        self.seconds.append(seconds)


def connect(api, server, waits=None, **fields):
    return RemoteEmbedder(endpoint(api, server.url, **fields), sleep=waits or Waits())


def sent_texts(server):
    """Return the texts of each request after the probe for the dimension."""
    return [asked.texts for asked in server.requests if asked.kind == "embed"][1:]


def test_each_text_gets_a_vector_of_unit_length(api):
    with ProviderServer(dimension=16) as server:
        model = connect(api, server)
        vectors = model.embed(TEXTS)
    assert (model.name, model.dimension) == (f"{api}/scripted", 16)
    assert vectors.shape == (len(TEXTS), 16)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-6)
    assert (vectors[0] == vectors[5]).all()
    assert sent_texts(server) == [
        ("the cache", "the signing key", "-", "? lone", "缓存的大小", "the cache")
    ]


def test_no_text_asks_nobody(api):
    with ProviderServer() as server:
        model = connect(api, server)
        assert model.embed([]).shape == (0, 8)
    assert sent_texts(server) == []


def test_a_known_model_is_not_asked_for_its_dimension():
    with ProviderServer() as server:
        model = connect(
            "openai", server, provider="openrouter", model="openai/text-embedding-3-small"
        )
        assert (model.dimension, model.max_tokens) == (1536, 8191)
    assert server.requests == ()


def test_many_texts_go_in_batches_by_count_and_by_tokens(api):
    texts = [f"text {n}" for n in range(300)] + ["word " * 15_000] * 3
    with ProviderServer(models=("scripted",)) as server:
        model = connect(api, server, provider="custom")
        model._facts = type(model._facts)(max_tokens=100_000)
        assert model.embed(texts).shape == (303, 8)
    sizes = sorted(len(batch) for batch in sent_texts(server))
    assert sum(sizes) == 303
    assert max(sizes) <= model.batch_size
    assert sizes[:2] == [1, 1]


def test_a_text_beyond_the_window_is_cut_to_it(api):
    with ProviderServer() as server:
        model = connect(api, server)
        model.embed(["word " * 5_000])
    ((sent,),) = sent_texts(server)
    assert model.max_tokens * 0.8 < model.count_tokens(sent) <= model.max_tokens


def test_vectors_are_put_into_the_order_of_their_indexes():
    texts = ["one", "two", "three"]
    with ProviderServer(
        embeddings=[None, faults.wrong_vectors(lambda right: right[::-1])]
    ) as server:
        model = connect("openai", server)
        assert np.allclose(model.embed(texts), model.embed(texts))
    assert sent_texts(server) == [tuple(texts)] * 2


BAD = {
    "too few": lambda right: right[:-1],
    "too many": lambda right: [*right, (len(right), [1.0] * 8)],
    "none": lambda _: [],
}
BAD_INDEX = {
    "twice the same": lambda right: [(0, vector) for _, vector in right],
    "out of range": lambda right: [(i + 1, vector) for i, vector in right],
    "no number": lambda right: [(None, vector) for _, vector in right],
    "true": lambda right: [(bool(i), vector) for i, vector in right],
}


@pytest.mark.parametrize("name", BAD)
def test_a_reply_of_the_wrong_number_is_asked_for_again(api, name):
    fault = faults.wrong_vectors(BAD[name])
    with ProviderServer(embeddings=[None, fault]) as server:
        vectors = connect(api, server).embed(["one", "two"])
    assert sent_texts(server) == [("one", "two")] * 2
    assert vectors.shape == (2, 8)


@pytest.mark.parametrize("name", BAD_INDEX)
def test_indexes_that_are_not_those_of_the_texts_are_never_trusted(name):
    fault = faults.wrong_vectors(BAD_INDEX[name])
    with ProviderServer(embeddings=[None, fault, fault]) as server:
        model = connect("openai", server)
        outcomes = model.embed(["one", "two"])
        expected = model.embed(["one", "two"])
    assert np.allclose(outcomes, expected)
    assert sent_texts(server)[:4] == [("one", "two"), ("one", "two"), ("one",), ("two",)]


VALUES = {
    "NaN": [math.nan] * 8,
    "infinite": [1.0] * 7 + [math.inf],
    "zero": [0.0] * 8,
    "words": ["x"] * 8,
    "truths": [True] * 8,
    "beyond floats": [10**400] * 8,
}


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_one_bad_vector_sinks_neither_the_others_nor_itself_for_good(api, value):
    def spoil(right):
        return [(i, value if i == 1 else vector) for i, vector in right]

    texts = ["one", "two", "three"]
    with ProviderServer(embeddings=[None, faults.wrong_vectors(spoil)]) as server:
        model = connect(api, server)
        spoiled, right = model.embed(texts), model.embed(texts)
    assert np.allclose(spoiled, right)
    assert sent_texts(server)[:2] == [tuple(texts), ("two",)]


def test_a_text_whose_vector_stays_bad_is_named_and_the_rest_kept(api):
    def spoil(right):
        return [(i, [math.nan] * 8 if len(right) == 1 or i == 1 else v) for i, v in right]

    fault = faults.wrong_vectors(spoil)
    texts = ["one", "two", "three"]
    with ProviderServer(embeddings=[None, fault, fault, fault, fault]) as server:
        model = connect(api, server)
        good, bad, other = model.embed_each(texts)
        with pytest.raises(BadEmbeddingError, match="not finite"):
            model.embed(texts)
    assert isinstance(bad, BadEmbeddingError)
    assert good.shape == other.shape == (8,)


def test_vectors_of_another_length_are_refused_and_not_asked_for_again(api):
    fault = faults.wrong_vectors(lambda right: [(i, [*vector, 1.0]) for i, vector in right])
    with ProviderServer(embeddings=[None, fault]) as server:
        model = connect(api, server)
        with pytest.raises(BadEmbeddingError, match="9 dimensions instead of 8"):
            model.embed(["one", "two"])
    assert len(sent_texts(server)) == 1


def test_a_vector_of_tiny_or_huge_numbers_keeps_its_direction():
    for scale in (1e-300, 1e300):
        fault = faults.wrong_vectors(lambda _, s=scale: [(0, [3 * s, 4 * s])])
        with ProviderServer(embeddings=[fault, fault]) as server:
            assert np.allclose(connect("openai", server).embed(["x"]), [[0.6, 0.8]])


def test_a_batch_that_is_too_large_is_halved_down_to_one(api):
    too_large = faults.status(413, "request_too_large")
    texts = ["one", "two", "three", "four"]
    script = [None, too_large, too_large, None, None, None]
    with ProviderServer(embeddings=script) as server:
        model = connect(api, server)
        assert np.allclose(model.embed(texts), model.embed(texts))
    sizes = [len(batch) for batch in sent_texts(server)]
    assert sizes == [4, 2, 1, 1, 2, 4]


def test_a_single_text_that_is_too_large_is_an_error(api):
    script = [None, faults.status(413, "request_too_large")]
    with ProviderServer(embeddings=script) as server, pytest.raises(RequestTooLargeError):
        connect(api, server).embed(["one"])


def test_what_may_pass_is_tried_again_after_the_time_that_was_asked_for(api):
    script = [None, faults.status(429, headers={"retry-after": "3"}), faults.status(503), None]
    waits = Waits()
    with ProviderServer(embeddings=script) as server:
        connect(api, server, waits).embed(["one"])
    assert waits.seconds[0] == 3
    assert 0.5 <= waits.seconds[1] <= 2
    assert len(sent_texts(server)) == 3


def test_it_is_tried_three_times_and_no_more(api):
    with ProviderServer(embeddings=[None, *[faults.status(503)] * 5]) as server:
        model = connect(api, server)
        with pytest.raises(Exception, match="503"):
            model.embed(["one"])
    assert len(sent_texts(server)) == 3


def test_a_wait_beyond_the_limit_of_the_call_is_not_waited_for(api):
    script = [None, faults.status(429, headers={"retry-after": "11"})]
    waits = Waits()
    with ProviderServer(embeddings=script) as server, pytest.raises(RateLimitedError):
        connect(api, server, waits).embed(["one"])
    assert waits.seconds == []


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (faults.status(401, "invalid_api_key"), AuthenticationError),
        (faults.status(402, "billing_error"), QuotaError),
        (faults.html(), BadResponseError),
        (faults.bad_json(), BadResponseError),
        (faults.reset(), ProviderUnreachableError),
    ],
    ids=str,
)
def test_a_failure_of_the_call_is_that_of_all_its_texts(api, fault, expected):
    if fault.name == "bad JSON":
        fault = faults.raw(b'{"data": [')
    with ProviderServer(embeddings=[None, fault, fault, fault]) as server:
        model = connect(api, server)
        with pytest.raises(expected):
            model.embed(["one", "two"])


@pytest.mark.parametrize("provider", ["anthropic", "groq", "xai", "minimax"])
def test_a_vendor_without_embeddings_is_refused_before_anything_is_sent(provider):
    api = "anthropic" if provider == "anthropic" else "openai"
    with ProviderServer() as server:
        place = endpoint(api, server.url, provider=provider)
        with pytest.raises(ConfigError, match=f"{provider} publishes no embedding model"):
            load_remote_embedder(place)
    assert server.requests == ()


def test_the_weights_of_ollama_are_known_by_their_digest():
    with ProviderServer(models=("scripted:latest", "other")) as server:
        first = load_remote_embedder(endpoint("ollama", server.url, key=None))
        second = load_remote_embedder(endpoint("ollama", server.url, key=None, model="other"))
        unlisted = load_remote_embedder(endpoint("ollama", server.url, key=None, model="new"))
    assert len(first.revision) == 16
    assert first.revision != second.revision
    assert unlisted.revision == "new"


def test_a_server_that_is_down_is_an_error_when_it_must_be_asked():
    with ProviderServer() as server:
        pass
    with pytest.raises(ProviderUnreachableError):
        connect("openai", server)


def test_many_threads_share_a_model_and_at_most_four_calls_are_under_way(api):
    busy, most, lock = 0, 0, threading.Lock()

    def count(right):
        nonlocal busy, most
        with lock:
            busy += 1
            most = max(most, busy)
        with lock:
            busy -= 1
        return right

    script = [None, *[faults.wrong_vectors(count)] * 40]
    with ProviderServer(embeddings=script) as server:
        model = connect(api, server)
        texts = [f"text {n}" for n in range(40)]
        with ThreadPoolExecutor(8) as threads:
            vectors = list(threads.map(lambda text: model.embed([text])[0], texts))
        assert np.allclose(vectors, model.embed(texts))
        assert server.n_open_connections <= 4


def test_a_key_stands_in_a_header_and_nowhere_else(api):
    with ProviderServer() as server:
        connect(api, server).embed(["one"])
    for asked in server.requests:
        assert sum(KEY in value for value in asked.headers.values()) == 1
        assert KEY not in asked.path
        assert KEY.encode() not in asked.raw
