"""What calls cost, by the dated table."""

import datetime as dt

import pytest

from fingerpost.config.providers import DECIDERS, PROVIDERS, RERANKERS
from fingerpost.errors import BudgetExceededError
from fingerpost.lanes.budget import Meter
from fingerpost.lanes.prices import PRICES_AS_OF, price_of, priced
from fingerpost.types.result import Usage


def used(model, n_in=1000, n_out=100, **more):
    return Usage("generate", model, n_in, n_out, **more)


def test_a_call_costs_what_its_tokens_cost():
    assert priced(used("openai/gpt-4o-mini", 1_000_000, 500_000)).cost_usd == pytest.approx(0.45)


def test_tokens_out_of_the_cache_cost_what_the_vendor_takes_for_them():
    usage = used("openai/gpt-4o-mini", 1_000_000, 0, cached_tokens=400_000)
    assert priced(usage).cost_usd == pytest.approx(0.6 * 0.15 + 0.4 * 0.075)


def test_tokens_out_of_a_cache_without_a_known_price_cost_all_of_it():
    assert price_of("together/openai/gpt-oss-20b").cost(1_000_000, 0, 400_000) == pytest.approx(
        0.05
    )


def test_a_dated_name_costs_what_the_name_does():
    assert price_of("openai/gpt-4o-2024-11-20") == price_of("openai/gpt-4o")
    assert price_of("anthropic/claude-haiku-4-5-20251001") == price_of("anthropic/claude-haiku-4-5")


def test_a_long_prompt_is_priced_as_a_whole_by_the_long_price():
    price = price_of("anthropic/claude-haiku-5-5")
    assert price.cost(100_000, 0) == pytest.approx(0.01)
    assert price.cost(100_001, 1_000_000) == pytest.approx(0.0500005 + 2.5)


@pytest.mark.parametrize("model", ["openai/gpt-99", "gpt-4o", "ollama/llama3.2", "", "custom/x"])
def test_an_unknown_model_has_no_cost(model):
    assert price_of(model) is None
    assert priced(used(model)).cost_usd is None


def test_a_model_in_this_process_costs_nothing():
    assert priced(used("local/minilm-l6-v2-int8")).cost_usd == 0.0


def test_a_cost_that_is_told_is_kept():
    assert priced(used("openai/gpt-4o", cost_usd=7.0)).cost_usd == 7.0


def test_a_call_that_was_turned_away_costs_nothing_and_one_that_nobody_knows_of_is_unknown():
    turned_away = used("openai/gpt-4o", 0, 0, outcome="RateLimitedError")
    unknown = used("openai/gpt-4o", 0, 0, outcome="StreamTruncatedError", estimated=True)
    assert priced(turned_away).cost_usd == 0.0
    assert priced(unknown).cost_usd is None


def test_every_row_is_a_price():
    for model in ("openai/gpt-6-luna", "xai/grok-4.7", "minimax/MiniMax-M3"):
        price = price_of(model)
        assert 0 < price.input < price.output
        assert price.cached < price.input
        assert price.long.input > price.input


def test_the_default_models_of_the_keyed_providers_have_prices_but_for_these():
    named = {
        f"{provider.name}/{model}"
        for provider in PROVIDERS
        if provider.key_variable
        for model in (provider.cheap_model, provider.strong_model, provider.embedding_model)
        if model
    }
    assert {name for name in named if price_of(name) is None} == {
        "gemini/gemini-embedding-2",
        "mistral/mistral-large-latest",
        "mistral/mistral-small-latest",
        "together/intfloat/multilingual-e5-large-instruct",
    }


def test_the_default_models_that_decide_and_rerank_have_prices_but_for_these():
    named = {
        *(f"{p.name}/{p.decision_model}" for p in DECIDERS.values() if p.key_variable),
        *(f"{p.name}/{p.rerank_model}" for p in RERANKERS.values() if p.key_variable),
    }
    assert {name for name in named if price_of(name) is None} == {
        "cohere/rerank-v4.0-fast",
        "jina/jina-reranker-v3",
        "openrouter/typesafe/jev-1.14",
        "typesafe/jev-latest",
    }


@pytest.mark.parametrize(
    "model",
    [
        "gemini/gemini-decision-1",
        "typesafe/jev-1.13.0",
        "openrouter/typesafe/jev-1.13-20260917",
        "voyage/rerank-2.5",
    ],
)
def test_a_budget_holds_for_models_that_decide_and_rerank(model):
    meter = Meter(budget_usd=1e-9)
    with pytest.raises(BudgetExceededError):
        meter.hold(model, 1000)
    assert meter.unchecked == ()


def test_the_table_is_dated():
    assert dt.date.fromisoformat(PRICES_AS_OF)
