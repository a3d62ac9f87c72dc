"""The built-in reranker: what each signal sees, and that it only tips near ties."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fingerpost.retrieve.question import Question
from fingerpost.retrieve.rerank import rerank, signals
from fingerpost.types import Chunk, Document, Hit
from fingerpost.types.document import Span


def hit(n, text, *, score=0.5, headings=("Part",), title="Title"):
    document = Document(f"d{n}", f"{n}.md", "docs", "", title, "0" * 64)
    chunk = Chunk(f"c{n}", f"d{n}", 0, text, Span(0, len(text)), headings, 1, 1)
    return Hit(chunk, document, score)


def asked(text, *words):
    """Return a question whose words are equally rare."""
    even = dict.fromkeys(words, 1.0)
    return Question(text, even, even, words, frozenset(), len(words), 100)


BACKUP = asked("restore backup snapshot", "restor", "backup", "snapshot")


def seen(question, one):
    return signals(question, [one])[0]


def test_words_that_stand_together_are_nearer_than_words_far_apart():
    near = seen(BACKUP, hit(1, "restore the backup from a snapshot"))
    far = seen(BACKUP, hit(2, f"restore {'rain ' * 40} backup {'sun ' * 40} snapshot"))
    assert near["proximity"] == pytest.approx(1.0)
    assert far["proximity"] == pytest.approx(1 / 3)
    assert near["coverage"] == far["coverage"] == pytest.approx(1.0)


def test_neighbours_in_the_question_count_when_they_are_neighbours_in_the_text():
    assert seen(BACKUP, hit(1, "restore backup of a snapshot"))["phrase"] == pytest.approx(0.5)
    assert seen(BACKUP, hit(2, "backup restore; snapshot backup"))["phrase"] == 0.0


def test_a_heading_is_seen_apart_from_the_text_below_it():
    named = hit(1, "rain", headings=("Restore a backup",))
    assert seen(BACKUP, named)["heading"] == pytest.approx(2 / 3)
    assert seen(BACKUP, hit(2, "restore backup snapshot"))["heading"] == 0.0


def test_an_identifier_has_to_stand_there_letter_by_letter():
    question = asked("what does max_retry_count do?", "max_retry_count")
    assert seen(question, hit(1, "set `max_retry_count` to 3"))["identifier"] == 1.0
    assert seen(question, hit(2, "the max count of a retry"))["identifier"] == 0.0


def test_of_two_hits_that_the_search_sees_alike_the_one_with_the_phrase_comes_first():
    scattered = hit(1, "a snapshot; later, backup and then restore", score=0.50)
    together = hit(2, "how to restore backup snapshot files", score=0.49)
    ranked = rerank(BACKUP, [scattered, together], 2)
    assert [one.chunk.id for one in ranked] == ["c2", "c1"]
    assert "reranked by proximity 1.00, phrase 1.00, coverage 1.00" in ranked[0].note


def test_what_was_noted_before_stays_on_the_hit():
    noted = replace(hit(1, "restore"), note="same text in b.md")
    (ranked,) = rerank(BACKUP, [noted], 1)
    assert ranked.note.startswith("same text in b.md; reranked by ")


def test_a_clear_lead_of_the_search_stands_against_every_signal():
    clear = hit(1, "rain", score=0.9)
    wordy = hit(2, "restore backup snapshot", score=0.5, headings=("Restore backup snapshot",))
    assert [one.chunk.id for one in rerank(BACKUP, [clear, wordy], 2)] == ["c1", "c2"]


def test_without_words_the_order_of_the_search_stays():
    hits = [hit(1, "a", score=0.5), hit(2, "b", score=0.5), hit(3, "c", score=0.4)]
    ranked = rerank(asked("?!"), hits, 2)
    assert [one.chunk.id for one in ranked] == ["c1", "c2"]
    assert ranked[0].note == ""


WORDS = st.sampled_from(["restore", "backup", "snapshot", "rain", "sun"])
TEXTS = st.lists(WORDS, max_size=60).map(" ".join)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(TEXTS, st.floats(0, 1)), max_size=12), st.integers(0, 12))
def test_scores_stay_between_0_and_1_and_no_hit_is_made_or_doubled(given_hits, top_n):
    hits = [hit(n, text, score=score) for n, (text, score) in enumerate(given_hits)]
    ranked = rerank(BACKUP, hits, top_n)
    assert len(ranked) == min(top_n, len(hits))
    assert len({one.chunk.id for one in ranked}) == len(ranked)
    assert all(0.0 <= one.score <= 1.0 for one in ranked)
    assert [one.score for one in ranked] == sorted((one.score for one in ranked), reverse=True)
    assert all(
        0.0 <= value <= 1.0 + 1e-9 for one in signals(BACKUP, hits) for value in one.values()
    )
