"""Scripted subjects: what each command counts, and that a crash is recorded and counts as wrong."""

from __future__ import annotations

import pytest

from fingerpost.eval.cases import AnswerCase, ClaimCase, RetrievalCase, RoutingCase, TierCase
from fingerpost.eval.grounding import Judged, measure_answers, measure_claims
from fingerpost.eval.measurement import Failure
from fingerpost.eval.ranking import Ranking, measured
from fingerpost.eval.routing import NOBODY, Routed, measure_routing
from fingerpost.eval.tiers import measure_tiers
from fingerpost.types.answer import Verdict
from fingerpost.types.decision import ClassificationResult, Strategy, Tier


def question(identity, gold, language="", **more):
    gold = frozenset(gold)
    return RetrievalCase(
        identity, identity, gold, dict.fromkeys(gold, 1.0), language=language, **more
    )


def test_retrieval_is_scored_over_questions_with_gold_and_abstention_apart():
    asked = [question("q1", "a", "en"), question("q2", "b", "de"), question("q3", "", "en")]
    found = [
        Ranking(("a", "x"), retrieve_ms=1.0, embed_ms=2.0),
        Ranking(("x", "b"), retrieve_ms=3.0, embed_ms=2.0),
        Ranking(("x",), retrieve_ms=2.0, embed_ms=2.0, abstained=True),
    ]
    out = measured("set", asked, found).to_json()
    assert {k: out[k] for k in ("n", "hit@1", "hit@5", "mrr", "recall@5", "p50_ms")} == {
        "n": 2,
        "hit@1": 0.5,
        "hit@5": 1.0,
        "mrr": 0.75,
        "recall@5": 1.0,
        "p50_ms": 2.0,
    }
    assert (out["n_without_gold"], out["abstained"], out["abstained_with_gold"]) == (
        1,
        1.0,
        0.0,
    )
    assert out["languages"]["de"]["hit@1"] == 0.0
    assert out["languages"]["en"]["hit@1"] == 1.0


def test_a_group_without_any_gold_has_no_ranking_measures():
    asked = [question("q1", "a", answerability="yes"), question("q2", "", answerability="no")]
    found = [Ranking(("a",)), Ranking((), abstained=True)]
    out = measured("set", asked, found).to_json()["answerability"]["no"]
    assert (out["n"], out["hit@1"], out["mrr"], out["abstained"]) == (0, None, None, 1.0)
    assert out["abstained_with_gold"] is None


def test_a_place_below_the_tenth_is_no_hit():
    ranked = (*(f"x{n}" for n in range(10)), "a")
    out = measured("set", [question("q", "a")], [Ranking(ranked)]).to_json()
    assert (out["hit@10"], out["mrr"], out["ndcg@10"]) == (0.0, 0.0, 0.0)


def classification(tier, confidence=0.9):
    tier = Tier(tier)
    return ClassificationResult(tier, Strategy.for_tier(tier), confidence, "scripted")


def test_tiers_leave_out_low_labels_unless_asked():
    rows = [
        TierCase("a", "hi", "T0", "s1", "high", "en"),
        TierCase("b", "why", "T1", "s2", "low", "en"),
    ]
    out = measure_tiers("t", rows, lambda text: classification(0)).to_json()
    assert (out["n"], out["accuracy"], out["macro_f1"]) == (1, 1.0, 1.0)
    out = measure_tiers("t", rows, lambda text: classification(0), include_low=True).to_json()
    assert (out["n"], out["accuracy"]) == (2, 0.5)
    assert out["confusion"]["T1"] == {"T0": 1, "T1": 0, "T2": 0, "T3": 0}
    assert out["sources"]["s2"]["accuracy"] == 0.0


def test_a_crashed_case_is_recorded_and_counts_as_wrong():
    def classify(text):
        if text == "boom":
            raise RuntimeError("scripted crash")
        return classification(1)

    rows = [
        TierCase("a", "fine", "T1", "s", "high", "en"),
        TierCase("b", "boom", "T1", "s", "high", "en"),
    ]
    measurement = measure_tiers("t", rows, classify)
    assert measurement.failures == [Failure("b", "RuntimeError: scripted crash")]
    out = measurement.to_json()
    assert (out["n"], out["n_failed"], out["accuracy"]) == (2, 1, 0.5)
    assert out["confusion"]["T1"]["failed"] == 1


def test_routing_counts_an_abstention_right_only_when_no_source_serves():
    rows = [
        RoutingCase("1", "pay", "bank"),
        RoutingCase("2", "fly", "travel"),
        RoutingCase("3", "odd", None),
        RoutingCase("4", "fuzzy", "bank", rewrite="pay"),
    ]
    answers = {
        "pay": Routed("bank", 0.9, "bank"),
        "fly": Routed("bank", 0.6, "bank"),
        "odd": Routed(NOBODY, 0.8, "travel"),
        "fuzzy": Routed(NOBODY, 0.5, "bank"),
    }
    out = measure_routing("r", rows, answers.__getitem__).to_json()
    assert (out["n"], out["n_out_of_scope"]) == (4, 1)
    assert out["accuracy"] == pytest.approx(1 / 3, abs=1e-4)
    assert out["oos_recall"] == 1.0
    assert out["accuracy_forced"] == pytest.approx(2 / 3, abs=1e-4)
    assert out["accuracy_rewrite"] == 1.0
    # gaps by bin: .9 right .1, .6 wrong .6, .8 right .2, .5 wrong .5
    assert out["ece"] == pytest.approx((0.1 + 0.6 + 0.2 + 0.5) / 4)
    assert out["confusion"]["travel"]["bank"] == 1


def test_routing_without_out_of_scope_rows_has_no_such_recall():
    route = {"pay": Routed("bank", 0.9, "bank")}.__getitem__
    out = measure_routing("r", [RoutingCase("1", "pay", "bank")], route).to_json()
    assert out["oos_recall"] is None


def claim(identity, label):
    return ClaimCase(identity, identity, "text", label)


def test_grounding_scores_supported_against_the_rest_and_recall_by_label():
    rows = [
        claim("1", "supported"),
        claim("2", "supported"),
        claim("3", "contradicted"),
        claim("4", "not_supported"),
    ]
    verdicts = {
        "1": Judged(Verdict.SUPPORTED, 0.9),
        "2": Judged(Verdict.WEAK, 0.4, ("reason",)),
        "3": Judged(Verdict.CONTRADICTED, 0.1),
        "4": Judged(Verdict.UNVERIFIABLE, 0.5),
    }
    found = measure_claims("g", rows, lambda case: verdicts[case.id])
    out = found.to_json(most_wrong=9)
    assert out["balanced_accuracy"] == 0.75
    assert out["auroc"] == 0.75
    assert out["recall"] == {"supported": 0.5, "contradicted": 1.0, "not_supported": 1.0}
    assert out["confusion"]["supported"]["weak"] == 1
    assert out["wrong"] == [
        {
            "id": "2",
            "text": "2",
            "expected": ["supported"],
            "got": ["weak"],
            "right": False,
            "confidence": 0.6,
            "scores": {"support": 0.4},
            "reasons": ["reason"],
        }
    ]


def test_a_claim_that_crashed_is_neither_supported_nor_rightly_refused():
    def judge(case):
        raise RuntimeError("scripted crash")

    out = measure_claims("g", [claim("1", "supported"), claim("2", "not_supported")], judge)
    assert len(out.failures) == 2
    found = out.to_json()
    assert found["recall"] == {"supported": 0.0, "not_supported": 0.0}
    assert (found["balanced_accuracy"], found["auroc"]) == (0.0, 0.0)


def test_whole_answers_are_ranked_against_human_marks():
    rows = [AnswerCase(str(mark), "A.", ("s",), mark) for mark in (1.0, 2.0, 3.6, 4.0)]
    support = {"1.0": 0.1, "2.0": 0.6, "3.6": 0.5, "4.0": 0.9}

    def verify(case):
        share = support[case.id]
        return Judged(Verdict.SUPPORTED if share > 0.55 else Verdict.WEAK, share)

    found = measure_answers("f", rows, verify)
    out = found.to_json()
    assert [(one.case_id, one.expected, one.got) for one in found.wrong] == [
        ("2.0", ["unfaithful"], ["faithful"]),
        ("3.6", ["faithful"], ["unfaithful"]),
    ]
    assert out["auroc"] == 0.75
    assert out["spearman"] == pytest.approx(0.8)
    assert out["recall"] == {"faithful": 0.5, "unfaithful": 0.5}


def test_answers_that_cite_have_precision_and_recall_of_citations():
    rows = [AnswerCase(name, "text", ("source",), 4.0) for name in ("cites", "badly", "not")]
    scores = {"cites": (1.0, 0.5), "badly": (0.5, 0.0), "not": (None, None)}

    def verify(case):
        return Judged(Verdict.SUPPORTED, 1.0, (), 0.0, False, *scores[case.id])

    out = measure_answers("f", rows, verify).to_json()
    assert (out["citation_precision"], out["citation_recall"]) == (0.75, 0.25)
    assert "citation_recall" not in measure_answers("f", rows[2:], verify).to_json()


def test_wrong_cases_come_surest_first_and_a_case_without_gold_is_neither_right_nor_wrong():
    rows = [RoutingCase(name, name, "bank") for name in ("low", "high", "fine")]
    answers = {
        "low": Routed("travel", 0.2, "travel", {"bank": 0.1, "travel": 0.3}),
        "high": Routed("travel", 0.9, "travel", {"bank": 0.1, "travel": 0.8}),
        "fine": Routed("bank", 0.5, "bank"),
    }
    out = measure_routing("r", rows, answers.__getitem__)
    assert [one.case_id for one in out.wrong] == ["high", "low"]
    assert [one.right for one in out.outcomes] == [False, False, True]
    found = measured("set", [question("q", "")], [Ranking(("a",))])
    assert (found.outcomes[0].right, found.wrong) == (None, [])


def test_routing_and_grounding_are_scored_by_language_where_there_are_several():
    rows = [
        RoutingCase("1", "pay", "bank", language="en"),
        RoutingCase("2", "zahlen", "bank", language="de"),
    ]
    answers = {"pay": Routed("bank", 0.9, "bank"), "zahlen": Routed(NOBODY, 0.5, "bank")}
    languages = measure_routing("r", rows, answers.__getitem__).to_json()["languages"]
    assert {name: one["accuracy"] for name, one in languages.items()} == {"en": 1.0, "de": 0.0}
    claims = [
        ClaimCase("1", "a", "s", "supported", "en"),
        ClaimCase("2", "b", "s", "supported", "th"),
    ]
    said = {"1": Judged(Verdict.SUPPORTED, 0.9), "2": Judged(Verdict.WEAK, 0.2)}
    languages = measure_claims("g", claims, lambda case: said[case.id]).to_json()["languages"]
    assert {name: one["balanced_accuracy"] for name, one in languages.items()} == {
        "en": 1.0,
        "th": 0.0,
    }


def test_a_measure_of_no_case_is_none_rather_than_zero():
    low = [TierCase("a", "hi", "T0", "s1", "low", "en")]
    out = measure_tiers("t", low, lambda text: classification(0)).to_json()
    assert (out["n"], out["accuracy"], out["macro_f1"]) == (0, None, None)
    rows = [RoutingCase("3", "odd", None)]
    out = measure_routing("r", rows, lambda text: Routed(NOBODY, 0.8, "x")).to_json()
    assert (out["accuracy"], out["accuracy_forced"], out["oos_recall"]) == (None, None, 1.0)
