"""Laws of packing: inside the budget, nothing lost, no document over its share."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from fingerpost.generate.pack import Packed, pack
from fingerpost.text.sentences import sentences
from fingerpost.text.tokens import estimate_tokens
from fingerpost.types import Chunk, Document, Hit, Span

_LINES = st.sampled_from([
    "# Cache", "The cache keeps 1000 entries.", "It drops the oldest first. Then it stops.", "- one item", "Cache:", "```sh", "```",
    "cache --clear", "| Mode | Limit |", "|---|---|", "| fast | 10 |", "", "缓存保留1000个条目。", "Title\n=====", "a", "\u200b", "---",
])  # fmt: skip
_TEXT = st.lists(_LINES, max_size=8).map("\n".join)
_HITS = st.lists(st.tuples(st.sampled_from("abc"), _TEXT), max_size=8).map(
    lambda rows: [_hit(at, document, text) for at, (document, text) in enumerate(rows)]
)
_BUDGET = st.integers(-3, 120)
_COUNT = st.sampled_from([
    estimate_tokens,
    len,
    lambda text: 7 + estimate_tokens(text),
    lambda text: sum(map(ord, text)) % 50,  # no tokenizer: longer may count less
])  # fmt: skip


def _hit(at: int, document: str, text: str) -> Hit:
    chunk = Chunk(f"c{at}", document, at, text, Span(0, len(text)), (), 1, 9)
    return Hit(chunk, Document(document, f"{document}.md", "s", "u", "T", ""), 1.0 - at / 10)


@settings(max_examples=200, deadline=None)
@given(_HITS, _BUDGET, _COUNT)
def test_the_budget_is_never_exceeded_and_the_count_is_true(hits, budget, count) -> None:
    packed = pack(hits, max_tokens=budget, count=count)
    assert packed.n_tokens == sum(count(one.text) for one in packed.kept) <= max(0, budget)


@settings(max_examples=200, deadline=None)
@given(_HITS, _BUDGET, _COUNT)
def test_every_hit_is_kept_or_dropped_in_the_order_given(hits, budget, count) -> None:
    packed = pack(hits, max_tokens=budget, count=count)
    kept = [one.hit for one in packed.kept]
    assert sorted([*kept, *packed.dropped], key=hits.index) == hits
    assert kept == sorted(kept, key=hits.index)
    assert list(packed.dropped) == sorted(packed.dropped, key=hits.index)


@settings(max_examples=200, deadline=None)
@given(_HITS, _BUDGET, _COUNT)
def test_no_document_takes_more_than_three_fifths_beside_another(hits, budget, count) -> None:
    packed = pack(hits, max_tokens=budget, count=count)
    if len({hit.document.id for hit in hits}) > 1:
        assert all(taken <= 0.6 * max(0, budget) for taken in _taken(packed, count).values())


@settings(max_examples=200, deadline=None)
@given(_HITS, _BUDGET, _COUNT)
def test_a_dropped_hit_with_text_would_not_fit(hits, budget, count) -> None:
    packed = pack(hits, max_tokens=budget, count=count)
    several = len({hit.document.id for hit in hits}) > 1
    taken = _taken(packed, count)
    for hit in packed.dropped:
        share = int((0.6 if several else 1) * budget) - taken[hit.document.id]
        room = min(budget - packed.n_tokens, share)
        assert not hit.chunk.text.strip() or room <= 0 or count(hit.chunk.text) > room


@settings(max_examples=200, deadline=None)
@given(_HITS, _BUDGET, _COUNT)
def test_a_kept_text_is_whole_or_ends_early_at_a_sentence(hits, budget, count) -> None:
    for one in pack(hits, max_tokens=budget, count=count).kept:
        whole = one.hit.chunk.text
        ends = [span.end for span in sentences(whole)]
        assert one.trimmed == (one.text != whole)
        assert not one.trimmed or (whole.startswith(one.text) and len(one.text) in ends[:-1])


def _taken(packed: Packed, count) -> Counter[str]:
    taken: Counter[str] = Counter()
    for one in packed.kept:
        taken[one.hit.document.id] += count(one.text)
    return taken
