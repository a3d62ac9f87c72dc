"""Tables and the HTML page."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from fingerpost.eval.measurement import Failure, Measurement, Outcome
from fingerpost.eval.plots import Bars, Curve, Line, Matrix, matrix_of, thinned
from fingerpost.eval.report import html
from fingerpost.eval.run import Run
from fingerpost.eval.svg import draw
from fingerpost.eval.table import all_grids, markdown, overview, plain

RUN = Run(
    "eval tiers",
    [
        Measurement(
            name="tiers<1>",
            values={"n": 3, "accuracy": 2 / 3, "oos_recall": None, "p50_ms": 1.26},
            groups={"languages": {"en": {"n": 2, "accuracy": 1.0}, "de": {"n": 1}}},
            tables={
                "confusion": {"T0": {"T0": 1, "T1": 0}, "T1": {"T0": 1, "T1": 1}},
                "recall": {"supported": 0.5},
            },
            plots=[
                Bars("Bars & more", ("hit@1", "hit@5"), (("en", (0.5, None)),)),
                Matrix("Matrix", ("T0", "T1"), ("T0", "T1"), ((1, 0), (1, 1))),
                Curve(
                    "Curve", "x", "y", (Line(((0.0, 0.0), (1.0, 1.0)), (1.0, 4.0)),), diagonal=True
                ),
            ],
            failures=[Failure("q<2>", "RuntimeError: bad <b>")],
            outcomes=[
                Outcome("q1", "fine", ["T0"], ["T0"], right=True, confidence=0.9),
                Outcome("q3", "why\n<i>", ["T1"], ["T0"], False, 0.6, {"T0": 0.6, "T1": 0.25}),
                Outcome("q<2>", "x" * 200, ["T1"], [], right=False, confidence=0.0),
            ],
        ),
    ],
    took_ms=1234.5678,
)


class Page(HTMLParser):
    """Keeps the elements and checks that they are closed in order."""

    VOID = frozenset({"meta"})

    def __init__(self):
        super().__init__()
        self.opened, self.seen, self.words = [], [], []

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.opened.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.opened.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def test_the_json_object_is_flat_and_rounded():
    out = RUN.to_json()
    assert out == {
        "command": "eval tiers",
        "datasets": {
            "tiers<1>": {
                "n": 3,
                "accuracy": 0.6667,
                "oos_recall": None,
                "p50_ms": 1.26,
                "n_failed": 1,
                "confusion": {"T0": {"T0": 1, "T1": 0}, "T1": {"T0": 1, "T1": 1}},
                "recall": {"supported": 0.5},
                "languages": {"en": {"n": 2, "accuracy": 1.0}, "de": {"n": 1}},
                "n_wrong": 2,
                "wrong": [],
            }
        },
        "took_ms": 1234.6,
    }


def test_a_plain_table_aligns_its_columns():
    assert plain(overview(RUN)).splitlines() == [
        "eval tiers",
        "data set  n  accuracy  oos_recall  p50_ms  n_failed",
        "tiers<1>  3     0.667           –     1.3         1",
    ]


def test_every_group_and_table_gets_its_own_grid():
    assert [grid.title for grid in all_grids(RUN)] == [
        "eval tiers",
        "tiers<1>, by language",
        "tiers<1>, confusion",
        "tiers<1>, recall",
    ]


def test_wrong_cases_are_listed_with_what_was_expected_and_the_scores():
    *_, grid = all_grids(RUN, most_wrong=1)
    assert plain(grid).splitlines() == [
        "tiers<1>, wrong cases: first 1 of 2, the surest first",
        "id  expected  got      confidence  text",
        "q3  T1 0.25   T0 0.60  0.600       why <i>",
    ]
    *_, grid = all_grids(RUN, most_wrong=9)
    assert grid.title == "tiers<1>, wrong cases: all 2, the surest first"
    assert grid.rows[1][2] == "(crashed or nothing)"
    assert len(grid.rows[1][4]) == 72


def test_every_case_is_one_json_line_with_its_data_set():
    lines = list(RUN.outcomes())
    assert [(one["dataset"], one["id"], one["right"]) for one in lines] == [
        ("tiers<1>", "q1", True),
        ("tiers<1>", "q3", False),
        ("tiers<1>", "q<2>", False),
    ]
    assert lines[1]["scores"] == {"T0": 0.6, "T1": 0.25}


def test_the_page_lists_the_wrong_cases_it_is_asked_for():
    text = html(RUN, headline=("n",), most_wrong=1)
    assert "T0 0.60" in text
    assert "why &lt;i&gt;" in text
    assert "first 1 of 2" in text
    assert "wrong cases" not in html(RUN, headline=("n",))


def test_markdown_escapes_the_bar():
    grid = overview(Run("eval tiers", [Measurement("a|b", {"n": 1})], 1.0))
    assert markdown(grid) == "| data set | n |\n| --- | ---: |\n| a\\|b | 1 |"


def test_the_page_is_well_formed_and_escapes_what_it_shows():
    page = Page()
    page.feed(html(RUN, headline=("n", "accuracy", "oos_recall")))
    page.close()
    assert page.opened == []
    assert "tiers<1>" in page.words
    assert any("bad <b>" in words for words in page.words)
    assert [tag for tag, _ in page.seen].count("svg") == 3


def test_the_page_needs_nothing_from_outside_and_follows_the_theme():
    text = html(RUN, headline=("n",))
    assert "<script" not in text
    assert not re.search(r"(?:src|href)=\"(?!#)", text)
    assert "url(" not in text
    assert "prefers-color-scheme: dark" in text


def test_the_page_is_the_same_for_the_same_run():
    assert html(RUN, headline=("n",)) == html(RUN, headline=("n",))


def test_a_bar_is_as_long_as_its_value_and_a_missing_one_is_left_out():
    svg = draw(Bars("b", ("one", "two"), (("row", (0.5, None)), ("other", (1.0, 0.25)))))
    widths = [
        float(w) for w in re.findall(r'<rect x="[^"]+" y="[^"]+" width="([\d.]+)" height="9"', svg)
    ]
    assert widths == [180.0, 360.0, 90.0]


def test_the_legend_of_a_curve_stands_whole_below_its_axes():
    name = "calibrated, cross-validated"
    lines = (Line(((0.0, 0.0), (1.0, 1.0)), name="plain"), Line(((0.0, 1.0),), name=name))
    svg = draw(Curve("c", "across", "up", lines))
    places = {
        text: float(y) for y, text in re.findall(r'<text x="[^"]+" y="([\d.]+)"[^>]*>([^<]+)', svg)
    }
    height = float(re.search(r'height="(\d+)" role', svg)[1])
    assert places["across"] < places["plain"] < places[name] < height


def test_cells_are_shaded_by_the_share_of_their_row():
    svg = draw(Matrix("m", ("a",), ("a", "b"), ((3, 1),)))
    shades = [float(one) for one in re.findall(r'fill-opacity="([\d.]+)"', svg)]
    assert shades == pytest.approx([0.06 + 0.94 * 0.75, 0.06 + 0.94 * 0.25], abs=1e-3)


def test_a_matrix_leaves_out_labels_that_never_occur():
    found = matrix_of("m", {"a": {"a": 1, "b": 2, "c": 0}, "c": {"a": 0, "b": 0, "c": 0}})
    assert (found.rows, found.columns, found.counts) == (("a",), ("a", "b"), ((1, 2),))


def test_thinning_keeps_both_ends():
    points = [(n / 1000, n / 1000) for n in range(1001)]
    kept = thinned(points, 50)
    assert (len(kept), kept[0], kept[-1]) == (50, points[0], points[-1])
    assert thinned(points[:10], 50) == tuple(points[:10])
