"""When a document was last changed, and which documents are too old."""

from datetime import UTC, datetime

import pytest

from fingerpost.corpus.index import prepare_text
from fingerpost.retrieve.dates import is_young_enough, recent_first, time_of, told_time
from fingerpost.retrieve.foreign import hits_of
from fingerpost.types import Hit
from fingerpost.types.source import Passage

DAY_S = 86_400.0


def page(front, path="page.md"):
    prepared = prepare_text(
        f"---\n{front}\n---\n# Page\n\nText.\n", path=path, source="docs", format="markdown"
    )
    return Hit(prepared.chunks[0], prepared.document, 0.5)


def day(year, month, of_month, **more):
    return datetime(year, month, of_month, tzinfo=UTC, **more).timestamp()


@pytest.mark.parametrize(
    ("front", "expected"),
    [
        ("date: 2024-03-05", day(2024, 3, 5)),
        ("date: '2024-3-5'", day(2024, 3, 5)),
        ("date: '2024/03/05'", day(2024, 3, 5)),
        ("ms.date: 03/05/2024", day(2024, 3, 5)),
        ("date: 25/12/2024", day(2024, 12, 25)),
        ("date: 5.3.2024", day(2024, 3, 5)),
        ("date: March 5th, 2024", day(2024, 3, 5)),
        ("date: 5 Mar 2024", day(2024, 3, 5)),
        ("date: '2024-03-05T23:30:00-05:00'", day(2024, 3, 6, hour=4, minute=30)),
        ("date: '2024-03-05T10:00:00Z'", day(2024, 3, 5, hour=10)),
        ("date: '2024-02'", day(2024, 2, 29)),
        ("date: 2023-01-01\nlastmod: 2024-03-05", day(2024, 3, 5)),
        ("Last_Modified: soon\ndate: 2023-01-01", day(2023, 1, 1)),
        ("date: never", None),
        ("date: 2024-13-45", None),
        ("date: Foo 5, 2024", None),
        ("title: 2024-03-05", None),
    ],
)
def test_front_matter_tells_a_date_however_it_is_written(front, expected):
    assert told_time(page(front).document) == expected


@pytest.mark.parametrize("date", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "0"])
def test_no_date_is_too_odd_to_be_asked_for(date):
    hit = page(f"date: '{date}'")
    assert is_young_enough(hit, 0.0, 1.0) in {True, False}


def test_only_what_is_known_to_be_older_is_too_old():
    now = day(2024, 6, 1)
    fronts = ["date: 2024-05-01", "date: 2022-01-01", "date: 2030-01-01", "title: none"]
    assert [is_young_enough(page(front), now, 365) for front in fronts] == [True, False, True, True]


def test_a_date_of_the_future_gains_no_more_than_one_of_today():
    now = day(2024, 6, 1)
    today, future = (page(f"date: {date}", f"{date}.md") for date in ("2024-06-01", "2031-01-01"))
    first, second = recent_first([today, future], now, half_life_days=100)
    assert first.score == second.score == 0.5


def test_a_passage_of_the_hosts_own_has_the_date_that_it_tells():
    (dated,) = hits_of("wiki", [Passage("Text.", metadata={"date": "2024-03-05", "secret": "x"})])
    (odd,) = hits_of("wiki", [Passage("Text.", metadata=None)])
    assert time_of(dated) == day(2024, 3, 5)
    assert "secret" not in dated.document.metadata
    assert time_of(odd) is None
