"""The local source router."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from fingerpost.decide import LocalSourceRouter, SourceDescription
from fingerpost.errors import ConfigError

BILLING = SourceDescription("billing", "Billing", "invoices, refunds and credit cards")
NETWORK = SourceDescription("network", "Network", "routers, firewalls and proxies")


class LetterEmbedder:
    """Counts letters; counts its own calls as well."""

    name, revision, dimension, max_tokens = "test/letters", "1", 26, 99
    languages = frozenset({"en"})

    def __init__(self) -> None:
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.texts += texts
        rows = np.zeros((len(texts), 26), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for letter in text.casefold():
                if "a" <= letter <= "z":
                    row[ord(letter) - 97] += 1
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return np.asarray(rows / np.maximum(lengths, 1e-9), dtype=np.float32)

    def count_tokens(self, text: str) -> int:
        return len(text.split())


def test_without_a_model_shared_words_choose() -> None:
    router = LocalSourceRouter([BILLING, NETWORK])
    assert router.decide("how do refunds work?").choice == "billing"
    assert router.decide("my firewall blocks it").choice == "network"


def test_nothing_in_common_is_an_abstention() -> None:
    decision = LocalSourceRouter([BILLING, NETWORK]).decide("zebra migration season")
    assert (decision.choice, decision.abstained) == (None, True)
    assert 0 <= decision.confidence <= 1


def test_every_source_gets_a_score_also_when_none_is_chosen() -> None:
    router = LocalSourceRouter([BILLING, NETWORK])
    for text in ("refunds", "zebra", ""):
        scores = router.decide(text).scores
        assert set(scores) == {"billing", "network"}
        assert all(0 <= score <= 1 for score in scores.values())


def test_the_nearest_example_chooses() -> None:
    sources = [
        SourceDescription("a", "aaa", examples=("pay_my_bill", "refund_status")),
        SourceDescription("b", "bbb", examples=("jump_start", "oil_change")),
    ]
    decision = LocalSourceRouter(sources, LetterEmbedder()).decide("oil change")
    assert decision.scores["b"] > decision.scores["a"]


def test_sources_are_embedded_once_and_a_known_vector_is_not_computed_again() -> None:
    embedder = LetterEmbedder()
    router = LocalSourceRouter([BILLING, NETWORK], embedder)
    built = len(embedder.texts)
    vector = embedder.embed(["refunds"])[0]
    plain = router.decide("refunds")
    assert len(embedder.texts) == built + 2
    assert router.decide("refunds", embedding=vector) == plain
    assert len(embedder.texts) == built + 2


def test_the_order_of_the_sources_does_not_change_the_choice() -> None:
    for text in ("refunds for cards", "proxies"):
        one = LocalSourceRouter([BILLING, NETWORK], LetterEmbedder()).decide(text)
        two = LocalSourceRouter([NETWORK, BILLING], LetterEmbedder()).decide(text)
        assert (one.choice, dict(one.scores)) == (two.choice, dict(two.scores))


@pytest.mark.parametrize(
    ("sources", "message"),
    [
        ([], "at least one"),
        ([BILLING, BILLING], "twice"),
        ([SourceDescription("empty", " ", "")], "description"),
    ],
)
def test_sources_that_cannot_be_told_apart_are_refused(
    sources: list[SourceDescription], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        LocalSourceRouter(sources)
