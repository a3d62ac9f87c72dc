"""Quantities: how they are read and compared."""

import pytest

from fingerpost.verify.compare import compare
from fingerpost.verify.numbers import quantities


def relation(claim, evidence):
    (finding,) = compare(quantities(claim), quantities(evidence)).findings
    return finding.relation


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("4 modes", "four modes"),
        ("1,000 users", "1000 users"),
        ("1.000 Nutzer", "1000 Nutzer"),
        ("12 000 appels", "12000 appels"),
        ("fünfundzwanzig Dateien", "25 Dateien"),
        ("zweihundertfünfzig Dateien", "250 Dateien"),
        ("vingt et un fichiers", "21 fichiers"),
        ("quatre-vingt-dix-sept fichiers", "97 fichiers"),
        ("treinta y cinco copias", "35 copias"),
        ("five hundred and twelve rows", "512 rows"),
        ("120 minutes", "two hours"),
        ("30 s", "30 seconds"),
        ("2.5 million rows", "2,500,000 rows"),
        ("35 percent", "35%"),
        ("12 March 2024", "2024-03-12"),
        ("March 2024", "12. März 2024"),
        ("v2.1", "version 2.1"),
        ("v2.1", "v2.1.0"),
        ("v2", "v2.3"),
        ("the 3rd argument", "the third argument"),
        ("about 20 cm", "19.5 cm"),
        ("more than 10,000 people", "12,400 people"),
        ("2,5 GB", "2.5 GB"),
        ("有4个节点", "有四个节点"),
        ("十二个节点", "12个节点"),
    ],
)
def test_equal_quantities_are_the_same_however_written(claim, evidence):
    assert relation(claim, evidence) == "same"


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("3 modes", "four modes"),
        ("30 seconds", "30 minutes"),
        ("30 ms", "30 seconds"),
        ("512 MB", "512 GB"),
        ("v2.1", "v2.10"),
        ("Python 3.1", "Python 3.10"),
        ("12 March 2024", "12 May 2024"),
        ("more than 5 tries", "less than 5 tries"),
        ("the second argument", "the third argument"),
        ("3 modes", "four modes and 3 flags"),
        ("more than 10,000 people", "9,000 people"),
        ("$49 per seat", "€49 per seat"),
        ("twice a day", "once a day"),
        ("有四个节点", "有三个节点"),
    ],
)
def test_another_value_of_the_same_thing_differs(claim, evidence):
    assert relation(claim, evidence) == "differs"


def test_a_number_without_any_counterpart_is_missing():
    assert relation("It has 3 modes.", "It has modes.") == "missing"


def test_a_day_is_not_borne_out_by_a_year():
    assert relation("12 March 2024", "in 2024") == "missing"


@pytest.mark.parametrize("text", ["COVID-19 is a disease.", "IL-2 and CD4 cells", "x86_64 hosts"])
def test_digits_inside_names_are_no_quantities(text):
    assert quantities(text) == []


def test_one_asks_for_nothing():
    assert compare(quantities("one of them"), []).findings == ()


@pytest.mark.parametrize(
    ("words", "digits"),
    [
        ("two thousand three hundred users", "2,300 users"),
        ("one hundred and twenty-five users", "125 users"),
        ("nine hundred ninety-nine thousand nine hundred ninety-nine users", "999,999 users"),
        ("one million users", "1,000,000 users"),
        ("a million users", "1,000,000 users"),
        ("two million five hundred thousand users", "2,500,000 users"),
        ("zweitausenddreihundert Nutzer", "2.300 Nutzer"),
        ("neunhundertneunundneunzigtausend Nutzer", "999.000 Nutzer"),
        ("eine Million Nutzer", "1.000.000 Nutzer"),
        ("cent vingt-cinq fichiers", "125 fichiers"),
        ("deux mille trois cents fichiers", "2 300 fichiers"),
        ("ciento veinticinco copias", "125 copias"),
        ("dos mil trescientos usuarios", "2.300 usuarios"),
        ("a quarter of the users", "25% of the users"),
        ("drei Viertel der Nutzer", "75 % der Nutzer"),
        ("deux tiers des clients", "67 % des clients"),
        ("1/4 of the users", "25% of the users"),
        ("$5M", "5 million dollars"),
        ("$5B", "5 billion dollars"),
        ("5M users", "5,000,000 users"),
        (".5 seconds", "500 ms"),
        ("три режима", "3 режима"),
        ("vijf standen", "5 standen"),
        ("pięć trybów", "5 trybów"),
        ("3 pm", "15:00"),
        ("3:30 p.m.", "15.30 Uhr"),
        ("12 am", "0:00"),
        ("15h30", "15:30"),
    ],
)
def test_a_number_means_the_same_in_words_and_digits(words, digits):
    for claim, evidence in ((words, digits), (digits, words)):
        found = compare(quantities(claim), quantities(evidence)).findings
        assert [finding.relation for finding in found] == ["same"]


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("two thousand three hundred users", "2,400 users"),
        ("dos mil trescientos usuarios", "2.400 usuarios"),
        ("a quarter of the users", "50% of the users"),
        ("a third of the users", "two thirds of the users"),
        ("3 pm", "3 am"),
        ("три режима", "4 режима"),
        ("14:30", "15:30"),
        ("almeno 5 nodi", "al massimo 5 nodi"),
        ("至少5个节点", "最多5个节点"),
        ("не менее 5 узлов", "не более 5 узлов"),
        ("5 minutes or less", "5 minutes or more"),
        ("5 Minuten oder weniger", "5 Minuten oder mehr"),
    ],
)
def test_a_number_in_words_a_time_or_a_bound_that_is_another_differs(claim, evidence):
    assert relation(claim, evidence) == "differs"


@pytest.mark.parametrize(
    "text", ["5 to 10 seconds", "5–10 s", "between 5 and 10 seconds", "zwischen 5 und 10 Sekunden"]
)
def test_the_unit_after_a_range_is_that_of_both_its_ends(text):
    ends = [(one.values, one.dimension) for one in quantities(text)]
    assert ends == [((5.0,), "time"), ((10.0,), "time")]


@pytest.mark.parametrize("text", ["ten per cent", "pour cent francs", "Chapter 2 and 5 seconds"])
def test_what_only_looks_like_a_longer_number_is_none(text):
    assert all(one.values[0] in (2.0, 5.0, 10.0) for one in quantities(text))
