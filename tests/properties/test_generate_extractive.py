"""Laws of extractive answers: exact quotes, one-to-one markers, nothing active."""

from __future__ import annotations

import re

from hypothesis import example, given, settings
from hypothesis import strategies as st

from fingerpost.generate import cite_sources, extract_answer, resolve_markers
from fingerpost.generate.plain import plain_text
from fingerpost.generate.units import split_units
from fingerpost.types import Chunk, Document, Evidence, Hit, Span, Tier

_LINES = st.sampled_from([
    "# Cache", "The cache keeps 1000 entries.", "It drops the oldest [3] first. See rows[0] too.", "- one item", "* two [link](https://e.example)",
    "1. Open the cache.", "2. Close it:", "```sh", "```", "cache --clear [1]", "| Mode | Limit |", "|---|---|", "| fast | 10 |", "",
    "![x](https://e.example/i.png)", "<img src=x>", "<!-- hidden -->", "> quoted cache", "Cache <b>bold</b> https://e.example/x.", "缓存保留1000个条目。",
    "\x1b[31mred\x1b[0m cache", "\u202ecache", "    indented", "~~~", "Cache:", "a `code` b", "`", "``", "[r]: https://e.example",
    "<Tabs>", "import x from 'y'", "Title\n=====", "term\n: definition", "data:text/html,x", "[a](javascript:x)", "{/* c */}", "【1】 cache",
])  # fmt: skip
_TEXT = st.lists(_LINES, max_size=25).map("\n".join)
_FORMAT = st.sampled_from(["markdown", "mdx", "rst", "text", "html"])
_INTRODUCED_CODE = (
    "It drops the oldest [3] first. See rows[0] too.\n```sh\nThe cache keeps 1000 entries."
)
_ACTIVE = re.compile(r"!\[|\]\(|\]\[|\]:|<[A-Za-z/!?]|https?://|javascript:|data:")


def _hit(text: str, markup: str, at: int, start: int = 0) -> Hit:
    document = Document(f"d{at}", f"p{at}.md", "s", "u", "Cache", "", markup)
    chunk = Chunk(f"c{at}", f"d{at}", 0, text, Span(start, start + len(text)), ("Cache",), 1, 9)
    return Hit(chunk, document, 1.0 - at / 10)


def _prose(text: str) -> str:
    """Return the answer without fenced and inline code."""
    text = re.sub(r"^(`{3,}|~{3,})[^\n]*\n.*?^\1[ \t]*$", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"`[^`\n]*`", "", text)


@settings(max_examples=120, deadline=None)
@given(st.lists(st.tuples(_TEXT, _FORMAT), min_size=1, max_size=4), st.sampled_from(list(Tier)[1:]))
@example([(_INTRODUCED_CODE, "markdown")], Tier.LOOKUP)
def test_markers_quotes_and_sources_agree(texts: list[tuple[str, str]], tier: Tier) -> None:
    hits = tuple(_hit(text, markup, at, 7 * at) for at, (text, markup) in enumerate(texts))
    evidence = Evidence(hits, candidates=hits, coverage=1.0)
    answer = extract_answer("How many entries does the cache keep?", evidence, tier=tier)
    sources = cite_sources(answer, evidence)
    if answer.abstention is not None:
        assert not answer.citations
        return
    clean, citations, removed = resolve_markers(answer.text, len(sources))
    assert (clean, removed) == (answer.text, 0)
    assert [c.span for c in citations] == [c.span for c in answer.citations]
    by_id = {hit.chunk.id: hit.chunk for hit in hits}
    assert [source.id for source in sources] == list(answer.cited_chunk_ids)
    for citation in answer.citations:
        chunk = by_id[answer.cited_chunk_ids[citation.source_index - 1]]
        assert citation.quote is not None
        assert chunk.span.start <= citation.quote.start < citation.quote.end <= chunk.span.end


@settings(max_examples=120, deadline=None)
@given(st.lists(st.tuples(_TEXT, _FORMAT), min_size=1, max_size=3))
def test_no_answer_holds_a_link_an_image_a_tag_or_a_control_code(
    texts: list[tuple[str, str]],
) -> None:
    hits = tuple(_hit(text, markup, at) for at, (text, markup) in enumerate(texts))
    answer = extract_answer("How many entries does the cache keep?", Evidence(hits, coverage=1.0))
    assert not _ACTIVE.search(_prose(answer.text)), answer.text
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", answer.text)


@settings(max_examples=200, deadline=None)
@given(_TEXT, _FORMAT, st.integers(0, 50))
def test_units_stand_in_order_inside_their_chunk(text: str, markup: str, start: int) -> None:
    hit = _hit(text, markup, 0, start)
    units = split_units(hit, 0)
    assert [unit.order for unit in units] == list(range(len(units)))
    for unit in units:
        assert start <= unit.quote.start < unit.quote.end <= start + len(text)
        assert unit.lead is None or unit.lead < unit.order
    assert sorted(units, key=lambda u: u.quote.start) == list(units)


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="ab![]()<>`*_\\&;#:/. \n\x1b\u202e@htps1", max_size=60))
def test_plain_text_holds_nothing_active_whatever_comes_in(text: str) -> None:
    plain = plain_text(text)
    assert "\n" not in plain
    assert not re.search(
        r"!\[|\]\(|\]\[|<[A-Za-z/!?]|https?://\S", re.sub(r"`[^`\n]*`", "·", plain)
    )
    assert not re.search("[\x00-\x1f\u202e]", plain)
