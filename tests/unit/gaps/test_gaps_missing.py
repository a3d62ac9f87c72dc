"""Gaps to the pages that are missing."""

import json

import numpy as np
import pytest

from fingerpost.errors import CorpusError
from fingerpost.gaps import Since, missing_pages, read_gaps
from fingerpost.gaps.group import group, linked
from fingerpost.observe.gap_log import Gap, NearPage, content_hash

DAY = 86_400.0
KEY = ("How do I rotate an API key?", "rotate the api key", "Is there a way to rotate API keys?")
PRICE = ("What does the enterprise plan cost?", "Cost of the enterprise plan")


def gap(question, at=0.0, reason="evidence_too_weak", near=()):
    return Gap(at, question, reason, tuple(near))


def titles(gaps):
    return [page.title for page in missing_pages(gaps).pages]


def test_questions_about_one_thing_are_one_page_and_others_another():
    found = missing_pages([*map(gap, KEY), *map(gap, PRICE)])
    asked = [{question for question, _ in page.questions} for page in found.pages]
    assert asked == [set(KEY), set(PRICE)]
    assert not found.by_meaning


def test_a_title_is_made_of_the_words_of_a_question_without_those_about_asking():
    assert titles([gap("How do I rotate an API key?")]) == ["Rotate an API key"]
    assert titles([gap("What does error E1042 mean?")]) == ["Error E1042"]
    assert titles([gap("Which port is open?")]) == ["Which port is open"]
    assert titles([gap("How do I use it from a cloud (such as")]) == ["Use it from a cloud"]
    assert titles([gap("why?")]) == ["Why"]
    assert titles([gap(" ?! ")]) == ["?!"]


def test_the_same_question_in_other_capitals_is_one_question_asked_twice():
    (page,) = missing_pages([gap("Rotate a key?"), gap("rotate  a KEY")]).pages
    assert page.n_asked == 2
    assert len(page.questions) == 1


def test_what_is_asked_often_and_lately_comes_first():
    old = [gap("How do I rotate a key?", at=day * DAY) for day in range(3)]
    new = [gap("What does the plan cost?", at=(90 + day) * DAY) for day in range(2)]
    assert titles([*old, *new]) == ["Plan cost", "Rotate a key"]
    assert titles([*old, *new, *[gap("How do I rotate a key?", at=91 * DAY)] * 2]) == [
        "Rotate a key",
        "Plan cost",
    ]


def test_a_page_tells_when_and_why_it_was_missed():
    (page,) = missing_pages(
        [gap(KEY[0], 1.0), gap(KEY[0], 3.0), gap(KEY[0], 2.0, "no_document_matches")]
    ).pages
    assert (page.first_at, page.last_at) == (1.0, 3.0)
    assert page.reasons == (("evidence_too_weak", 2), ("no_document_matches", 1))


def test_what_no_page_would_change_is_counted_apart():
    found = missing_pages([gap(KEY[0]), gap("x y", reason="filter_excludes_all")])
    assert (len(found.pages), found.n_not_of_documents) == (1, 1)


def test_no_gaps_are_no_pages():
    assert missing_pages([]).pages == ()


@pytest.fixture
def near(tmp_path):
    """Return what makes the nearest page of a question, a real file."""

    def make(name, text="# Page\n"):
        path = tmp_path / name
        path.write_text(text)
        return NearPage("docs", name, 1, path.as_uri(), "", content_hash(path.as_uri()))

    return make


def test_the_nearest_page_tells_what_became_of_it(near, tmp_path):
    page = near("keys.md")
    gaps = [gap(KEY[0], near=[page])]
    assert missing_pages(gaps).pages[0].since is Since.SAME
    (tmp_path / "keys.md").write_text("# Page\n\nRotate it so.\n")
    assert missing_pages(gaps).pages[0].since is Since.CHANGED
    (tmp_path / "keys.md").unlink()
    assert missing_pages(gaps).pages[0].since is Since.GONE


def test_of_a_page_elsewhere_nothing_is_said():
    page = NearPage("web", "keys.md", 1, "https://example.org/keys")
    assert missing_pages([gap(KEY[0], near=[page])]).pages[0].since is Since.UNKNOWN
    assert missing_pages([gap(KEY[0])]).pages[0].nearest is None


def test_the_nearest_page_is_the_one_that_most_questions_came_near_to(near):
    one, two = near("one.md"), near("two.md")
    (page,) = missing_pages(
        [gap(KEY[0], near=[one, two]), gap(KEY[1], near=[two]), gap(KEY[2], near=[two, one])]
    ).pages
    assert page.nearest.path == "two.md"


class Meaning:
    """An embedder that knows two meanings by one word each."""

    name = "test/meaning"

    def embed(self, texts):
        rows = [[1.0, 0.0] if "lift" in t or "elevator" in t else [0.0, 1.0] for t in texts]
        return np.array(rows, np.float32)


def test_an_embedder_puts_questions_of_one_meaning_and_other_words_together():
    questions = ["Where is the lift?", "The elevator is stuck", "Fees of the garage"]
    assert group(questions, Meaning()) == [[0, 1], [2]]
    assert group(questions, None) == [[0], [1], [2]]


def test_groups_are_joined_by_their_mean_likeness():
    # A chain: each is like the next, the ends are not alike.
    alike = np.eye(4, dtype=np.float32)
    for one, two in ((0, 1), (1, 2), (2, 3)):
        alike[one, two] = alike[two, one] = 0.9
    assert linked(alike, 0.8) == [[0, 1], [2, 3]]
    assert linked(alike, 0.1) == [[0, 1, 2, 3]]
    assert linked(alike, 0.95) == [[0], [1], [2], [3]]


def test_a_log_without_a_file_says_what_to_set(tmp_path):
    with pytest.raises(CorpusError) as refused:
        read_gaps(tmp_path / "none.jsonl")
    assert "gap_log" in refused.value.hint


def test_lines_that_are_no_gaps_are_counted_and_passed_over(tmp_path):
    good = {"at": 5.0, "question": "How?", "reason": "uncovered"}
    bad = ["{", "[]", "null", '"x"', json.dumps(good | {"reason": "x"}), '{"at": 1}', "[" * 9000,
           json.dumps(good | {"near": [1]}), json.dumps(good | {"at": "x"})]  # fmt: skip
    torn = '{"at": 4.0, "ques' + json.dumps(good | {"at": 6.0})
    log = tmp_path / "g.jsonl"
    log.write_text("\n".join([*bad, "", json.dumps(good), torn]) + "\n")
    kept = read_gaps(log)
    assert [one.at for one in kept.gaps] == [5.0, 6.0]
    assert kept.n_unreadable == len(bad)
    assert [one.at for one in read_gaps(log, since=5.5).gaps] == [6.0]


def test_the_older_file_is_read_first(tmp_path):
    for name, at in (("g.jsonl.1", 1.0), ("g.jsonl", 2.0)):
        line = {"at": at, "question": "How?", "reason": "uncovered"}
        (tmp_path / name).write_text(json.dumps(line) + "\n")
    assert [one.at for one in read_gaps(tmp_path / "g.jsonl").gaps] == [1.0, 2.0]
