from __future__ import annotations

import pytest

from fingerpost.generate import MarkerStream, resolve_markers
from fingerpost.types import Span


@pytest.mark.parametrize(
    ("text", "clean", "indexes", "removed"),
    [
        ("Four modes [1].", "Four modes [1].", [1], 0),
        ("Both [1, 2].", "Both [1] [2].", [1, 2], 0),
        ("All [1-3].", "All [1] [2] [3].", [1, 2, 3], 0),
        ("Doubled [[4]].", "Doubled [4].", [4], 0),
        ("全角［１］。", "全角[1]。", [1], 0),
        ("括号【2】。", "括号[2]。", [2], 0),
        ("Browsed 【2†L3-L5】.", "Browsed [2].", [2], 0),
        ("Browsed 【7†source】.", "Browsed.", [], 1),
        ("Not 【a†source】, 【†】 nor [1†x].", "Not 【a†source】, 【†】 nor [1†x].", [], 0),
        ("Invented [7].", "Invented.", [], 1),
        ("Half known [1, 7].", "Half known [1].", [1], 1),
        ("Zero [0] is no source.", "Zero is no source.", [], 1),
        ("The last token [3]", "The last token [3]", [3], 0),
        ("An [open [1] bracket", "An [open [1] bracket", [1], 0),
        ("Twice [2, 2].", "Twice [2].", [2], 0),
        ("No [marker] here [a1].", "No [marker] here [a1].", [], 0),
    ],
)
def test_every_form_of_a_marker_names_its_source(text, clean, indexes, removed) -> None:
    got, citations, n_removed = resolve_markers(text, 4)
    assert got == clean
    assert [citation.source_index for citation in citations] == indexes
    assert n_removed == removed


@pytest.mark.parametrize(
    "text",
    [
        "```py\nrows[1] = [2]\n```\n",
        "~~~\n[1]\n~~~",
        "Use `rows[1]` there.",
        "Use ``a ` [1]`` there.",
        "````\n```\n[1]\n```\n````\n",
    ],
)
def test_code_keeps_what_looks_like_a_marker(text) -> None:
    assert resolve_markers(text, 2) == (text, (), 0)


def test_an_open_back_tick_hides_no_marker() -> None:
    assert resolve_markers("a ` b [1]", 1)[0] == "a ` b [1]"
    assert len(resolve_markers("a ` b [1]", 1)[1]) == 1


def test_markers_after_a_closed_fence_count_again() -> None:
    _, citations, _ = resolve_markers("```\n[1]\n```\nThen [1].", 1)
    assert [citation.span for citation in citations] == [Span(17, 20)]


@pytest.mark.parametrize(
    ("pieces", "clean"),
    [
        (["[", "[", "4", "]", "]"], "[4]"),
        (["see [1", ", 2", "]."], "see [1] [2]."),
        (["end ", "[", "4", "]"], "end [4]"),
        (["``", "`\n[", "1]\n`", "``\n[1]"], "```\n[1]\n```\n[1]"),
        (["gone ", " [", "9", "]", "."], "gone."),
    ],
)
def test_markers_split_over_a_stream_come_out_whole(pieces, clean) -> None:
    stream = MarkerStream(4)
    assert "".join([*map(stream.feed, pieces), stream.close()]) == clean


def test_a_stream_gives_prose_out_before_the_line_ends() -> None:
    stream = MarkerStream(2)
    assert stream.feed("Helm installs charts") == "Helm installs charts"
    assert stream.feed(" [1") == ""
    assert stream.feed("] into") == " [1] into"
