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
