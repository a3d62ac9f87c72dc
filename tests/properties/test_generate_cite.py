"""Laws of markers: any split gives the same text, and every citation is where it says."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from fingerpost.generate.cite import MarkerStream, resolve_markers

_PIECES = st.sampled_from([
    "[", "]", "[[", "]]", "1", "4", "42", ", ", ",", "-", "［", "］", "【", "】", "†", "†L3", "１", "`", "``", "```", "~~~", "\n", " ",
    "  ", "word", "[1]", "[2, 3]", "[9]", "[[4]]", "```py\n", "\n```\n", "(x)", "é", "。", "\t", "[1][2]", "# ", "\r\n",
])  # fmt: skip
_TEXT = st.lists(_PIECES, max_size=40).map("".join)


def _streamed(text: str, cuts: list[int], n_sources: int) -> tuple[str, tuple, int]:
    stream = MarkerStream(n_sources)
    places = [0, *sorted(cut % (len(text) + 1) for cut in cuts), len(text)]
    parts = [stream.feed(text[a:b]) for a, b in pairwise(places)]
    parts.append(stream.close())
    return "".join(parts), tuple(stream.citations), stream.removed


@settings(max_examples=200, deadline=None)
@given(_TEXT, st.lists(st.integers(0, 10_000), max_size=30), st.integers(0, 5))
def test_a_stream_equals_the_whole_for_any_split(text: str, cuts: list[int], n: int) -> None:
    assert _streamed(text, cuts, n) == resolve_markers(text, n)


@settings(max_examples=200, deadline=None)
@given(_TEXT, st.integers(0, 5))
def test_one_character_at_a_time_equals_the_whole(text: str, n: int) -> None:
    assert _streamed(text, list(range(len(text))), n) == resolve_markers(text, n)


@settings(max_examples=200, deadline=None)
@given(_TEXT, st.integers(0, 5))
def test_citations_stand_where_they_say_and_name_known_sources(text: str, n: int) -> None:
    clean, citations, _ = resolve_markers(text, n)
    for citation in citations:
        assert clean[citation.span.start : citation.span.end] == citation.marker
        assert citation.marker == f"[{citation.source_index}]"
        assert 1 <= citation.source_index <= n


# A removed number may bring back-ticks together; that changes code, never a citation.
_CODELESS = _TEXT.map(lambda text: text.replace("`", "").replace("~", ""))


@settings(max_examples=200, deadline=None)
@given(_CODELESS, st.integers(0, 5))
def test_the_clean_text_holds_no_marker_that_is_not_recorded(text: str, n: int) -> None:
    clean, citations, _ = resolve_markers(text, n)
    assert resolve_markers(clean, n) == (clean, citations, 0)


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="ab `~\n.,()", max_size=80))
def test_text_without_brackets_passes_unchanged(text: str) -> None:
    assert resolve_markers(text, 3) == (text, (), 0)
