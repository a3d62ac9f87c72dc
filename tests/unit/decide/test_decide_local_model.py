"""The decision model without network."""

from __future__ import annotations

import itertools
import string
from collections.abc import Sequence

import anyio
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from fingerpost.decide import LocalDecisionModel
from fingerpost.decide.query_router import DEFAULT_QUESTION_TEMPLATE, DecisionModelQueryRouter
from fingerpost.errors import ConfigError, LaneError
from fingerpost.lanes.asked import ask
from fingerpost.types.question import (
    AnswerStatus,
    Choice,
    DecisionInput,
    DecisionResponse,
    Question,
    Score,
    YesNo,
)
from fingerpost.types.source import Passage, Source

BILLING = "Invoices, refunds, credit cards and unpaid bills"
NETWORK = "Routers, firewalls, proxies and slow connections"


class Letters:
    """Counts pairs of letters; says what it was asked."""

    name, revision, dimension, max_tokens = "local/letters", "1", 676, 99
    languages = frozenset({"en"})

    def __init__(self) -> None:
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.texts += texts
        rows = np.full((len(texts), 676), 1e-3, dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            low = [string.ascii_lowercase.find(letter) for letter in text.casefold()]
            for a, b in itertools.pairwise(low):
                if a >= 0 and b >= 0:
                    row[26 * a + b] += 1
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)

    def count_tokens(self, text: str) -> int:
        return len(text.split())


class Broken(Letters):
    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        raise ValueError("no vectors today")


class Nothing:
    async def retrieve(self, query: str, top_k: int) -> Sequence[Passage]:
        return ()


def asked(
    model: LocalDecisionModel, input: DecisionInput, questions: Sequence[Question]
) -> DecisionResponse:
    async def run() -> DecisionResponse:
        return await ask(model, input, questions)

    return anyio.run(run)


def about(*descriptions: str) -> list[YesNo]:
    return [
        YesNo(f"q{n}", DEFAULT_QUESTION_TEMPLATE.replace("{{description}}", text))
        for n, text in enumerate(descriptions)
    ]


def yes(response: DecisionResponse) -> list[float]:
    return [answer.probabilities["yes"] for answer in response.answers.values()]


MODELS = pytest.mark.parametrize("embedder", [None, Letters()], ids=["words", "embeddings"])


@MODELS
def test_yes_is_most_probable_of_the_source_that_the_query_speaks_for(
    embedder: Letters | None,
) -> None:
    model = LocalDecisionModel(embedder)
    billing, network = yes(asked(model, "unpaid bills and refunds", about(BILLING, NETWORK)))
    assert billing >= 0.5 > network


@MODELS
def test_the_order_of_the_questions_does_not_change_their_answers(
    embedder: Letters | None,
) -> None:
    model = LocalDecisionModel(embedder)
    one = yes(asked(model, "slow proxies", about(BILLING, NETWORK)))
    two = yes(asked(model, "slow proxies", about(NETWORK, BILLING)))
    assert one == pytest.approx(two[::-1])


def test_words_that_no_question_shares_are_no_for_all() -> None:
    found = yes(asked(LocalDecisionModel(), "zebra migration", about(BILLING, NETWORK)))
    assert max(found) < 0.5


def test_sources_of_one_description_are_as_probable_as_each_other() -> None:
    found = yes(asked(LocalDecisionModel(Letters()), "refunds", about(BILLING, BILLING, NETWORK)))
    assert found[0] == found[1] > found[2]


def test_a_conversation_is_read_by_its_query() -> None:
    model = LocalDecisionModel(Letters())
    history = [{"role": "user", "content": "slow proxies and firewalls"}]
    told = asked(model, {"query": "refunds", "messages": history}, about(BILLING, NETWORK))
    assert yes(told) == yes(asked(model, "refunds", about(BILLING, NETWORK)))


@pytest.mark.parametrize(
    "input", [{"query": "q", "passages": {"p1": "text"}}, {"claim": "a"}, {"query": 3}, ["q"]]
)
def test_about_an_input_that_it_cannot_read_it_abstains(input: DecisionInput) -> None:
    response = asked(LocalDecisionModel(Letters()), input, about(BILLING, NETWORK))
    assert {answer.status for answer in response.answers.values()} == {AnswerStatus.ABSTAINED}


def test_a_choice_gives_each_option_a_probability_and_says_how_probable_none_is() -> None:
    options = {"billing": BILLING, "network": NETWORK}
    response = asked(
        LocalDecisionModel(Letters()), "credit cards", [Choice("c", "Which?", options)]
    )
    answer = response.answers["c"]
    assert answer.label == "billing"
    assert sum(answer.probabilities.values()) == pytest.approx(1)
    assert answer.unknown_probability is not None
    assert 0 < answer.unknown_probability < 1


def test_an_option_called_none_gets_the_probability_of_none() -> None:
    options = {"none": None, "billing": BILLING, "network": NETWORK}
    response = asked(LocalDecisionModel(Letters()), "xyz", [Choice("c", "Which?", options)])
    answer = response.answers["c"]
    assert list(answer.probabilities) == list(options)
    assert answer.probabilities["none"] == pytest.approx(answer.unknown_probability)


def test_a_score_and_a_two_sided_question_are_answered_without_much_confidence() -> None:
    questions = [
        Score("s", "How hard?", ("One fact", "Several pages", "A whole book")),
        YesNo("y", "Is it small talk?", "A greeting", "A question"),
    ]
    response = asked(LocalDecisionModel(Letters()), "how are you", questions)
    assert [answer.status for answer in response.answers.values()] == ["answered"] * 2
    confidence = [answer.confidence for answer in response.answers.values()]
    assert all(value is not None and value < 0.9 for value in confidence)


def test_descriptions_are_embedded_once_and_the_query_once_a_call() -> None:
    embedder = Letters()
    model = LocalDecisionModel(embedder)
    questions: list[Question] = [*about(BILLING, NETWORK), Choice("c", "?", {"a": "x", "b": "y"})]
    asked(model, "refunds", questions)
    known = len(embedder.texts)
    asked(model, "proxies", questions)
    assert embedder.texts[known:] == ["proxies"]


def test_a_failing_embedding_model_is_a_lane_error() -> None:
    with pytest.raises(LaneError, match="no vectors today"):
        asked(LocalDecisionModel(Broken()), "refunds", about(BILLING, NETWORK))


def test_inside_the_query_router_the_likeliest_source_is_used() -> None:
    sources = [Source("billing", BILLING, Nothing()), Source("network", NETWORK, Nothing())]
    router = DecisionModelQueryRouter(LocalDecisionModel(Letters()), sources)
    routing = anyio.run(router.route, "unpaid bills and refunds")
    assert routing.names == ("billing",)
    assert routing.model == "local/letters"


def test_after_fit_examples_decide_what_descriptions_do_not_say() -> None:
    examples = {
        "North": [f"quokka quiz {n} quack" for n in "abcdefgh"],
        "South": [f"vivid vulture {n} vow" for n in "abcdefgh"],
    }
    plain = LocalDecisionModel(Letters())
    learnt = plain.fit(examples)
    before = yes(asked(plain, "quiet quokka", about("North", "South")))
    after = yes(asked(learnt, "quiet quokka", about("North", "South")))
    assert after[0] > max(before[0], after[1])
    assert learnt.model == "letters+examples"


def test_a_fitted_model_answers_other_questions_as_before() -> None:
    examples = {"North": ["quokka quiz", "quack"], "South": ["vivid vulture", "vow"]}
    plain = LocalDecisionModel(Letters())
    other = about(BILLING, NETWORK)
    assert yes(asked(plain.fit(examples), "refunds", other)) == yes(asked(plain, "refunds", other))


def test_fitting_by_words_alone_is_refused() -> None:
    with pytest.raises(ConfigError, match="embedding model"):
        LocalDecisionModel().fit({"a": ["x"], "b": ["y"]})


TEXT = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=40)


@given(TEXT, st.lists(TEXT, min_size=1, max_size=5), st.booleans())
@settings(max_examples=60, deadline=None)
def test_any_text_gives_answers_that_fit_their_questions(
    query: str, descriptions: list[str], by_words: bool
) -> None:
    model = LocalDecisionModel(None if by_words else Letters())
    questions: list[Question] = [
        *(YesNo(f"q{n}", f"Does it help? {text}") for n, text in enumerate(descriptions)),
        Choice("c", "Which?", {f"o{n}": text for n, text in enumerate([*descriptions, "none"])}),
        Score("s", "How much?", ("little", *descriptions)),
    ]
    response = asked(model, query, questions)
    assert list(response.answers) == [question.id for question in questions]
    assert all(one.status is AnswerStatus.ANSWERED for one in response.answers.values())
