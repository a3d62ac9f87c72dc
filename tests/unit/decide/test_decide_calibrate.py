"""Fitting thresholds on labelled questions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fingerpost.decide.calibrate import (
    FEWEST,
    N_FOLDS,
    Labelled,
    best_cut,
    fit_thresholds,
    folds_of,
    measures,
)
from fingerpost.decide.probability_map import fit_map
from fingerpost.decide.query_router import DecisionModelQueryRouter
from fingerpost.errors import ConfigError
from fingerpost.types.question import DecisionAnswer, DecisionResponse
from fingerpost.types.source import Source

TEMPLATE = "Could a source about {{description}} help?"
NAMES = ("api", "blog", "guide")


def fit(labelled, *, model="m", backend="b", waste=0.5):
    return fit_thresholds(labelled, backend=backend, model=model, template=TEMPLATE, waste=waste)


def drawn(yes, no, *, n=60, names=NAMES, seed=5) -> Labelled:
    """Each question has one source in turn; stated probabilities lie within ``yes`` and ``no``."""
    rng = np.random.default_rng(seed)
    gold = tuple(names[place % len(names)] for place in range(n))
    serves = np.array([[name == truth for name in names] for truth in gold])
    stated = np.where(serves, rng.uniform(*yes, serves.shape), rng.uniform(*no, serves.shape))
    return Labelled(names, stated, gold, tuple(map(str, range(n))))


@pytest.mark.parametrize(("yes", "no"), [((0.2, 0.3), (0.0, 0.1)), ((0.9, 1.0), (0.5, 0.8))])
def test_the_threshold_lies_where_the_backend_itself_parts_yes_from_no(yes, no) -> None:
    found = fit(drawn(yes, no))
    assert no[1] - 0.01 <= found.thresholds.overall <= yes[0] + 0.01
    assert found.thresholds.expected["cost"] == 0
    assert found.thresholds.expected["exact"] == 1
    assert found.thresholds.before["cost"] > 0


def test_a_source_on_another_scale_gets_a_threshold_of_its_own_and_it_is_said() -> None:
    labelled = drawn((0.5, 0.6), (0.1, 0.2), n=150)
    labelled.probabilities[:, 1] += 0.35
    found = fit(labelled).thresholds
    assert found.sources["blog"].own
    assert 0.55 <= found["blog"] <= 0.86
    assert "cheaper" in found.sources["blog"].reason
    assert found.sources["blog"].n_yes == 50


def test_a_source_that_would_gain_nothing_takes_the_threshold_of_all() -> None:
    found = fit(drawn((0.5, 0.6), (0.1, 0.2), n=150)).thresholds
    assert not any(one.own for one in found.sources.values())
    assert set(found.values()) == {found.overall}
    assert "no cheaper" in found.sources["api"].reason


def test_a_source_with_few_questions_takes_the_threshold_of_all_and_says_how_few() -> None:
    labelled = drawn((0.5, 0.6), (0.1, 0.2), n=90)
    gold = tuple(
        "api" if truth == "blog" and n > 12 else truth for n, truth in enumerate(labelled.gold)
    )
    few = Labelled(NAMES, labelled.probabilities, gold, labelled.groups)
    found = fit(few).thresholds.sources["blog"]
    assert not found.own
    assert found.reason == f"only 4 questions that it serves, {FEWEST} are needed"


def test_waste_moves_the_threshold_up() -> None:
    labelled = drawn((0.2, 0.9), (0.1, 0.6), n=300)
    cuts = [fit(labelled, waste=waste).thresholds.overall for waste in (0.1, 0.5, 2.0)]
    assert cuts == sorted(cuts)
    assert cuts[0] < cuts[-1]


@pytest.mark.parametrize("waste", [0, -1, float("nan"), float("inf")])
def test_waste_must_be_a_cost(waste) -> None:
    with pytest.raises(ConfigError, match="waste"):
        fit(drawn((0.5, 0.6), (0.1, 0.2)), waste=waste)


def test_too_few_labels_are_refused_with_how_many_there_are() -> None:
    with pytest.raises(ConfigError, match=r"9 labelled questions, 9 of them"):
        fit(drawn((0.5, 0.6), (0.1, 0.2), n=9))


def test_a_backend_without_answers_is_refused() -> None:
    labelled = drawn((0.5, 0.6), (0.1, 0.2))
    labelled.probabilities[:] = np.nan
    with pytest.raises(ConfigError, match="answered no question"):
        fit(labelled)


def test_a_source_without_an_answer_counts_as_not_used() -> None:
    labelled = drawn((0.5, 0.6), (0.1, 0.2))
    labelled.probabilities[0] = np.nan
    found = fit(labelled)
    assert not found.used[0].any()
    assert np.isnan(found.calibrated[0]).all()
    assert found.thresholds.expected["cost"] == pytest.approx(1 / 60, abs=1e-4)


def test_expected_measures_are_of_questions_that_were_not_fitted_on() -> None:
    """Stated numbers that say nothing: what fits the seen questions must not be promised."""
    rng = np.random.default_rng(1)
    labelled = drawn((0, 1), (0, 1), n=100)
    serves = labelled.serves
    noise = Labelled(NAMES, rng.uniform(size=serves.shape), labelled.gold, labelled.groups)
    found = fit(noise).thresholds
    cuts = np.array([found[name] for name in NAMES])
    seen = measures(noise.probabilities >= cuts, serves, 0.5)
    assert found.expected["cost"] >= seen["cost"]


def test_boastful_probabilities_are_made_honest() -> None:
    rng = np.random.default_rng(3)
    honest = rng.uniform(0.02, 0.98, 900)
    truth = rng.uniform(size=900) < honest
    odds = np.log(honest / (1 - honest))
    boastful = 1 / (1 + np.exp(-3 * odds))
    chart = fit_map(boastful, truth, np.arange(900) % N_FOLDS)
    assert chart.kind == "temperature"
    assert chart.slope == pytest.approx(1 / 3, abs=0.08)


def test_probabilities_that_lean_to_one_side_are_shifted_back() -> None:
    rng = np.random.default_rng(4)
    honest = rng.uniform(0.02, 0.98, 900)
    truth = rng.uniform(size=900) < honest
    leaning = 1 / (1 + np.exp(-np.log(honest / (1 - honest)) - 1.5))
    chart = fit_map(leaning, truth, np.arange(900) % N_FOLDS)
    assert chart.kind == "platt"
    assert chart(0.8) == pytest.approx(1 / (1 + np.exp(-np.log(4) + 1.5)), abs=0.07)


def test_honest_probabilities_are_left_as_they_are() -> None:
    rng = np.random.default_rng(6)
    honest = rng.uniform(0.02, 0.98, 900)
    truth = rng.uniform(size=900) < honest
    assert fit_map(honest, truth, np.arange(900) % N_FOLDS).kind == "none"


@given(
    st.lists(st.tuples(st.integers(0, 20), st.booleans()), min_size=1, max_size=40),
    st.sampled_from([0.1, 0.5, 1.0, 3.0]),
)
def test_no_threshold_is_cheaper_than_the_fitted_one(pairs, waste) -> None:
    stated = np.array([level / 20 for level, _ in pairs])
    truth = np.array([serves for _, serves in pairs])

    def cost(cut):
        used = stated >= cut
        return (truth & ~used).sum() + waste * (used & ~truth).sum()

    cut = best_cut(stated, truth, waste)
    assert 0 <= cut <= 1
    assert cost(cut) <= min(cost(level / 40) for level in range(41)) + 1e-9


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 9)), min_size=1, max_size=60))
def test_no_group_is_split_between_fitting_and_testing(rows) -> None:
    groups = [str(group) for _, group in rows]
    folds = folds_of([truth for truth, _ in rows], groups)
    for group in set(groups):
        assert len({int(f) for f, g in zip(folds, groups, strict=True) if g == group}) == 1
    assert set(folds.tolist()) <= set(range(N_FOLDS))


def test_each_source_is_spread_over_all_folds_whatever_the_order() -> None:
    gold = ["a", "b", "c", "d", "e"] * 5
    folds = folds_of(gold, [str(n) for n in range(25)])
    for name in "abcde":
        assert {int(f) for f, g in zip(folds, gold, strict=True) if g == name} == set(
            range(N_FOLDS)
        )


class Backend:
    """Knows the right source, and states it on a scale of its own."""

    def __init__(self, provider, model, yes, no) -> None:
        self.provider, self.model = provider, model
        self.yes, self.no = yes, no

    async def decide(self, input, questions):
        spread = (sum(map(ord, str(input))) % 11) / 10
        answers = {}
        for question in questions:
            low, high = self.yes if str(input).split()[0] in question.text else self.no
            p = low + spread * (high - low)
            answers[question.id] = DecisionAnswer(
                question.id, probabilities={"yes": p, "no": 1 - p}
            )
        return DecisionResponse(answers, f"{self.provider}/{self.model}")

    async def close(self) -> None:
        """Nothing is open."""


class Nothing:
    async def retrieve(self, query, top_k):
        return []


SOURCES = [Source(name, name, Nothing()) for name in NAMES]
QUESTIONS = [(f"{NAMES[n % 3]} question {n}", NAMES[n % 3]) for n in range(60)]


async def labelled_by(backend) -> Labelled:
    router = DecisionModelQueryRouter(backend, SOURCES, question_template=TEMPLATE)
    rows = []
    for text, _ in QUESTIONS:
        routing = await router.route(text)
        rows.append([item.probability for item in routing.assessments])
    gold = tuple(source for _, source in QUESTIONS)
    return Labelled(NAMES, np.array(rows), gold, tuple(text for text, _ in QUESTIONS))


@pytest.mark.anyio
async def test_one_number_means_different_things_to_two_backends_and_does_not_travel() -> None:
    """Field note 21: 0.7 fired never at one backend and wrongly at another."""
    shy = Backend("shy", "s-1", yes=(0.3, 0.5), no=(0.0, 0.2))
    bold = Backend("bold", "b-1", yes=(0.9, 1.0), no=(0.6, 0.8))
    fitted = {}
    for backend in (shy, bold):
        found = fit(await labelled_by(backend), backend=backend.provider, model=backend.model)
        assert found.thresholds.expected["exact"] == 1
        fitted[backend.provider] = found.thresholds

    async def used(backend, **options):
        router = DecisionModelQueryRouter(backend, SOURCES, question_template=TEMPLATE, **options)
        return [(await router.route(text)).names for text, _ in QUESTIONS]

    right = [(source,) for _, source in QUESTIONS]
    assert not any(await used(shy, min_probability=0.7))
    assert sum(len(names) > 1 for names in await used(bold, min_probability=0.7)) > 10
    assert await used(shy, thresholds=fitted["shy"]) == right
    assert await used(bold, thresholds=fitted["bold"]) == right
    with pytest.raises(ConfigError, match="backend is 'bold', not 'shy'") as refused:
        await used(bold, thresholds=fitted["shy"])
    assert "fingerpost calibrate routing" in refused.value.hint


def test_thresholds_that_would_cost_more_than_one_half_are_not_kept() -> None:
    # Yes and no overlap, so that a cut fitted on few questions follows chance.
    labelled = drawn((0.45, 0.62), (0.38, 0.55), n=30, seed=3)
    found = fit(labelled)
    assert found.rejected["cost"] > found.thresholds.before["cost"]
    assert found.thresholds.expected == found.thresholds.before
    assert found.thresholds.overall == 0.5
    assert dict(found.thresholds) == dict.fromkeys(NAMES, 0.5)
    assert "0.5 is cheaper" in found.thresholds.sources["api"].reason
    assert np.array_equal(found.used, found.used_before)


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10_000), st.floats(0.05, 2))
def test_expected_is_never_dearer_than_before(seed, waste) -> None:
    found = fit(drawn((0.4, 0.7), (0.3, 0.6), n=30, seed=seed), waste=waste).thresholds
    assert found.expected["cost"] <= found.before["cost"]
