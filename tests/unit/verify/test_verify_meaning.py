"""Roles, comparisons, quantifiers, hedges, rates: the same words, another meaning."""

import time

import pytest

from fingerpost import CitationVerifier, SourceText, Verdict
from fingerpost.verify import judge_pair
from fingerpost.verify.evidence import Reading, SourceSentences
from fingerpost.verify.explain import explain
from fingerpost.verify.features import measure
from fingerpost.verify.judge import judge, judge_weights, support_model

OTHERWISE = [
    ("Traces go to port 4317.", "Metrics go to port 4317, and traces go to port 4318."),
    ("`-r` lists the files.", "`-l` lists the files and `-r` reverses the order."),
    ("The heron is smaller than the egret.", "The egret is smaller than the heron."),
    ("Le car est plus rapide que le bus.", "Le bus est plus rapide que le car."),
    ("Der Bus ist langsamer als die Bahn.", "Die Bahn ist langsamer als der Bus."),
    ("Only some nodes are drained.", "All nodes are drained."),
    ("The job runs ten times an hour.", "The job runs ten times a day."),
    ("The last step is optional.", "The first step is optional."),
    ("Members may delete the board.", "Members may edit the board, but they may not delete it."),
    ("The client on Windows is free.", "The client on non-Windows is free."),
    ("With a token the call succeeds.", "Without a token the call succeeds."),
    ("Das Tor öffnet nach dem Alarm.", "Das Tor öffnet vor dem Alarm."),
    ("此功能默认已禁用。", "此功能默认已启用。"),
    ("任务在30秒后停止。", "任务在30分钟后停止。"),
]
THE_SAME = [
    ("Traces go to port 4318.", "Metrics go to port 4317, and traces go to port 4318."),
    ("The heron is larger than the egret.", "The egret is smaller than the heron."),
    ("The pool holds 2.5 million rows.", "The pool holds two and a half million rows."),
    ("A dozen eggs are needed.", "12 eggs are needed."),
    ("The probe runs every 500 ms.", "The probe runs every half a second."),
    ("Der Strompreis ist gestiegen.", "Der Preis für Strom ist gestiegen."),
    ("Es ist nicht möglich, Karten zu ändern.", "Karten können nicht geändert werden."),
    ("Das Archiv hat 2,4 Millionen Seiten.", "Das Archiv hat **2.400.000** Seiten."),
    ("Files without a tag are removed.", "Files that carry no tag are removed."),
]


@pytest.mark.parametrize(("claim", "source"), OTHERWISE)
def test_the_same_words_about_something_else_contradict(claim, source):
    assert judge_pair(claim, source).verdict == "contradicted"


@pytest.mark.parametrize(("claim", "source"), THE_SAME)
def test_another_way_to_say_it_does_not_contradict(claim, source):
    assert judge_pair(claim, source).verdict != "contradicted"


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("The drug always helps.", "The drug may help."),
        ("All users see the page.", "Only admins see the page."),
        ("All nodes were drained.", "Half of the nodes were drained."),
        ("The study proves a link.", "The study suggests a possible link."),
    ],
)
def test_more_than_the_source_says_is_not_supported(claim, source):
    assert judge_pair(claim, source).verdict != "supported"


def measured(claim, source):
    return measure(Reading(claim), SourceSentences(source))


def test_an_explanation_adds_up_to_the_probability():
    found = measured("The queue holds 40 jobs.", "The queue holds up to 40 jobs for each user.")
    notes = explain(found)
    model = support_model(found, judge_weights())
    left_out = sum(
        model.weights.get(name, 0.0) * value
        for name, value in found.values.items()
        if name not in {note.name for note in notes}
    )
    score = model.bias + sum(note.weight for note in notes) + left_out
    said = judge(found, judge_weights())
    assert said.p_supported == pytest.approx(1 / (1 + 2.718281828459045**-score), abs=1e-3)
    assert all(note.told for note in notes)


def test_an_explanation_tells_what_weighs_most_first_and_what_overrules_last():
    notes = explain(measured("The queue holds 50 jobs.", "The queue holds 40 jobs."))
    weights = [abs(note.weight) for note in notes]
    assert weights == sorted(weights, reverse=True)
    assert notes[-1].name == "number"
    assert notes[-1].weight == 0.0


def test_a_quote_has_nothing_to_explain():
    assert explain(None) == ()


def test_a_sentence_without_end_takes_time_that_grows_with_its_length_only():
    clause = "Port 8080 opens after 3 days and Alice may not close `--force` v2.1 but "
    source = clause * 2500
    began = time.process_time()
    judge_pair("Port 9090 opens after 3 days, and Alice closes v2.1.", source)
    assert time.process_time() - began < 5


def test_a_short_claim_that_says_the_opposite_and_nothing_else_is_contradicted():
    told = CitationVerifier().verify_sync
    against = told("The port is open.", [SourceText("The port is closed.", 1)])
    twice = told("The left door is open.", [SourceText("The right door is closed.", 1)])
    assert against.claims[0].verdict is Verdict.CONTRADICTED
    assert twice.claims[0].verdict is not Verdict.CONTRADICTED
