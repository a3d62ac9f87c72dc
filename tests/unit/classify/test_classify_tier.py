"""The offline classifier."""

from __future__ import annotations

import time

import pytest

from fingerpost.classify import LocalClassifier
from fingerpost.errors import ConfigError
from fingerpost.types.decision import DecidedBy, Strategy, Tier
from fingerpost.types.evidence import FirstLook
from fingerpost.types.query import Turn

CLASSIFIER = LocalClassifier()


def tier_of(text: str) -> Tier:
    return CLASSIFIER.classify(text, confidence_threshold=0).tier


@pytest.mark.parametrize(
    "text",
    [
        "hi", "Hello there!", "thanks a lot!", "good morning", "who are you?", "bye",
        "tell me a joke", "how are you doing?", "👍", "you are funny", "flip a coin",
        "what is 87 divided by 4", "how do you spell rhythm", "Danke schön!", "¿Cómo estás?",
        "obrigado", "Bonjour", "grazie mille", "Спасибо большое", "как дела?", "teşekkür ederim",
        "apa kabar", "terima kasih", "你好", "谢谢！", "ありがとうございます", "안녕하세요",
        "สวัสดีครับ", "नमस्ते", "شكرا", "سلام", "آپ کیسے ہیں", "dziękuję", "γεια σου", "תודה רבה",
        "cảm ơn", "tack så mycket",
    ],
)  # fmt: skip
def test_greetings_thanks_and_chatter_need_no_retrieval(text: str) -> None:
    assert tier_of(text) is Tier.TRIVIAL


@pytest.mark.parametrize(
    "text",
    [
        "hi, how do I configure redis?", "thanks, and how do I set the timeout?",
        "Hallo, wie installiere ich Helm?", "你好，如何安装 helm？", "kubernetes", "foo bar",
        "ECONNREFUSED 127.0.0.1:5432", "???", "redis timeout error", "tell me about the config file",
        "what can you tell me about caching", "can you show me how to set `LOG_LEVEL`?",
        "What is a guardrail?", "qwertz", "x", "list all environment variables",
        "Can I use it with Postgres 15?", "why did prices fall over the past 2-3 decades",
        "what happened to the sizes in the years 1812-14",
    ],
)  # fmt: skip
def test_a_real_or_an_unknown_question_is_never_t0(text: str) -> None:
    assert tier_of(text) is not Tier.TRIVIAL


@pytest.mark.parametrize("text", ["kubernetes", "foo bar", "qwertz"])
def test_a_question_without_signal_is_not_left_at_the_cheapest_lookup(text: str) -> None:
    result = CLASSIFIER.classify(text)
    assert (result.tier, result.escalated_from) == (Tier.MULTI_SOURCE, Tier.LOOKUP)


@pytest.mark.parametrize(
    ("text", "tier"),
    [
        ("How do I install the CLI on macOS?", Tier.LOOKUP),
        ("When was the Eiffel Tower opened?", Tier.LOOKUP),
        ("Who is the mother of the director of the film The Long Road?", Tier.MULTI_SOURCE),
        ("Were Anna Bell and Carl Rowe born in the same country?", Tier.MULTI_SOURCE),
        (
            "Compare the architectures of both releases and analyze the risks of migrating.",
            Tier.RESEARCH,
        ),
        ("How does remote work affect the mental health of employees?", Tier.RESEARCH),
        ("请为我调研并分析行业现状、发展趋势与主要风险，并给出详细的报告。", Tier.RESEARCH),
    ],
)
def test_the_form_of_a_question_tells_its_tier(text: str, tier: Tier) -> None:
    assert tier_of(text) is tier


def test_scores_are_probabilities_whose_maximum_is_the_tier_before_escalation() -> None:
    result = CLASSIFIER.classify("Which license does the project use?", confidence_threshold=1.0)
    best = max(result.scores, key=lambda label: result.scores[label])
    assert sum(result.scores.values()) == pytest.approx(1, abs=1e-3)
    assert result.escalated_from is not None
    assert best == result.escalated_from.label
    assert result.confidence == result.scores[best]
    assert result.decided_by is DecidedBy.LOCAL


def test_the_result_says_why() -> None:
    result = CLASSIFIER.classify("How does caching affect the performance of both engines?")
    assert result.signals
    assert "%" in result.reasoning
    weights = [abs(weight) for _, weight in result.signals]
    assert weights == sorted(weights, reverse=True)


def test_a_corpus_topic_is_never_small_talk() -> None:
    text = "tell me something funny about you robots"
    assert CLASSIFIER.classify(text, confidence_threshold=0).tier is Tier.TRIVIAL
    result = CLASSIFIER.classify(text, topics=["Robots exclusion"], confidence_threshold=0)
    assert result.tier is not Tier.TRIVIAL
    assert result.scores["T0"] == 0


def test_a_greeting_stays_small_talk_when_a_topic_has_the_same_word() -> None:
    assert CLASSIFIER.classify("hello there", topics=["Hello world"]).tier is Tier.TRIVIAL


def test_yes_to_an_offer_is_work_and_yes_out_of_the_blue_is_not() -> None:
    offer = [Turn("user", "plans?"), Turn("assistant", "Two. Shall I compare both plans?")]
    assert CLASSIFIER.classify("yes, do it", history=offer).tier is not Tier.TRIVIAL
    assert CLASSIFIER.classify("yes").tier is Tier.TRIVIAL


def test_only_known_tools_that_are_named_are_needed() -> None:
    result = CLASSIFIER.classify("run web_search for it", tool_names=["web_search", "search"])
    assert result.tools_needed == ("web_search",)


def look(coverage: float, pooled: float, documents: int, gap: float) -> FirstLook:
    return FirstLook(coverage, pooled, 1.0, documents, gap, 0.5)


def test_scattered_evidence_speaks_for_joining_and_one_full_passage_for_a_lookup() -> None:
    text = "What is the timeout of the client that the plugin registers?"
    single = CLASSIFIER.classify(text, first_look=look(1.0, 1.0, 1, 0.9)).scores
    spread = CLASSIFIER.classify(text, first_look=look(0.3, 0.9, 8, 0.0)).scores
    plain = CLASSIFIER.classify(text).scores
    assert single["T1"] > plain["T1"] > spread["T1"]
    assert spread["T2"] > plain["T2"]


def test_the_default_strategy_serves_lookups_only() -> None:
    text = "How do I install the CLI on macOS?"
    result = CLASSIFIER.classify(text, default_strategy=Strategy.MODERATE)
    assert (result.tier, result.strategy) == (Tier.LOOKUP, Strategy.MODERATE)


def test_weights_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ConfigError, match="chatter"):
        LocalClassifier({})
    model = {"format": 2, "labels": [], "bias": [], "weights": {}}
    with pytest.raises(ConfigError, match="format"):
        LocalClassifier({"chatter": model, "tier": model})


def test_own_weights_decide() -> None:
    chatter = {"format": 1, "labels": ["chatter", "question"], "bias": [0, 9], "weights": {}}
    tier = {"format": 1, "labels": ["T1", "T2", "T3"], "bias": [0, 0, 9], "weights": {}}
    classifier = LocalClassifier({"chatter": chatter, "tier": tier})
    assert classifier.classify("When did it start in Berlin?").tier is Tier.RESEARCH


def test_a_hundred_kilobytes_cost_about_as_much_as_a_long_question() -> None:
    def cost(text: str) -> float:
        started = time.process_time()
        for _ in range(20):
            CLASSIFIER.classify(text)
        return time.process_time() - started

    long = "why does the build fail with error E42 in module x ? " * 47
    assert cost(long * 40) < 10 * cost(long) + 0.2
